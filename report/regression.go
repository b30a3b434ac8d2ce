package report

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/htmlpage"
	"grfgp/internal/layout"
	"grfgp/internal/plot"
	"grfgp/internal/plural"
)

//go:embed regression.html
var pageText string

var pageTemplate = htmlpage.New("report", pageText)

// Regression is the input of a report on predicted values.
type Regression struct {
	Title    string
	Unit     string // of the values; empty: not known
	Quantity string // text at axes: the unit, or the name of the measured quantity

	Network      *graphio.Network
	Measurements *graphio.Measurements // as they were read; nil: they come from no file
	Data         gp.Data               // the data that the model was fitted to; of a model over time, those of the period that is shown
	Time         string                // which period of a model over time is shown, as a sentence; empty without time

	Spec       grfgp.Spec // as it was asked for
	Model      *grfgp.Model
	Prediction grfgp.Prediction     // of every node
	Limits     *grfgp.Limits        // of the prediction; nil: not computed
	Effects    *grfgp.Effects       // of the columns of the node table; nil: not computed
	Measured   string               // name of what was measured, in sentences about effects; empty: the value
	Known      []string             // notes on the columns, in sentences
	Level      float64              // of the credible intervals
	Validation *crossval.Validation // nil: none
	Truth      []float64            // of every node; nil: not known
	Program    string               // name and version of the program that made the report
	Speller    graphio.Speller      // of options in notes on files; zero: as in Go
}

// Write draws the maps and figures and writes the page.
func (r *Regression) Write(w io.Writer) error { return pageTemplate.Execute(w, r.page()) }

// listed is the number of rows of a table.
const listed = 10

// MostUncertain returns the ten nodes with the largest posterior standard
// deviation; of equal ones, the first in the file.
func (r *Regression) MostUncertain() []int {
	return largest(r.Prediction.SD, r.Network.Graph.InputOrder())
}

// largest returns the ten nodes of largest standard deviation, the first of equals
// first.
func largest(sd []float64, nodes []int) []int {
	var top []int
	for _, i := range nodes {
		// A sorted list of ten: no need to sort a million.
		if len(top) == listed && sd[i] <= sd[top[listed-1]] {
			continue
		}
		at, _ := slices.BinarySearchFunc(top, sd[i], func(j int, v float64) int {
			if sd[j] >= v {
				return -1
			}
			return 1
		})
		top = slices.Insert(top, at, i)
		top = top[:min(len(top), listed)]
	}
	return top
}

// residuals returns the held-out measurements that are most standard deviations
// from their prediction.
func (r *Regression) residuals() []crossval.HeldOut {
	all := slices.Clone(r.Validation.HeldOut)
	slices.SortStableFunc(all, func(a, b crossval.HeldOut) int { return cmp.Compare(inSDs(b), inSDs(a)) })
	return all[:min(len(all), listed)]
}

func inSDs(l crossval.HeldOut) float64 { return math.Abs(l.Value-l.Mean) / l.SD }

// measured marks the measured nodes.
func (r *Regression) measured() []bool {
	marks := make([]bool, r.Network.Graph.Len())
	for _, i := range r.Data.Nodes {
		marks[i] = true
	}
	return marks
}

// TruthFacts compares predictions of unmeasured nodes with their true values.
type TruthFacts struct {
	Nodes    int     `json:"nodes"`
	RMSE     float64 `json:"rmse"`
	Coverage float64 `json:"coverage"` // of intervals of Regression.Level
}

// AgainstTruth compares predictions of unmeasured nodes with Truth; nil if that is
// nil.
func (r *Regression) AgainstTruth() *TruthFacts {
	if r.Truth == nil {
		return nil
	}
	var facts TruthFacts
	measured, inside := r.measured(), 0
	for i, truth := range r.Truth {
		if measured[i] {
			continue
		}
		facts.Nodes++
		miss := math.Abs(truth - r.Prediction.Mean[i])
		facts.RMSE += miss * miss
		if lower, upper := r.Prediction.At(i).Interval(r.Level); lower <= truth && truth <= upper {
			inside++
		}
	}
	facts.RMSE = math.Sqrt(facts.RMSE / float64(facts.Nodes))
	facts.Coverage = float64(inside) / float64(facts.Nodes)
	return &facts
}

