package report

import (
	"fmt"
	"io"

	"grfgp/crossval"
	"grfgp/internal/chart"
)

// write writes the page.
func (p *regressionPage) write(out io.Writer) error {
	w, r := &writer{w: out}, p.r
	p.writeTop(w)
	w.add(`<section id="maps">
<h2>Predictions</h2>
<p>`, sentences(p.MapNotes), `The standard deviation is that of the quantity itself; a new reading has the noise in addition.</p>
`)
	if t := r.AgainstTruth(); t != nil {
		w.add(`<p>`, text(fmt.Sprintf("The truth is known here. At the %s without a measurement the predicted mean misses it by %s (RMSE), "+
			"and %s intervals of the quantity contain %.1f %% of the true values.",
			count(t.Nodes, "nodes"), threeDigits(t.RMSE).in(t.RMSE, r.Unit), p.level, 100*t.Coverage)), `</p>
`)
	}
	p.writeMaps(w)
	w.add(`</section>
`)
	p.writeLists(w)
	w.add(allNodes)
	if r.Effects != nil {
		r.writeEffects(w)
	}
	w.add(`<section id="validation">
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
	for _, c := range r.Model.Choice().Candidates {
		tried = append(tried, cells(text(c.Family), fmt.Sprintf("%.2f", c.LogLikelihood)))
	}
	p.writeEnd(w, []th{{"family", "t"}, {"log marginal likelihood", ""}}, tried)
	return w.err
}

// writeLists writes the nodes that readers ask for first.
func (p *regressionPage) writeLists(w *writer) {
	in := ""
	if p.r.Unit != "" {
		in = ", in " + p.r.Unit
	}
	w.add(`<section id="lists">
<h2>Highest, lowest, most uncertain</h2>
<p class="soft">`, text(p.level), ` intervals`, text(in), `: lower and upper of the quantity, reading lower and reading upper of `,
		text(p.intervals.of), `.</p>
<div class="columns">
`)
	list := func(id, title, note markup, headings []th, rows [][]markup) {
		w.add(`<div id="`, id, `">
<h3>`, title, `</h3>
<p class="soft">`, note, `</p>
`)
		w.table(headings, rows)
		w.add(`</div>
`)
	}
	predicted := func(id, title, note markup, nodes []int) {
		var rows [][]markup
		for _, i := range nodes {
			rows = append(rows, p.row(i))
		}
		list(id, title, note, []th{{"node", "t"}, {"mean", ""}, {"sd", ""}, {"lower", ""}, {"upper", ""}, {"reading lower", ""},
			{"reading upper", ""}, {"measured", ""}}, rows)
	}
	predicted("highest", "Highest predicted", "Nodes of highest predicted mean.", p.r.highest())
	predicted("lowest", "Lowest predicted", "Nodes of lowest predicted mean.", p.r.lowest())
	predicted("uncertain", "Most uncertain",
		"Nodes of largest standard deviation: where a measurement would teach most about the node itself.", p.r.MostUncertain())
	if p.r.Validation != nil {
		var rows [][]markup
		for _, l := range p.r.residuals() {
			number := p.numbers.text
			rows = append(rows, cells(p.rows.cell(p.r.Network, l.Node), number(l.Value), number(l.Mean), number(l.Value-l.Mean), number(l.SD),
				numbers{1}.text(inSDs(l))))
		}
		list("residuals", "Largest surprises",
			"Measurements farthest from their held-out prediction: an error, or a node unlike its neighbours.",
			[]th{{"node", "t"}, {"measured", ""}, {"predicted", ""}, {"difference", ""}, {"sd", ""}, {"difference in sds", ""}}, rows)
	}
	w.add(`</div>
</section>
`)
}

func (p *regressionPage) writeValidation(w *writer) {
	v := p.r.Validation
	bars := []chart.Bar{{Name: "this model", Value: v.RMSE, SE: v.RMSESE}}
	for _, name := range crossval.InOrder(v.BaselineRMSE) {
		bars = append(bars, chart.Bar{Name: string(name), Value: v.BaselineRMSE[name]})
	}
	left, pits := make([]chart.HeldOut, len(v.HeldOut)), make([]float64, len(v.HeldOut))
	for k, l := range v.HeldOut {
		left[k], pits[k] = chart.HeldOut{Measured: l.Value, Predicted: l.Mean, SD: l.SD}, l.PIT
	}
	w.results("measurements", v.Learned, Verdicts(v), newFigure(chart.Bars("Error at held-out measurements (RMSE)", p.r.Unit, bars)),
		"figures three",
		newFigure(chart.Residuals("Predicted against measured", p.r.Quantity, left)),
		newFigure(chart.Calibration("Coverage of intervals", pits)),
		newFigure(chart.PIT("Probability integral transform (PIT)", pits)))
	w.add(`<p class="soft">Error bars are 95 % intervals. Grey bands contain 95 % of the results of a calibrated model with the same `,
		`number of measurements. The PIT is the predicted probability of a value below the measurement: its bars are level if the `,
		`model is right, high at both ends if intervals are too narrow, and high in the middle if they are too wide.</p>
<h3>Coverage</h3>
`)
	var rows [][]markup
	for _, c := range v.Coverage {
		rows = append(rows, cells(text(fmt.Sprintf("%g %%", 100*c.Level)), fmt.Sprintf("%.1f %%", 100*c.Share)))
	}
	w.table([]th{{"level of intervals", ""}, {"held-out measurements inside", ""}}, rows)
}
