package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/internal/table"
	"grfgp/report"
)

// goalFlags are the flags of the goal.
type goalFlags struct {
	goalText string
	goal     bayesopt.Goal
}

func (f *goalFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.goalText, "goal", "", "`GOAL` of the measurements: maximize, minimize, learn (reduce the uncertainty of all "+
		"nodes) or threshold=V (find the nodes above V)")
	cli.Complete(cmd, "goal", "maximize", "minimize", "learn", "threshold=")
}

// resolveGoal reads the goal.
func (f *goalFlags) resolveGoal() (err error) {
	const give = "give maximize, minimize, learn or threshold=V, as in --goal threshold=50"
	if f.goalText == "" {
		return cli.Usagef("--goal is missing: %s", give)
	}
	if f.goal, err = bayesopt.ParseGoal(f.goalText); err != nil {
		return cli.Usagef("--goal %s: %s", f.goalText, give)
	}
	return nil
}

// checkPolicy says why a policy cannot be used for the goal.
func (f *goalFlags) checkPolicy(flag, name string) error {
	switch _, level := f.goal.Level(); {
	case !slices.Contains(bayesopt.PolicyNames(), name):
		return cli.Usagef("--%s %s: there is no such policy; the policies are %s", flag, name, strings.Join(bayesopt.PolicyNames(), ", "))
	case name == "straddle" && !level:
		return cli.Usagef("--%s straddle needs --goal threshold=V", flag)
	}
	return nil
}

// suggestFlags are the flags of the verb.
type suggestFlags struct {
	fitFlags
	labelFlags
	goalFlags
	siteFlags
	policy string
	count  int
	again  bool
	csv    bool
	resultFlags
}

