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
	"runtime"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/internal/cli"
	"grfgp/internal/rng"
)

func memoryVerb(a *app) *cobra.Command {
	var graphs []string
	var product productFlag
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Measure the peak memory of whole runs",
		Long: `Memory runs commands with every setting chosen automatically on generated graphs, with
measurements of a smooth function, and prints the peak memory, what it is per node, and
the estimate by which a command decides whether a run fits.`,
		Example: "  grfgp-lab bench memory\n  grfgp-lab bench memory --graph grid:3163x3163",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			runs := memoryRuns
			if len(graphs) > 0 {
				runs = nil
			}
			for _, g := range graphs {
				if _, err := cli.ParseGenerator(g); err != nil {
					return cli.Usagef("--graph %q: %v", g, err)
				}
				runs = append(runs, memoryRun{Verb: "predict", Graph: g, Values: 1000})
			}
			return product.with(cmd.Context(), a, func(program string) error { return a.benchMemory(cmd.Context(), runs, program) })
		},
	}
	cmd.Flags().StringArrayVar(&graphs, "graph", nil, "only 'predict' with 1,000 measurements on this generated `graph`, as for "+
		"--generate; may be repeated")
	product.flag(cmd)
	return cmd
}

// memoryRun is a command whose memory is measured.
type memoryRun struct {
	Verb    string `json:"verb"`
	Graph   string `json:"graph"`
	Values  int    `json:"values"` // measurements, or labels
	Classes int    `json:"classes,omitempty"`
}

func (r memoryRun) String() string {
	return fmt.Sprintf("%s %s, %d values", r.Verb, r.Graph, r.Values)
}

// memoryRuns cover the methods dense, series and grf, small graphs and large ones.
var memoryRuns = []memoryRun{
	{"predict", "grid:20x20", 100, 0},
	{"predict", "ba:1500,3", 500, 0},
	{"predict", "ba:3000,3", 900, 0},
	{"predict", "grid:100x100", 300, 0},
	{"predict", "ba:10000,3", 2800, 0},
	{"predict", "grid:300x300", 1000, 0},
	{"predict", "ring:1000000", 1000, 0},
	{"predict", "grid:1000x1000", 1000, 0},
	{"predict", "ba:300000,3", 1000, 0},
	{"classify", "grid:50x50", 1500, 4},
	{"classify", "grid:200x100", 1000, 3},
	{"validate", "ba:3000,3", 900, 0},
	{"report", "ba:3000,3", 900, 0},
	{"simulate", "grid:60x60", 1000, 0},
}

const simulatedSteps = 30

// job is the run as an estimate takes it.
func (r memoryRun) job(nodes, threads int) grfgp.Job {
	j := grfgp.Job{Measurements: r.Values, Classes: r.Classes, Places: nodes}
	switch r.Verb {
	case "validate":
		j.Places, j.Folds = 0, crossval.DefaultFolds
	case "report":
		j.Folds = crossval.DefaultFolds
	case "simulate":
		j.Measurements, j.Searches = simulatedSteps, threads
	}
	return j
}

// arguments are those of the program, with files in a folder.
func (r memoryRun) arguments(dir string) []string {
	out := []string{"-o", filepath.Join(dir, "out")}
	given := "--measurements"
	switch r.Verb {
	case "classify":
		given = "--labels"
	case "validate":
		out = nil
	case "simulate":
		given, out = "--truth", append(out, "--goal", "maximize", "--steps", strconv.Itoa(simulatedSteps), "--seeds", "2", "--policy", "thompson")
	}
	return append([]string{r.Verb, "--generate", r.Graph, given, filepath.Join(dir, "given.csv"), "--quiet"}, out...)
}

// memoryResult is the memory of one run.
type memoryResult struct {
	memoryRun
	Nodes    int     `json:"nodes"`
	Seconds  float64 `json:"seconds"`
	CPU      float64 `json:"cpu_seconds"`
	Peak     int64   `json:"peak_bytes"`
	PerNode  float64 `json:"bytes_per_node"`
	Estimate int64   `json:"estimated_bytes"`
	Method   string  `json:"method"`
}

