package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/graphio"
	"grfgp/study"
)

// createFlags are the flags of study create.
type createFlags struct {
	fitFlags
	goalFlags
	siteFlags
	policy string
	lease  time.Duration
	again  bool
}

func studyCreate(a *app, f *studyFlags) *cobra.Command {
	var c createFlags
	cmd := &cobra.Command{
		Use:   "create NAME --edges FILE --goal GOAL",
		Short: "Begin a study on a graph",
		Long: `Create keeps the graph in the store and begins a study on it. Creating the same
study again is harmless; other settings under the same name are a conflict.

Measurements that are there already are its first observations; they cost nothing.
Cost, allowed and group of a node may also be columns of --nodes. The budget counts
what is pending and what is done.`,
		Example: `  grfgp study create pipes --store studies.db --edges pipes.csv --goal maximize --budget 40 --lease 48h`,
		Args:    named(1, "NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStudies(cmd.Context(), f, false, func(ctx context.Context, all client.Studies) error {
				return a.createStudy(ctx, f, &c, args[0], all, cmd.Flags().Changed)
			})
		},
	}
	flags := cmd.Flags()
	c.fitFlags.flagsWith(cmd, c.flagsOfStudy)
	c.goalFlags.flags(cmd)
	flags.StringVar(&c.allowed, "allowed", "", "file of nodes that may be suggested (default: all)")
	flags.StringVar(&c.cost, "cost", "", "file of what nodes cost: node and cost")
	flags.StringVar(&c.group, "group", "", "file of groups: node and group")
	flags.IntVar(&c.groupCap, "group-cap", 0, "most nodes of a group that are pending at once (default: no limit)")
	flags.Float64Var(&c.budget, "budget", 0, "most that trials may cost together, those pending counted (default: no limit)")
	flags.DurationVar(&c.lease, "lease", time.Duration(study.DefaultLease), "how long a node stays reserved")
	flags.StringVar(&c.policy, "policy", "", "how nodes are picked: "+strings.Join(bayesopt.PolicyNames(), ", ")+" (default: as the goal says)")
	complete(cmd, "policy", bayesopt.PolicyNames()...)
	flags.BoolVar(&c.again, "again", false, "measured nodes may be suggested again")
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

func (a *app) createStudy(ctx context.Context, f *studyFlags, c *createFlags, name string, all client.Studies, changed func(string) bool) error {
	settings, err := c.settings(a, name, changed)
	if err != nil {
		return err
	}
	var read *graphio.Measurements
	net, err := c.loadThen(ctx, a, func(net *graphio.Network, opts graphio.Options) error {
		var done []int
		if c.measurements != "" {
			if read, err = c.readMeasurements(ctx, a, net.Graph, c.of("measurements", opts)); err != nil {
				return err
			}
			done = read.Nodes
		}
		sites, err := c.siteFlags.read(ctx, a, net, done, c.of("nodes", opts))
		if err == nil {
			sites.into(net)
		}
		return err
	})
	if err != nil {
		return err
	}
	a.tellNetwork(net)
	var first []study.Measurement
	if read != nil {
		if first, err = c.observations(a, net.Graph, read, &c.reading); err != nil {
			return err
		}
	}
	if err := study.CheckIDs(net.Graph.IDs()); err != nil {
		return dataf("%w", err)
	}
	packed, err := graphio.Pack(net)
	if err != nil {
		return err
	}
	if _, err := study.NewModelEngine(net.Graph, net.Nodes, settings); err != nil { // before anything is kept
		return err
	}
	isNew, err := all.Create(ctx, settings, packed, f.who())
	if err != nil {
		return err
	}
	s, err := all.Study(ctx, name)
	if err != nil {
		return err
	}
	if first != nil { // the key keeps them from being told twice
		_, err = s.Observe(ctx, "create", first, "", f.who())
	}
	observed := err
	shown, err := s.Show(ctx)
	switch {
	case err != nil:
		return err
	case errors.Is(observed, study.ErrConflict) && shown.Status != study.StatusClosed:
		return fmt.Errorf("%w: study %s was made with other measurements; add these by 'grfgp study observe %s --measurements %s'", study.ErrConflict, name, name, c.measurements)
	case observed != nil:
		return observed
	}
	answer := createdAnswer{1, isNew, shown.Settings, net.Graph.Len(), net.Graph.Edges(), len(first)}
	return a.answer(answer, func(w io.Writer) error {
		state := "is there already, with the same settings"
		if isNew {
			state = "is made"
		}
		_, err := fmt.Fprintf(w, "study %s %s: %s on %d nodes, %d values so far\n", name, state, settings.Goal, answer.Nodes, answer.Observed)
		return err
	})
}

// settings are those that the flags say, but for the graph.
func (c *createFlags) settings(a *app, name string, changed func(string) bool) (study.Settings, error) {
	var none study.Settings
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
		return none, usagef("--lease %v: give a time such as 90m or 48h", c.lease)
	}
	s := study.Settings{
		Name: name, Graph: "not known yet", Goal: c.goal, Policy: c.policy, Spec: spec, Seed: a.seed,
		Lease: study.Duration(c.lease), Repeats: c.again, GroupCap: c.groupCap,
	}
	if c.hasBudget {
		s.Budget = &c.budget
	}
	return s.Complete()
}

// into puts the limits into the table of nodes of a network.
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
