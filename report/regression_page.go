package report

import (
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/graphio"
	"grfgp/internal/plot"
)

// page is the data of the template, which escapes all text.
type page struct {
	Title, Subtitle string
	Verdict         verdictPage
	Tiles           []tile
	Files           facts // a paragraph per file, separated by empty facts
	Graph           facts
	Model           facts
	Why             []string
	Candidates      []grfgp.TriedKernel
	Maps            []figure
	MapNotes        []string
	Mark            string // what is marked on the maps
	Unit            string
	Level           string
	Reading         string // what the intervals of readings are of
	Lists           []nodeList
	Validation      *validationPage
	Effects         *effectsPage // nil: the model has no part beside the graph
	Truth           string
	Settings        facts
	Terms           facts
	Data            template.JS
}

// verdictPage is the top of a page.
type verdictPage struct {
	Headline
	Tone string // style of the answer
}

func newVerdictPage(h Headline) verdictPage { return verdictPage{h, h.Trust.tone()} }

// tile is a figure at the top; Tone is its style, empty for none.
type tile struct{ Value, Name, Tone string }

type figure struct {
	Picture template.HTML
	Note    string
}

// nodeList is a list of nodes with their predictions.
type nodeList struct {
	ID, Title, Note string
	Rows            []nodeRow
}

type nodeRow struct {
	Row                          int // in the data of the page
	Node, Label                  string
	Mean, SD, Lower, Upper       string
	ReadingLower, ReadingUpper   string
	Measured                     string
	Value, Difference, Surprises string
}

type validationPage struct {
	Verdicts  []string
	Learned   crossval.Learned
	Bars      figure
	Plots     []figure
	Coverage  facts
	Residuals []nodeRow
}

// largestSVG is the size in bytes from which a figure is an image instead: that of a graph with
// thousands of nodes is smaller, and prints as well.
const largestSVG = 200_000

func newFigure(p *plot.Picture) figure {
	if svg := p.SVG(); len(svg) <= largestSVG {
		return figure{template.HTML(svg), p.Note()}
	}
	return figure{imageElement(p), p.Note()}
}

// regressionPage draws a report.
type regressionPage struct {
	page
	r         *Regression
	numbers   numbers
	intervals *intervals
	rows      rows
	places    *places
	value     []float64 // mean of the measurements of each node, NaN without any
}

// page draws the report.
func (r *Regression) page() (*page, error) {
	g := r.Network.Graph
	p := &regressionPage{
		r: r, numbers: numbersFor(r.Prediction.Mean, r.Prediction.SD), intervals: newIntervals(r),
		rows: newRows(g), value: measuredValues(g.Len(), r.Data),
	}
	p.page = page{
		Title:    r.Title,
		Subtitle: fmt.Sprintf("%s, %s, %s", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(r.Data.Len(), "measurements")),
		Unit:     r.Unit,
		Level:    fmt.Sprintf("%g %%", 100*r.Level),
		Mark:     "measured",
		Reading:  p.intervals.of,
		Verdict:  newVerdictPage(Summarize(r.Validation, r.Spec, r.Unit)),
	}
	p.tiles()
	m := r.Measurements
	if m == nil {
		m = &graphio.Measurements{Nodes: r.Data.Nodes, Values: r.Data.Y, Count: r.Data.Count}
	}
	p.input(r.Network, "measurements", m.Report, r.Speller)
	p.Graph = append(p.Graph, DescribeMeasurements(g, m).Lines(g.Len())...)
	p.model()
	if err := p.maps(); err != nil {
		return nil, err
	}
	p.lists()
	p.Effects = r.effectsPage()
	if r.Validation != nil {
		p.Validation = p.validation()
	}
	if t := r.AgainstTruth(); t != nil {
		p.Truth = fmt.Sprintf("The truth is known here. At the %s without a measurement the predicted mean misses it by %s (RMSE), and %s intervals of the quantity contain %.1f %% of the true values.",
			count(t.Nodes, "nodes"), threeDigits(t.RMSE).in(t.RMSE, r.Unit), p.Level, 100*t.Coverage)
	}
	p.settings()
	return &p.page, nil
}

// tiles are the figures at the top: what decides the verdict comes first.
func (p *regressionPage) tiles() {
	v := p.r.Validation
	if v != nil {
		e, of := v.JudgeError(), "RMSE"
		if e.Of != "" {
			of += " of " + e.Of
		}
		miss := threeDigits(e.RMSE)
		own := tile{miss.in(e.RMSE, p.r.Unit), "typical miss of the model (" + of + ") at held-out measurements", toneOf(e.Standing, len(v.HeldOut))}
		rule := tile{miss.in(e.BaselineRMSE, p.r.Unit), "typical miss of the best simple rule: " + ruleName(e.Baseline), ""}
		c := judged(v.JudgeCoverages())
		held := tile{fmt.Sprintf("%.0f %%", 100*c.Share), fmt.Sprintf("of held-out readings inside their %g %% intervals", 100*c.Level), "good"}
		switch {
		case c.Width == crossval.TooNarrow:
			held.Tone = "care"
		case c.Width == crossval.TooWide || len(v.HeldOut) < crossval.FewValues:
			held.Tone = "open"
		}
		p.Tiles = []tile{own, rule, held}
		switch {
		case e.Standing == crossval.Behind:
			p.Tiles = []tile{rule, own, held}
		case held.Tone == "care":
			p.Tiles = []tile{held, own, rule}
		}
	}
	if noise, of := p.r.noise(); of != "" {
		p.Tiles = append(p.Tiles, tile{threeDigits(noise).in(noise, p.r.Unit), of, ""})
	}
}

