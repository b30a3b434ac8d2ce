package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/chart"
)

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
	return p.write(w)
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

// classPage draws a report.
type classPage struct {
	page
	r    *Classes
	rows rows
}

// page draws the report.
func (r *Classes) page() (*classPage, error) {
	g := r.Network.Graph
	p := &classPage{r: r, rows: newRows(g)}
	p.Title, p.Mark = r.Title, "labelled"
	p.Subtitle = fmt.Sprintf("%s, %s, %s of %s", count(g.Len(), "nodes"), count(g.Edges(), "edges"), count(r.Data.Len(), "labels"),
		count(r.Data.Classes, "classes"))
	p.Verdict = SummarizeClasses(r.Validation)
	if r.Validation != nil {
		p.Tiles = r.tiles(p.Verdict.Trust)
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
func (r *Classes) tiles(trust Trust) []tile {
	v := r.Validation
	best := v.BestBaseline()
	own := tile{fmt.Sprintf("%.1f %%", 100*v.Accuracy), "of held-out labels predicted correctly", trust.tone()}
	rule := tile{fmt.Sprintf("%.1f %%", 100*v.Baselines[best].Accuracy), "by the best simple rule: " + ruleName(best), ""}
	all := []tile{own, rule}
	if trust == Careful {
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
	colours := chart.RobustRange(entropies, entropies)
	still.Title, still.Unit, still.Values, still.Range, still.Ramp, still.Beside = "Entropy of the class", "nats", entropies, colours,
		chart.Uncertainty, names
	p.Maps = []figure{newFigure(chart.Map(classes)), newFigure(chart.Map(still))}

	data := at.data(r.Network, p.rows)
	data.Classes, data.Marked, data.Mark, data.File = names, p.rows.whole(r.Data.Nodes), p.Mark, "classes.csv"
	data.Columns = []column{
		p.rows.classes("class", "class", "class, given or most probable", class),
		p.rows.column("probability", "probability", "its probability", "share", probability),
		p.rows.column("entropy", "entropy", "entropy", "share", entropies),
		p.rows.sparse("given", "given", "given by a label (1)", "whole", r.given()),
	}
	stops := chart.Classes
	if len(names) >= len(stops) {
		data.Others = "others"
	} else {
		stops = append(stops[:len(names):len(names)], stops[len(stops)-1])
	}
	data.Maps = []mapScale{{Column: "class", Title: classes.Title, Stops: stops, Classes: true, Ends: []string{}},
		newMapScale("entropy", still.Title, "nats", colours, chart.Uncertainty, numbers{2})}
	p.Data, err = asJSON(data)
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
