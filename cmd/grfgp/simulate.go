package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/replay"
)

// simulateFlags are the flags of the verb.
type simulateFlags struct {
	input
	modelFlags
	goalFlags
	truth    string
	policies []string
	start    int
	steps    int
	batch    int
	seeds    int
	retrain  string
	repeats  choice
	csv      bool
	out      string
	plot     string
}

func simulateVerb(a *app) *cobra.Command {
	var f simulateFlags
	cmd := &cobra.Command{
		Use:   "simulate --edges FILE --truth FILE --goal GOAL",
		Short: "Say whether suggestions would have beaten random ones, on values that are known",
		Long: `Simulate hides a table of known values and uncovers them one by one, as suggest
and simpler rules would have asked for them, several times from different nodes to
start from. It prints how far each rule got, and whether the first beats random.

To maximize or minimize, regret is the distance of the best value found from the
best there is; to learn, the error is that of predictions at nodes not measured;
for a threshold, it is the share of nodes taken to be on its wrong side. Nodes
without a value in the table are no candidates.`,
		Example: `  grfgp simulate --edges roads.csv --truth last-year.csv --goal learn --steps 20
  grfgp simulate --edges follows.csv --truth known.csv --goal maximize --policies thompson,random,bfs,dfs --steps 100 --start 10 --seeds 5 --plot regret.png -o steps.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.simulate(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.input.flags(cmd)
	f.modelFlags.flags(cmd)
	f.goalFlags.flags(cmd)
	flags.StringVar(&f.truth, "truth", "", "file of known values: node and value")
	flags.StringSliceVar(&f.policies, "policies", nil, "rules to compare, the first of them with random: "+strings.Join(bayesopt.PolicyNames(), ", ")+" (default: that of the goal, and random)")
	complete(cmd, "policies", bayesopt.PolicyNames()...)
	flags.IntVar(&f.start, "start", 10, "nodes measured at random before the first rule is asked")
	flags.IntVar(&f.steps, "steps", 50, "nodes measured after them; where nobody says, no more than a quarter of those known")
	flags.IntVar(&f.batch, "batch", 1, "nodes asked for at a time")
	flags.IntVar(&f.seeds, "seeds", 5, "how often to replay, from other nodes to start from")
	flags.StringVar(&f.retrain, "retrain", "auto", "when the model is learned anew: auto (as measurements grow, or surprise), never (after the start, so that sds of rules compare) or every so many measurements")
	complete(cmd, "retrain", "auto", "never")
	f.repeats.flag(cmd, "repeats", "several known values of a node", "mean", "last", "error")
	flags.BoolVar(&f.csv, "csv", false, "answer in CSV: a row for every measurement of every replay")
	flags.StringVarP(&f.out, "out", "o", "", "`file` for every measurement of every replay, as CSV or with --json as JSON")
	flags.StringVar(&f.plot, "plot", "", "`file` for a picture of the curves (PNG)")
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
	g, read, err := f.load(ctx, a, spec)
	if err != nil {
		return err
	}
	known := len(read.Nodes)
	truth, count, scatter := missingNumbers(g.Len()), make([]int, g.Len()), make([]float64, g.Len())
	for k, node := range read.Nodes {
		truth[node], count[node], scatter[node] = read.Values[k], read.Count[k], read.Scatter[k]
	}
	if f.start >= known {
		return usagef("--start %d leaves nothing to choose: the values of %d nodes are known", f.start, known)
	}
	if quarter := max(1, known/4); !changed("steps") && f.steps > quarter {
		f.steps = quarter
		a.talk.Say("  note: %d steps, a quarter of the %d nodes whose values are known; --steps says otherwise", f.steps, known)
	}
	if f.start+f.steps >= known {
		a.talk.Say("  note: the values of %d nodes are known, and all get measured: in the end rules cannot differ", known)
	}
	policies, err := replay.Named(f.goal, g, f.policies...)
	if err != nil {
		return suggestError(ctx, err)
	}
	s := a.talk.Stage("simulating")
	sim, err := replay.Run(ctx, g, truth, spec, replay.Options{
		Goal: f.goal, Policies: policies, Start: f.start, Steps: f.steps, Batch: f.batch, Seeds: f.seeds, Seed: a.seed,
		Count: count, Scatter: scatter, Retrain: schedule, Progress: s.Update,
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
	whole := 0
	for _, ok := range sim.Complete() {
		if ok {
			whole++
		}
	}
	switch {
	case whole == 0 && err != nil:
		return err
	case whole == 0:
		return &exitError{exitNotFitted, fmt.Errorf("nothing was scored: there is no model of %d measurements that are too few, all the same, or too far from or too near each other for a variance to be a number", sim.Start+sim.Steps)}
	case err != nil:
		a.talk.Say("interrupted: what follows is of the %d seeds that every policy had finished", whole)
	}
	return errors.Join(a.answerSimulate(f, g, sim), err) // interrupted: what is finished, and the code
}

// tellEffort says how many seconds a step took, policy by policy.
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
			a.talk.Say("  seconds per step of %s: %s; trainings: %d", name, effortWords(all, steps), all.Trainings)
		}
	}
}

// check fills in what the goal says, and says which flags make no sense.
func (f *simulateFlags) check(a *app) error {
	if f.truth == "" {
		return usagef("no known values: give --truth FILE")
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
			return usagef("--policies: %s is named twice", name)
		}
	}
	for _, n := range []struct {
		flag         string
		value, least int
	}{{"start", f.start, 0}, {"steps", f.steps, 1}, {"batch", f.batch, 1}, {"seeds", f.seeds, 1}} {
		if n.value < n.least {
			return usagef("--%s %d: give %d or more", n.flag, n.value, n.least)
		}
	}
	if f.csv && a.json {
		return usagef("--csv and --json: give one of them")
	}
	if ext := filepath.Ext(f.plot); ext != "" && !strings.EqualFold(ext, ".png") {
		return usagef("--plot %s: pictures are PNG; name it %s.png", f.plot, strings.TrimSuffix(f.plot, ext))
	}
	return nil
}

// schedule says when the model is learned anew.
func (f *simulateFlags) schedule() (bayesopt.Schedule, error) {
	switch f.retrain {
	case "auto":
		return bayesopt.Schedule{}, nil
	case "never":
		return bayesopt.Schedule{Every: math.MaxInt / 2, Drift: -1}, nil
	}
	every, err := strconv.Atoi(f.retrain)
	if err != nil || every < 1 {
		return bayesopt.Schedule{}, usagef("--retrain %s: give auto, never or a number of measurements", f.retrain)
	}
	return bayesopt.Schedule{Every: every, Drift: -1}, nil
}

// load reads the graph and the known values, one for each node that has any.
func (f *simulateFlags) load(ctx context.Context, a *app, spec grfgp.Spec) (*graph.Graph, *graphio.Measurements, error) {
	var read *graphio.Measurements
	net, err := f.loadThen(ctx, a, func(net *graphio.Network, opts graphio.Options) (err error) {
		opts = f.of("measurements", opts)
		s := a.talk.Stage("reading known values")
		opts.Progress, opts.Repeats, opts.IgnoreSD = s.Update, graphio.Repeats(f.repeats.chosen()), true
		if read, err = graphio.ReadMeasurements(ctx, a.source(f.truth), net.Graph, opts); err == nil {
			s.Done("%d values from %s", len(read.Values), read.Report.File)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.tellNetwork(net)
	a.tell(read.Report)
	a.tellRepeats(read.Report, f.repeats)
	a.tellUnusedSD(read, "simulate learns")
	return net.Graph, read, enough(read, spec)
}
