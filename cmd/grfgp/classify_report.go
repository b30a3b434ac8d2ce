package main

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"path/filepath"
	"slices"

	"grfgp"
	"grfgp/gp"
	"grfgp/internal/plot"
)

//go:embed classify_report.html
var classPageText string

var classPageTemplate = template.Must(template.Must(pageTemplate.Clone()).New("classes").Parse(classPageText))

// classStudy is all that a report about classes is about.
type classStudy struct {
	data       *classData
	title      string
	spec       grfgp.Spec
	method     gp.ClassMethod
	answer     *classifyAnswer
	validation *grfgp.ClassValidation // nil: none
}

// reportLabels is report for classes.
func (a *app) reportLabels(ctx context.Context, f *reportFlags, spec grfgp.Spec) error {
	d, err := f.loadLabels(ctx, a, &f.input)
	if err != nil {
		return err
	}
	r := &classStudy{data: d, title: cmp.Or(f.title, filepath.Base(d.labels.Report.File)), spec: spec, method: f.classMethod()}
	c, err := a.fitClasses(ctx, d, spec, r.method)
	if err != nil {
		return err
	}
	s := a.talk.Stage("predicting")
	p, err := c.Probabilities(ctx, allNodes(d.net.Graph.Len()))
	if err != nil {
		return fitError(ctx, err)
	}
	r.answer = d.answer(c, r.method, p)
	s.Done("%d nodes", len(r.answer.Nodes))
	if f.folds > 0 {
		if r.validation, err = a.validateClasses(ctx, d, spec, r.method, &f.foldFlags); err != nil {
			return err
		}
	}
	if err := a.drawPage(ctx, f.out, classPageTemplate, func() any { return r.page() }); err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(r.reportAnswer(f.out))
	}
	_, err = fmt.Fprintf(a.Out, "the report is in %s\n", f.out)
	return err
}

// classReportAnswer is the answer in JSON.
type classReportAnswer struct {
	Version   int                         `json:"version"`
	File      string                      `json:"file"`
	Nodes     int                         `json:"nodes"`
	Edges     int                         `json:"edges"`
	Labels    int                         `json:"labels"`
	Classes   []classRow                  `json:"classes"`
	Choice    grfgp.ClassChoice           `json:"choice"`
	Score     *grfgp.ClassScore           `json:"score,omitempty"` // of left-out labels
	Baselines map[string]grfgp.ClassScore `json:"baselines,omitempty"`
	Uncertain []string                    `json:"most_uncertain"` // nodes
}

func (r *classStudy) reportAnswer(file string) classReportAnswer {
	g := r.data.net.Graph
	answer := classReportAnswer{
		Version: 1, File: file, Nodes: g.Len(), Edges: g.Edges(), Labels: r.data.data.Len(),
		Classes: r.answer.Classes, Choice: r.answer.Choice, Uncertain: []string{},
	}
	if v := r.validation; v != nil {
		answer.Score, answer.Baselines = &v.ClassScore, v.Baselines
	}
	for _, i := range r.mostUncertain() {
		answer.Uncertain = append(answer.Uncertain, g.IDs().At(i))
	}
	return answer
}

// classPage is what the template shows.
type classPage struct {
	page
	Tried       []grfgp.ClassCandidate
	Uncertain   []classNodeRow
	Classes     []classRow
	MoreClasses string
	Validation  *classValidationPage
}

type classNodeRow struct {
	Node, Label, Class, Chance, Other, OtherChance, Entropy string
}

type classValidationPage struct {
	Verdicts  []string
	Bars      figure
	Plots     []figure
	Surprises []classNodeRow
}

// mostClasses is how many classes the report lists.
const mostClasses = 20

