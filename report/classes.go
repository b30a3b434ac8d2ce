package report

import (
	"cmp"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/plot"
	"grfgp/internal/plural"
)

//go:embed classes.html
var classPageText string

var classPageTemplate = template.Must(template.Must(pageTemplate.Clone()).New("classes").Parse(classPageText))

// Classes is the input of a report on predicted classes.
type Classes struct {
	Title string

	Network *graphio.Network
	Labels  *graphio.ClassLabels // as they were read
	Data    gp.Labels

	Spec       grfgp.Spec // as it was asked for
	Method     gp.ClassMethod
	Choice     grfgp.ClassChoice
	Table      *ClassTable
	Validation *crossval.ClassValidation // nil: none
	Program    string                    // name and version of the program that made the report
	Speller    graphio.Speller           // of options in notes on files; zero: as in Go
}

// Write draws the maps and figures and writes the page.
func (r *Classes) Write(w io.Writer) error {
	p, err := r.page()
	if err != nil {
		return err
	}
	return classPageTemplate.Execute(w, p)
}

// ClassTable lists the classes and, in the order of the graph, the nodes.
type ClassTable struct {
	Classes []ClassCount `json:"classes"`
	Nodes   []NodeClass  `json:"nodes"`
}

// ClassCount counts the nodes of a class.
type ClassCount struct {
	Name      string `json:"name"`
	Labels    int    `json:"labels"`
	Predicted int    `json:"predicted"` // nodes without a label for which this class is the most probable
}

// NodeClass is the class of a node: that of its label or, without a label, the most
// probable class.
type NodeClass struct {
	Node          string    `json:"node"`
	Class         string    `json:"class"`
	Given         bool      `json:"given"`         // by a label
	Probabilities []float64 `json:"probabilities"` // in the order of the classes
	Entropy       float64   `json:"entropy"`       // in nats
}

// NewClassTable joins labels and probabilities; row i of p holds the probabilities
// of node i.
func NewClassTable(net *graphio.Network, names []string, labels gp.Labels, p *mat.Dense) *ClassTable {
	t := &ClassTable{Nodes: make([]NodeClass, net.Graph.Len())}
	for k, n := range labels.Counts() {
		t.Classes = append(t.Classes, ClassCount{Name: names[k], Labels: n})
	}
	given := map[int]int{}
	for k, i := range labels.Nodes {
		given[i] = labels.Class[k]
	}
	for i := range t.Nodes {
		row := p.RawRowView(i)
		class, isGiven := given[i]
		if !isGiven {
			class = MostProbable(row)
			t.Classes[class].Predicted++
		}
		t.Nodes[i] = NodeClass{net.Graph.IDs().At(i), names[class], isGiven, row, Entropy(row)}
	}
	return t
}

// MostProbable returns the class with the largest probability, the first if there
// are several.
func MostProbable(p []float64) int { return slices.Index(p, slices.Max(p)) }

// Entropy returns −Σ p log p.
func Entropy(p []float64) float64 {
	sum := 0.0
	for _, v := range p {
		if v > 0 {
			sum -= v * math.Log(v)
		}
	}
	return max(0, sum)
}

// classPage is the data of the template.
type classPage struct {
	page
	rows        rows
	Tried       []grfgp.TriedClassKernel
	Uncertain   []classNodeRow
	Classes     []ClassCount
	MoreClasses string
	Validation  *classValidationPage
}

type classNodeRow struct {
	Row                                                     int // in the data of the page
	Node, Label, Class, Chance, Other, OtherChance, Entropy string
}

type classValidationPage struct {
	Verdicts []string
	Learned  crossval.Learned
	Bars     figure
	Plots    []figure
	Doubtful []classNodeRow
}

// mostClasses is how many classes the report lists.
const mostClasses = 20

