package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/lab/bench"
)

func benchVerb(a *app) *cobra.Command {
	var o bench.Options
	cmd := &cobra.Command{
		Use:   "bench [PART …]",
		Short: "Measure how close grfgp comes to this machine's limits",
		Long: `Bench measures the memory bandwidth of this machine, and then these parts, as ratios to
the machine or to an exact method within the same run:

  reading     reading a graph from a text file
  sampling    random walks
  product     sparse matrix products
  sweeps      the vector work of conjugate gradients
  accuracy    error of random-walk features, against the exact kernel
  scaling     growth of time and memory of features with the number of nodes
  regression  whole regressions on rings
  arms        the same regression with a dense kernel matrix and with sparse features
  cores       a regression by 1, 2, 4, … threads
  multiscale  long-range tasks with a kernel of one scale and of many

Without arguments it runs all parts, in about ten minutes. 'grfgp-lab bench medium' times whole
runs on graphs of medium size, 'grfgp-lab bench memory' measures the memory of large ones,
'grfgp-lab bench packed' times their way from a packed file to features, 'grfgp-lab bench ranks' measures
several processes over MPI, 'grfgp-lab bench gpu' a graphics card, and 'grfgp-lab bench rivals' compares
the accuracy with simple rules.

The part accuracy uses the data sets cora and facebook if they are on this machine (see
'grfgp-lab dataset'), and a generated graph otherwise.`,
		Example:   "  grfgp-lab bench sampling product\n  GRFGP_DATA=~/data grfgp-lab bench accuracy --json",
		ValidArgs: bench.Parts(),
		RunE: func(cmd *cobra.Command, parts []string) error {
			for _, p := range parts {
				if !slices.Contains(bench.Parts(), p) {
					return cli.Usagef("there is no part %q; the parts are %s", p, strings.Join(bench.Parts(), ", "))
				}
			}
			if len(parts) == 0 {
				parts = bench.Parts()
			}
			if o.Largest < leastLargest || o.Largest > mostLargest {
				return cli.Usagef("--largest %d: give %d to %d", o.Largest, leastLargest, mostLargest)
			}
			o.Parts = parts
			return a.bench(cmd.Context(), o)
		},
	}
	cmd.AddCommand(rivalsVerb(a), mediumVerb(a), memoryVerb(a), packedVerb(a), benchRanksVerb(a), benchGPUVerb(a))
	cmd.Flags().IntVar(&o.Largest, "largest", 20, fmt.Sprintf("regression and multiscale: rings of up to 2^`N` nodes, N from %d to %d",
		leastLargest, mostLargest))
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "small graphs: seconds instead of minutes, with less precise results")
	return cmd
}

// Limits of --largest: above the smallest ring, and within the memory of large machines.
const leastLargest, mostLargest = 16, 28

func (a *app) bench(ctx context.Context, o bench.Options) error {
	o.Seed, o.Say = a.Seed, a.Talk.Say
	o.Stage = func(part string) func() {
		s := a.Talk.Stage(part)
		return func() { s.Done("measured") }
	}
	r, err := bench.Run(ctx, o)
	if err != nil {
		return err
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(r)
	}
	return a.printBench(r)
}

