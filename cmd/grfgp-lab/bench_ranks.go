package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/lab/bench"
	"grfgp/partition"
	"grfgp/walk"
)

// benchRanks are the flags of the verb.
type benchRanks struct {
	cli.Input
	run     bench.RanksRun
	ranks   int
	model   bool
	cluster bench.Cluster
	task    bench.Large
	gigas   struct{ ram, memory, network float64 }
	micros  float64
	sizes   []float64
}

func benchRanksVerb(a *app) *cobra.Command {
	f := benchRanks{run: bench.RanksRun{Hops: 3, Columns: 16, Products: 5, Tol: 1e-2}, ranks: 4, cluster: bench.DefaultCluster(),
		task: bench.DefaultLarge()}
	cmd := &cobra.Command{
		Use:   "ranks",
		Short: "Measure products and systems that several ranks compute together",
		Long: `Ranks measures one number of ranks: started by mpirun, the ranks sample the features of their
nodes, and together compute products with the kernel matrix of all nodes and solve a system
with it. It prints one row: rows of other ranks that they need, bytes that a product sends by the
plan and by count, seconds, memory bandwidth, and the share of time in exchanges. Start it with
1, 2, 4, … ranks to see how it scales: with the same graph (strong scaling), or with one that
grows with the ranks (weak scaling). The digest of the solution is the same for all.

Without mpirun it prints the plan of --ranks ranks only.

With --model it computes, from the given rates of machines and network, what a regression on 10⁸ and
10⁹ nodes needs: machines, memory, seconds, bytes. Shapes of graphs (entries of a row, rim)
come from walks on generated graphs of some ten thousand nodes; everything else is arithmetic, which
docs/cluster.md describes.`,
		Example: `  mpirun -n 4 grfgp-lab bench ranks --generate grid:1000x1000
  mpirun -n 16 grfgp-lab bench ranks --edges grid.packed --hops 3 --json
  grfgp-lab bench ranks --model --ram 256 --network 3`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.benchRanks(cmd.Context(), &f) },
	}
	f.Input.Flags(cmd)
	fl := cmd.Flags()
	fl.IntVar(&f.run.Hops, "hops", f.run.Hops, "longest `walk` of the features")
	fl.IntVar(&f.run.Columns, "columns", f.run.Columns, "right-hand `sides` of products and of the system")
	fl.IntVar(&f.run.Products, "products", f.run.Products, "`number` of products that are timed; the quickest counts")
	fl.Float64Var(&f.run.Tol, "tol", f.run.Tol, "relative `residual` of the system")
	fl.IntVar(&f.ranks, "ranks", f.ranks, "without mpirun: the plan for `N` ranks")
	fl.BoolVar(&f.model, "model", false, "compute what large graphs need")
	fl.Float64SliceVar(&f.sizes, "sizes", []float64{1e8, 1e9}, "--model: `numbers` of nodes")
	fl.Float64Var(&f.gigas.ram, "ram", f.cluster.RAM/1e9, "--model: memory of a machine, in `GB`")
	fl.IntVar(&f.cluster.Cores, "cores", f.cluster.Cores, "--model: `cores` of a machine")
	fl.Float64Var(&f.gigas.memory, "bandwidth", f.cluster.Memory/1e9, "--model: memory bandwidth of a machine, in `GB/s`")
	fl.Float64Var(&f.cluster.Reached, "share", f.cluster.Reached, "--model: `share` of it that products reach")
	fl.Float64Var(&f.gigas.network, "network", f.cluster.Network/1e9, "--model: network bandwidth of a machine, in `GB/s`")
	fl.Float64Var(&f.micros, "latency", f.cluster.Latency*1e6, "--model: time of a message, in `µs`")
	fl.Float64Var(&f.cluster.Walks, "walk-rate", f.cluster.Walks, "--model: `entries` of features that a core samples in a second")
	fl.Float64Var(&f.task.Measured, "measured", f.task.Measured, "--model: `share` of nodes that are measured")
	fl.IntVar(&f.task.Epochs, "epochs", f.task.Epochs, "--model: `steps` of learning")
	fl.IntVar(&f.task.Iterations, "iterations", f.task.Iterations, "--model: `iterations` of conjugate gradients in a step")
	return cmd
}