func (a *app) benchMemory(ctx context.Context, runs []memoryRun, program string) error {
	var all []memoryResult
	for k, run := range runs {
		s := a.Talk.Stage(run.String())
		s.Work().Step(fmt.Sprintf("run %d of %d", k+1, len(runs)))
		r, err := a.memoryOf(ctx, program, run)
		if err != nil {
			return err
		}
		s.Done("%s", cli.Size(r.Peak))
		all = append(all, r)
	}
	// Only now, because a process that starts another passes its own peak on to it.
	for k := range all {
		if err := a.estimate(ctx, &all[k]); err != nil {
			return err
		}
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]any{"version": 1, "runs": all})
	}
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "command\tgraph\tvalues\tmethod\tseconds\tCPU seconds\tpeak\tbytes per node\testimate / peak\n")
	for _, r := range all {
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%.1f\t%.1f\t%s\t%.0f\t%.2f\n", r.Verb, r.Graph, r.Values, r.Method, r.Seconds, r.CPU, cli.Size(r.Peak),
			r.PerNode, float64(r.Estimate)/float64(r.Peak))
	}
	return t.Flush()
}

// memoryOf runs a command on a generated graph.
func (a *app) memoryOf(ctx context.Context, program string, run memoryRun) (r memoryResult, err error) {
	p, err := cli.ParseGenerator(run.Graph)
	if err != nil {
		return r, err
	}
	dir, err := os.MkdirTemp("", "grfgp-memory")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	r = memoryResult{memoryRun: run, Nodes: int(p.Nodes)}
	if err := writeTo(filepath.Join(dir, "given.csv"), func(w io.Writer) error { return a.writeSmooth(w, run, p.Nodes) }); err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, program, append(run.arguments(dir), "--threads", strconv.Itoa(a.Threads), "--seed",
		strconv.FormatUint(a.Seed, 10))...)
	var said strings.Builder
	cmd.Stderr = &said
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return r, fmt.Errorf("%s: %w: %s", run, err, strings.TrimSpace(said.String()))
	}
	r.Seconds, r.CPU = time.Since(start).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	r.Peak = int64(peakOf(cmd.ProcessState))
	r.PerNode = float64(r.Peak) / p.Nodes
	return r, nil
}

// writeSmooth writes values of a smooth function at random nodes, or the classes that they
// are in.
func (a *app) writeSmooth(w io.Writer, run memoryRun, nodes float64) error {
	random := rand.New(rng.New(a.Seed, "bench memory"))
	what := "value"
	if run.Classes > 0 {
		what = "class"
	}
	fmt.Fprintf(w, "node,%s\n", what)
	seen := map[int]bool{}
	for len(seen) < run.Values {
		i := random.IntN(int(nodes))
		if seen[i] {
			continue
		}
		seen[i] = true
		x := math.Sin(6 * float64(i) / nodes)
		if run.Classes > 0 {
			fmt.Fprintf(w, "%d,c%d\n", i, int((x+1)/2.0001*float64(run.Classes)))
			continue
		}
		if _, err := fmt.Fprintf(w, "%d,%.6g\n", i, x+0.1*random.NormFloat64()); err != nil {
			return err
		}
	}
	return nil
}

// programBytes is the memory of the program itself.
const programBytes = 25 << 20

// estimate adds the estimate of the command, with the graph and the program.
func (a *app) estimate(ctx context.Context, r *memoryResult) error {
	p, err := cli.ParseGenerator(r.Graph)
	if err != nil {
		return err
	}
	g, err := p.Make(a.Seed)
	if err != nil {
		return err
	}
	g = g.Ordered()
	spec := grfgp.Spec{Seed: a.Seed}
	if r.Verb == "simulate" {
		spec = spec.ForSearch(g, nil)
	}
	m, err := grfgp.EstimateMemory(ctx, g, spec, r.job(g.Len(), runtime.GOMAXPROCS(0)))
	if err != nil {
		return err
	}
	r.Method = m.Method
	r.Estimate = programBytes + m.Bytes + int64(g.Len())*(8+4+4+4) + 12*int64(g.Adjacency().NNZ()) // rows, ids, order, index; entries
	return nil
}