// page draws the report.
func (r *classStudy) page() *classPage {
	d, g := r.data, r.data.net.Graph
	p := &classPage{}
	p.Title = r.title
	p.Subtitle = fmt.Sprintf("%v, %v, %v of %v", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(d.data.Len(), "labels"), count(d.data.Classes, "classes"))
	if v := r.validation; v != nil {
		rule := bestClassRule(v)
		p.Tiles = []tile{
			{fmt.Sprintf("%.1f %%", 100*v.Accuracy), "of left-out labels predicted right"},
			{fmt.Sprintf("%.1f %%", 100*v.Baselines[rule].Accuracy), "by the best simple rule: " + rule},
			{fmt.Sprintf("%.3f", v.NLL), "mean negative log probability of the right class (NLL)"},
			{fmt.Sprintf("%.3f", v.ECE), "mean distance of probabilities from what came true (ECE)"},
		}
		p.Validation = r.validationPage()
	}
	p.files(d.net, "labels", d.labels.Report)
	line := into(&p.Graph)
	line("labelled", "%d of %d nodes (%.3g %%)", d.data.Len(), g.Len(), 100*float64(d.data.Len())/float64(g.Len()))
	if blind := unseen(g, d.data.Nodes); blind.Count > 0 {
		line("unlabelled", "components without any label: %v; there the shares of the classes remain", blind)
	}
	r.model(p)
	r.maps(p)
	for _, i := range r.mostUncertain() {
		row := r.row(i)
		row.Class, row.Chance, row.Other, row.OtherChance = r.two(r.answer.Nodes[i].Probabilities, -1)
		row.Entropy = fmt.Sprintf("%.3f", r.answer.Nodes[i].Entropy)
		p.Uncertain = append(p.Uncertain, row)
	}
	p.Classes = r.answer.Classes[:min(len(r.answer.Classes), mostClasses)]
	if more := len(r.answer.Classes) - len(p.Classes); more > 0 {
		p.MoreClasses = fmt.Sprintf("and %d more", more)
	}
	spec, err := json.Marshal(r.spec)
	if err != nil { // numbers from flags are finite where they matter
		spec = []byte(err.Error())
	}
	p.Settings = []fact{{"seed", fmt.Sprint(r.spec.Seed)}, {"classifier", r.method.String()}, {"model asked for", string(spec)}}
	if v := r.validation; v != nil {
		p.Settings = append(p.Settings, fact{"validation", fmt.Sprintf("%d folds, %s", v.Folds, v.Scheme)})
	}
	p.Settings = append(p.Settings, fact{"version", "grfgp " + version()})
	return p
}

func (r *classStudy) model(p *classPage) {
	c, add := r.answer.Choice, into(&p.Model)
	add("classifier", "%v", r.method)
	add("family of kernels", "%s", c.Family)
	add("represented by", "%s", c.Method)
	add("scales", "%s", c.Scales)
	for k, name := range c.Fit.Names {
		add(name, "%s", short(c.Fit.Theta[k]))
	}
	if !c.Fit.Converged {
		add("warning", "learning stopped after %d evaluations before it had settled", c.Fit.Evaluations)
	}
	p.Why = c.Why
	if len(c.Candidates) > 1 {
		p.Tried = c.Candidates
	}
}

// maps draws the class of every node and how certain it is.
func (r *classStudy) maps(p *classPage) {
	d := r.data
	at, how := places(d.net, r.spec.Seed)
	p.MapNote = how
	number := map[string]int{}
	for c, name := range d.labels.Classes {
		number[name] = c
	}
	class, entropies := make([]float64, len(r.answer.Nodes)), make([]float64, len(r.answer.Nodes))
	for i, n := range r.answer.Nodes {
		class[i], entropies[i] = float64(number[n.Class]), n.Entropy
	}
	data := plot.MapData{X: at.X, Y: at.Y, Edges: edges(d.net.Graph), Marked: d.data.Nodes, Mark: "labelled"}
	classes := data
	classes.Title, classes.Values, classes.Classes = "Likeliest class", class, d.labels.Classes
	data.Title, data.Unit, data.Values = "Entropy of the class", "nats", entropies
	p.Maps = []figure{newFigure(plot.Map(classes)), newFigure(plot.Map(data))}
}

// mostUncertain returns the nodes without a label of largest entropy, the first of
// equals first.
func (r *classStudy) mostUncertain() []int {
	var nodes []int
	for _, i := range r.data.net.Graph.InputOrder() {
		if !r.answer.Nodes[i].Given {
			nodes = append(nodes, i)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(r.answer.Nodes[b].Entropy, r.answer.Nodes[a].Entropy) })
	return nodes[:min(len(nodes), listed)]
}

func (r *classStudy) row(i int) classNodeRow {
	row := classNodeRow{Node: r.data.net.Graph.IDs().At(i)}
	if nodes := r.data.net.Nodes; nodes != nil && nodes.Label != nil {
		row.Label = nodes.Label[i]
	}
	return row
}

