package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/report"
)

// classifyFlags are the flags of the verb.
type classifyFlags struct {
	input
	labelFlags
	modelFlags
	out string
}

func classifyVerb(a *app) *cobra.Command {
	var f classifyFlags
	cmd := &cobra.Command{
		Use:   "classify --edges FILE --labels FILE",
		Short: "Predict the class of every node, with probabilities",
		Long: `Classify learns from the labels of some nodes and writes a row per node: node,
class, given, the probability of each class as p_CLASS, and the entropy of the
probabilities in nats. A labelled node keeps its class (given = true); any other
node gets its most probable class. The probabilities are those of the model, also at
labelled nodes.

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
	f.input.flags(cmd)
	f.labelFlags.flags(cmd)
	f.kernelFlags(cmd)
	cmd.Flags().StringVarP(&f.out, "out", "o", "", "`file` for the classes (default: standard output)")
	return cmd
}

func (a *app) classify(ctx context.Context, f *classifyFlags, changed func(string) bool) error {
	spec := f.kernelSpec(a)
	if err := checkSpec(spec); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	d, err := f.loadLabels(ctx, a, &f.input, &f.covariateFlags)
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	c, err := a.fitClasses(ctx, d, spec, f.classMethod())
	if err != nil {
		return err
	}
	table, err := a.classTable(ctx, d, c)
	if err != nil {
		return err
	}
	answer := &classifyAnswer{1, f.classMethod(), table.Classes, c.Choice(), d.known, inputOrder(d.net.Graph, table.Nodes)}
	a.talk.Say("  nodes without a label: %s", d.tally(answer.predicted()))
	a.sayOdd(d, c)
	if f.out == "" {
		return a.writeClasses(a.Out, answer)
	}
	if err := writeFile(f.out, func(w io.Writer) error { return a.writeClasses(w, answer) }); err != nil {
		return err
	}
	a.talk.Say("the classes are in %s", f.out)
	return nil
}

// classTable predicts the class of every node.
func (a *app) classTable(ctx context.Context, d *classData, c *grfgp.Classification) (*report.ClassTable, error) {
	s := a.talk.Stage("predicting")
	p, err := c.ProbabilitiesProgress(ctx, d.net.Graph.Nodes(), s.Work())
	if err != nil {
		return nil, fitError(ctx, err)
	}
	t := report.NewClassTable(d.net, d.labels.Classes, d.data, p)
	s.Done("%d nodes", len(t.Nodes))
	return t, nil
}

// inputOrder returns rows, one for each node, in the order of the user's file.
func inputOrder[R any](g *graph.Graph, rows []R) []R {
	ordered := make([]R, len(rows))
	for k, i := range g.InputOrder() {
		ordered[k] = rows[i]
	}
	return ordered
}

// classifyAnswer is the answer in JSON.
type classifyAnswer struct {
	Version    int                 `json:"version"`
	Classifier gp.ClassMethod      `json:"classifier"`
	Classes    []report.ClassCount `json:"classes"`
	Choice     grfgp.ClassChoice   `json:"choice"`
	Known      *nodeFacts          `json:"covariates,omitempty"`
	Nodes      []report.NodeClass  `json:"nodes"`
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
		words = append(words, fmt.Sprintf("node %q, %q with probability %.2g", d.net.Graph.IDs().At(d.data.Nodes[k]), d.labels.Classes[d.data.Class[k]], chance(k)))
	}
	a.talk.Say("  labels with a leave-one-out probability below %g: %d; check %s", odd, len(found), strings.Join(words, "; "))
}

func (a *app) writeClasses(w io.Writer, answer *classifyAnswer) error {
	if a.json {
		return json.NewEncoder(w).Encode(answer)
	}
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	row := []string{"node", "class", "given"}
	for _, c := range answer.Classes {
		row = append(row, "p_"+c.Name)
	}
	if err := out.Write(append(row, "entropy")); err != nil {
		return err
	}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	for _, n := range answer.Nodes {
		row = append(row[:0], n.Node, n.Class, strconv.FormatBool(n.Given))
		for _, p := range n.Probabilities {
			row = append(row, number(p))
		}
		if err := out.Write(append(row, number(n.Entropy))); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}