// edges yields each edge of a graph once, without self loops.
func edges(g *graph.Graph) func(yield func(i, j int) bool) {
	return func(yield func(i, j int) bool) {
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if int(j) > i && !yield(i, int(j)) {
					return
				}
			}
		}
	}
}

// positions returns where nodes are drawn, and a note that says why there.
func positions(net *graphio.Network, seed uint64) (p layout.Points, note string) {
	if nodes := net.Nodes; nodes != nil {
		switch {
		case mostlyKnown(nodes.Lat, nodes.Lon):
			return layout.Geographic(nodes.Lat, nodes.Lon), "Nodes are at their lat and lon."
		case mostlyKnown(nodes.X, nodes.Y):
			return layout.Points{X: nodes.X, Y: nodes.Y}, "Nodes are at their x and y."
		}
	}
	return layout.Of(net.Graph, seed),
		"There are no coordinates: nodes are placed by their edges. Close nodes are closely connected; directions have no meaning."
}

// mostlyKnown reports whether at least half of the nodes have both coordinates.
func mostlyKnown(a, b []float64) bool {
	if a == nil || b == nil {
		return false
	}
	known := 0
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			known++
		}
	}
	return 2*known >= len(a)
}

// page is the data of the template, which escapes all text.
type page struct {
	Title, Subtitle string
	Tiles           []tile
	Files           facts // a paragraph per file, separated by empty facts
	Graph           facts
	Model           facts
	Why             []string
	Candidates      []grfgp.TriedKernel
	Maps            []figure
	MapNote         string
	Unit            string
	Level           string
	Uncertain       []nodeRow
	Validation      *validationPage
	Effects         *effectsPage // nil: the model has no part beside the graph
	Truth           string
	Settings        facts
}

type tile struct{ Value, Name string }

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
	Coverage  facts
	Residuals []nodeRow
}

func newFigure(p *plot.Picture) figure { return figure{template.HTML(p.SVG()), p.Note()} }

// page draws the report.
func (r *Regression) page() *page {
	g := r.Network.Graph
	p := &page{
		Title:    r.Title,
		Subtitle: fmt.Sprintf("%s, %s, %s", plural.Count(g.Len(), "nodes"), plural.Count(g.Edges(), "edges"), plural.Count(r.Data.Len(), "measurements")),
		Unit:     r.Unit,
		Level:    fmt.Sprintf("%g %%", 100*r.Level),
	}
	p.tiles(r)
	m := r.Measurements
	if m == nil {
		m = &graphio.Measurements{Nodes: r.Data.Nodes, Values: r.Data.Y, Count: r.Data.Count}
	}
	p.input(r.Network, "measurements", m.Report, r.Speller)
	p.Graph = append(p.Graph, DescribeMeasurements(g, m).Lines(g.Len())...)
	p.model(r)
	p.maps(r)
	p.Effects = r.effectsPage()
	for _, i := range r.MostUncertain() {
		p.Uncertain = append(p.Uncertain, r.row(i))
	}
	if r.Validation != nil {
		p.Validation = r.validationPage()
	}
	if t := r.AgainstTruth(); t != nil {
		p.Truth = fmt.Sprintf("The truth is known here. At the %d unmeasured nodes the predicted mean has an error (RMSE) of %.3g %s, and %s intervals contain %.1f %% of the true values.",
			t.Nodes, t.RMSE, r.Unit, p.Level, 100*t.Coverage)
	}
	p.settings(r)
	return p
}

