package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/graph"
	"grfgp/internal/cli"
	"grfgp/internal/ranks"
	"grfgp/kernel"
	"grfgp/sparse"
	"grfgp/walk"
)

// featuresFlags are the flags of the verb.
type featuresFlags struct {
	cli.Input
	out      string
	matrix   cli.Choice
	family   cli.Choice
	nu       float64
	reach    map[string]*float64 // by the name of the hyperparameter that says how far a family reaches
	samplers cli.Choice
	sampler  walk.Sampler
	stepping cli.Choice
	steps    walk.Steps
	hops     int
	walks    int
	budget   int
	halt     float64
	wanted   float64
	memory   cli.Size
	rows     shard
	from     string
	show     string
}

func featuresVerb(a *app) *cobra.Command {
	var f featuresFlags
	cmd := &cobra.Command{
		Use:   "features --edges FILE [-o FILE | --from FILE]",
		Short: "Sample the random-walk features of a graph, and measure their error",
		Long: `Features samples graph random features: sparse matrices Ψ_0 … Ψ_L with E[Ψ_l] = W^l,
whose combinations Φ = Σ f_l Ψ_l give kernels ΦΦᵀ. It prints their size, their error
and the share of exact rows. The longest walk L follows from the kernel, the number
of walkers from --error and --memory, unless they are given. With --from it opens a
file of features, checks that they belong to the graph, and describes them.`,
		Example: `  grfgp-lab features --edges roads.csv.gz -o roads.grf
  grfgp-lab features --edges com-youtube.ungraph.txt.gz --beta 10 --error 0.1
  grfgp-lab features --edges roads.csv.gz --from roads.grf --show 5
  grfgp-lab features --edges e.csv --sampler independent --steps uniform --walks 1000 --hops 3`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.features(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.Input.Flags(cmd)
	d := walk.Default()
	flags.StringVarP(&f.out, "out", "o", "", "`file` to save the features to")
	f.matrix.Flag(cmd, "matrix", "matrix W of the walks", graph.NormalizedAdjacency.String(), graph.NormalizedLaplacian.String(),
		graph.RawAdjacency.String(), graph.RawDiffusion.String())
	flags.Float64Var(&f.nu, "nu", 1.5, "smoothness ν of kernels that have one")
	f.reach = map[string]*float64{}
	var names []string
	for _, k := range kernel.Families() {
		if of := reachOf(k); of != "" {
			names = append(names, k.Name)
			f.reach[of] = flags.Float64(of, cli.DefaultBeta/float64(max(1, k.Length)), fmt.Sprintf("reach of the %s kernel, %s", k.Name, k.Formula))
		}
	}
	f.family.Flag(cmd, "kernel", "kernel that hops and error refer to", names...)
	f.samplers.Flag(cmd, "sampler", "random walks; repelling takes exact steps first and then samples systematically, independent is the "+
		"sampler of the paper, ad-hoc an ablation in the paper", walk.Repelling.String(), walk.Independent.String(), walk.AdHoc.String())
	f.stepping.Flag(cmd, "steps", "probabilities of steps; proportional to weights, or uniform as in the paper", walk.Proportional.String(),
		walk.Uniform.String())
	flags.IntVar(&f.hops, "hops", 0, "longest walk L (default: long enough for 99.9 % of the kernel)")
	flags.IntVar(&f.walks, "walks", 0, "walkers per node (default: enough for --error, within --memory)")
	flags.IntVar(&f.budget, "budget", 0, "repelling: largest number of nodes of an exact step (default: twice the walkers)")
	flags.Float64Var(&f.halt, "halt", d.Halt, "independent and ad-hoc: halting probability of a step")
	flags.Float64Var(&f.wanted, "error", cli.DefaultError, "target relative error of the features")
	flags.Var(&f.memory, "memory", "memory limit of the features (default: 80 % of the free memory); a limit that binds reduces the "+
		"walkers, so give it for the same result on every machine")
	flags.Lookup("memory").DefValue = ""
	flags.Var(&f.rows, "rows", "sample only the rows `LO:HI`, in the stored order, as one shard; they are the same as in a whole run")
	flags.StringVar(&f.from, "from", "", "`file` of features of this graph, to describe instead of sampling")
	flags.StringVar(&f.show, "show", "", "print the features of one `node` instead of the summary")
	return cmd
}

// shard is a flag for a range of rows, written LO:HI; empty means all.
type shard struct{ lo, hi int }

func (r *shard) Type() string { return "LO:HI" }

func (r *shard) String() string {
	if r.hi == 0 {
		return ""
	}
	return fmt.Sprintf("%d:%d", r.lo, r.hi)
}

// Set reads LO:HI.
func (r *shard) Set(text string) error {
	first, last, _ := strings.Cut(text, ":")
	lo, errLo := strconv.Atoi(first)
	hi, errHi := strconv.Atoi(last)
	if errLo != nil || errHi != nil || lo < 0 || hi <= lo {
		return fmt.Errorf("give LO:HI with 0 ≤ LO < HI")
	}
	r.lo, r.hi = lo, hi
	return nil
}

// check refuses impossible values and flags that have no effect, before anything is
// read.
func (f *featuresFlags) check(changed func(string) bool) error {
	if err := errors.Join(f.sampler.UnmarshalText([]byte(f.samplers.Value)), f.steps.UnmarshalText([]byte(f.stepping.Value))); err != nil {
		return err
	}
	switch {
	case f.hops < 0 || f.hops > walk.MaxMaxLen:
		return cli.Usagef("--hops %d: give 0 to %d", f.hops, walk.MaxMaxLen)
	case changed("walks") && (f.walks < 1 || f.walks > walk.MaxWalks):
		return cli.Usagef("--walks %d: give 1 to %d", f.walks, walk.MaxWalks)
	case f.budget < 0 || f.budget > walk.MaxBudget:
		return cli.Usagef("--budget %d: give 0 to %d", f.budget, walk.MaxBudget)
	case !(f.halt >= 0 && f.halt < 1):
		return cli.Usagef("--halt %v: give a probability of 0 or more and below 1", f.halt)
	case !(f.wanted > 0):
		return cli.Usagef("--error %v: give a positive number", f.wanted)
	}
	if f.from != "" {
		for _, flag := range append(slices.Collect(maps.Keys(f.reach)), "out", "matrix", "kernel", "nu", "sampler", "steps", "hops",
			"walks", "budget", "halt", "error", "memory", "rows") {
			if changed(flag) {
				return cli.Usagef("--from describes features as they were sampled: leave out --%s", flag)
			}
		}
	}
	for _, c := range []struct {
		flag string
		void bool
		why  string
	}{
		{"budget", f.sampler != walk.Repelling, "needs --sampler repelling"},
		{"budget", !changed("walks"), "needs --walks; without it both are chosen"},
		{"halt", f.sampler == walk.Repelling, "needs --sampler independent or ad-hoc; repelling walkers never halt"},
		{"error", changed("walks"), "chooses the number of walkers: give only one of --error and --walks"},
	} {
		if changed(c.flag) && c.void {
			return cli.Usagef("--%s %s", c.flag, c.why)
		}
	}
	chosen, _ := kernel.FamilyNamed(f.family.Value)
	for _, k := range kernel.Families() {
		switch of := reachOf(k); {
		case of != "" && k.Name != chosen.Name && changed(of) && reachOf(chosen) != of:
			return cli.Usagef("--%s needs --kernel %s", of, k.Name)
		case k.Nu && !chosen.Nu && changed("nu"):
			return cli.Usagef("--nu needs --kernel %s", k.Name)
		}
	}
	return nil
}

func (a *app) features(ctx context.Context, f *featuresFlags, changed func(string) bool) error {
	if err := f.check(changed); err != nil {
		return err
	}
	m, theta, err := f.modulation()
	if err != nil {
		return err
	}
	norm, err := graph.ParseNormalization(f.matrix.Value)
	if err != nil {
		return err
	}
	net, err := f.Load(ctx, &a.App)
	if err != nil {
		return err
	}
	g := net.Graph
	if f.rows.hi > g.Len() {
		return cli.Usagef("--rows %v: give LO:HI with HI at most %d, the number of nodes", &f.rows, g.Len())
	}
	if err := f.checkShown(g); err != nil {
		return err
	}
	answer := featuresAnswer{Version: 1, Nodes: g.Len(), Edges: g.Edges(), Input: net.Report}
	if net.Nodes != nil {
		answer.NodesInput = net.Nodes.Report
	}
	if f.from != "" {
		return a.lookAt(f, g, &answer)
	}
	answer.Matrix, answer.Kernel, answer.File = norm.String(), describe(m, theta), f.out
	features, shown, err := a.sample(ctx, f, g, norm, m, theta, changed, &answer)
	if err != nil {
		return err
	}
	if f.out != "" {
		if err := a.keep(ctx, features, f.out, g, norm); err != nil {
			return err
		}
	}
	return a.answerFeatures(f, g, shown, &answer)
}

// sample completes the options and samples. The second result has the row of --show.
func (a *app) sample(ctx context.Context, f *featuresFlags, g *graph.Graph, norm graph.Normalization, m kernel.Modulation, theta []float64,
	changed func(string) bool, answer *featuresAnswer) (*walk.Shared, *walk.Features, error) {
	w := g.Normalized(norm)
	opts := walk.Options{
		Sampler: f.sampler, Steps: f.steps, Walks: f.walks, Budget: 2 * f.walks, Halt: f.halt, MaxLen: f.hops,
		HubWalks: walk.Default().HubWalks,
		Seed:     a.Seed, Scale: g.WalkScale(norm),
	}
	if changed("budget") {
		opts.Budget = f.budget
	}
	if !changed("hops") {
		var carried float64
		opts.MaxLen, carried = kernel.Hops(m, theta, cli.KernelTail, walk.MaxMaxLen)
		answer.Why = append(answer.Why, fmt.Sprintf("walks of 0 to %d hops carry %.4g %% of the kernel", opts.MaxLen, 100*carried))
	}
	coeff := make([]float64, opts.MaxLen+1)
	m.Coeffs(coeff, theta)
	opts, err := a.plan(ctx, f, w, opts, coeff, answer)
	if err != nil {
		return nil, nil, err
	}
	s := a.Talk.Stage("sampling features")
	start := time.Now()
	features, err := walk.SampleShared(ctx, a.Ranks, w, opts, s.Update)
	if err != nil {
		return nil, nil, err
	}
	if answer.Size, err = features.Size(ctx); err != nil {
		return nil, nil, err
	}
	answer.Seconds = time.Since(start).Seconds()
	answer.Options = settingsOf(features.Options())
	s.Done("%d entries, %s%s", answer.Size.Entries, cli.Size(answer.Size.Bytes), a.SharedWords())
	if f.show != "" && !a.Ranks.Alone() { // whoever has the row
		i, _ := g.IDs().Lookup([]byte(f.show)) // checkShown has found it
		opts.Lo, opts.Hi = i, i+1
		shown, err := walk.Sample(ctx, w, opts)
		return features, shown, err
	}
	return features, features.Own(), nil
}

// reachOf returns the name of the hyperparameter of a family beside its variance; "" if it does not have exactly one.
func reachOf(f kernel.Family) string {
	m, err := f.Of(kernel.Member{Nu: 1})
	if err != nil {
		return ""
	}
	if p := m.Params(); len(p) == 2 && p[0].Variance {
		return p[1].Name
	}
	return ""
}

// modulation returns the kernel that the flags name, and its hyperparameters.
func (f *featuresFlags) modulation() (kernel.Modulation, []float64, error) {
	k, _ := kernel.FamilyNamed(f.family.Value)
	name := reachOf(k)
	reach := *f.reach[name]
	switch {
	case !(reach >= 0 && reach < 1e6) || reach == 0 && k.Nu:
		return nil, nil, cli.Usagef("--%s %v must be positive, and less than a million", name, reach)
	case k.Nu && !(f.nu > 0 && f.nu < 1e3):
		return nil, nil, cli.Usagef("--nu %v must be positive, and less than a thousand", f.nu)
	}
	m, err := k.Of(kernel.Member{Nu: f.nu})
	return m, []float64{1, reach}, err
}

func describe(m kernel.Modulation, theta []float64) string {
	return fmt.Sprintf("%v, %s = %g", m, m.Params()[1].Name, theta[1])
}

// plan chooses the walkers unless they are given, and refuses features that do not
// fit into memory.
func (a *app) plan(ctx context.Context, f *featuresFlags, w *sparse.CSR, opts walk.Options, coeff []float64,
	answer *featuresAnswer) (walk.Options, error) {
	limit, err := a.featureLimit(ctx, f)
	if err != nil {
		return opts, err
	}
	s := a.Talk.Stage("pilot run")
	opts.Lo, opts.Hi = f.rows.lo, f.rows.hi
	p, err := walk.NewPlan(ctx, w, opts, coeff, walk.Goal{Error: f.wanted, Bytes: int64(limit)})
	if err != nil {
		return opts, err
	}
	switch o, e := p.Options, p.Estimate; {
	case !p.Fits:
		return opts, cli.TooLargef("the features need about %s, and the limit is %s; take fewer walkers (--walks), fewer hops (--hops), or one "+
			"shard of the rows at a time (--rows)", cli.Size(e.PeakBytes), limit)
	case opts.Walks == 0 && p.Reached:
		answer.Why = append(answer.Why, fmt.Sprintf("%d walkers reach the target error of %g", o.Walks, f.wanted))
	case opts.Walks == 0:
		answer.Why = append(answer.Why, fmt.Sprintf("%d walkers are all that fit into %s; they do not reach the target error of %g", o.Walks,
			limit, f.wanted))
	}
	answer.Estimate = &p.Estimate
	s.Done("%d walkers, hops 0 to %d: about %s, error about %.2g", p.Options.Walks, p.Options.MaxLen, cli.Size(p.Estimate.Bytes),
		p.Estimate.Error)
	return p.Options, nil
}

// featureLimit returns the most memory of all features: what --memory says, or 80 % of what
// is free on the machine of rank 0, for each machine.
func (a *app) featureLimit(ctx context.Context, f *featuresFlags) (cli.Size, error) {
	limit := f.memory.Most()
	if f.memory > 0 || a.Ranks.Alone() {
		return limit, nil
	}
	all, _, err := ranks.Gather(ctx, a.Ranks, []int64{int64(limit)})
	if err != nil {
		return 0, err
	}
	return cli.Size(all[0]) * cli.Size(max(1, a.Ranks.Size()/cli.RanksHere())), nil
}