// check refuses numbers that make no sense.
func (f *benchRanks) check() error {
	switch {
	case f.run.Hops < 1 || f.run.Hops > walk.MaxMaxLen:
		return cli.Usagef("--hops %d: give 1 to %d", f.run.Hops, walk.MaxMaxLen)
	case f.run.Columns < 1 || f.run.Products < 1:
		return cli.Usagef("--columns %d --products %d: give 1 or more", f.run.Columns, f.run.Products)
	case !(f.run.Tol > 0 && f.run.Tol < 1):
		return cli.Usagef("--tol %g: give a number between 0 and 1", f.run.Tol)
	case f.ranks < 1 || f.ranks > cli.MostRanks:
		return cli.Usagef("--ranks %d: give 1 to %d", f.ranks, cli.MostRanks)
	case !f.model:
		return nil
	case !(min(f.gigas.ram, f.gigas.memory, f.gigas.network, f.cluster.Walks, f.cluster.Reached, f.task.Measured) > 0 && f.micros >= 0 &&
		f.cluster.Cores > 0):
		return cli.Usagef("--model: rates and sizes of machines must be positive")
	case f.cluster.Reached > 1 || f.task.Measured > 1:
		return cli.Usagef("--share %g --measured %g: give shares up to 1", f.cluster.Reached, f.task.Measured)
	case f.task.Epochs < 1 || f.task.Iterations < 1:
		return cli.Usagef("--epochs %d --iterations %d: give 1 or more", f.task.Epochs, f.task.Iterations)
	}
	for _, n := range f.sizes {
		if !(n >= 1 && n <= 1e12) {
			return cli.Usagef("--sizes %g: give numbers of nodes up to 1e12", n)
		}
	}
	return nil
}

func (a *app) benchRanks(ctx context.Context, f *benchRanks) error {
	if err := f.check(); err != nil {
		return err
	}
	if f.model {
		return a.ranksModel(ctx, f)
	}
	if f.Generated == "" && f.Edges == "" && f.KNN == 0 {
		f.Generated = "grid:500x500"
	}
	net, err := f.Load(ctx, &a.App)
	if err != nil {
		return err
	}
	g := net.Graph
	f.run.Group, f.run.Seed = a.Ranks, a.Seed
	if a.Ranks.Alone() && cli.LaunchedRanks() == 0 {
		s := a.Talk.Stage("planning the ranks")
		plan, err := partition.New(ctx, g, f.run.WalkOptions(), f.ranks)
		if err != nil {
			return err
		}
		s.Done("%d", f.ranks)
		if a.JSON {
			return json.NewEncoder(a.Out).Encode(plan)
		}
		cli.PrintRanks(a.Out, plan)
		a.Talk.Say("this is the plan; to measure it, build with CC=mpicc go build -tags mpi ./cmd/grfgp-lab, and start: mpirun -n %d "+
			"grfgp-lab bench ranks …", f.ranks)
		return nil
	}
	if least := a.Ranks.Size() * partition.BlockRows; g.Len() < least {
		return cli.Usagef("%d nodes for %d ranks: take %d or more, so that every rank has some", g.Len(), a.Ranks.Size(), least)
	}
	s := a.Talk.Stage("measuring " + plural.Count(a.Ranks.Size(), "ranks"))
	r, err := f.run.Measure(ctx, g, a.Talk.Say)
	if err != nil {
		return err
	}
	s.Done("measured")
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return a.printBenchRanks(r)
}

