package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/table"
	"grfgp/report"
)

// labelRow is a suggestion of a node to label, in JSON.
type labelRow struct {
	Node string `json:"node"`
	nodeInfo
	Class       string  `json:"class"` // the most probable
	Probability float64 `json:"probability"`
	Entropy     float64 `json:"entropy"`
	Reduction   float64 `json:"uncertainty_reduction"` // share of the uncertainty over all nodes, given the rows before
	Cost        float64 `json:"cost"`
	Hops        *int    `json:"hops,omitempty"` // to the nearest labelled node
	Why         string  `json:"why"`

	number int // of the node
}

// labelAnswer is the answer in JSON.
type labelAnswer struct {
	Version     int               `json:"version"`
	Goal        bayesopt.Goal     `json:"goal"`
	Classifier  gp.ClassMethod    `json:"classifier"`
	Classes     []string          `json:"classes"`
	Labels      int               `json:"labels"`
	Choice      grfgp.ClassChoice `json:"choice"`
	Known       *nodeFacts        `json:"covariates,omitempty"`
	Asked       int               `json:"asked"`
	Short       bayesopt.Reason   `json:"short,omitempty"`
	ShortWhy    string            `json:"short_why,omitempty"`
	Suggestions []labelRow        `json:"suggestions"`

	known *nodeColumns
}

// suggestLabels is suggest for nodes to label.
func (a *app) suggestLabels(ctx context.Context, f *suggestFlags, spec grfgp.Spec) error {
	switch {
	case f.goal != bayesopt.Learn:
		return cli.Usagef("--goal %s needs --measurements; with --labels give --goal learn", f.goalText)
	case f.classMethod() == gp.Spreading:
		return cli.Usagef("--classifier spreading has no uncertainty to reduce; use dirichlet")
	}
	d, sites, idle, err := f.loadSites(ctx, a)
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	if idle != "" {
		t := &suggestData{net: d.net, sites: sites, idle: idle}
		if t.shown, err = f.chooseColumns(a, d.net); err != nil {
			return err
		}
		answer, err := a.ask(ctx, f, spec, t)
		if err != nil {
			return err
		}
		return a.answerSuggest(f, answer)
	}
	known, err := f.newNodeColumns(a, d.net, columnNames(labelColumns))
	if err != nil {
		return err
	}
	c, err := a.fitClasses(ctx, d, spec, f.classMethod())
	if err != nil {
		return err
	}
	s := a.Talk.Stage("suggesting")
	opts := bayesopt.LabelOptions{Allowed: d.unlabelled(sites), Pending: sites.pending, Limits: sites.limits, Budget: sites.budget,
		Seed: a.Seed, Progress: s.Work()}
	picks, short, err := bayesopt.SuggestLabels(ctx, c, f.count, opts)
	if err != nil {
		return suggestError(ctx, err)
	}
	s.Done("%d of %d nodes by expected reduction of uncertainty", len(picks), f.count)
	answer := &labelAnswer{
		Version: 1, Goal: f.goal, Classifier: f.classMethod(), Classes: d.labels.Classes, Labels: d.data.Len(),
		Choice: c.Choice(), Known: d.known, Asked: f.count, Short: short, Suggestions: d.labelRows(picks), known: known,
	}
	if short != bayesopt.Enough {
		answer.ShortWhy = labelShortWords(short, f.hasBudget)
	}
	for k := range answer.Suggestions {
		answer.Suggestions[k].nodeInfo = answer.known.info(answer.Suggestions[k].number)
	}
	return a.answerLabels(f, answer)
}

// loadSites reads the graph, the labels and the limits of the choice. Too few labels
// for a model are no error: idle says why.
func (f *suggestFlags) loadSites(ctx context.Context, a *app) (d *classData, s *sites, idle string, err error) {
	d = &classData{}
	d.net, err = f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		d.labels, err = f.readLabels(ctx, a, net.Graph, f.Of("labels", opts))
		var done []int
		switch {
		case errors.Is(err, graphio.ErrEmpty):
			idle = f.labels + " holds no labels yet"
		case err != nil:
			return err
		default:
			done = d.labels.Nodes
		}
		s, err = f.siteFlags.read(ctx, a, net, done, f.Of("nodes", opts))
		return err
	})
	if err != nil {
		return nil, nil, "", err
	}
	a.TellNetwork(d.net)
	if d.known, err = f.known(a, d.net, &f.Input, ofLabels(d.labels, f.labels)); err != nil {
		return nil, nil, "", err
	}
	if idle != "" {
		return d, s, idle, nil
	}
	f.TellValues(&a.App, d.labels.Report, f.labels, d.net)
	d.data = gp.LabelsOf(d.labels)
	var what *graphio.Error
	if err := d.labels.Enough(); errors.As(err, &what) {
		idle = what.What
		s.excluded = append(s.excluded, d.labels.Nodes...)
	}
	return d, s, idle, nil
}

