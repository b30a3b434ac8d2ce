package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/graphio"
	"grfgp/internal/htmlpage"
	"grfgp/internal/plot"
)

//go:embed report.html
var pageText string

var pageTemplate = htmlpage.New("report", pageText)

// page is what the template shows. Text is escaped there; pictures are ours.
type page struct {
	Title, Subtitle string
	Tiles           []tile
	Files           []fact // a paragraph per file, blank lines between them
	Graph           []fact
	Model           []fact
	Why             []string
	Candidates      []grfgp.Candidate
	Maps            []figure
	MapNote         string
	Unit            string
	Level           string
	Uncertain       []nodeRow
	Validation      *validationPage
	Truth           string
	Settings        []fact
}

type tile struct{ Value, Name string }

type fact struct{ Name, Text string }

type figure struct {
	SVG  template.HTML
	Note string
}

type nodeRow struct {
	Node, Label               string
	Mean, SD, Lower, Upper    string
	Measured                  bool
	Value, Difference, Sigmas string
}

type validationPage struct {
	Verdicts  []string
	Bars      figure
	Plots     []figure
	Coverage  []fact
	Surprises []nodeRow
}

func newFigure(p *plot.Picture) figure { return figure{template.HTML(p.SVG()), p.Note()} }

// page draws the report.
func (r *subject) page() *page {
	g := r.data.net.Graph
	p := &page{
		Title:    r.title,
		Subtitle: fmt.Sprintf("%v, %v, %v", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(r.data.data.Len(), "measurements")),
		Unit:     r.unit,
		Level:    fmt.Sprintf("%g %%", 100*r.level),
	}
	p.tiles(r)
	p.facts(r)
	p.model(r)
	p.maps(r)
	for _, i := range r.mostUncertain() {
		p.Uncertain = append(p.Uncertain, r.row(i))
	}
	if r.validation != nil {
		p.Validation = r.validationPage()
	}
	if t := r.againstTruth(); t != nil {
		p.Truth = fmt.Sprintf("The truth is known here. At the %d nodes without a measurement the mean is %.3g %s off (root mean square), and intervals of %s hold %.1f %% of the true values.",
			t.Nodes, t.RMSE, r.unit, p.Level, 100*t.Coverage)
	}
	p.settings(r)
	return p
}

func (p *page) tiles(r *subject) {
	in := func(v float64) string { return strings.TrimSpace(short(v) + " " + r.unit) }
	if v := r.validation; v != nil {
		p.Tiles = []tile{
			{in(v.RMSE), "error at left-out measurements"},
			{in(v.BaselineRMSE[bestRule(v)]), "error of the best simple rule: " + bestRule(v)},
			{fmt.Sprintf("%.1f %%", 100*v.Coverage["0.95"]), "of left-out measurements inside 95 % intervals"},
		}
	}
	p.Tiles = append(p.Tiles, tile{in(r.model.NoiseSD()), "noise of a reading (sd)"})
}

// into returns a function that adds a fact to a list.
func into(list *[]fact) func(name, format string, args ...any) {
	return func(name, format string, args ...any) {
		*list = append(*list, fact{strings.TrimSpace(name), fmt.Sprintf(format, args...)})
	}
}

// files say what was read: the graph, and the file of that name.
func (p *page) files(net *graphio.Network, name string, report *graphio.Report) {
	file := func(name string, report *graphio.Report) {
		if len(p.Files) > 0 {
			p.Files = append(p.Files, fact{})
		}
		printReport(into(&p.Files), name, report)
	}
	first := "edges"
	if net.Nodes != nil && net.Nodes.Report == net.Report { // made by --knn
		first = "nodes"
	}
	file(first, net.Report)
	if net.Nodes != nil && net.Nodes.Report != nil && first == "edges" {
		file("nodes", net.Nodes.Report)
	}
	file(name, report)

	line, facts := into(&p.Graph), look(net.Graph)
	line("degrees", "%d to %d, median %g", facts.DegreeMin, facts.DegreeMax, facts.DegreeMedian)
	if facts.WeightMin != facts.WeightMax {
		line("weights", "%.4g to %.4g", facts.WeightMin, facts.WeightMax)
	}
	line("components", "%v", facts.Components)
	line("lone nodes", "%d", facts.Lone)
}

// facts say what was read.
func (p *page) facts(r *subject) {
	p.files(r.data.net, "measurements", r.data.measurements.Report)
	line, m, nodes := into(&p.Graph), measured(r.data.net.Graph, r.data.measurements), r.data.net.Graph.Len()
	line("measured", "%d of %d nodes (%.3g %%), by %v", m.Nodes, nodes, 100*float64(m.Nodes)/float64(nodes), count(m.Readings, "readings"))
	line("values", "%.5g to %.5g, mean %.5g, sd %.4g", m.Min, m.Max, m.Mean, m.SD)
	if m.Blind.Count > 0 {
		line("unmeasured", "components without any measurement: %v; predictions there are the overall mean with the largest uncertainty", m.Blind)
	}
}

