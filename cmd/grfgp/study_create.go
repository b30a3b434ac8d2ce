package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/study"
)

// createFlags are the flags of study create.
type createFlags struct {
	fitFlags
	goalFlags
	siteFlags
	classFlags
	policy string
	lease  time.Duration
	again  bool
	unit   string
}

func studyCreate(a *app, f *studyFlags) *cobra.Command {
	var c createFlags
	cmd := &cobra.Command{
		Use:   "create NAME --edges FILE --goal GOAL",
		Short: "Create a study on a graph",
		Long: `Create stores the graph and creates a study on it. Creating the same study again is
harmless; other settings under the same name are a conflict.

Measurements become the first observations of the study, at no cost. Cost, allowed
and group of a node may also be columns of --nodes. Pending and finished trials
count towards the budget.

A study of counts with --exposure, and one of shares, takes an exposure with every
result: the number to expect or at risk, or the number tested. The column that the
flag names is that of the first measurements, if there are any.

In a study of classes, with --labels or --classes, results are names of classes. The
labels of the file become the first observations. Its goal is to learn: the nodes
whose classes tell most about all others are suggested.

The model may use other columns of --nodes: --covariates names them, or all. A study
keeps its covariates, as it does its other settings.`,
		Example: `  grfgp study create pipes --store studies.db --edges pipes.csv --goal maximize --budget 40 --lease 48h
  grfgp study create worms --store studies.db --edges villages.csv --goal threshold=0.2 --values share
  grfgp study create trees --store studies.db --edges stands.csv --classes oak,beech,pine`,
		Args: cli.Named(1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStudies(cmd.Context(), f, false, func(ctx context.Context, all client.Studies) error {
				return a.createStudy(ctx, f, &c, args[0], all, cmd.Flags().Changed)
			})
		},
	}
	flags := cmd.Flags()
	c.fitFlags.flagsWith(cmd, c.flagsOfStudy)
	c.goalFlags.flags(cmd)
	c.classFlags.flags(cmd)
	flags.StringVar(&c.allowed, "allowed", "", "`file` of candidates: only these nodes are suggested (default: all)")
	flags.StringVar(&c.cost, "cost", "", "`file` of costs: node and cost")
	flags.StringVar(&c.group, "group", "", "`file` of groups: node and group")
	flags.IntVar(&c.groupCap, "group-cap", 0, "largest number of pending nodes of a group (default: no limit)")
	flags.Float64Var(&c.budget, "budget", 0, "largest total cost of trials, pending ones included (default: no limit)")
	flags.DurationVar(&c.lease, "lease", time.Duration(study.DefaultLease), "duration of a reservation")
	flags.StringVar(&c.policy, "policy", "", "acquisition `policy`: "+cli.OneOf(bayesopt.PolicyNames())+" (default: that of the goal)")
	cli.Complete(cmd, "policy", bayesopt.PolicyNames()...)
	flags.StringVar(&c.unit, "unit", "", "`unit` of the values, as people read it, such as mph")
	flags.BoolVar(&c.again, "again", false, "suggest measured nodes, too")
	return cmd
}

// createdAnswer is the answer in JSON.
type createdAnswer struct {
	Version  int            `json:"version"`
	New      bool           `json:"new"`
	Settings study.Settings `json:"settings"`
	Nodes    int            `json:"nodes"`
	Edges    int            `json:"edges"`
	Observed int            `json:"observed"`
}

func (a *app) createStudy(ctx context.Context, f *studyFlags, c *createFlags, name string, all client.Studies,
	changed func(string) bool) error {
	settings, err := c.settings(a, name, changed)
	if err != nil {
		return err
	}
	net, first, err := c.load(ctx, a, &settings)
	if err != nil {
		return err
	}
	if _, err := study.NewModelEngineOn(f.device.Value, net.Graph, net.Nodes, settings); err != nil { // before anything is stored
		return err
	}
	packed, err := graphio.Encode(net)
	if err != nil {
		return err
	}
	isNew, err := all.Create(ctx, settings, packed, f.who())
	if err != nil {
		return err
	}
	shown, err := c.observeFirst(ctx, all, name, first, f.who())
	if err != nil {
		return err
	}
	answer := createdAnswer{1, isNew, shown.Settings, net.Graph.Len(), net.Graph.Edges(), len(first)}
	return a.Answer(answer, func(w io.Writer) error {
		what := fmt.Sprintf("study %s exists already, with the same settings", name)
		if isNew {
			what = "created study " + name
		}
		_, err := fmt.Fprintf(w, "%s: %s on %s, %s\n", what, settings.Goal, plural.Count(answer.Nodes, "nodes"),
			plural.Count(answer.Observed, "observations"))
		return err
	})
}

