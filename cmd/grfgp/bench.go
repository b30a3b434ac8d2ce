package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/paper/bench"
)

// benchAnswer is the answer in JSON; parts that were not run are missing.
type benchAnswer struct {
	Version  int                `json:"version"`
	Machine  bench.Limits       `json:"machine"`
	Reading  *bench.Read        `json:"reading,omitempty"`
	Sampling []bench.Sampled    `json:"sampling,omitempty"`
	Product  []bench.Multiplied `json:"product,omitempty"`
	Accuracy []bench.Accuracy   `json:"accuracy,omitempty"`
	Scaling  []bench.Growth     `json:"scaling,omitempty"`

	Regression []bench.Regression `json:"regression,omitempty"`
	Training   *bench.Exponent    `json:"training_exponent,omitempty"`
	Inference  *bench.Exponent    `json:"inference_exponent,omitempty"`
	Arms       []bench.Regression `json:"arms,omitempty"` // dense, then sparse
	Multiscale *bench.Multiscale  `json:"multiscale,omitempty"`
}

var benchParts = []string{"reading", "sampling", "product", "accuracy", "scaling", "regression", "arms", "multiscale"}

func benchVerb(a *app) *cobra.Command {
	var quick bool
	var largest int
	cmd := &cobra.Command{
		Use:   "bench [" + strings.Join(benchParts, " | ") + "]...",
		Short: "Measure this machine, and grfgp as a share of it",
		Long: `Bench measures the machine's memory first, and then reading, sampling, sparse
products, accuracy, scaling and whole regressions as ratios within this run; arms
compares the same regression with the kernel formed and factored, and multiscale tasks
of long reach on one scale and on many. Without arguments it runs all parts, in some
ten minutes; --quick is for a first look on small graphs.

Accuracy uses Cora and Facebook where the folder GRFGP_DATA holds them, and
generated graphs where not.`,
		Example:   "  grfgp bench sampling product\n  GRFGP_DATA=~/data grfgp bench accuracy --json",
		ValidArgs: benchParts,
		RunE: func(cmd *cobra.Command, parts []string) error {
			for _, p := range parts {
				if !slices.Contains(benchParts, p) {
					return usagef("there is no part %q; the parts are %s", p, strings.Join(benchParts, ", "))
				}
			}
			if len(parts) == 0 {
				parts = benchParts
			}
			if largest < leastLargest || largest > mostLargest {
				return usagef("--largest %d: give %d to %d", largest, leastLargest, mostLargest)
			}
			return a.bench(cmd.Context(), parts, quick, largest)
		},
	}
	cmd.Flags().IntVar(&largest, "largest", 20, fmt.Sprintf("regression and multiscale: rings of up to 2^`N` nodes, N from %d to %d", leastLargest, mostLargest))
	cmd.Flags().BoolVar(&quick, "quick", false, "small graphs: seconds instead of minutes, and less telling")
	return cmd
}

// Largest rings that fit between the smallest one and any machine.
const leastLargest, mostLargest = 16, 28

// armEpochs are few: each factors a matrix of thousands of rows.
const armEpochs = 5