func (p *page) model(r *subject) {
	c := r.model.Choice()
	add := func(name, format string, args ...any) {
		p.Model = append(p.Model, fact{name, fmt.Sprintf(format, args...)})
	}
	add("family of kernels", "%s", c.Family)
	add("represented by", "%s", c.Method)
	if c.Hops > 0 {
		add("reach", "%d hops", c.Hops)
	}
	if c.Scales != "" {
		add("scales", "%s", c.Scales)
	}
	if c.Variance == "unit" {
		add("variance", "the same at every node")
	}
	if c.Trend == "degree" {
		add("trend", "with the logarithm of the degree")
	}
	for k, name := range c.Fit.Names {
		add(name, "%.4g", c.Fit.Theta[k])
	}
	add("noise of a reading (sd)", "%.4g %s", r.model.NoiseSD(), r.unit)
	add("log likelihood", "%s", short(c.Fit.LogLikelihood))
	for _, words := range limitWords(r.limits, "nodes") {
		add("limits", "%s", words)
	}
	if !c.Fit.Converged {
		add("warning", "learning stopped after %d iterations before it had settled", c.Fit.Iterations)
	}
	p.Why = c.Why
	if len(c.Candidates) > 1 {
		p.Candidates = c.Candidates
	}
}

func (p *page) maps(r *subject) {
	places, how := places(r.data.net, r.spec.Seed)
	p.MapNote = how
	g := r.data.net.Graph
	draw := func(title string, values, like []float64) {
		p.Maps = append(p.Maps, newFigure(plot.Map(plot.MapData{
			Title: title, Unit: r.label, X: places.X, Y: places.Y, Edges: edges(g), Values: values, Like: like,
			Marked: r.data.data.Nodes, Mark: "measured",
		})))
	}
	draw("Predicted mean", r.prediction.Mean, r.truth)
	if r.truth != nil {
		draw("Truth", r.truth, r.prediction.Mean)
	}
	draw("Standard deviation", r.prediction.SD, nil)
}

// row is what is known of node i.
func (r *subject) row(i int) nodeRow {
	z := distuv.UnitNormal.Quantile(0.5 + r.level/2)
	mean, sd := r.prediction.Mean[i], r.prediction.SD[i]
	row := r.name(i)
	row.Mean, row.SD, row.Lower, row.Upper = short(mean), short(sd), short(mean-z*sd), short(mean+z*sd)
	row.Measured = r.measured()[i]
	return row
}

func (r *subject) name(i int) nodeRow {
	row := nodeRow{Node: r.data.net.Graph.IDs().At(i)}
	if nodes := r.data.net.Nodes; nodes != nil && nodes.Label != nil {
		row.Label = nodes.Label[i]
	}
	return row
}

// short writes a number with four digits, those that are zero too, so that
// columns line up.
func short(v float64) string {
	if math.Abs(v) < 1e-12 {
		v = 0
	}
	text := strings.TrimSuffix(fmt.Sprintf("%#.4g", v), ".")
	return strings.Replace(text, "-", "−", 1)
}

func (r *subject) validationPage() *validationPage {
	v := r.validation
	p := &validationPage{Verdicts: verdicts(v)}
	bars := []plot.Bar{{Name: "this model", Value: v.RMSE, SE: v.RMSESE}}
	for _, name := range grfgp.Baselines {
		bars = append(bars, plot.Bar{Name: name, Value: v.BaselineRMSE[name]})
	}
	p.Bars = newFigure(plot.Bars("Error at left-out measurements (root mean square)", r.unit, bars))
	left, pits := make([]plot.Left, len(v.Left)), make([]float64, len(v.Left))
	for k, l := range v.Left {
		left[k], pits[k] = plot.Left{Measured: l.Value, Predicted: l.Mean, SD: l.SD}, l.PIT
	}
	p.Plots = []figure{
		newFigure(plot.Residuals("Predicted against measured", r.label, left)),
		newFigure(plot.Calibration("Coverage of intervals", pits)),
		newFigure(plot.PIT("Where measurements fell (PIT)", pits)),
	}
	for _, level := range grfgp.Levels {
		p.Coverage = append(p.Coverage, fact{fmt.Sprintf("%g %%", 100*level), fmt.Sprintf("%.1f %%", 100*v.Coverage[fmt.Sprint(level)])})
	}
	for _, l := range r.surprises() {
		row := r.name(l.Node)
		row.Value, row.Mean, row.SD = short(l.Value), short(l.Mean), short(l.SD)
		row.Difference, row.Sigmas = short(l.Value-l.Mean), short(surprise(l))
		p.Surprises = append(p.Surprises, row)
	}
	return p
}

func (p *page) settings(r *subject) {
	spec, err := json.Marshal(r.spec)
	if err != nil { // numbers from flags are finite where they matter
		spec = []byte(err.Error())
	}
	p.Settings = []fact{{"seed", fmt.Sprint(r.spec.Seed)}, {"model asked for", string(spec)}, {"level of intervals", p.Level}}
	if r.validation != nil {
		p.Settings = append(p.Settings, fact{"validation", fmt.Sprintf("%d folds, %s", r.validation.Folds, r.validation.Scheme)})
	}
	p.Settings = append(p.Settings, fact{"version", "grfgp " + version()})
}