// page draws the report.
func (r *Classes) page() (*classPage, error) {
	g := r.Network.Graph
	p := &classPage{rows: newRows(g)}
	p.Title, p.Mark = r.Title, "labelled"
	p.Subtitle = fmt.Sprintf("%s, %s, %s of %s", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(r.Data.Len(), "labels"), count(r.Data.Classes, "classes"))
	p.Verdict = newVerdictPage(SummarizeClasses(r.Validation))
	if v := r.Validation; v != nil {
		p.Tiles = r.tiles(p.Verdict)
		p.Validation = r.validationPage(p.rows)
	}
	p.input(r.Network, "labels", r.Labels.Report, r.Speller)
	p.Graph.add("labelled", "%d of %d nodes (%.3g %%)", r.Data.Len(), g.Len(), 100*float64(r.Data.Len())/float64(g.Len()))
	if without := ComponentsWithout(g, r.Data.Nodes); without.Count > 0 {
		p.Graph.add("unlabelled", "components without a label: %v; probabilities there are the shares of the classes among the labels", without)
	}
	r.model(p)
	if err := r.maps(p); err != nil {
		return nil, err
	}
	for _, i := range r.MostUncertain() {
		row := r.row(p.rows, i)
		row.Class, row.Chance, row.Other, row.OtherChance = r.two(r.Table.Nodes[i].Probabilities, -1)
		row.Entropy = fmt.Sprintf("%.3f", r.Table.Nodes[i].Entropy)
		p.Uncertain = append(p.Uncertain, row)
	}
	p.Classes = r.Table.Classes[:min(len(r.Table.Classes), mostClasses)]
	if more := len(r.Table.Classes) - len(p.Classes); more > 0 {
		p.MoreClasses = fmt.Sprintf("and %d more", more)
	}
	add := p.Settings.add
	add("seed", "%d", r.Spec.Seed)
	add("classifier", "%v", r.Method)
	add("requested model", "%s", specText(r.Spec))
	if v := r.Validation; v != nil {
		add("validation", "%d folds, %s", v.Folds, v.Scheme)
	}
	add("version", "%s", r.Program)
	p.Terms = classTerms
	return p, nil
}

// tiles are the figures at the top: what decides the verdict comes first.
func (r *Classes) tiles(verdict verdictPage) []tile {
	v := r.Validation
	best := v.BestBaseline()
	own := tile{fmt.Sprintf("%.1f %%", 100*v.Accuracy), "of held-out labels predicted correctly", verdict.Tone}
	rule := tile{fmt.Sprintf("%.1f %%", 100*v.Baselines[best].Accuracy), "by the best simple rule: " + ruleName(best), ""}
	all := []tile{own, rule}
	if verdict.Trust == Careful {
		all = []tile{rule, own}
	}
	tone := "good"
	if !crossval.JudgeCalibration(v.ECE, v.Reliability).Calibrated {
		tone = "open"
	}
	return append(all,
		tile{fmt.Sprintf("%.3f", v.NLL), "mean negative log probability of the true class (NLL)", ""},
		tile{fmt.Sprintf("%.3f", v.ECE), "mean distance of probabilities from observed frequencies (ECE)", tone})
}

func (r *Classes) model(p *classPage) {
	c, add := r.Choice, p.Model.add
	add("classifier", "%v", r.Method)
	add("kernel", "%s", KernelName(c.Family, c.Terms))
	add("representation", "%s", c.Method)
	if c.Device != "" {
		add("computed on", "%s", c.Device)
	}
	add("scales", "%s", c.Scales)
	for k, name := range c.Fit.Names {
		add(name, "%s", short(c.Fit.Theta[k]))
	}
	if !c.Fit.Converged {
		add("warning", "the fit stopped after %d evaluations without converging", c.Fit.Evaluations)
	}
	p.Why = c.Why
	if len(c.Candidates) > 1 {
		p.Tried = c.Candidates
	}
}