// load reads the graph, with the limits of the choice in its node table, and the
// first measurements. It adds the covariates to the settings.
func (c *createFlags) load(ctx context.Context, a *app, settings *study.Settings) (*graphio.Network, []study.Measurement, error) {
	if err := c.PointsOf(&a.App, c.measurements); err != nil {
		return nil, nil, err
	}
	var read *graphio.Measurements
	var labels *graphio.ClassLabels
	net, err := c.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		var done []int
		if c.labels != "" {
			if labels, err = c.classFlags.read(ctx, a, net.Graph, c.Of("labels", opts)); err != nil {
				return err
			}
			done = labels.Nodes
		}
		if c.measurements != "" {
			opts := c.readingOptions(settings.Spec, c.Of("measurements", opts))
			if read, err = c.readMeasurements(ctx, a, net.Graph, opts); err != nil {
				return err
			}
			done = read.Nodes
		}
		sites, err := c.siteFlags.read(ctx, a, net, done, c.Of("nodes", opts))
		if err == nil {
			sites.into(net)
		}
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.TellNetwork(net)
	if err := study.CheckNewIDs(net.Graph.IDs()); err != nil {
		return nil, nil, cli.Dataf("%w", err)
	}
	of := ofValues(read, c.measurements)
	if labels != nil {
		of = ofLabels(labels, c.labels)
	}
	known, err := c.known(a, net, &c.Input, of)
	if err != nil {
		return nil, nil, err
	}
	if settings.Covariates = c.names(); known != nil && len(known.LeftOut) > 0 {
		settings.Covariates = known.Columns
	}
	if labels != nil {
		c.TellValues(&a.App, labels.Report, c.labels, net)
		first, err := labelled(net.Graph, labels, &c.Reading)
		return net, first, err
	}
	if read == nil {
		return net, nil, nil
	}
	if err := a.askKind(read, &c.valueFlags, settings.Spec); err != nil {
		return nil, nil, err
	}
	if err := checkNumbers(read, net.Graph.IDs(), settings.Spec); err != nil {
		return nil, nil, err
	}
	first, err := c.observations(a, net.Graph, read, &c.Reading)
	return net, first, err
}

// observeFirst adds the first measurements, once: creating the study again does not
// repeat them.
func (c *createFlags) observeFirst(ctx context.Context, all client.Studies, name string, first []study.Measurement,
	by string) (*client.Overview, error) {
	s, err := all.Study(ctx, name)
	if err != nil {
		return nil, err
	}
	var observed error
	if first != nil {
		_, observed = s.Observe(ctx, "create", first, "", by)
	}
	shown, err := s.Show(ctx)
	switch {
	case err != nil:
		return nil, err
	case errors.Is(observed, study.ErrConflict) && shown.Status != study.StatusClosed:
		return nil, fmt.Errorf("%w: study %s was created with other measurements; add these with 'grfgp study observe %s --%s'",
			study.ErrConflict, name, name, c.firstFile())
	}
	return shown, observed
}

// firstFile names the flag and the file of the first observations.
func (c *createFlags) firstFile() string {
	if c.labels != "" {
		return "labels " + c.labels
	}
	return "measurements " + c.measurements
}

// settings returns the settings of the flags, without the graph.
func (c *createFlags) settings(a *app, name string, changed func(string) bool) (study.Settings, error) {
	var none study.Settings
	if err := c.classFlags.either(changed); err != nil {
		return none, err
	}
	if c.given() && c.goalText == "" {
		c.goalText = bayesopt.Learn.String()
	}
	c.noFile = c.measurements == ""
	spec, err := c.resolve(a, changed)
	if err != nil {
		return none, err
	}
	if err := c.resolveGoal(); err != nil {
		return none, err
	}
	if c.policy != "" {
		if err := c.checkPolicy("policy", c.policy); err != nil {
			return none, err
		}
	}
	if err := c.siteFlags.check(changed); err != nil {
		return none, err
	}
	if c.lease <= 0 {
		return none, cli.Usagef("--lease %v: give a duration such as 90m or 48h", c.lease)
	}
	s := study.Settings{
		Name: name, Graph: "not known yet", Goal: c.goal, Policy: c.policy, Spec: spec, Seed: a.Seed,
		Lease: study.Duration(c.lease), Repeats: c.again, Unit: c.unit, GroupCap: c.groupCap, Exposures: c.exposure != "",
	}
	c.classFlags.settings(&s)
	if c.hasBudget {
		s.Budget = &c.budget
	}
	return s.Complete()
}

// into writes the limits into the node table of a network.
func (s *sites) into(net *graphio.Network) {
	if s.allowed == nil && s.limits.Cost == nil && s.groups == nil {
		return
	}
	if net.Nodes == nil {
		net.Nodes = &graphio.NodeTable{IDs: net.Graph.IDs()}
	}
	if s.allowed != nil {
		net.Nodes.Allowed = make([]bool, net.Graph.Len())
		for _, i := range s.allowed {
			net.Nodes.Allowed[i] = true
		}
	}
	if s.limits.Cost != nil {
		net.Nodes.Cost = s.limits.Cost
	}
	if s.groups != nil {
		net.Nodes.Group = s.groups
	}
}