func (a *app) printBench(r *bench.Report) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	const giga, mega = 1e9, 1e6
	m := r.Machine
	fmt.Fprintf(t, "machine\tcopy %.1f GB/s\ttriad %.1f GB/s\tread %.1f GB/s\t%.0f M random reads/s over %s\n",
		m.Copy/giga, m.Triad/giga, m.Read/giga, m.RandomReads/mega, cli.Size(m.WorkingSet))
	if x := r.Reading; x != nil {
		fmt.Fprintf(t, "\nreading\tedges\tnodes\tseconds\tMB/s\tpeak memory / CSR\n")
		fmt.Fprintf(t, "text file\t%d\t%d\t%.2f\t%.0f\t%.2f\n", x.Edges, x.Nodes, x.Seconds, x.BytesPerSecond/mega, x.PeakShare)
	}
	if r.Sampling != nil {
		fmt.Fprintf(t, "\nsampling\tsampler\tsteps\twalks\thops\tseconds\tM steps/s\tshare of random reads\tentries per row\n")
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
			fmt.Fprintf(t, "%d rows\t%d\t%.4f\t%.2f\t%.1f\t%.2f\n", p.Rows, p.RightSides, p.Seconds, p.NanosPerNNZ, p.BytesPerSec/giga,
				p.ShareOfTriad)
		}
	}
	if r.Sweeps != nil {
		fmt.Fprintf(t, "\nsweeps of conjugate gradients\tright sides\tbits\tseconds an iteration\tGB/s\tshare of triad\n")
		for _, s := range r.Sweeps {
			fmt.Fprintf(t, "%d rows\t%d\t%d\t%.4f\t%.1f\t%.2f\n", s.Rows, s.RightSides, s.Bits, s.Seconds, s.BytesPerSec/giga, s.ShareOfTriad)
		}
	}
	if r.Accuracy != nil {
		fmt.Fprintf(t, "\naccuracy, hops 0..10, %d draws\tβ\tsampler\twalks\tentries per row\trow error\tkernel error\tkernel error of the "+
			"paper's walks / this\n", r.Accuracy[0].Draws)
		for _, x := range r.Accuracy {
			fmt.Fprintf(t, "%s\t%g\t%s\t%d\t%.0f\t%.4f ± %.4f\t%.4f ± %.4f\t%.3g ± %.2g\n", x.Graph, x.Beta, x.Sampler, x.Walks, x.Stored,
				x.RowError, x.RowErrorSD, x.KernelError, x.KernelErrorSD, x.KernelRatio, x.KernelRatioSD)
		}
	}
	if r.Scaling != nil {
		fmt.Fprintf(t, "\nscaling on rings\tnodes\ttime exponent (95 %%)\tmemory exponent (95 %%)\ttime at the largest size\n")
		for _, g := range r.Scaling {
			last := g.Points[len(g.Points)-1]
			fmt.Fprintf(t, "%s\t%d to %d\t%.3f (%.3f to %.3f)\t%.3f (%.3f to %.3f)\t%.2f s\n", g.Sampler, g.Points[0].Nodes, last.Nodes,
				g.Time.Value, g.Time.Lower, g.Time.Upper, g.Memory.Value, g.Memory.Lower, g.Memory.Upper, last.Seconds)
		}
	}
	if r.Regression != nil {
		fmt.Fprintf(t, "\nregression on rings\tfeatures s\ttraining s\tinference s\ttotal s\tRMSE\theap\ttraining in products and "+
			"sweeps\tGB/s\tshare of triad\n")
		for _, x := range r.Regression {
			fmt.Fprintf(t, "%d nodes, hops 0..%d, %d epochs\t%.2f\t%.2f\t%.2f\t%.2f\t%.4f\t%s\t%s\n", x.Nodes, x.Hops, x.Epochs, x.Features,
				x.Training, x.Inference, x.Total(), x.RMSE, cli.Size(x.Bytes), passes(x, r.Machine.Triad))
		}
		fmt.Fprintf(t, "exponents (95 %%)\t\t%.3f (%.3f to %.3f)\t%.3f (%.3f to %.3f)\n", r.Training.Value, r.Training.Lower, r.Training.Upper,
			r.Inference.Value, r.Inference.Lower, r.Inference.Upper)
	}
	if r.Arms != nil {
		fmt.Fprintf(t, "\ndense and sparse\ttraining s\tinference s\ttotal s\tRMSE\n")
		for k, x := range r.Arms {
			fmt.Fprintf(t, "%s, %d nodes, %d epochs\t%.2f\t%.2f\t%.2f\t%.4f\n", []string{"dense", "sparse"}[k], x.Nodes, x.Epochs, x.Training,
				x.Inference, x.Total(), x.RMSE)
		}
		fmt.Fprintf(t, "speed-up\t%.1f\t%.1f\t%.1f\n", r.Arms[0].Training/r.Arms[1].Training, r.Arms[0].Inference/r.Arms[1].Inference,
			r.Arms[0].Total()/r.Arms[1].Total())
	}
	if r.Cores != nil {
		fmt.Fprintf(t, "\nregression on a ring of %d nodes\tfeatures s\ttraining s\tinference s\ttotal s\tspeed-up\ttriad GB/s\ttriad "+
			"speed-up\ttraining in products and sweeps\tGB/s\tshare of triad\tresult\n", r.Cores[0].Nodes)
		for _, c := range r.Cores {
			fmt.Fprintf(t, "%d threads\t%.2f\t%.2f\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%s\t%s\n", c.Threads, c.Features, c.Training, c.Inference,
				c.Total(), c.SpeedUp, c.Triad/giga, c.Memory, passes(c.Regression, c.Triad), c.Digest)
		}
	}
	printMultiscale(t, r.Multiscale)
	return t.Flush()
}

// passes says which share of training is in products and sweeps, and how fast they are.
func passes(x bench.Regression, triad float64) string {
	if x.Passes == 0 {
		return "-\t-\t-"
	}
	rate := x.Moved / x.Passes
	return fmt.Sprintf("%.0f %%\t%.1f\t%.2f", 100*x.Passes/x.Training, rate/1e9, rate/triad)
}
