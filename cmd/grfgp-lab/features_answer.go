package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/mmap"
	"grfgp/walk"
)

// featuresAnswer is the answer in JSON.
type featuresAnswer struct {
	Version    int             `json:"version"`
	Nodes      int             `json:"nodes"`
	Edges      int             `json:"edges"`
	Input      *graphio.Report `json:"input"`
	NodesInput *graphio.Report `json:"nodes_input,omitempty"`
	Matrix     string          `json:"matrix"`
	Kernel     string          `json:"kernel,omitempty"` // not with --from
	Options    settings        `json:"options"`
	Why        []string        `json:"why,omitempty"`
	Size       walk.Size       `json:"size"`
	Estimate   *walk.Estimate  `json:"estimate,omitempty"`
	Seconds    float64         `json:"seconds"` // of sampling
	File       string          `json:"file,omitempty"`
}

// settings are the options of features under the names of the flags.
type settings struct {
	Sampler walk.Sampler `json:"sampler"`
	Steps   walk.Steps   `json:"steps"`
	Walks   int          `json:"walks"`
	Hops    int          `json:"hops"`
	Budget  int          `json:"budget"`
	Halt    float64      `json:"halt"`
	Seed    uint64       `json:"seed"`
	Lo      int          `json:"lo"`
	Hi      int          `json:"hi"`
}

func settingsOf(o walk.Options) settings {
	return settings{o.Sampler, o.Steps, o.Walks, o.MaxLen, o.Budget, o.Halt, o.Seed, o.Lo, o.Hi}
}

// answerFeatures prints the row of --show, or the summary.
func (a *app) answerFeatures(f *featuresFlags, g *graph.Graph, features *walk.Features, r *featuresAnswer) error {
	if f.show != "" {
		return a.showRow(features, g, f.show)
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	o, s, e := r.Options, r.Size, r.Estimate
	rows := float64(max(1, s.Rows))
	line("graph", "%d nodes, %d edges", r.Nodes, r.Edges)
	line("", "%s: %s", r.Input.File, r.Input.Ledger)
	line("matrix", "%s", r.Matrix)
	if r.Kernel != "" {
		line("kernel", "%s", r.Kernel)
	}
	line("sampler", "%s, %d walkers, hops 0 to %d, seed %d", o.Sampler, o.Walks, o.Hops, o.Seed)
	for _, why := range r.Why {
		line("", "%s", why)
	}
	line("entries", "%d of Φ, %.1f a row; %d values of Ψ_0 … Ψ_%d", s.Entries, float64(s.Entries)/rows, s.Values, o.Hops)
	line("size", "%s", cli.Size(s.Bytes))
	line("exact rows", "%.1f %%", 100*float64(s.ExactRows)/rows)
	switch {
	case e == nil: // not sampled in this run
	case e.Error == 0:
		line("error", "none: all %d rows sampled in the pilot run are exact", e.PilotRows)
	default:
		line("error of Φ", "%.2g (relative; 95 %% interval %.2g to %.2g, from two samples of %d rows)", e.Error, e.Low, e.High, e.PilotRows)
		var by []string
		for _, x := range e.ByLength {
			by = append(by, fmt.Sprintf("%.2g", x))
		}
		line("error of Ψ_l", "%s", strings.Join(by, " "))
	}
	if e != nil {
		line("time", "%.2f s", r.Seconds)
	}
	if r.File != "" {
		line("file", "%s", r.File)
	}
	return t.Flush()
}

// checkShown refuses a node of --show that is not among the rows.
func (f *featuresFlags) checkShown(g *graph.Graph) error {
	if f.show == "" {
		return nil
	}
	i, ok := g.IDs().Lookup([]byte(f.show))
	if !ok {
		return cli.Usagef("--show %q: the graph has no such node", f.show)
	}
	if f.rows.hi > 0 && (i < f.rows.lo || i >= f.rows.hi) {
		return cli.Usagef("--show %q: the node is row %d, not in --rows %v", f.show, i, &f.rows)
	}
	return nil
}

// showRow prints the features of one node.
func (a *app) showRow(features *walk.Features, g *graph.Graph, id string) error {
	i, _ := g.IDs().Lookup([]byte(id)) // checkShown has found it
	if lo, hi := features.Rows(); i < lo || i >= hi {
		return cli.Usagef("--show %q: the node is row %d, and the file has rows %d:%d", id, i, lo, hi)
	}
	type cell struct {
		Node   string    `json:"node"`
		Hops   []int     `json:"hops"`
		Values []float32 `json:"values"`
	}
	var cells []cell
	for e := range features.Row(i) {
		c := cell{Node: g.IDs().At(e.Node), Values: e.Values}
		for _, l := range e.Lengths {
			c.Hops = append(c.Hops, int(l))
		}
		cells = append(cells, c)
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]any{"version": 1, "node": id, "exact_to": features.ExactTo(i), "features": cells})
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "reached from %s (exact to hop %d)\thops\tvalues\n", id, features.ExactTo(i))
	for _, c := range cells {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Node, strings.Trim(fmt.Sprint(c.Hops), "[]"), strings.Trim(fmt.Sprint(c.Values), "[]"))
	}
	return t.Flush()
}

// matrixName identifies the matrix of the walks in a file of features.
func matrixName(g *graph.Graph, normalization string) string {
	hash := g.Hash()
	return normalization + " " + hex.EncodeToString(hash[:])
}

// keep saves the features, with the name of their matrix.
func (a *app) keep(ctx context.Context, features *walk.Shared, path string, g *graph.Graph, norm graph.Normalization) error {
	s := a.Talk.Stage("writing features")
	err := a.WriteFile(path, func(w io.Writer) error {
		_, err := features.Encode(ctx, w, matrixName(g, norm.String()))
		return err
	})
	if err == nil {
		s.Done("%s", path)
	}
	return err
}

// lookAt describes a file of features, which must be those of the graph.
func (a *app) lookAt(f *featuresFlags, g *graph.Graph, answer *featuresAnswer) error {
	s := a.Talk.Stage("opening features")
	file, err := mmap.Open(f.from)
	if err != nil {
		return cli.Usagef("--from: %v", err)
	}
	defer file.Close()
	features, matrix, err := walk.Decode(file.Bytes())
	if err != nil {
		return cli.Dataf("%s: %w", f.from, err)
	}
	answer.Matrix, _, _ = strings.Cut(matrix, " ")
	answer.File = f.from
	if matrix != matrixName(g, answer.Matrix) {
		return cli.Dataf("%s has features of another graph; give the files and flags that they were sampled with", f.from)
	}
	s.Done("checksums are correct, and the features are those of this graph")
	answer.Options, answer.Size = settingsOf(features.Options()), features.Size()
	return a.answerFeatures(f, g, features, answer)
}
