package main

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// featuresFlags are the flags of the verb.
type featuresFlags struct {
	input
	out       string
	normalize string
	family    string
	beta      float64
	nu, kappa float64
	sampler   walk.Sampler
	steps     walk.Steps
	hops      int
	walks     int
	budget    int
	halt      float64
	wanted    float64
	memory    size
	rows      string
	show      string
}

const (
	defaultBeta  = 2.0
	defaultError = 0.05
	kernelTail   = 1e-3 // share of a kernel that hops may leave out
	pilotRows    = 128
)

func featuresVerb(a *app) *cobra.Command {
	var f featuresFlags
	cmd := &cobra.Command{
		Use:   "features --edges FILE [-o FILE]",
		Short: "Build the sparse random features of a graph, with their measured error",
		Long: `Features samples, for every node, the sparse rows of Ψ_0 … Ψ_L whose
combinations Φ = Σ f_l Ψ_l give kernels ΦΦᵀ, and says how large, how exact and
how far off they are. Lengths follow from the kernel's reach, walkers from the
wanted error and the memory; each can be set instead.`,
		Example: `  grfgp features --edges roads.csv.gz -o roads.grf
  grfgp features --edges com-youtube.ungraph.txt.gz --beta 10 --error 0.1
  grfgp features --edges e.csv --sampler independent --steps uniform --walks 1000 --hops 3`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.features(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.input.flags(flags)
	d := walk.Default()
	flags.StringVarP(&f.out, "out", "o", "", "`file` to keep the features in")
	flags.StringVar(&f.normalize, "matrix", graph.NormalizedAdjacency.String(), "what is walked on: normalized-adjacency, normalized-laplacian, raw-adjacency or raw-diffusion")
	flags.StringVar(&f.family, "kernel", "diffusion", "kernel whose reach and error count: diffusion or matern")
	flags.Float64Var(&f.beta, "beta", defaultBeta, "length scale β of the diffusion kernel exp(−β(I−W))")
	flags.Float64Var(&f.nu, "nu", 1.5, "smoothness ν of the Matérn kernel")
	flags.Float64Var(&f.kappa, "kappa", 1, "length scale κ of the Matérn kernel")
	flags.TextVar(&f.sampler, "sampler", d.Sampler, "repelling (exact, then walkers that keep apart), independent (the paper's) or ad-hoc (its ablation)")
	flags.TextVar(&f.steps, "steps", d.Steps, "steps of walkers: proportional to weights, or uniform (the paper's)")
	flags.IntVar(&f.hops, "hops", 0, "longest length kept (default: what carries all but 0.1 % of the kernel)")
	flags.IntVar(&f.walks, "walks", 0, "walkers per node (default: what reaches --error within --memory)")
	flags.IntVar(&f.budget, "budget", 0, "repelling: most nodes of an exact length (default: twice the walkers)")
	flags.Float64Var(&f.halt, "halt", d.Halt, "independent and ad-hoc: chance that a walk ends before each step")
	flags.Float64Var(&f.wanted, "error", defaultError, "wanted relative error of the features")
	flags.Var(&f.memory, "memory", "most memory for the features (default: 80 % of what is free)")
	flags.StringVar(&f.rows, "rows", "", "only start nodes `LO:HI` in the stored order, as one shard of several")
	flags.StringVar(&f.show, "show", "", "print the features of one `node` instead of the summary")
	complete(cmd, "kernel", "diffusion", "matern")
	complete(cmd, "sampler", walk.Repelling.String(), walk.Independent.String(), walk.AdHoc.String())
	complete(cmd, "steps", walk.Proportional.String(), walk.Uniform.String())
	complete(cmd, "matrix", graph.NormalizedAdjacency.String(), graph.NormalizedLaplacian.String(), graph.RawAdjacency.String(), graph.RawDiffusion.String())
	f.input.complete(cmd)
	return cmd
}

// featuresAnswer is the answer in JSON.
type featuresAnswer struct {
	Version  int             `json:"version"`
	Nodes    int             `json:"nodes"`
	Edges    int             `json:"edges"`
	Input    *graphio.Report `json:"input"`
	Matrix   string          `json:"matrix"`
	Kernel   string          `json:"kernel"`
	Options  walk.Options    `json:"options"`
	Why      []string        `json:"why"`
	Size     walk.Size       `json:"size"`
	Estimate walk.Estimate   `json:"estimate"`
	Seconds  float64         `json:"seconds"`
	File     string          `json:"file,omitempty"`
}

func (a *app) features(ctx context.Context, f *featuresFlags, changed func(string) bool) error {
	m, theta, err := f.modulation()
	if err != nil {
		return err
	}
	norm, err := graph.ParseNormalization(f.normalize)
	if err != nil {
		return usagef("--matrix: %v", err)
	}
	net, err := f.load(ctx, a)
	if err != nil {
		return err
	}
	g, err := a.ordered(net.Graph)
	if err != nil {
		return err
	}
	w := g.Normalized(norm)
	opts := walk.Options{
		Sampler: f.sampler, Steps: f.steps, Walks: f.walks, Halt: f.halt, MaxLen: f.hops,
		Seed: a.seed, Scale: g.WalkScale(norm),
	}
	if !changed("walks") {
		opts.Walks = walk.Default().Walks // until Tune knows better
	}
	if err := f.shard(&opts, g.Len()); err != nil {
		return err
	}
	answer := featuresAnswer{Version: 1, Nodes: g.Len(), Edges: g.Edges(), Input: net.Report, Matrix: norm.String(), Kernel: describe(m, theta), File: f.out}
	if !changed("hops") {
		var carried float64
		opts.MaxLen, carried = kernel.Hops(m, theta, kernelTail, walk.MaxMaxLen)
		answer.Why = append(answer.Why, fmt.Sprintf("hops 0 to %d carry %.4g %% of the kernel", opts.MaxLen, 100*carried))
	}
	coeff := make([]float64, opts.MaxLen+1)
	m.Coeffs(coeff, theta)
	if err := a.settle(ctx, f, w, coeff, changed, &opts, &answer); err != nil {
		return err
	}
	answer.Options = opts

	s := a.talk.Stage("sampling features")
	start := time.Now()
	features, err := walk.SampleProgress(ctx, w, opts, s.Update)
	if err != nil {
		return err
	}
	answer.Seconds = time.Since(start).Seconds()
	answer.Size = features.Size()
	s.Done("%d entries, %s", answer.Size.Entries, size(answer.Size.Bytes))
	if f.out != "" {
		if err := a.keep(features, f.out, g, norm); err != nil {
			return err
		}
	}
	if f.show != "" {
		return a.showRow(features, g, f.show)
	}
	return a.answerFeatures(&answer)
}

// modulation returns the kernel that the flags name and its length scale.
func (f *featuresFlags) modulation() (kernel.Modulation, []float64, error) {
	switch f.family {
	case "diffusion":
		if !(f.beta >= 0 && f.beta < 1e6) {
			return nil, nil, usagef("--beta %v: give a number from 0 to a million", f.beta)
		}
		return kernel.Diffusion{}, []float64{1, f.beta}, nil
	case "matern":
		if !(f.nu > 0 && f.nu < 1e3) || !(f.kappa > 0 && f.kappa < 1e6) {
			return nil, nil, usagef("--nu %v and --kappa %v must be positive", f.nu, f.kappa)
		}
		return kernel.Matern{Nu: f.nu}, []float64{1, f.kappa}, nil
	}
	return nil, nil, usagef("--kernel %q: give diffusion or matern", f.family)
}

func describe(m kernel.Modulation, theta []float64) string {
	if _, ok := m.(kernel.Diffusion); ok {
		return fmt.Sprintf("%v, β = %g", m, theta[1])
	}
	return fmt.Sprintf("%v, κ = %g", m, theta[1])
}

// shard sets the rows of --rows.
func (f *featuresFlags) shard(opts *walk.Options, n int) error {
	if f.rows == "" {
		return nil
	}
	if k, err := fmt.Sscanf(f.rows, "%d:%d", &opts.Lo, &opts.Hi); k != 2 || err != nil || opts.Lo < 0 || opts.Hi <= opts.Lo || opts.Hi > n {
		return usagef("--rows %q: give LO:HI with 0 ≤ LO < HI ≤ %d", f.rows, n)
	}
	return nil
}

// ordered renumbers the nodes so that neighbours are near each other in memory.
// Labels go along, so nothing that is printed shows it.
func (a *app) ordered(g *graph.Graph) (*graph.Graph, error) {
	s := a.talk.Stage("ordering nodes")
	g, err := g.Permute(g.Order())
	if err == nil {
		s.Done("neighbours are near each other in memory")
	}
	return g, err
}

// settle chooses what the flags leave open, estimates cost and error by a pilot
// run, and refuses what does not fit.
func (a *app) settle(ctx context.Context, f *featuresFlags, w *sparse.CSR, coeff []float64, changed func(string) bool, opts *walk.Options, answer *featuresAnswer) (err error) {
	limit := f.memory.most()
	s := a.talk.Stage("pilot run")
	switch {
	case changed("walks"):
		opts.Budget = 2 * opts.Walks
		if changed("budget") {
			opts.Budget = f.budget
		}
		answer.Estimate, err = walk.Pilot(ctx, w, *opts, coeff, pilotRows)
	default:
		var met bool
		*opts, answer.Estimate, met, err = walk.Tune(ctx, w, *opts, coeff, walk.Goal{Error: f.wanted, Bytes: int64(limit), Rows: pilotRows})
		if met {
			answer.Why = append(answer.Why, fmt.Sprintf("%d walkers reach the wanted error of %g", opts.Walks, f.wanted))
		} else {
			answer.Why = append(answer.Why, fmt.Sprintf("%d walkers are what fits into %s; the wanted error of %g is not reached", opts.Walks, limit, f.wanted))
		}
	}
	if err != nil {
		return err
	}
	e := answer.Estimate
	if limit > 0 && size(e.PeakBytes) > limit {
		return tooLargef("the features need about %s, and %s is the limit; take fewer walkers (--walks), fewer hops (--hops), or one shard of the rows at a time (--rows)", size(e.PeakBytes), limit)
	}
	s.Done("%d walkers, hops 0 to %d: about %s, error about %.2g", opts.Walks, opts.MaxLen, size(e.Bytes), e.Error)
	return nil
}

// keep writes the features to a file that names the matrix they belong to.
func (a *app) keep(features *walk.Features, path string, g *graph.Graph, norm graph.Normalization) error {
	s := a.talk.Stage("writing features")
	hash := g.Hash()
	err := graphio.WriteFile(path, func(w io.Writer) error {
		_, err := features.WriteTo(w, norm.String()+" "+hex.EncodeToString(hash[:]))
		return err
	})
	if err == nil {
		s.Done("%s", path)
	}
	return err
}

// answerFeatures prints the summary.
func (a *app) answerFeatures(r *featuresAnswer) error {
	if a.json {
		return json.NewEncoder(a.Out).Encode(r)
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	line := func(name, format string, args ...any) { fmt.Fprintf(t, "%s\t%s\n", name, fmt.Sprintf(format, args...)) }
	o, s, e := r.Options, r.Size, r.Estimate
	rows := float64(max(1, s.Rows))
	line("graph", "%d nodes, %d edges", r.Nodes, r.Edges)
	line("", "%s: %s", r.Input.File, r.Input.Ledger)
	line("walked on", "%s", r.Matrix)
	line("kernel", "%s", r.Kernel)
	line("sampler", "%s, %d walkers, hops 0 to %d, seed %d", o.Sampler, o.Walks, o.MaxLen, o.Seed)
	for _, why := range r.Why {
		line("", "%s", why)
	}
	line("entries", "%d of Φ, %.1f a row; %d values of Ψ_0 … Ψ_%d", s.Entries, float64(s.Entries)/rows, s.Values, o.MaxLen)
	line("size", "%s", size(s.Bytes))
	line("exact rows", "%.1f %%", 100*float64(s.ExactRows)/rows)
	if e.Error == 0 {
		line("error", "none: all of the %d rows tried are exact", e.PilotRows)
	} else {
		line("error of Φ", "%.2g ± %.1g (relative; two ensembles on %d rows)", e.Error, e.SE, e.PilotRows)
		var by []string
		for _, x := range e.ByLength {
			by = append(by, fmt.Sprintf("%.2g", x))
		}
		line("error of Ψ_l", "%s", strings.Join(by, " "))
	}
	line("time", "%.2f s", r.Seconds)
	if r.File != "" {
		line("file", "%s", r.File)
	}
	return t.Flush()
}

// showRow prints the features of one node, nearest lengths first.
func (a *app) showRow(features *walk.Features, g *graph.Graph, id string) error {
	i, ok := g.Labels().Lookup([]byte(id))
	if !ok {
		return usagef("--show %q: the graph has no such node", id)
	}
	if lo, hi := features.Rows(); i < lo || i >= hi {
		return usagef("--show %q: the node is not in the rows of this shard", id)
	}
	type cell struct {
		Node   string    `json:"node"`
		Hops   []int     `json:"hops"`
		Values []float32 `json:"values"`
	}
	var cells []cell
	for e := range features.Row(i) {
		c := cell{Node: g.Labels().At(e.Node), Values: e.Values}
		for _, l := range e.Lengths {
			c.Hops = append(c.Hops, int(l))
		}
		cells = append(cells, c)
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(map[string]any{"version": 1, "node": id, "exact_to": features.ExactTo(i), "features": cells})
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "reached from %s (exact to hop %d)\thops\tvalues\n", id, features.ExactTo(i))
	for _, c := range cells {
		fmt.Fprintf(t, "%s\t%s\t%s\n", c.Node, strings.Trim(fmt.Sprint(c.Hops), "[]"), strings.Trim(fmt.Sprint(c.Values), "[]"))
	}
	return t.Flush()
}