// unlabelled returns the nodes that may be suggested.
func (d *classData) unlabelled(s *sites) []int {
	may := make([]bool, d.net.Graph.Len())
	for i := range may {
		may[i] = s.allowed == nil
	}
	for _, i := range s.allowed {
		may[i] = true
	}
	for _, i := range slices.Concat(d.data.Nodes, s.excluded, s.pending) {
		may[i] = false
	}
	var nodes []int
	for i, ok := range may {
		if ok {
			nodes = append(nodes, i)
		}
	}
	return nodes
}

func (d *classData) labelRows(picks []bayesopt.LabelSuggestion) []labelRow {
	hops := d.net.Graph.Hops(d.data.Nodes)
	rows := make([]labelRow, len(picks))
	for k, p := range picks {
		best := report.MostProbable(p.Probabilities)
		r := &rows[k]
		*r = labelRow{
			number: p.Node, Node: d.net.Graph.IDs().At(p.Node), Class: d.labels.Classes[best], Probability: p.Probabilities[best],
			Entropy: report.Entropy(p.Probabilities), Reduction: p.Reduction, Cost: p.Cost, Why: d.whyLabel(p.Probabilities, best, hops[p.Node]),
		}
		if hops[p.Node] >= 0 {
			r.Hops = &hops[p.Node]
		}
	}
	return rows
}

// whyLabel gives the reason of a suggestion.
func (d *classData) whyLabel(p []float64, best, hops int) string {
	second := -1
	for c, v := range p {
		if c != best && (second < 0 || v > p[second]) {
			second = c
		}
	}
	switch {
	case hops < 0:
		return "no path leads to a labelled node"
	case p[best] > 0.95:
		return fmt.Sprintf("probably %q; little uncertainty is left", d.labels.Classes[best])
	}
	return fmt.Sprintf("%q or %q (probabilities %.2f and %.2f), correlated with other nodes", d.labels.Classes[best], d.labels.Classes[second],
		p[best], p[second])
}

// labelShortWords is shortWords for labels.
func labelShortWords(r bayesopt.Reason, budgeted bool) string {
	if r == bayesopt.NoNodesLeft {
		return "all other nodes are labelled, pending, excluded or not allowed"
	}
	return shortWords(r, budgeted)
}

// answerLabels writes the answer.
func (a *app) answerLabels(f *suggestFlags, answer *labelAnswer) error {
	return a.answerNodes(f, answer, asked{len(answer.Suggestions), answer.Asked, answer.Short, answer.ShortWhy},
		func(w io.Writer) error { return a.labelTable(w, answer) },
		func(w io.Writer) error { return f.labelFile(w, answer) })
}

// labelColumns are those of nodes to label, without those of the node table.
var labelColumns = slices.Concat([]table.Column{{Name: "node"}, {Name: "class"}},
	figures("probability", "entropy", "uncertainty_reduction", "cost"),
	[]table.Column{{Name: "hops", Kind: table.Whole}, {Name: "why"}})

// labelFile writes the suggestions in the format of the file.
func (f *suggestFlags) labelFile(w io.Writer, answer *labelAnswer) error {
	known := answer.known
	return f.writeTable(w, slices.Concat(labelColumns[:1:1], known.head(), labelColumns[1:], known.tail()), func(out table.Writer) error {
		for _, r := range answer.Suggestions {
			cells := known.appendHead([]table.Cell{table.TextCell(r.Node)}, r.number)
			cells = append(cells, table.TextCell(r.Class), table.NumberCell(r.Probability), table.NumberCell(r.Entropy),
				table.NumberCell(r.Reduction), table.NumberCell(r.Cost),
				table.WholeAt(r.Hops), table.TextCell(r.Why))
			if err := out.Write(table.Row{Cells: known.appendTail(cells, r.number), Geometry: known.geometry(r.number)}); err != nil {
				return err
			}
		}
		return nil
	})
}

func (a *app) labelTable(w io.Writer, answer *labelAnswer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "node\tmost probable\tprobability\tentropy\tuncertainty reduction\tcost\thops\treason\n")
	for _, r := range answer.Suggestions {
		hops := "–"
		if r.Hops != nil {
			hops = strconv.Itoa(*r.Hops)
		}
		fmt.Fprintf(t, "%s\t%s\t%.3f\t%.3f\t%.2g %%\t%.4g\t%s\t%s\n", r.Node, short20(r.Class), r.Probability, r.Entropy, 100*r.Reduction, r.Cost,
			hops, r.Why)
	}
	a.Talk.Say("  uncertainty: variance of the class probabilities, summed over all nodes; its reduction assumes that the nodes above are " +
		"labelled too; hops: to the nearest labelled node")
	return t.Flush()
}