// maps draws the class of every node and how certain it is, and collects the data of the page.
func (r *Classes) maps(p *classPage) error {
	at, err := placesOf(r.Network, r.Spec.Seed)
	if err != nil {
		return err
	}
	p.MapNotes = []string{at.note}
	number := map[string]int{}
	for c, name := range r.Labels.Classes {
		number[name] = c
	}
	n := len(r.Table.Nodes)
	class, values, probability, entropies := make([]int, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, node := range r.Table.Nodes {
		class[i], probability[i], entropies[i] = number[node.Class], node.Probabilities[number[node.Class]], node.Entropy
		values[i] = float64(class[i])
	}
	names := r.Labels.Classes
	still := at.still(r.Network.Graph)
	still.Marked, still.Mark = r.Data.Nodes, p.Mark
	classes := still
	classes.Title, classes.Values, classes.Classes = "Most probable class", values, names
	colours := plot.RobustRange(entropies, entropies)
	still.Title, still.Unit, still.Values, still.Range, still.Ramp, still.Beside = "Entropy of the class", "nats", entropies, &colours, plot.Uncertainty, names
	p.Maps = []figure{newFigure(plot.Map(classes)), newFigure(plot.Map(still))}

	data := at.data(r.Network, p.rows)
	data.Classes, data.Marked, data.Mark, data.File = names, p.rows.whole(r.Data.Nodes), p.Mark, "classes.csv"
	data.Columns = []column{
		p.rows.classes("class", "class", "class, given or most probable", class),
		p.rows.column("probability", "probability", "its probability", "share", probability),
		p.rows.column("entropy", "entropy", "entropy", "share", entropies),
		p.rows.sparse("given", "given", "given by a label (1)", "whole", r.given()),
	}
	stops := plot.ClassColors()
	if len(names) >= len(stops) {
		data.Others = "others"
	} else {
		stops = append(stops[:len(names):len(names)], stops[len(stops)-1])
	}
	data.Maps = []mapScale{{Column: "class", Title: classes.Title, Stops: stops, Classes: true, Ends: []string{}}, newMapScale("entropy", still.Title, "nats", colours, plot.Uncertainty, numbers{2})}
	p.Data, err = data.html()
	return err
}

// given is 1 at nodes whose class a label gives, and NaN at others.
func (r *Classes) given() []float64 {
	all := make([]float64, len(r.Table.Nodes))
	for i, n := range r.Table.Nodes {
		if all[i] = math.NaN(); n.Given {
			all[i] = 1
		}
	}
	return all
}

// MostUncertain returns the ten nodes without a label that have the largest
// entropy; of equal ones, the first in the file.
func (r *Classes) MostUncertain() []int {
	var nodes []int
	for _, i := range r.Network.Graph.InputOrder() {
		if !r.Table.Nodes[i].Given {
			nodes = append(nodes, i)
		}
	}
	slices.SortStableFunc(nodes, func(a, b int) int { return cmp.Compare(r.Table.Nodes[b].Entropy, r.Table.Nodes[a].Entropy) })
	return nodes[:min(len(nodes), listed)]
}

func (r *Classes) row(of rows, i int) classNodeRow {
	id, label := nodeName(r.Network, i)
	return classNodeRow{Row: of.of[i], Node: id, Label: label}
}

// two returns a class, the most probable unless one is given, and the most probable
// of the others, with their probabilities.
func (r *Classes) two(p []float64, class int) (name, chance, other, otherChance string) {
	if class < 0 {
		class = MostProbable(p)
	}
	second := -1
	for c, v := range p {
		if c != class && (second < 0 || v > p[second]) {
			second = c
		}
	}
	words := func(c int) (string, string) { return r.Labels.Classes[c], fmt.Sprintf("%.3f", p[c]) }
	name, chance = words(class)
	other, otherChance = words(second)
	return name, chance, other, otherChance
}

func (r *Classes) validationPage(of rows) *classValidationPage {
	v := r.Validation
	p := &classValidationPage{Verdicts: ClassVerdicts(v), Learned: v.Learned}
	if all := v.Confusions(); len(all) > 0 {
		names := r.Labels.Classes
		p.Verdicts = append(p.Verdicts, fmt.Sprintf("The most frequent error: %q predicted as %q, %s.", names[all[0].Class], names[all[0].Predicted], plural.Count(all[0].Count, "times")))
	}
	bars := []plot.Bar{{Name: "this model", Value: 100 * v.Accuracy, SE: 100 * v.AccuracySE}}
	for _, name := range crossval.InOrder(v.Baselines) {
		s := v.Baselines[name]
		bars = append(bars, plot.Bar{Name: string(name), Value: 100 * s.Accuracy, SE: 100 * s.AccuracySE})
	}
	p.Bars = newFigure(plot.Bars("Held-out labels predicted correctly", "%", bars))
	bins := make([]plot.Bin, len(v.Reliability))
	for k, b := range v.Reliability {
		bins[k] = plot.Bin(b)
	}
	p.Plots = []figure{
		newFigure(plot.Reliability("Reliability of probabilities", bins)),
		newFigure(plot.Confusion("Confusion matrix", r.Labels.Classes, v.Confusion)),
	}
	left := slices.Clone(v.HeldOut)
	chance := func(l crossval.HeldOutLabel) float64 { return l.Probabilities[l.Class] }
	slices.SortStableFunc(left, func(a, b crossval.HeldOutLabel) int { return cmp.Compare(chance(a), chance(b)) })
	for _, l := range left[:min(len(left), listed)] {
		row := r.row(of, l.Node)
		row.Class, row.Chance, row.Other, row.OtherChance = r.two(l.Probabilities, l.Class)
		p.Doubtful = append(p.Doubtful, row)
	}
	return p
}
