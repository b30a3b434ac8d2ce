package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/kernel"
	"grfgp/partition"
	"grfgp/report"
	"grfgp/walk"
)

// checkFlags are the flags of the verb.
type checkFlags struct {
	cli.Input
	measurementFlags
	ranks int
}

func checkVerb(a *app) *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check --edges FILE [--measurements FILE]",
		Short: "Check your files before a run",
		Long: `Check reads the files as all commands do and reports the result: the role of each
column and why, what became of each line, the size and components of the graph,
components without a measurement, the time and memory that predict and validate
would take (without measurements: random-walk features), and the graphics card, if
there is one. It fits no model. With --ranks it prints how that many processes would share the features: nodes,
memory, nodes of others that each needs (its rim), and bytes that it exchanges in a product of
the kernel matrix and a vector.

Columns are recognized by their names, then by their content. If two
interpretations remain, check stops and lists them; choose with --column. The roles:
  edges         source, target, weight or distance
  nodes         id, label, lat, lon, x, y, cost, allowed, group
  measurements  node, value, sd`,
		Example: `  grfgp check --edges roads.csv --measurements speeds.csv
  grfgp check --edges roads.csv --weights distance --on-bad-row skip --rejects bad.csv
  grfgp check --nodes wells.csv --knn 8 --measurements levels.csv --json
  grfgp check --edges roads.packed --ranks 16`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.ranks < 0 || f.ranks > cli.MostRanks {
				return cli.Usagef("--ranks %d: give 1 to %d", f.ranks, cli.MostRanks)
			}
			return a.check(cmd.Context(), &f)
		},
	}
	f.Input.Flags(cmd)
	f.measurementFlags.flags(cmd)
	cmd.Flags().IntVar(&f.ranks, "ranks", 0, "show how `N` processes would share the graph")
	return cmd
}

// checkAnswer is the answer in JSON.
type checkAnswer struct {
	Version      int                      `json:"version"`
	Edges        *graphio.Report          `json:"edges,omitempty"` // not with --knn
	Nodes        *graphio.Report          `json:"nodes,omitempty"`
	Measurements *graphio.Report          `json:"measurements,omitempty"`
	Graph        report.GraphFacts        `json:"graph"`
	Measured     *report.MeasurementFacts `json:"measured,omitempty"`
	Features     *costFacts               `json:"features,omitempty"` // without measurements, and with --ranks
	Runs         []runCost                `json:"runs,omitempty"`     // with measurements
	Ranks        *partition.Plan          `json:"ranks,omitempty"`
	Device       deviceFacts              `json:"device"`
}

// costFacts are the cost of features with default settings.
type costFacts struct {
	Hops      int     `json:"hops"`
	Walkers   int     `json:"walks"`
	Bytes     int64   `json:"bytes"`
	PeakBytes int64   `json:"peak_bytes"`
	Seconds   float64 `json:"seconds"` // about, from a part of the rows
	Error     float64 `json:"error"`
	Fits      bool    `json:"fits"` // into 80 % of the free memory
}

// runCost is what a command takes with everything automatic.
type runCost struct {
	Command string  `json:"command"`
	Seconds float64 `json:"seconds"` // on the processors in use, mostly within a factor of two
	Bytes   int64   `json:"bytes"`   // at the peak, beside the graph
	Method  string  `json:"method"`  // representation of the kernel
}

// runCosts estimates what predict and validate take.
func (a *app) runCosts(ctx context.Context, g *graph.Graph, measurements int) (all []runCost, err error) {
	for _, c := range []struct {
		command string
		folds   int
	}{{"predict", 0}, {"validate", min(crossval.DefaultFolds, measurements)}} {
		need, err := grfgp.EstimateMemory(ctx, g, grfgp.Spec{Seed: a.Seed},
			grfgp.Job{Measurements: measurements, Places: g.Len(), Folds: c.folds})
		if err != nil {
			return nil, fitError(ctx, err)
		}
		all = append(all, runCost{c.command, need.On(runtime.GOMAXPROCS(0)), need.Bytes, need.Method})
	}
	return all, nil
}

func (a *app) check(ctx context.Context, f *checkFlags) error {
	if err := f.PointsOf(&a.App, f.measurements); err != nil {
		return err
	}
	answer := checkAnswer{Version: 1, Device: newDeviceFacts()}
	measured := 0
	net, err := f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) error {
		if f.measurements == "" {
			return nil
		}
		m, err := f.readMeasurements(ctx, a, net.Graph, f.Of("measurements", opts))
		if err == nil {
			answer.Measurements, answer.Measured = m.Report, report.DescribeMeasurements(net.Graph, m)
			measured = len(m.Values)
		}
		return err
	})
	if err != nil {
		return err
	}
	if f.KNN == 0 {
		answer.Edges = net.Report
	}
	if net.Nodes != nil {
		answer.Nodes = net.Nodes.Report
	}
	answer.Graph = report.DescribeGraph(net.Graph)
	if measured > 0 {
		if answer.Runs, err = a.runCosts(ctx, net.Graph, measured); err != nil {
			return err
		}
	}
	var opts walk.Options
	if measured == 0 || f.ranks > 0 {
		var cost costFacts
		if opts, cost, err = a.cost(ctx, net.Graph); err != nil {
			return err
		}
		answer.Features = &cost
	}
	if f.ranks > 0 {
		s := a.Talk.Stage("planning the ranks")
		if answer.Ranks, err = partition.New(ctx, net.Graph, opts, f.ranks); err != nil {
			return err
		}
		s.Done("%d", f.ranks)
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(answer)
	}
	return a.printCheck(&answer)
}

