package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/atomicfile"
	"grfgp/internal/cli"
	"grfgp/sparse"
	"grfgp/walk"
)

func packedVerb(a *app) *cobra.Command {
	var graphs []string
	var folder string
	hops := 5
	cmd := &cobra.Command{
		Use:   "packed",
		Short: "Time each step from a packed file of a large graph to its features",
		Long: `Packed generates a graph, finds the order of its nodes, packs it, maps the packed file,
makes the matrix of the walks from it and samples features of all nodes. It prints the seconds
and the peak memory of each step.`,
		Example: "  grfgp-lab bench packed\n  grfgp-lab bench packed --graph ring:100000000 --hops 3 --folder /scratch",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, g := range graphs {
				if _, err := cli.ParseGenerator(g); err != nil {
					return cli.Usagef("--graph %q: %v", g, err)
				}
			}
			if hops < 0 || hops > walk.MaxMaxLen {
				return cli.Usagef("--hops %d: give 0 to %d", hops, walk.MaxMaxLen)
			}
			var all []packedResult
			for _, g := range graphs {
				r, err := a.packedSteps(cmd.Context(), g, folder, hops)
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			return a.printPacked(all)
		},
	}
	cmd.Flags().StringArrayVar(&graphs, "graph", []string{"grid:1000x1000"}, "generated `graph`, as for --generate; may be repeated")
	cmd.Flags().StringVar(&folder, "folder", "", "`folder` for the packed file (default: that for temporary files)")
	cmd.Flags().IntVar(&hops, "hops", hops, "longest `walk` of the features")
	return cmd
}

// packedResult is the cost of every step with one graph.
type packedResult struct {
	Graph    string       `json:"graph"`
	Nodes    int          `json:"nodes"`
	Threads  int          `json:"threads"`
	File     int64        `json:"file_bytes"`
	Features int64        `json:"feature_bytes"`
	Steps    []packedStep `json:"steps"`
}

type packedStep struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
	Peak    int64   `json:"peak_bytes"` // resident memory; 0 if this system does not tell
}

// packedSteps runs the steps.
func (a *app) packedSteps(ctx context.Context, spec, folder string, hops int) (r packedResult, err error) {
	dir, err := os.MkdirTemp(folder, "grfgp-packed")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := cli.ParseGenerator(spec)
	if err != nil {
		return r, err
	}
	r = packedResult{Graph: spec, Nodes: int(p.Nodes), Threads: runtime.GOMAXPROCS(0)}
	step := func(name string, do func() error) {
		if err != nil {
			return
		}
		s := a.Talk.Stage(name)
		debug.FreeOSMemory()
		resetPeak()
		start := time.Now()
		err = do()
		took := time.Since(start).Seconds()
		r.Steps = append(r.Steps, packedStep{name, took, ownPeak()})
		s.Done("%.1f s", took)
	}
	file := filepath.Join(dir, "graph.packed")
	var g *graph.Graph
	var w *sparse.CSR
	step("generate", func() (err error) { g, err = p.Make(a.Seed); return err })
	step("order", func() error { g.Layout(); return nil })
	step("order and pack", func() error {
		return atomicfile.Write(file, func(w io.Writer) error { return graphio.WritePacked(ctx, w, &graphio.Network{Graph: g}) })
	})
	g = nil
	step("map", func() error {
		net, err := graphio.ReadGraph(ctx, graphio.File(file), graphio.Options{})
		if err == nil {
			g = net.Graph
		}
		return err
	})
	opts := walk.Default()
	opts.Seed, opts.MaxLen = a.Seed, hops
	step("matrix of the walks", func() error {
		w, opts.Scale = g.Normalized(graph.NormalizedAdjacency), g.WalkScale(graph.NormalizedAdjacency)
		return nil
	})
	step("features", func() error {
		f, err := walk.Sample(ctx, w, opts)
		if err == nil {
			r.Features = f.Size().Bytes
		}
		return err
	})
	if err != nil {
		return r, err
	}
	info, err := os.Stat(file)
	if err != nil {
		return r, err
	}
	r.File = info.Size()
	return r, nil
}

func (a *app) printPacked(all []packedResult) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]any{"version": 1, "runs": all})
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	for _, r := range all {
		fmt.Fprintf(t, "%s: %d nodes, %d threads, packed file %s, features %s\n", r.Graph, r.Nodes, r.Threads, cli.Size(r.File),
			cli.Size(r.Features))
		fmt.Fprintf(t, "step\tseconds\tpeak\tbytes per node\n")
		for _, s := range r.Steps {
			fmt.Fprintf(t, "%s\t%.2f\t%s\t%.0f\n", s.Name, s.Seconds, cli.Size(s.Peak), float64(s.Peak)/float64(r.Nodes))
		}
	}
	return t.Flush()
}

// resetPeak lets the peak memory of this process begin anew, where Linux allows that.
func resetPeak() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }

// ownPeak returns the peak resident memory of this process since resetPeak, mapped files
// included; 0 where Linux does not tell.
func ownPeak() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}