func (p *page) tiles(r *Regression) {
	in := func(v float64) string { return strings.TrimSpace(short(v) + " " + r.Unit) }
	if v := r.Validation; v != nil {
		e, of := v.JudgeError(), "RMSE"
		if e.Of != "" {
			of += " of " + e.Of
		}
		p.Tiles = []tile{
			{in(e.RMSE), "error (" + of + ") at held-out measurements"},
			{in(e.BaselineRMSE), "error of the best baseline: " + string(e.Baseline)},
			{fmt.Sprintf("%.1f %%", 100*v.Coverage.At(0.95)), "of held-out measurements inside 95 % intervals"},
		}
	}
	if noise, of := r.noise(); of != "" {
		p.Tiles = append(p.Tiles, tile{in(noise), of})
	}
}

// noise returns how noisy measurements are, and what that is, "" if their noise
// follows from the quantity.
func (r *Regression) noise() (sd float64, of string) {
	switch {
	case r.Spec.Values == "count" || r.Spec.Values == "share" || r.Spec.Values == "yes-no":
		return 0, ""
	case r.Spec.Transform != "":
		of = ", transform " + r.Spec.Transform
	}
	if r.Spec.Values == "student" {
		return r.Model.NoiseSD(), "noise of a measurement (scale of Student's t" + of + ")"
	}
	return r.Model.NoiseSD(), "noise of a measurement (sd" + of + ")"
}

// input describes the files and the graph; name is that of the second file.
func (p *page) input(net *graphio.Network, name string, report *graphio.Report, say graphio.Speller) {
	file := func(name string, report *graphio.Report) {
		if report == nil {
			return
		}
		if len(p.Files) > 0 {
			p.Files = append(p.Files, Fact{})
		}
		p.Files = append(p.Files, DescribeFile(name, report, say)...)
	}
	first := "edges"
	if net.Nodes != nil && net.Nodes.Report == net.Report { // a graph of nearest neighbours
		first = "nodes"
	}
	file(first, net.Report)
	if net.Nodes != nil && first == "edges" {
		file("nodes", net.Nodes.Report)
	}
	file(name, report)
	p.Graph = append(p.Graph, DescribeGraph(net.Graph).Lines()...)
}

func (p *page) model(r *Regression) {
	c, add := r.Model.Choice(), p.Model.add
	if r.Time != "" {
		add("time", "%s", r.Time)
	}
	add("kernel", "%s", KernelName(c.Family, c.Terms))
	add("representation", "%s", c.Method)
	if c.Hops > 0 {
		add("longest walk", "%d hops", c.Hops)
	}
	if c.Scales != "" {
		add("scales", "%s", c.Scales)
	}
	if c.Variance == "unit" {
		add("variance", "the same at every node")
	}
	if c.Trend == "degree" {
		add("trend", "linear in log degree")
	}
	for k, name := range c.Fit.Names {
		add(name, "%.4g, for standardized values", c.Fit.Theta[k])
	}
	if r.Spec.Values != "" {
		add("what is measured", "%s", r.Spec.Values)
	}
	if r.Spec.Transform != "" {
		add("transform", "%s", r.Spec.Transform)
	}
	if noise, of := r.noise(); of != "" {
		add(of, "%.4g %s", noise, r.Unit)
	}
	if phi := c.Fit.Shape.Dispersion; phi > 0 {
		add("dispersion of counts (φ)", "%.4g: the variance of a count of mean μ is μ + φμ²", phi)
	}
	add("log marginal likelihood", "%s, of standardized values", short(c.Fit.LogLikelihood))
	if r.Limits != nil {
		for _, words := range LimitNotes(r.Limits, "nodes") {
			add("limits", "%s", words)
		}
	}
	if !c.Fit.Converged {
		add("warning", "the fit stopped after %d iterations without converging", c.Fit.Iterations)
	}
	p.Why = c.Why
	if len(c.Candidates) > 1 {
		p.Candidates = c.Candidates
	}
}