func suggestVerb(a *app) *cobra.Command {
	var f suggestFlags
	cmd := &cobra.Command{
		Use:   "suggest --edges FILE --measurements FILE --goal GOAL",
		Short: "Suggest which nodes to measure or label next, with reasons",
		Long: `Suggest fits a Gaussian process to the measurements and picks nodes to measure next
by an acquisition policy. A batch is picked node by node, so that it is not
redundant: Thompson sampling takes a new posterior draw for each node, and other
policies treat the nodes picked so far, and those of --pending, as measured.

Goals: maximize and minimize search for the highest or the lowest node, learn
reduces the uncertainty of all nodes, and threshold=V finds the nodes above V.

Mean, sd and the credible interval lower to upper are those of the quantity, without
the noise of a measurement, on the scale of predict: of counts the rate, of shares and
yes-no values the probability; a threshold is on that scale, too. reading_lower to
reading_upper is the interval of one new measurement, with its noise. The
probability of being the best is estimated from posterior draws and shown with its
standard error. Without measurements, nodes are drawn at random.

With --labels and --goal learn, suggest picks the nodes whose labels would most
reduce the uncertainty about the classes of all nodes, each as if the nodes before
it had been labelled. On large graphs it considers a few hundred candidates: the
most uncertain nodes, and others drawn at random.

Cost, allowed and group of a node may also be columns of --nodes. With costs, nodes
are picked by their benefit per cost.`,
		Example: `  grfgp suggest --edges roads.csv --measurements speeds.csv --goal learn -n 10
  grfgp suggest --edges pipes.csv --measurements loggers.csv --goal threshold=0.5 --allowed sites.csv
  grfgp suggest --edges follows.csv --measurements tried.csv --goal maximize --cost fees.csv --budget 500 --pending asked.csv
  grfgp suggest --edges citations.csv --labels topics.csv --goal learn -n 10`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.suggest(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.flagsWith(cmd, f.flagsWithoutSD)
	f.device.flag(cmd)
	f.labelFlags.flags(cmd)
	f.goalFlags.flags(cmd)
	f.siteFlags.flags(cmd)
	flags.IntVarP(&f.count, "count", "n", 5, "number of nodes")
	flags.StringVar(&f.policy, "policy", "", "acquisition `policy`: "+cli.OneOf(bayesopt.PolicyNames())+" (default: that of the goal)")
	cli.Complete(cmd, "policy", bayesopt.PolicyNames()...)
	flags.BoolVar(&f.again, "again", false, "suggest measured nodes, too")
	flags.BoolVar(&f.csv, "csv", false, "print results as CSV")
	f.levelFlag(cmd)
	f.resultFlags.flags(cmd, "suggestions", "a table for reading on standard output")
	return cmd
}

func (a *app) suggest(ctx context.Context, f *suggestFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if err := f.either(changed); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if f.goalText == "" && f.labels != "" {
		return cli.Usagef("--goal is missing: with --labels give --goal learn")
	}
	if err := f.resolveGoal(); err != nil {
		return err
	}
	if f.policy == "" {
		f.policy = f.goal.PolicyName()
	}
	if err := f.checkPolicy("policy", f.policy); err != nil {
		return err
	}
	switch {
	case f.count < 1:
		return cli.Usagef("-n %d: give 1 or more", f.count)
	case f.csv && a.JSON:
		return cli.Usagef("--csv and --json: give only one")
	case f.csv && table.FormatOf(f.out) != "" && table.FormatOf(f.out) != table.CSV:
		return cli.Usagef("--csv and -o %s: give only one", f.out)
	}
	if err := f.resultFlags.check(a); err != nil {
		return err
	}
	f.Input.Keep = f.keepNames()
	if err := f.siteFlags.check(changed); err != nil {
		return err
	}
	if f.labels != "" {
		return a.suggestLabels(ctx, f, spec)
	}
	t, err := f.load(ctx, a, spec)
	if err != nil {
		return err
	}
	if t.shown, err = f.chooseColumns(a, t.net); err != nil {
		return err
	}
	answer, err := a.ask(ctx, f, t.known.spec(spec), t)
	if err != nil {
		return err
	}
	return a.answerSuggest(f, answer)
}

// chooseColumns chooses what suggestions have of the node table.
func (f *suggestFlags) chooseColumns(a *app, net *graphio.Network) (*nodeColumns, error) {
	return f.newNodeColumns(a, net, columnNames((&suggestAnswer{Goal: f.goal}).columns()))
}

// suggestData is the input of suggestions.
type suggestData struct {
	net          *graphio.Network
	measurements *graphio.Measurements // nil: none yet
	sites        *sites
	known        *nodeFacts // nil: no covariates
	idle         string     // why there is no model, "" if there is one
	shown        *nodeColumns
}

// load reads the graph, the measurements, if there are any, and the limits of the
// choice.
func (f *suggestFlags) load(ctx context.Context, a *app, spec grfgp.Spec) (*suggestData, error) {
	if err := f.PointsOf(&a.App, f.measurements); err != nil {
		return nil, err
	}
	t := &suggestData{idle: "there are no measurements yet"}
	net, err := f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		if f.measurements != "" {
			t.measurements, err = f.readMeasurements(ctx, a, net.Graph, f.readingOptions(spec, f.Of("measurements", opts)))
			if errors.Is(err, graphio.ErrEmpty) {
				t.measurements, err = nil, nil
				t.idle = f.measurements + " holds no measurements yet"
			}
		}
		if err != nil {
			return err
		}
		var done []int
		if t.measurements != nil && !f.again {
			done = t.measurements.Nodes
		}
		t.sites, err = f.siteFlags.read(ctx, a, net, done, f.Of("nodes", opts))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.TellNetwork(net)
	t.net = net
	m := t.measurements
	if t.known, err = f.known(a, net, &f.Input, ofValues(m, f.measurements)); err != nil {
		return nil, err
	}
	if m == nil {
		return t, nil
	}
	f.TellValues(&a.App, m.Report, f.measurements, net)
	a.tellSums(m.Report, f.repeats, spec)
	if err := a.askKind(m, &f.valueFlags, spec); err != nil {
		return nil, err
	}
	if err := checkNumbers(m, net.Graph.IDs(), spec); err != nil {
		return nil, err
	}
	t.idle = ""
	var what *graphio.Error
	if err := enough(m, spec); errors.As(err, &what) {
		t.idle = what.What
	}
	a.tellUnusedSD(m, "suggest learns")
	return t, nil
}

// Posterior draws for the probability of being the best: a number of values in all,
// within limits.
const (
	chanceNumbers = 50_000_000
	mostDraws     = 1000
	leastDraws    = 64
)

// ask conditions on the measurements and picks nodes.
func (a *app) ask(ctx context.Context, f *suggestFlags, spec grfgp.Spec, t *suggestData) (*suggestAnswer, error) {
	g, by := t.net.Graph, f.policy
	policy, err := bayesopt.PolicyNamed(f.policy, f.goal, g.Adjacency())
	if err != nil {
		return nil, suggestError(ctx, err)
	}
	if !f.goal.Suits(policy) {
		a.Talk.Say("note: --policy %s is not meant for --goal %v; --policy %s is", f.policy, f.goal, f.goal.PolicyName())
	}
	var d gp.Data
	if t.measurements != nil {
		if d, err = gp.DataOf(t.measurements); err != nil {
			return nil, err
		}
	}
	opts := bayesopt.Options{
		Goal: f.goal, Policy: policy, Seed: a.Seed, Allowed: t.sites.allowed, Repeats: f.again, Limits: t.sites.limits, Ranks: a.Ranks,
		Retrain: bayesopt.Schedule{First: max(1, d.Len()), Drift: -1}, // once, from all
	}
	if t.idle != "" {
		opts.Retrain.First = math.MaxInt
		if _, ok := policy.(bayesopt.ModelFree); !ok {
			by = "random"
		}
		a.Talk.Say("%s: nodes are picked without a model, by the policy %s; measure them and run suggest again", t.idle, by)
	}
	if t.idle == "" {
		if err := a.fits(ctx, fmt.Sprintf("suggesting among %d nodes", g.Len()), g, spec.ForSearch(g, policy),
			grfgp.Job{Measurements: d.Len(), Places: g.Len(), Searches: 1}); err != nil {
			return nil, err
		}
	}
	o, err := grfgp.NewOptimizer(g, spec, opts)
	if err != nil {
		return nil, suggestError(ctx, err)
	}
	if err := o.TellAll(grfgp.Sorted(d)); err != nil {
		return nil, suggestError(ctx, err)
	}
	s := a.Talk.Stage("suggesting")
	answer, err := o.Ask(ctx, bayesopt.Request{
		Count: f.count, Pending: t.sites.pending, Excluded: t.sites.excluded, Budget: t.sites.budget,
		Draws:    min(mostDraws, max(leastDraws, chanceNumbers/max(1, g.Len()))),
		Progress: s.Work(),
	})
	if err != nil {
		return nil, suggestError(ctx, err)
	}
	s.Done("%d of %d nodes by %s%s", len(answer.Suggestions), f.count, by, a.SharedWords())
	a.Talk.Detail("  time: %s, explaining %v", effortWords(answer.Effort, 1), twoDigits(answer.Effort.Explain))
	out := newSuggestAnswer(f, t, by, answer)
	out.Level = f.level
	chosen, ok := o.Chosen()
	if ok {
		if err := out.addIntervals(ctx, o, answer, medianExposure(d)); err != nil {
			return nil, suggestError(ctx, err)
		}
	}
	out.known = t.shown
	if ok {
		out.Model = &chosen
		a.Talk.Say("  %s", kernelWords(chosen.Family, chosen.Method, chosen.Scales, chosen.Variance, chosen.Trend, chosen.Terms.Names()))
	}
	if ok {
		var why, cautions []string
		if out.Device, why, cautions, err = o.Computed(ctx); err != nil {
			return nil, suggestError(ctx, err)
		}
		out.Computed = why
		a.tellReasons(why, cautions)
	}
	if ok && t.known != nil {
		now, err := o.Snapshot(ctx)
		if err != nil {
			return nil, suggestError(ctx, err)
		}
		if out.Effects, err = a.effects(ctx, now, chosen.Terms.Names(), valueName(t.measurements.Report)); err != nil {
			return nil, err
		}
	}
	if t.measurements != nil {
		if blind := report.ComponentsWithout(g, t.measurements.Nodes); blind.Count > 0 {
			a.Talk.Say("  components without a measurement: %d, with %s; predictions there %s", blind.Count, plural.Count(blind.Nodes, "nodes"),
				withoutNeighbours(chosen.Terms.Names(), "equal the prior"))
		}
	}
	return out, nil
}

// effortWords lists the time per step.
func effortWords(e bayesopt.Effort, steps int) string {
	per := func(d time.Duration) time.Duration { return twoDigits(d / time.Duration(steps)) }
	return fmt.Sprintf("fitting %v, updating %v, picking %v", per(e.Train), per(e.Extend), per(e.Pick))
}

// twoDigits rounds a duration to two significant digits.
func twoDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 100 {
		unit *= 10
	}
	return d.Round(unit)
}

// suggestError gives errors of suggesting their exit code.
func suggestError(ctx context.Context, err error) error {
	if errors.Is(err, bayesopt.ErrOptions) {
		return cli.Exit(cli.ExitUsage, err)
	}
	return fitError(ctx, err)
}

// shortWords says why there are fewer suggestions than asked for. With a budget, some of
// the nodes besides those in full groups may cost too much.
func shortWords(r bayesopt.Reason, budgeted bool) string {
	switch r {
	case bayesopt.NoNodesLeft:
		return "all other nodes are measured, pending, excluded or not allowed; --again allows measured nodes"
	case bayesopt.BudgetReached:
		return "the other nodes cost more than is left of --budget, pending nodes included"
	case bayesopt.GroupsFull:
		if budgeted {
			return "the other nodes are in groups that have reached --group-cap or cost more than is left of --budget, pending nodes included"
		}
		return "the other nodes are in groups that have reached --group-cap, pending nodes included"
	}
	return fmt.Sprint(r)
}
