package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"grfgp/crossval"
	"grfgp/internal/chart"
	"grfgp/internal/plural"
)

// mostClasses is how many classes the report lists.
const mostClasses = 20

// write writes the page.
func (p *classPage) write(out io.Writer) error {
	w, r := &writer{w: out}, p.r
	p.writeTop(w)
	w.add(`<section id="maps">
<h2>Predictions</h2>
<p>`, sentences(p.MapNotes), `The entropy, in nats, is 0 where the class is certain.</p>
`)
	p.writeMaps(w)
	w.add(`<div class="columns">
<div id="uncertain">
<h3>Most uncertain nodes</h3>
<p class="soft">Unlabelled nodes of largest entropy.</p>
`)
	var rows [][]markup
	for _, i := range r.MostUncertain() {
		node := r.Table.Nodes[i]
		rows = append(rows, append(p.two(i, node.Probabilities, MostProbable(node.Probabilities)), text(fmt.Sprintf("%.3f", node.Entropy))))
	}
	w.table([]th{{"node", "t"}, {"most probable", "c"}, {"probability", ""}, {"second", "c"}, {"probability", ""}, {"entropy", ""}}, rows)
	w.add(`</div>
<div id="classes">
<h3>Classes</h3>
`)
	rows = nil
	for _, c := range r.Table.Classes[:min(len(r.Table.Classes), mostClasses)] {
		rows = append(rows, cells(isolated(c.Name), strconv.Itoa(c.Labels), strconv.Itoa(c.Predicted)))
	}
	w.table([]th{{"class", "t"}, {"labels", ""}, {"predicted", ""}}, rows)
	if more := len(r.Table.Classes) - len(rows); more > 0 {
		w.add(`<p class="soft">`, text(fmt.Sprintf("and %d more", more)), `</p>
`)
	}
	w.add(`</div>
</div>
</section>
`, allNodes, `<section id="validation">
<h2>Validation</h2>
`)
	if r.Validation != nil {
		p.writeValidation(w)
	} else {
		w.add(`<p>No validation was made.</p>
`)
	}
	w.add(`</section>
`)
	var tried [][]markup
	for _, c := range r.Choice.Candidates {
		tried = append(tried, cells(text(c.Family), fmt.Sprintf("%.3f", c.Score), fmt.Sprintf("%.3f", c.Accuracy)))
	}
	p.writeEnd(w, []th{{"family", "t"}, {"log score", ""}, {"accuracy", ""}}, tried)
	return w.err
}

// two are cells of a table: node i, a class, the most probable of the others, and their probabilities.
func (p *classPage) two(i int, probabilities []float64, class int) []markup {
	second := -1
	for c, v := range probabilities {
		if c != class && (second < 0 || v > probabilities[second]) {
			second = c
		}
	}
	row := []markup{p.rows.cell(p.r.Network, i)}
	for _, c := range []int{class, second} {
		row = append(row, isolated(p.r.Labels.Classes[c]), text(fmt.Sprintf("%.3f", probabilities[c])))
	}
	return row
}

func (p *classPage) writeValidation(w *writer) {
	v, names := p.r.Validation, p.r.Labels.Classes
	verdicts := ClassVerdicts(v)
	if all := v.Confusions(); len(all) > 0 {
		verdicts = append(verdicts, fmt.Sprintf("The most frequent error: %q predicted as %q, %s.", names[all[0].Class],
			names[all[0].Predicted], plural.Count(all[0].Count, "times")))
	}
	bars := []chart.Bar{{Name: "this model", Value: 100 * v.Accuracy, SE: 100 * v.AccuracySE}}
	for _, name := range crossval.InOrder(v.Baselines) {
		s := v.Baselines[name]
		bars = append(bars, chart.Bar{Name: string(name), Value: 100 * s.Accuracy, SE: 100 * s.AccuracySE})
	}
	bins := make([]chart.Bin, len(v.Reliability))
	for k, b := range v.Reliability {
		bins[k] = chart.Bin(b)
	}
	w.results("labels", v.Learned, verdicts, newFigure(chart.Bars("Held-out labels predicted correctly", "%", bars)), "figures",
		newFigure(chart.Reliability("Reliability of probabilities", bins)),
		newFigure(chart.Confusion("Confusion matrix", names, v.Confusion)))
	w.add(`<p class="soft">Grey bars contain 95 % of the results of calibrated probabilities with the same number of labels; `,
		`larger dots represent more labels.</p>
<div id="residuals">
<h3>Doubtful labels</h3>
<p class="soft">Held-out labels of smallest predicted probability: a wrong label, or a node unlike its neighbours.</p>
`)
	left := slices.Clone(v.HeldOut)
	chance := func(l crossval.HeldOutLabel) float64 { return l.Probabilities[l.Class] }
	slices.SortStableFunc(left, func(a, b crossval.HeldOutLabel) int { return cmp.Compare(chance(a), chance(b)) })
	var rows [][]markup
	for _, l := range left[:min(len(left), listed)] {
		rows = append(rows, p.two(l.Node, l.Probabilities, l.Class))
	}
	w.table([]th{{"node", "t"}, {"label", "c"}, {"probability", ""}, {"predicted", "c"}, {"probability", ""}}, rows)
	w.add(`</div>
`)
}