// two returns a class, the likeliest unless one is given, and the likeliest of the
// others, with their chances.
func (r *classStudy) two(p []float64, class int) (name, chance, other, otherChance string) {
	if class < 0 {
		class = likeliest(p)
	}
	second := -1
	for c, v := range p {
		if c != class && (second < 0 || v > p[second]) {
			second = c
		}
	}
	words := func(c int) (string, string) { return r.data.labels.Classes[c], fmt.Sprintf("%.3f", p[c]) }
	name, chance = words(class)
	other, otherChance = words(second)
	return name, chance, other, otherChance
}

func bestClassRule(v *grfgp.ClassValidation) string {
	return slices.MaxFunc(grfgp.ClassBaselines, func(a, b string) int {
		return cmp.Compare(v.Baselines[a].Accuracy, v.Baselines[b].Accuracy)
	})
}

// classVerdicts say in words how far to trust a classifier.
func classVerdicts(v *grfgp.ClassValidation) []string {
	rule := bestClassRule(v)
	gain := v.Accuracy - v.Baselines[rule].Accuracy
	words := fmt.Sprintf("%.1f points more than by the best simple rule, %s", 100*gain, rule)
	if gain < 0.0005 {
		words = fmt.Sprintf("no more than by the simple rule %s", rule)
	}
	// What the distance of each bin would be by chance alone: E|x| = √(2/π)·sd.
	chance, n := 0.0, float64(len(v.Left))
	for _, b := range v.Reliability {
		if b.Count > 0 {
			chance += math.Sqrt(2/math.Pi*max(0, b.Confidence*(1-b.Confidence))*float64(b.Count)) / n
		}
	}
	trust := "about what chance alone gives"
	if v.ECE > 1.5*chance+0.01 {
		trust = "more than chance alone gives: take probabilities with care"
	}
	all := []string{
		fmt.Sprintf("Of the %d left-out labels %.1f ± %.1f %% are predicted right, %s.", len(v.Left), 100*v.Accuracy, 100*v.AccuracySE, words),
		fmt.Sprintf("The right class was given a probability of %.2f (geometric mean); NLL %.3f, by label spreading %.3f.", math.Exp(-v.NLL), v.NLL, v.Baselines["label spreading"].NLL),
		fmt.Sprintf("Probabilities are %.3f from how often they come true (ECE, %d bins), %s (%.3f).", v.ECE, len(v.Reliability), trust, chance),
	}
	return all
}

func (r *classStudy) validationPage() *classValidationPage {
	v := r.validation
	p := &classValidationPage{Verdicts: classVerdicts(v)}
	if all := confusions(v); len(all) > 0 {
		names := r.data.labels.Classes
		p.Verdicts = append(p.Verdicts, fmt.Sprintf("The commonest mistake takes %q for %q, %v.", names[all[0].given], names[all[0].predicted], count(all[0].count, "times")))
	}
	bars := []plot.Bar{{Name: "this model", Value: 100 * v.Accuracy, SE: 100 * v.AccuracySE}}
	for _, name := range grfgp.ClassBaselines {
		s := v.Baselines[name]
		bars = append(bars, plot.Bar{Name: name, Value: 100 * s.Accuracy, SE: 100 * s.AccuracySE})
	}
	p.Bars = newFigure(plot.Bars("Left-out labels predicted right", "%", bars))
	bins := make([]plot.Bin, len(v.Reliability))
	for k, b := range v.Reliability {
		bins[k] = plot.Bin(b)
	}
	p.Plots = []figure{
		newFigure(plot.Reliability("Can probabilities be trusted?", bins)),
		newFigure(plot.Confusion("Which class is taken for which", r.data.labels.Classes, v.Confusion)),
	}
	left := slices.Clone(v.Left)
	chance := func(l grfgp.ClassLeft) float64 { return l.Probabilities[l.Class] }
	slices.SortStableFunc(left, func(a, b grfgp.ClassLeft) int { return cmp.Compare(chance(a), chance(b)) })
	for _, l := range left[:min(len(left), listed)] {
		row := r.row(l.Node)
		row.Class, row.Chance, row.Other, row.OtherChance = r.two(l.Probabilities, l.Class)
		p.Surprises = append(p.Surprises, row)
	}
	return p
}
