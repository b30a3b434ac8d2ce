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
func (r *Classes) Write(w io.Writer) error { return classPageTemplate.Execute(w, r.page()) }

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
	Tried       []grfgp.TriedClassKernel
	Uncertain   []classNodeRow
	Classes     []ClassCount
	MoreClasses string
	Validation  *classValidationPage
}

type classNodeRow struct {
	Node, Label, Class, Chance, Other, OtherChance, Entropy string
}

type classValidationPage struct {
	Verdicts []string
	Bars     figure
	Plots    []figure
	Doubtful []classNodeRow
}

// mostClasses is how many classes the report lists.
const mostClasses = 20

// page draws the report.
func (r *Classes) page() *classPage {
	g := r.Network.Graph
	p := &classPage{}
	p.Title = r.Title
	p.Subtitle = fmt.Sprintf("%s, %s, %s of %s", plural.Count(g.Len(), "nodes"), plural.Count(g.Edges(), "edges"), plural.Count(r.Data.Len(), "labels"), plural.Count(r.Data.Classes, "classes"))
	if v := r.Validation; v != nil {
		rule := v.BestBaseline()
		p.Tiles = []tile{
			{fmt.Sprintf("%.1f %%", 100*v.Accuracy), "of held-out labels predicted correctly"},
			{fmt.Sprintf("%.1f %%", 100*v.Baselines[rule].Accuracy), "by the best baseline: " + string(rule)},
			{fmt.Sprintf("%.3f", v.NLL), "mean negative log probability of the true class (NLL)"},
			{fmt.Sprintf("%.3f", v.ECE), "mean distance of probabilities from observed frequencies (ECE)"},
		}
		p.Validation = r.validationPage()
	}
	p.input(r.Network, "labels", r.Labels.Report, r.Speller)
	p.Graph.add("labelled", "%d of %d nodes (%.3g %%)", r.Data.Len(), g.Len(), 100*float64(r.Data.Len())/float64(g.Len()))
	if without := ComponentsWithout(g, r.Data.Nodes); without.Count > 0 {
		p.Graph.add("unlabelled", "components without a label: %v; probabilities there are the shares of the classes among the labels", without)
	}
	r.model(p)
	r.maps(p)
	for _, i := range r.MostUncertain() {
		row := r.row(i)
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
	return p
}

func (r *Classes) model(p *classPage) {
	c, add := r.Choice, p.Model.add
	add("classifier", "%v", r.Method)
	add("kernel", "%s", KernelName(c.Family, c.Terms))
	add("representation", "%s", c.Method)
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

// maps draws the class of every node and how certain it is.
func (r *Classes) maps(p *classPage) {
	at, note := positions(r.Network, r.Spec.Seed)
	p.MapNote = note
	number := map[string]int{}
	for c, name := range r.Labels.Classes {
		number[name] = c
	}
	class, entropies := make([]float64, len(r.Table.Nodes)), make([]float64, len(r.Table.Nodes))
	for i, n := range r.Table.Nodes {
		class[i], entropies[i] = float64(number[n.Class]), n.Entropy
	}
	data := plot.MapData{X: at.X, Y: at.Y, Edges: edges(r.Network.Graph), Marked: r.Data.Nodes, Mark: "labelled"}
	classes := data
	classes.Title, classes.Values, classes.Classes = "Most probable class", class, r.Labels.Classes
	data.Title, data.Unit, data.Values = "Entropy of the class", "nats", entropies
	p.Maps = []figure{newFigure(plot.Map(classes)), newFigure(plot.Map(data))}
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

func (r *Classes) row(i int) classNodeRow {
	id, label := nodeName(r.Network, i)
	return classNodeRow{Node: id, Label: label}
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

func (r *Classes) validationPage() *classValidationPage {
	v := r.Validation
	p := &classValidationPage{Verdicts: ClassVerdicts(v)}
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
		row := r.row(l.Node)
		row.Class, row.Chance, row.Other, row.OtherChance = r.two(l.Probabilities, l.Class)
		p.Doubtful = append(p.Doubtful, row)
	}
	return p
}