func (a *app) bench(ctx context.Context, parts []string, quick bool, largest int) error {
	nodes, side, edges, top := 1<<20, 1000, 3_000_000, 22
	lowest, highest, arms := 15, largest, 1<<13
	least, most := lowest, highest // of multiscale
	if quick {
		nodes, side, edges, top = 1<<16, 300, 200_000, 17
		lowest, highest, arms = 10, 12, 1<<10
		least, most = 8, 10
	}
	r := benchAnswer{Version: 1}
	stage := func(name string, do func() error) error {
		if name != "machine" && !slices.Contains(parts, name) {
			return nil
		}
		s := a.talk.Stage(name)
		if err := do(); err != nil {
			return err
		}
		s.Done("measured")
		return nil
	}
	for _, part := range []struct {
		name string
		do   func() error
	}{
		{"machine", func() (err error) { r.Machine, err = bench.Machine(ctx); return }},
		{"reading", func() (err error) { r.Reading, err = bench.Reading(ctx, edges, a.seed); return }},
		{"sampling", func() (err error) { r.Sampling, err = bench.Sampling(ctx, r.Machine, nodes, a.seed); return }},
		{"product", func() (err error) { r.Product, err = bench.Product(ctx, r.Machine, side); return }},
		{"accuracy", func() (err error) {
			graphs, err := a.accuracyGraphs(ctx, quick)
			if err == nil {
				r.Accuracy, err = bench.Accuracies(ctx, graphs, []float64{2, 10}, a.seed)
			}
			return err
		}},
		{"scaling", func() (err error) { r.Scaling, err = bench.Scaling(ctx, 12, top, a.seed); return }},
		{"regression", func() (err error) {
			var training, inference bench.Exponent
			r.Regression, training, inference, err = bench.Regressions(ctx, lowest, highest, a.seed)
			r.Training, r.Inference = &training, &inference
			return err
		}},
		{"arms", func() error {
			for _, dense := range []bool{true, false} {
				arm, err := (&bench.RingRun{Nodes: arms, Hops: 3, Epochs: armEpochs, Dense: dense, Seed: a.seed}).Regress(ctx)
				if err != nil {
					return err
				}
				r.Arms = append(r.Arms, arm)
			}
			return nil
		}},
		{"multiscale", func() (err error) {
			r.Multiscale, err = bench.Multiscales(ctx, least, most, bench.ScaleTasks(quick), a.seed, a.talk.Say)
			return err
		}},
	} {
		if err := stage(part.name, part.do); err != nil {
			return err
		}
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return a.printBench(&r)
}

// accuracyGraphs reads the paper's graphs from GRFGP_DATA, or makes others.
func (a *app) accuracyGraphs(ctx context.Context, quick bool) ([]bench.Named, error) {
	var all []bench.Named
	for name, path := range map[string]string{"Cora": "cora/cora.cites.gz", "Facebook": "snap/musae_facebook_edges.csv.gz"} {
		file := filepath.Join(os.Getenv("GRFGP_DATA"), filepath.FromSlash(path))
		if _, err := os.Stat(file); os.Getenv("GRFGP_DATA") == "" || err != nil {
			continue
		}
		net, err := graphio.ReadGraph(ctx, graphio.File(file), graphio.Options{})
		if err != nil {
			return nil, err
		}
		all = append(all, bench.Named{Name: name, Graph: net.Graph})
	}
	slices.SortFunc(all, func(a, b bench.Named) int { return strings.Compare(a.Name, b.Name) })
	if len(all) > 0 {
		return all, nil
	}
	a.talk.Say("GRFGP_DATA does not lead to Cora or Facebook: taking a generated graph instead")
	n := 20_000
	if quick {
		n = 3000
	}
	g, err := graph.BarabasiAlbert(n, 3, a.seed)
	return []bench.Named{{Name: fmt.Sprintf("Barabási–Albert, %d nodes", n), Graph: g}}, err
}

func (a *app) printBench(r *benchAnswer) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	const giga, mega = 1e9, 1e6
	m := r.Machine
	fmt.Fprintf(t, "machine\tcopy %.1f GB/s\ttriad %.1f GB/s\tread %.1f GB/s\t%.0f M random reads/s over %s\n",
		m.Copy/giga, m.Triad/giga, m.Read/giga, m.RandomReads/mega, size(m.WorkingSet))
	if x := r.Reading; x != nil {
		fmt.Fprintf(t, "\nreading\tedges\tnodes\tseconds\tMB/s\tpeak memory / CSR\n")
		fmt.Fprintf(t, "text file\t%d\t%d\t%.2f\t%.0f\t%.2f\n", x.Edges, x.Nodes, x.Seconds, x.BytesPerSecond/mega, x.PeakShare)
	}
	if r.Sampling != nil {
		fmt.Fprintf(t, "\nsampling\tsampler\tsteps\twalks\thops\tseconds\tM steps/s\tshare of random reads\tentries a row\n")
		for _, s := range r.Sampling {
			rate, share := "", ""
			if s.StepsPerSecond > 0 {
				rate, share = fmt.Sprintf("%.0f", s.StepsPerSecond/mega), fmt.Sprintf("%.2f", s.ReadShare)
			}
			fmt.Fprintf(t, "%s, %d nodes\t%s\t%s\t%d\t0..%d\t%.2f\t%s\t%s\t%.0f\n", s.Graph, s.Nodes, s.Options.Sampler, s.Options.Steps,
				s.Options.Walks, s.Options.MaxLen, s.Seconds, rate, share, float64(s.Size.Entries)/float64(s.Size.Rows))
		}
	}
	if r.Product != nil {
		fmt.Fprintf(t, "\nproduct on a grid\tright sides\tseconds\tns per non-zero\tGB/s\tshare of triad\n")
		for _, p := range r.Product {
			fmt.Fprintf(t, "%d rows\t%d\t%.4f\t%.2f\t%.1f\t%.2f\n", p.Rows, p.RightSides, p.Seconds, p.NanosPerNNZ, p.BytesPerSec/giga, p.ShareOfTriad)
		}
	}
	if r.Accuracy != nil {
		fmt.Fprintf(t, "\naccuracy, hops 0..10, %d draws\tβ\tsampler\twalks\tentries a row\terror of rows\terror of kernel\tkernel: paper's walks over it\n", r.Accuracy[0].Draws)
		for _, x := range r.Accuracy {
			fmt.Fprintf(t, "%s\t%g\t%s\t%d\t%.0f\t%.4f ± %.4f\t%.4f ± %.4f\t%.3g ± %.2g\n", x.Graph, x.Beta, x.Sampler, x.Walks, x.Stored,
				x.RowError, x.RowErrorSD, x.KernelError, x.KernelErrorSD, x.KernelRatio, x.KernelRatioSD)
		}
	}
	if r.Scaling != nil {
		fmt.Fprintf(t, "\nscaling on rings\tnodes\ttime exponent (95 %%)\tmemory exponent (95 %%)\ttime at most nodes\n")
		for _, g := range r.Scaling {
			last := g.Points[len(g.Points)-1]
			fmt.Fprintf(t, "%s\t%d to %d\t%.3f (%.3f to %.3f)\t%.3f (%.3f to %.3f)\t%.2f s\n", g.Sampler, g.Points[0].Nodes, last.Nodes,
				g.Time.Value, g.Time.Lower, g.Time.Upper, g.Memory.Value, g.Memory.Lower, g.Memory.Upper, last.Seconds)
		}
	}
	if r.Regression != nil {
		fmt.Fprintf(t, "\nregression on rings\tfeatures s\ttraining s\tinference s\ttotal s\tRMSE\theap\n")
		for _, x := range r.Regression {
			fmt.Fprintf(t, "%d nodes, hops 0..%d, %d epochs\t%.2f\t%.2f\t%.2f\t%.2f\t%.4f\t%s\n", x.Nodes, x.Hops, x.Epochs, x.Features, x.Training, x.Inference, x.Total(), x.RMSE, size(x.Bytes))
		}
		fmt.Fprintf(t, "exponents (95 %%)\t\t%.3f (%.3f to %.3f)\t%.3f (%.3f to %.3f)\n", r.Training.Value, r.Training.Lower, r.Training.Upper, r.Inference.Value, r.Inference.Lower, r.Inference.Upper)
	}
	if r.Arms != nil {
		fmt.Fprintf(t, "\nthe same regression\ttraining s\tinference s\ttotal s\tRMSE\n")
		for k, x := range r.Arms {
			fmt.Fprintf(t, "%s, %d nodes, %d epochs\t%.2f\t%.2f\t%.2f\t%.4f\n", []string{"dense", "sparse"}[k], x.Nodes, x.Epochs, x.Training, x.Inference, x.Total(), x.RMSE)
		}
		fmt.Fprintf(t, "speed-up\t%.1f\t%.1f\t%.1f\n", r.Arms[0].Training/r.Arms[1].Training, r.Arms[0].Inference/r.Arms[1].Inference, r.Arms[0].Total()/r.Arms[1].Total())
	}
	printMultiscale(t, r.Multiscale)
	return t.Flush()
}
