package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/internal/rng"
)

func memoryVerb(a *app) *cobra.Command {
	var graphs []string
	var program string
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Measure the peak memory of whole predictions, per node",
		Long: `Memory runs 'grfgp predict' with every setting chosen automatically on generated graphs, with
1,000 measurements of a smooth function, and prints the peak memory, what it is per
node, and the estimate by which predict decides whether a run fits.`,
		Example: "  grfgp bench memory\n  grfgp bench memory --graph grid:3163x3163",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, g := range graphs {
				if _, err := parsePlan(g); err != nil {
					return usagef("--graph %q: %v", g, err)
				}
			}
			return a.benchMemory(cmd.Context(), graphs, program)
		},
	}
	cmd.Flags().StringArrayVar(&graphs, "graph", []string{"grid:300x300", "ring:1000000", "grid:1000x1000", "ba:300000,3"}, "generated `graph`, as for --generate; may be repeated")
	cmd.Flags().StringVar(&program, "program", "", "another `file` of this program, to compare versions (default: this one)")
	return cmd
}

// memoryResult is the memory of one run.
type memoryResult struct {
	Graph    string  `json:"graph"`
	Nodes    int     `json:"nodes"`
	Seconds  float64 `json:"seconds"`
	CPU      float64 `json:"cpu_seconds"`
	Peak     int64   `json:"peak_bytes"`
	PerNode  float64 `json:"bytes_per_node"`
	Estimate int64   `json:"estimated_bytes"` // 0 if the model is small
}

func (a *app) benchMemory(ctx context.Context, graphs []string, program string) error {
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	var all []memoryResult
	for _, g := range graphs {
		s := a.talk.Stage(g)
		r, err := a.memoryOf(ctx, program, g)
		if err != nil {
			return err
		}
		s.Done("%s", size(r.Peak))
		all = append(all, r)
	}
	// Only now, because a process that starts another passes its own peak on to it.
	for k := range all {
		if err := a.estimate(ctx, &all[k]); err != nil {
			return err
		}
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(map[string]any{"version": 1, "runs": all})
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "graph\tnodes\tseconds\tCPU seconds\tpeak\tbytes per node\testimate / peak\n")
	for _, r := range all {
		ratio := ""
		if r.Estimate > 0 {
			ratio = fmt.Sprintf("%.2f", float64(r.Estimate)/float64(r.Peak))
		}
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%.1f\t%s\t%.0f\t%s\n", r.Graph, r.Nodes, r.Seconds, r.CPU, size(r.Peak), r.PerNode, ratio)
	}
	return t.Flush()
}

const memoryMeasurements = 1000

// memoryOf runs predict on a generated graph.
func (a *app) memoryOf(ctx context.Context, program, graph string) (r memoryResult, err error) {
	p, err := parsePlan(graph)
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "grfgp-memory")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = memoryResult{Graph: graph, Nodes: int(p.nodes)}
	given := filepath.Join(dir, "given.csv")
	err = writeTo(given, func(w io.Writer) error {
		random := rand.New(rng.New(a.seed, "bench memory"))
		fmt.Fprintln(w, "node,value")
		for range memoryMeasurements {
			i := random.IntN(r.Nodes)
			fmt.Fprintf(w, "%d,%.6g\n", i, math.Sin(6*float64(i)/p.nodes)+0.1*random.NormFloat64())
		}
		return nil
	})
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, program, "predict", "--generate", graph, "--measurements", given, "--quiet",
		"--threads", strconv.Itoa(a.threads), "--seed", strconv.FormatUint(a.seed, 10), "-o", filepath.Join(dir, "out.csv"))
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("%s: %w: %s", graph, err, strings.TrimSpace(said.String()))
	}
	r.Seconds, r.CPU = time.Since(start).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	r.Peak = int64(peakOf(cmd.ProcessState))
	r.PerNode = float64(r.Peak) / p.nodes
	return r, nil
}

// estimate adds the estimate of predict, with the graph.
func (a *app) estimate(ctx context.Context, r *memoryResult) error {
	p, err := parsePlan(r.Graph)
	if err != nil {
		return err
	}
	g, err := p.make(a.seed)
	if err != nil {
		return err
	}
	g = g.Ordered()
	m, err := grfgp.EstimateMemory(ctx, g, grfgp.Spec{Seed: a.seed}, memoryMeasurements)
	if err != nil || m.Bytes == 0 {
		return err
	}
	r.Estimate = m.Bytes + int64(g.Len())*(8+4+4+4) + 12*int64(g.Adjacency().NNZ()) // rows, ids, order, index; entries
	return nil
}
