package report

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/graphio"
)

// regressionPage draws a report.
type regressionPage struct {
	page
	r         *Regression
	level     string // of intervals
	numbers   numbers
	intervals *intervals
	rows      rows
	places    *places
	value     []float64 // mean of the measurements of each node, NaN without any
}

// page draws the report.
func (r *Regression) page() (*regressionPage, error) {
	g := r.Network.Graph
	p := &regressionPage{
		r: r, numbers: numbersFor(r.Prediction.Mean, r.Prediction.SD), intervals: newIntervals(r),
		level: fmt.Sprintf("%g %%", 100*r.Level), rows: newRows(g), value: measuredValues(g.Len(), r.Data),
	}
	p.page = page{
		Title:    r.Title,
		Subtitle: fmt.Sprintf("%s, %s, %s", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(r.Data.Len(), "measurements")),
		Mark:     "measured",
		Verdict:  Summarize(r.Validation, r.Spec, r.Unit),
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
	p.settings()
	return p, nil
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
		own := tile{miss.in(e.RMSE, p.r.Unit), "typical miss of the model (" + of + ") at held-out measurements",
			toneOf(e.Standing, len(v.HeldOut))}
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
	about := r.Spec.About()
	if !about.Noisy {
		return 0, ""
	}
	if r.Spec.Transform != "" {
		of = ", transform " + r.Spec.Transform
	}
	return r.Model.NoiseSD(), "noise of a measurement (" + about.Noise + of + ")"
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
}

// row describes the prediction of node i, in cells of a table.
func (p *regressionPage) row(i int) []markup {
	number, reading, measured := p.numbers.text, p.numbers.text, ""
	if p.intervals.whole {
		reading = numbers{0}.text
	}
	if v := p.value[i]; !math.IsNaN(v) {
		measured = number(v)
	}
	lower, upper := p.intervals.quantity(i)
	from, to := p.intervals.reading(i)
	return cells(p.rows.cell(p.r.Network, i), number(p.r.Prediction.Mean[i]), number(p.r.Prediction.SD[i]), number(lower), number(upper),
		reading(from), reading(to), measured)
}

func (p *regressionPage) settings() {
	add := p.Settings.add
	add("seed", "%d: it determines folds, layouts and random walks", p.r.Spec.Seed)
	add("requested model", "%s", specText(p.r.Spec))
	add("level of intervals", "%s", p.level)
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