func (p *page) maps(r *Regression) {
	at, note := positions(r.Network, r.Spec.Seed)
	p.MapNote = note
	g := r.Network.Graph
	draw := func(title string, values, like []float64) {
		p.Maps = append(p.Maps, newFigure(plot.Map(plot.MapData{
			Title: title, Unit: r.Quantity, X: at.X, Y: at.Y, Edges: edges(g), Values: values, Like: like,
			Marked: r.Data.Nodes, Mark: "measured",
		})))
	}
	draw("Predicted mean", r.Prediction.Mean, r.Truth)
	if r.Truth != nil {
		draw("Truth", r.Truth, r.Prediction.Mean)
	}
	draw("Standard deviation", r.Prediction.SD, nil)
}

// row describes the prediction of node i.
func (r *Regression) row(i int) nodeRow {
	lower, upper := r.Prediction.At(i).Interval(r.Level)
	row := r.name(i)
	row.Mean, row.SD, row.Lower, row.Upper = short(r.Prediction.Mean[i]), short(r.Prediction.SD[i]), short(lower), short(upper)
	row.Measured = r.measured()[i]
	return row
}

func (r *Regression) name(i int) nodeRow {
	id, label := nodeName(r.Network, i)
	return nodeRow{Node: id, Label: label}
}

// nodeName returns the id of a node and its name in the node table, if it has one.
func nodeName(net *graphio.Network, i int) (id, label string) {
	if nodes := net.Nodes; nodes != nil && nodes.Name != nil {
		label = nodes.Name[i]
	}
	return net.Graph.IDs().At(i), label
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

func (r *Regression) validationPage() *validationPage {
	v := r.Validation
	p := &validationPage{Verdicts: Verdicts(v)}
	bars := []plot.Bar{{Name: "this model", Value: v.RMSE, SE: v.RMSESE}}
	for _, name := range crossval.InOrder(v.BaselineRMSE) {
		bars = append(bars, plot.Bar{Name: string(name), Value: v.BaselineRMSE[name]})
	}
	p.Bars = newFigure(plot.Bars("Error at held-out measurements (RMSE)", r.Unit, bars))
	left, pits := make([]plot.HeldOut, len(v.HeldOut)), make([]float64, len(v.HeldOut))
	for k, l := range v.HeldOut {
		left[k], pits[k] = plot.HeldOut{Measured: l.Value, Predicted: l.Mean, SD: l.SD}, l.PIT
	}
	p.Plots = []figure{
		newFigure(plot.Residuals("Predicted against measured", r.Quantity, left)),
		newFigure(plot.Calibration("Coverage of intervals", pits)),
		newFigure(plot.PIT("Probability integral transform (PIT)", pits)),
	}
	for _, c := range v.Coverage {
		p.Coverage.add(fmt.Sprintf("%g %%", 100*c.Level), "%.1f %%", 100*c.Share)
	}
	for _, l := range r.residuals() {
		row := r.name(l.Node)
		row.Value, row.Mean, row.SD = short(l.Value), short(l.Mean), short(l.SD)
		row.Difference, row.Sigmas = short(l.Value-l.Mean), short(inSDs(l))
		p.Residuals = append(p.Residuals, row)
	}
	return p
}

func (p *page) settings(r *Regression) {
	add := p.Settings.add
	add("seed", "%d", r.Spec.Seed)
	add("requested model", "%s", specText(r.Spec))
	add("level of intervals", "%s", p.Level)
	if r.Validation != nil {
		add("validation", "%d folds, %s", r.Validation.Folds, r.Validation.Scheme)
	}
	add("version", "%s", r.Program)
}

// specText is a Spec as JSON.
func specText(s grfgp.Spec) string {
	text, err := json.Marshal(s)
	if err != nil { // numbers of a checked Spec are finite
		return err.Error()
	}
	return string(text)
}
