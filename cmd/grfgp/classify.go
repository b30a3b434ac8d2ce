package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/internal/cli"
	"grfgp/internal/table"
	"grfgp/report"
)

// classifyFlags are the flags of the verb.
type classifyFlags struct {
	cli.Input
	labelFlags
	modelFlags
	resultFlags
}

func classifyVerb(a *app) *cobra.Command {
	var f classifyFlags
	cmd := &cobra.Command{
		Use:   "classify --edges FILE --labels FILE",
		Short: "Predict the class of every node, with probabilities",
		Long: `Classify learns from the labels of some nodes and writes a row per node: node, label
and coordinates if --nodes has them, class, given, the probability of each class as p_CLASS, and the entropy of the
probabilities in nats. A labelled node keeps its class (given = true); any other
node gets its most probable class. The probabilities are those of the model, also at
labelled nodes. --keep repeats columns of --nodes, and the file of -o is CSV, GeoJSON
or Parquet by its extension.

A label is a node and a class. Nodes without a label, or with an empty one, are
predicted. Classes are names, even if they look like numbers; to predict numbers,
use grfgp predict.

Classifiers: dirichlet (Gaussian process regression on Dirichlet labels, the
default, for any size), one-vs-all (regression for each class, the fastest),
variational and robustmax (sparse variational inference with the softmax or the
robust-max likelihood), and spreading (label spreading, a baseline). Probabilities
are calibrated by leave-one-out predictions of the labels.`,
		Example: `  grfgp classify --edges citations.csv --labels topics.csv -o classes.csv
  grfgp classify --edges citations.csv --labels topics.csv --classifier one-vs-all --json`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.classify(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	f.Input.Flags(cmd)
	f.labelFlags.flags(cmd)
	f.kernelFlags(cmd)
	f.device.flag(cmd)
	f.resultFlags.flags(cmd, "classes", "CSV on standard output")
	return cmd
}

func (a *app) classify(ctx context.Context, f *classifyFlags, changed func(string) bool) error {
	spec := f.kernelSpec(a)
	if err := checkSpec(spec); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if err := f.resultFlags.check(a); err != nil {
		return err
	}
	f.Input.Keep = f.keepNames()
	d, err := f.loadLabels(ctx, a, &f.Input, &f.covariateFlags)
	if err != nil {
		return err
	}
	known, err := f.newNodeColumns(a, d.net, columnNames(classColumns(d.labels.Classes)))
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	c, err := a.fitClasses(ctx, d, spec, f.classMethod())
	if err != nil {
		return err
	}
	classes, err := a.classTable(ctx, d, c)
	if err != nil {
		return err
	}
	choice := c.Choice()
	a.tellReasons(choice.Why, choice.Cautions) // of probabilities
	answer := &classifyAnswer{Version: 1, Classifier: f.classMethod(), Classes: classes.Classes, Choice: choice, Known: d.known, known: known}
	for _, i := range d.net.Graph.InputOrder() {
		answer.Nodes = append(answer.Nodes, classRow{classes.Nodes[i], nodeInfo{}, i})
	}
	a.Talk.Say("  nodes without a label: %s", d.tally(answer.predicted()))
	a.sayOdd(d, c)
	if f.out == "" {
		return a.writeClasses(a.Out, f, answer)
	}
	answer.known.tellPlaces(a, table.FormatOf(f.out), d.net.Graph.Len())
	if err := a.WriteFile(f.out, func(w io.Writer) error { return a.writeClasses(w, f, answer) }); err != nil {
		return err
	}
	a.Talk.Say("the classes are in %s", f.out)
	return nil
}

// classTable predicts the class of every node.
func (a *app) classTable(ctx context.Context, d *classData, c *grfgp.Classification) (*report.ClassTable, error) {
	s := a.Talk.Stage("predicting")
	p, err := c.ProbabilitiesProgress(ctx, d.net.Graph.Nodes(), s.Work())
	if err != nil {
		return nil, fitError(ctx, err)
	}
	t := report.NewClassTable(d.net, d.labels.Classes, d.data, p)
	s.Done("%d nodes", len(t.Nodes))
	return t, nil
}

// classifyAnswer is the answer in JSON.
type classifyAnswer struct {
	Version    int                 `json:"version"`
	Classifier gp.ClassMethod      `json:"classifier"`
	Classes    []report.ClassCount `json:"classes"`
	Choice     grfgp.ClassChoice   `json:"choice"`
	Known      *nodeFacts          `json:"covariates,omitempty"`
	Nodes      []classRow          `json:"nodes"`

	known *nodeColumns
}

// classRow is a node in JSON.
type classRow struct {
	report.NodeClass
	nodeInfo
	number int // of the node
}

func (r *classifyAnswer) predicted() []int {
	counts := make([]int, len(r.Classes))
	for k, c := range r.Classes {
		counts[k] = c.Predicted
	}
	return counts
}

// sayOdd names the labels of least leave-one-out probability.
func (a *app) sayOdd(d *classData, c *grfgp.Classification) {
	const most, odd = 3, 0.05
	left := c.LeaveOneOut()
	if left == nil {
		return
	}
	chance := func(k int) float64 { return left.At(k, d.data.Class[k]) }
	var found []int
	counts := d.data.Counts()
	for k := range d.data.Nodes {
		if counts[d.data.Class[k]] > 1 && chance(k) < odd { // nothing is known of a class without its only label
			found = append(found, k)
		}
	}
	if len(found) == 0 {
		return
	}
	slices.SortStableFunc(found, func(x, y int) int { return cmp.Compare(chance(x), chance(y)) })
	var words []string
	for _, k := range found[:min(most, len(found))] {
		words = append(words, fmt.Sprintf("node %q, %q with probability %.2g", d.net.Graph.IDs().At(d.data.Nodes[k]),
			d.labels.Classes[d.data.Class[k]], chance(k)))
	}
	a.Talk.Say("  labels with a leave-one-out probability below %g: %d; check %s", odd, len(found), strings.Join(words, "; "))
}

// classColumns returns those of a table of classes, without those of the node table.
func classColumns(classes []string) []table.Column {
	all := []table.Column{{Name: "node"}, {Name: "class"}, {Name: "given", Kind: table.Truth}}
	for _, name := range classes {
		all = append(all, figures("p_"+name)...)
	}
	return append(all, figures("entropy")...)
}

func (a *app) writeClasses(w io.Writer, f *classifyFlags, answer *classifyAnswer) error {
	known := answer.known
	names := make([]string, len(answer.Classes))
	for k, c := range answer.Classes {
		names[k] = c.Name
	}
	if a.JSON {
		for k := range answer.Nodes {
			answer.Nodes[k].nodeInfo = known.info(answer.Nodes[k].number)
		}
		return table.Compress(w, f.out, func(w io.Writer) error { return json.NewEncoder(w).Encode(answer) })
	}
	columns := classColumns(names)
	return f.writeTable(w, slices.Concat(columns[:1:1], known.head(), columns[1:], known.tail()), func(out table.Writer) error {
		var cells []table.Cell
		for _, n := range answer.Nodes {
			cells = known.appendHead(append(cells[:0], table.TextCell(n.Node)), n.number)
			cells = append(cells, table.TextCell(n.Class), table.TruthCell(n.Given))
			for _, p := range n.Probabilities {
				cells = append(cells, table.NumberCell(p))
			}
			cells = known.appendTail(append(cells, table.NumberCell(n.Entropy)), n.number)
			if err := out.Write(table.Row{Cells: cells, Geometry: known.geometry(n.number)}); err != nil {
				return err
			}
		}
		return nil
	})
}