// cost estimates the cost of features with default settings, by a pilot run and by
// timing a part of the rows. It returns the options of these features, too.
func (a *app) cost(ctx context.Context, g *graph.Graph) (walk.Options, costFacts, error) {
	s := a.Talk.Stage("estimating cost")
	m, theta := kernel.Diffusion{}, []float64{1, cli.DefaultBeta}
	w, scale, strengths := g.WalkMatrix(graph.NormalizedAdjacency)
	opts := walk.Default()
	opts.Seed, opts.Scale, opts.Strengths, opts.Rooted = a.Seed, scale, strengths, strengths != nil
	opts.MaxLen, _ = kernel.Hops(m, theta, cli.KernelTail, walk.MaxMaxLen)
	coeff := make([]float64, opts.MaxLen+1)
	m.Coeffs(coeff, theta)
	opts.Walks = 0 // as many as the error takes
	p, err := walk.NewPlan(ctx, w, opts, coeff, walk.Goal{Error: cli.DefaultError, Bytes: int64(cli.Size(0).Most())})
	if err != nil {
		return walk.Options{}, costFacts{}, err
	}
	took, err := walk.EstimateTime(ctx, w, p.Options)
	if err != nil {
		return walk.Options{}, costFacts{}, err
	}
	s.Done("%d walkers, hops 0 to %d", p.Options.Walks, p.Options.MaxLen)
	e := p.Estimate
	return p.Options, costFacts{
		Hops: p.Options.MaxLen, Walkers: p.Options.Walks, Bytes: e.Bytes, PeakBytes: e.PeakBytes, Seconds: took.Seconds(), Error: e.Error,
		Fits: p.Fits,
	}, nil
}

// printCheck prints the answer as text: a paragraph per file, then the graph.
func (a *app) printCheck(r *checkAnswer) error {
	var text strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&text, "%-14s  %s\n", name, fmt.Sprintf(format, args...))
	}
	lines := func(all []report.Fact) {
		for _, f := range all {
			line("  "+f.Name, "%s", f.Text)
		}
	}
	for _, file := range []struct {
		name   string
		report *graphio.Report
	}{{"edges", r.Edges}, {"nodes", r.Nodes}, {"measurements", r.Measurements}} {
		if file.report != nil {
			facts := report.DescribeFile(file.name, file.report, cli.AsFlags)
			line(facts[0].Name, "%s", facts[0].Text)
			lines(facts[1:])
			text.WriteByte('\n')
		}
	}
	g := r.Graph
	line("graph", "%s, %s", plural.Count(g.Nodes, "nodes"), plural.Count(g.Edges, "edges"))
	lines(g.Lines())
	if r.Measured != nil {
		lines(r.Measured.Lines(g.Nodes))
	}
	text.WriteByte('\n')
	for _, c := range r.Runs {
		line(c.Command, "%s and %s, everything automatic (method %s)", aboutTime(c.Seconds), cli.Size(c.Bytes), c.Method)
	}
	switch c := r.Features; {
	case c == nil:
	case !c.Fits:
		line("features", "need %s, more than 80 %% of the free memory; see --memory, --walks and --rows of grfgp-lab features",
			cli.Size(c.PeakBytes))
	case c.Error == 0:
		line("features", "about %s and %s, exact (%d walkers, hops 0 to %d)", cli.Size(c.Bytes), roughly(c.Seconds), c.Walkers, c.Hops)
	default:
		line("features", "about %s and %s for an error of %.2g (%d walkers, hops 0 to %d)", cli.Size(c.Bytes), roughly(c.Seconds), c.Error,
			c.Walkers,
			c.Hops)
	}
	line("device", "%s", r.Device.words())
	if r.Ranks != nil {
		cli.PrintRanks(&text, r.Ranks)
	}
	_, err := io.WriteString(a.Out, text.String())
	return err
}

// aboutTime is roughly with a word for what is not exact.
func aboutTime(seconds float64) string {
	if seconds < 0.1 {
		return roughly(seconds)
	}
	return "about " + roughly(seconds)
}

// roughly shows an estimated time.
func roughly(seconds float64) string {
	switch {
	case seconds < 0.1:
		return "less than 0.1 s"
	case seconds < 100:
		return fmt.Sprintf("%.2g s", seconds)
	}
	return fmt.Sprintf("%.0f min", seconds/60)
}
