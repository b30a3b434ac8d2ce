package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/replay"
)

// simulateFlags are the flags of the verb.
type simulateFlags struct {
	cli.Input
	modelFlags
	goalFlags
	truth    string
	policies []string
	start    int
	steps    int
	batch    int
	seeds    int
	retrain  string
	repeats  cli.Choice
	timeFlags
	csv  bool
	out  string
	plot string
}

func simulateVerb(a *app) *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate --edges FILE --truth FILE --goal GOAL",
		Short: "Replay searches on known values: do suggestions beat random picks?",
		Long: `Simulate replays searches on a table of known values: the values are hidden and
revealed one by one, as an acquisition policy asks for them. Each policy is replayed
several times from different initial nodes. Simulate prints the final loss of each
policy, and whether the first policy beats random picks.

The loss depends on the goal. Maximize and minimize: the regret, the distance of
the best value found from the best known value. Learn: the error (RMSE) of
predictions at unmeasured nodes. Threshold: the share of nodes predicted on the
wrong side of the threshold. Nodes without a known value are not candidates.

Counts and shares are compared as rates, the known ones with the predicted ones, and
errors are weighted by exposures. With covariates, a model is fitted to all known
values, for the effects of columns.`,
		Example: `  grfgp simulate --edges roads.csv --truth last-year.csv --goal learn --steps 20
  grfgp simulate --edges follows.csv --truth known.csv --goal maximize --policies thompson,random,bfs,dfs --steps 100 --start 10 --seeds 5 --plot regret.svg -o steps.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.simulate(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.Input.Flags(cmd)
	f.modelFlags.flags(cmd)
	f.device.flag(cmd)
	f.goalFlags.flags(cmd)
	flags.StringVar(&f.truth, "truth", "", "`file` of known values: node and value")
	flags.StringSliceVar(&f.policies, "policies", nil, "`policies` to compare, the first with random: "+
		strings.Join(bayesopt.PolicyNames(), ", ")+" (default: that of the goal, and random)")
	cli.Complete(cmd, "policies", bayesopt.PolicyNames()...)
	flags.IntVar(&f.start, "start", 10, "number of initial nodes, drawn at random")
	flags.IntVar(&f.steps, "steps", 50, "measurements per replay; without this flag at most a quarter of the known nodes")
	flags.IntVar(&f.batch, "batch", 1, "number of nodes picked at a time")
	flags.IntVar(&f.seeds, "seeds", 5, "number of replays of each policy, with different initial nodes")
	flags.StringVar(&f.retrain, "retrain", "auto", "`when` hyperparameters are refitted: auto (as measurements accumulate or contradict "+
		"the model), never (only after the initial nodes, so that sds of policies can be compared) or a number of measurements")
	cli.Complete(cmd, "retrain", "auto", "never")
	f.repeats.Flag(cmd, "repeats", "several known values of a node", "mean", "last", "error")
	f.flagsWithoutModel(cmd)
	flags.BoolVar(&f.csv, "csv", false, "print results as CSV: a row for every measurement of every replay")
	flags.StringVarP(&f.out, "out", "o", "", "`file` for every measurement of every replay, as CSV or with --json as JSON")
	flags.StringVar(&f.plot, "plot", "", "`file` for a figure of the loss curves (SVG)")
	return cmd
}

func (a *app) simulate(ctx context.Context, f *simulateFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if err := f.check(a); err != nil {
		return err
	}
	schedule, err := f.schedule()
	if err != nil {
		return err
	}
	net, read, err := f.load(ctx, a, spec)
	if err != nil {
		return err
	}
	known, err := f.known(a, net, &f.Input, ofValues(read, f.truth))
	if err != nil {
		return err
	}
	g := net.Graph
	if err := f.limitSteps(a, len(read.Nodes), changed("steps")); err != nil {
		return err
	}
	d, err := gp.DataOf(read)
	if err != nil {
		return err
	}
	truth := missingNumbers(g.Len())
	for k, node := range d.Nodes {
		truth[node] = d.Y[k]
	}
	if oneByOne(spec) { // the mean of several is no such value
		d.Count, d.Scatter = nil, nil
	}
	policies, err := replay.Named(f.goal, g, f.policies...)
	if err != nil {
		return suggestError(ctx, err)
	}
	if err := a.fits(ctx, "simulating", g, known.spec(spec),
		grfgp.Job{Measurements: f.start + f.steps, Places: g.Len(), Searches: runtime.GOMAXPROCS(0)}); err != nil {
		return err
	}
	s := a.Talk.Stage("simulating")
	sim, err := replay.Run(ctx, g, truth, known.spec(spec), replay.Options{
		Goal: f.goal, Policies: policies, Start: f.start, Steps: f.steps, Batch: f.batch, Seeds: f.seeds, Seed: a.Seed,
		Count: byNode(d.Count, d.Nodes, g.Len()), Scatter: byNode(d.Scatter, d.Nodes, g.Len()), Exposure: byNode(d.Exposure, d.Nodes, g.Len()),
		Retrain: schedule, Progress: s.Update,
	})
	if sim == nil || err != nil && ctx.Err() == nil {
		return suggestError(ctx, err)
	}
	done := 0
	for _, r := range sim.Replays {
		if r.Done {
			done++
		}
	}
	s.Done("%d of %d replays, %d measurements each", done, len(sim.Replays), sim.Start+sim.Steps)
	a.tellEffort(sim)
	switch complete := completeSeeds(sim); {
	case complete == 0 && err != nil:
		return err
	case complete == 0:
		return cli.Exit(cli.ExitNotFitted, fmt.Errorf("no results: no model can be fitted to %d measurements, which are too few, all equal, or "+
			"have a variance outside the range of floating-point numbers", sim.Start+sim.Steps))
	case err != nil:
		a.Talk.Say("interrupted: the results are those of the %d seeds that every policy had completed", complete)
	}
	var effects *effectFacts
	if err == nil {
		data := &modelData{net: net, measurements: read, data: d, known: known}
		if effects, err = a.tellEffects(ctx, data, spec, nil); err != nil {
			return err
		}
	}
	return errors.Join(a.answerSimulate(f, g, sim, known, effects), err) // interrupted: the complete part, and the exit code
}

// byNode returns a list by node, nil of an empty list.
func byNode[T any](list []T, nodes []int, n int) []T {
	if list == nil {
		return nil
	}
	all := make([]T, n)
	for k, i := range nodes {
		all[i] = list[k]
	}
	return all
}

// limitSteps refuses --start where no known node is left to pick, and keeps the
// default of --steps below a quarter of the known nodes.
func (f *simulateFlags) limitSteps(a *app, known int, given bool) error {
	if f.start >= known {
		return cli.Usagef("--start %d: only %d nodes have known values, so none is left to pick; give a smaller number", f.start, known)
	}
	if quarter := max(1, known/4); !given && f.steps > quarter {
		f.steps = quarter
		a.Talk.Say("  note: %d steps, a quarter of the %d nodes with known values; give --steps for another number", f.steps, known)
	}
	if f.start+f.steps >= known {
		a.Talk.Say("  note: all %d nodes with known values are measured in the end, so the final losses cannot differ", known)
	}
	return nil
}

// completeSeeds counts the seeds that every policy has completed.
func completeSeeds(sim *replay.Result) (n int) {
	for _, ok := range sim.Complete() {
		if ok {
			n++
		}
	}
	return n
}

// tellEffort prints the time per step of each policy.
func (a *app) tellEffort(sim *replay.Result) {
	for _, name := range sim.Policies {
		var all bayesopt.Effort
		steps := 0
		for _, r := range sim.Replays {
			if r.Policy == name && r.Done {
				all.Train, all.Extend, all.Pick = all.Train+r.Effort.Train, all.Extend+r.Effort.Extend, all.Pick+r.Effort.Pick
				all.Trainings += r.Effort.Trainings
				steps += sim.Steps
			}
		}
		if steps > 0 {
			a.Talk.Detail("  time per step of %s: %s; fits: %d", name, effortWords(all, steps), all.Trainings)
		}
	}
}

// check completes the flags by the goal, and refuses impossible values.
func (f *simulateFlags) check(a *app) error {
	if f.truth == "" {
		return cli.Usagef("no known values: give --truth FILE")
	}
	if err := f.resolveGoal(); err != nil {
		return err
	}
	if len(f.policies) == 0 {
		f.policies = []string{f.goal.PolicyName(), "random"}
	}
	for k := range f.policies {
		f.policies[k] = strings.TrimSpace(f.policies[k])
		name := f.policies[k]
		if err := f.checkPolicy("policies", name); err != nil {
			return err
		}
		if slices.Contains(f.policies[:k], name) {
			return cli.Usagef("--policies: %s is named twice", name)
		}
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{{"start", f.start, 0}, {"steps", f.steps, 1}, {"batch", f.batch, 1}, {"seeds", f.seeds, 1}} {
		if n.value < n.least {
			return cli.Usagef("--%s %d: give %d or more", n.flag, n.value, n.least)
		}
	}
	if f.csv && a.JSON {
		return cli.Usagef("--csv and --json: give only one")
	}
	if ext := filepath.Ext(f.plot); ext != "" && !strings.EqualFold(ext, ".svg") {
		return cli.Usagef("--plot %s: figures are SVG; name it %s.svg", f.plot, strings.TrimSuffix(f.plot, ext))
	}
	return nil
}

// schedule returns when hyperparameters are refitted.
func (f *simulateFlags) schedule() (bayesopt.Schedule, error) {
	switch f.retrain {
	case "auto":
		return bayesopt.Schedule{}, nil
	case "never":
		return bayesopt.Schedule{Every: math.MaxInt / 2, Drift: -1}, nil
	}
	every, err := strconv.Atoi(f.retrain)
	if err != nil || every < 1 {
		return bayesopt.Schedule{}, cli.Usagef("--retrain %s: give auto, never or a number of measurements", f.retrain)
	}
	return bayesopt.Schedule{Every: every, Drift: -1}, nil
}

// load reads the graph and the known values, one a node.
func (f *simulateFlags) load(ctx context.Context, a *app, spec grfgp.Spec) (*graphio.Network, *graphio.Measurements, error) {
	if err := f.PointsOf(&a.App, f.truth); err != nil {
		return nil, nil, err
	}
	var read *graphio.Measurements
	net, err := f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		if opts, err = f.timeOptions(f.readingOptions(spec, f.Of("measurements", opts))); err != nil {
			return err
		}
		s := a.Talk.Stage("reading known values")
		opts.Progress, opts.Repeats, opts.IgnoreSD = s.Update, graphio.Repeats(f.repeats.Chosen()), true
		if read, err = graphio.ReadMeasurements(ctx, a.Source(f.truth), net.Graph, opts); err == nil {
			s.Done("%s from %s", plural.Count(len(read.Values), "values"), read.Report.File)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.TellNetwork(net)
	f.TellValues(&a.App, read.Report, f.truth, net)
	a.tellSums(read.Report, f.repeats, spec)
	a.tellUnusedSD(read, "simulate learns")
	if err := a.askKind(read, &f.valueFlags, spec); err != nil {
		return nil, nil, err
	}
	if n := read.Report.Ledger.Repeats; n > 0 && spec.About().Reading == "answer" && f.repeats.Value == "mean" {
		return nil, nil,
			cli.Usagef("%s: %d nodes are measured repeatedly, and the mean of yes and no is neither; give --repeats last, or counts "+
				"of yes with --tested", read.Report.File, n)
	}
	if err := checkNumbers(read, net.Graph.IDs(), spec); err != nil {
		return nil, nil, err
	}
	return net, read, enough(read, spec)
}