// toneOf is the style of a comparison with the best baseline.
func toneOf(s crossval.Standing, n int) string {
	switch {
	case s == crossval.Behind:
		return "care"
	case s == crossval.Ahead && n >= crossval.FewValues:
		return "good"
	}
	return "open"
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

func (p *regressionPage) model() {
	r, c, add := p.r, p.r.Model.Choice(), p.Model.add
	if r.Time != "" {
		add("time", "%s", r.Time)
	}
	add("kernel", "%s", KernelName(c.Family, c.Terms))
	add("representation", "%s", c.Method)
	if c.Device != "" {
		add("computed on", "%s", c.Device)
	}
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
		add(name, "%s, for standardized values", short(c.Fit.Theta[k]))
	}
	if r.Spec.Values != "" {
		add("what is measured", "%s", r.Spec.Values)
	}
	if r.Spec.Transform != "" {
		add("transform", "%s", r.Spec.Transform)
	}
	if noise, of := r.noise(); of != "" {
		add(of, "%s", threeDigits(noise).in(noise, r.Unit))
	}
	if phi := c.Fit.Shape.Dispersion; phi > 0 {
		add("dispersion of counts (φ)", "%s: the variance of a count of mean μ is μ + φμ²", short(phi))
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

// lists are the nodes that readers ask for first.
func (p *regressionPage) lists() {
	list := func(id, title, note string, nodes []int) {
		l := nodeList{ID: id, Title: title, Note: note}
		for _, i := range nodes {
			l.Rows = append(l.Rows, p.row(i))
		}
		p.Lists = append(p.Lists, l)
	}
	list("highest", "Highest predicted", "Nodes of highest predicted mean.", p.r.highest())
	list("lowest", "Lowest predicted", "Nodes of lowest predicted mean.", p.r.lowest())
	list("uncertain", "Most uncertain", "Nodes of largest standard deviation: where a measurement would teach most about the node itself.", p.r.MostUncertain())
}

// row describes the prediction of node i.
func (p *regressionPage) row(i int) nodeRow {
	row, write := p.name(i), p.numbers.text
	row.Mean, row.SD = write(p.r.Prediction.Mean[i]), write(p.r.Prediction.SD[i])
	lower, upper := p.intervals.quantity(i)
	row.Lower, row.Upper = write(lower), write(upper)
	if p.intervals.whole {
		write = numbers{0}.text
	}
	lower, upper = p.intervals.reading(i)
	row.ReadingLower, row.ReadingUpper = write(lower), write(upper)
	if row.Measured = p.numbers.text(p.value[i]); p.value[i] != p.value[i] {
		row.Measured = ""
	}
	return row
}

func (p *regressionPage) name(i int) nodeRow {
	id, label := nodeName(p.r.Network, i)
	return nodeRow{Row: p.rows.of[i], Node: id, Label: label}
}

// nodeName returns the id of a node and its name in the node table, if it has one.
func nodeName(net *graphio.Network, i int) (id, label string) {
	if nodes := net.Nodes; nodes != nil && nodes.Name != nil {
		label = nodes.Name[i]
	}
	return net.Graph.IDs().At(i), label
}

func (p *regressionPage) validation() *validationPage {
	v := p.r.Validation
	all := &validationPage{Verdicts: Verdicts(v), Learned: v.Learned}
	bars := []plot.Bar{{Name: "this model", Value: v.RMSE, SE: v.RMSESE}}
	for _, name := range crossval.InOrder(v.BaselineRMSE) {
		bars = append(bars, plot.Bar{Name: string(name), Value: v.BaselineRMSE[name]})
	}
	all.Bars = newFigure(plot.Bars("Error at held-out measurements (RMSE)", p.r.Unit, bars))
	left, pits := make([]plot.HeldOut, len(v.HeldOut)), make([]float64, len(v.HeldOut))
	for k, l := range v.HeldOut {
		left[k], pits[k] = plot.HeldOut{Measured: l.Value, Predicted: l.Mean, SD: l.SD}, l.PIT
	}
	all.Plots = []figure{
		newFigure(plot.Residuals("Predicted against measured", p.r.Quantity, left)),
		newFigure(plot.Calibration("Coverage of intervals", pits)),
		newFigure(plot.PIT("Probability integral transform (PIT)", pits)),
	}
	for _, c := range v.Coverage {
		all.Coverage.add(fmt.Sprintf("%g %%", 100*c.Level), "%.1f %%", 100*c.Share)
	}
	for _, l := range p.r.residuals() {
		row := p.name(l.Node)
		row.Value, row.Mean, row.SD = p.numbers.text(l.Value), p.numbers.text(l.Mean), p.numbers.text(l.SD)
		row.Difference, row.Surprises = p.numbers.text(l.Value-l.Mean), numbers{1}.text(inSDs(l))
		all.Residuals = append(all.Residuals, row)
	}
	return all
}

func (p *regressionPage) settings() {
	add := p.Settings.add
	add("seed", "%d: it determines folds, layouts and random walks", p.r.Spec.Seed)
	add("requested model", "%s", specText(p.r.Spec))
	add("level of intervals", "%s", p.Level)
	if v := p.r.Validation; v != nil {
		add("validation", "%d folds, %s", v.Folds, v.Scheme)
	}
	add("version", "%s", p.r.Program)
	p.Terms = valueTerms
}

// specText lists what was asked of a model; all else was chosen.
func specText(s grfgp.Spec) string {
	text, err := json.Marshal(s)
	if err != nil { // numbers of a checked Spec are finite
		return err.Error()
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return err.Error()
	}
	delete(fields, "seed")
	var all []string
	for name, value := range fields {
		all = append(all, fmt.Sprintf("%s: %v", strings.ReplaceAll(name, "_", " "), value))
	}
	if len(all) == 0 {
		return "nothing: all was chosen automatically"
	}
	slices.Sort(all)
	return strings.Join(all, "; ")
}