// printBenchRanks prints the row of a run.
func (a *app) printBenchRanks(r *bench.Ranks) error {
	const giga = 1e9
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "ranks\tthreads\tnodes\tentries\trim rows\tlargest rim\tplanned bytes\tsent bytes\tmessages\tfeatures s\tproduct "+
		"s\tGB/s\tin exchange\tsystem s\titerations\tin exchange\theap\tdigest\t\n")
	fmt.Fprintf(t, "%d\t%d\t%d\t%.1f\t%d\t%d\t%d\t%d\t%d\t%.2f\t%.4f\t%.1f\t%.0f %%\t%.3f\t%d\t%.0f %%\t%s\t%s\t\n", r.Ranks, r.Threads,
		r.Nodes, float64(r.Entries)/float64(r.Nodes), r.Rim, r.Largest,
		r.Model, r.Counted, r.Messages, r.Features, r.Product, r.Bytes/r.Product/giga, 100*r.Wait, r.Solve, r.Steps, 100*r.SolveGap,
		cli.Size(r.Heap),
		r.Digest)
	return t.Flush()
}

// modelAnswer is the answer of --model in JSON.
type modelAnswer struct {
	Cluster bench.Cluster `json:"cluster"`
	Task    bench.Large   `json:"task"`
	Shapes  []bench.Shape `json:"shapes"`
	Needs   []bench.Need  `json:"needs"`
}

// ranksModel prints what large graphs need.
func (a *app) ranksModel(ctx context.Context, f *benchRanks) error {
	const giga = 1e9
	f.cluster.RAM, f.cluster.Memory, f.cluster.Network, f.cluster.Latency = f.gigas.ram*giga, f.gigas.memory*giga, f.gigas.network*giga,
		f.micros*1e-6
	f.task.Hops = f.run.Hops
	s := a.Talk.Stage("shapes of graphs")
	shapes, err := bench.Shapes(ctx, f.task.Hops, a.Seed)
	if err != nil {
		return err
	}
	s.Done("walks of %s", plural.Count(f.task.Hops, "hops"))
	answer := modelAnswer{f.cluster, f.task, shapes, nil}
	for _, n := range f.sizes {
		for _, s := range shapes {
			answer.Needs = append(answer.Needs, f.task.Needs(f.cluster, s, n))
		}
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(answer)
	}
	return a.printModel(&answer)
}

func (a *app) printModel(m *modelAnswer) error {
	c, k := m.Cluster, m.Task
	fmt.Fprintf(a.Out, "machines with %.0f GB, %d cores, memory at %.0f GB/s (%.0f %% reached), network at %.3g GB/s and %.3g µs a message\n",
		c.RAM/1e9, c.Cores, c.Memory/1e9, 100*c.Reached, c.Network/1e9, c.Latency*1e6)
	fmt.Fprintf(a.Out, "walks of %d hops at %.2g entries a second and core; %.0f %% of the nodes measured; %d epochs of %d iterations with "+
		"%d columns; %d samples\n\n",
		k.Hops, c.Walks, 100*k.Measured, k.Epochs, k.Iterations, k.Columns, k.Samples)
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "graph\tnodes\tentries\tmachines\tmemory each\trim each\tfeatures s\tproduct s\tin network\ttraining s\tinference "+
		"s\tsent per product\tsent in all\t\n")
	for q, n := range m.Needs {
		entries := m.Shapes[q%len(m.Shapes)].Entries
		if n.Machines == 0 {
			fmt.Fprintf(t, "%s\t%.0e\t%.0f\tnone: too little memory each\t\t\t\t\t\t\t\t\t\t\n", n.Shape, n.Nodes, entries)
			continue
		}
		fmt.Fprintf(t, "%s\t%.0e\t%.0f\t%d\t%s\t%.2g\t%.3g\t%.2g\t%.0f %%\t%.3g\t%.3g\t%s\t%s\t\n", n.Shape, n.Nodes, entries, n.Machines,
			cli.Size(n.Memory), n.Rim,
			n.Features, n.Product, 100*n.Waiting, n.Training, n.Predict, cli.Size(n.Sent), cli.Size(n.Total))
	}
	return t.Flush()
}
