package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/report"
)

// labelFlags are the flags that name the labels.
type labelFlags struct {
	labels     string
	classifier cli.Choice
}

func (l *labelFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.labels, "labels", "", "`file` of labels, as text or another format of --edges: node and class; nodes with an "+
		"empty class are predicted")
	l.classifier.Flag(cmd, "classifier", "model of classes", gp.ClassMethodNames()...)
}

// classMethod returns the classifier that was asked for.
func (l *labelFlags) classMethod() (m gp.ClassMethod) {
	if err := m.UnmarshalText([]byte(l.classifier.Value)); err != nil {
		panic(err) // Set took one of the names
	}
	return m
}

// either refuses flags that contradict each other in a verb that takes labels or
// measurements.
func (l *labelFlags) either(changed func(string) bool) error {
	if l.labels == "" {
		if changed("classifier") {
			return cli.Usagef("--classifier needs --labels")
		}
		return nil
	}
	if changed("measurements") {
		return cli.Usagef("--labels and --measurements: give only one")
	}
	for _, flag := range []string{"repeats", "variance", "trend", "mean", "noise-sd", "level", "unit", "centre", "policy", "again"} {
		if changed(flag) {
			return cli.Usagef("--%s needs --measurements; it has no meaning with --labels", flag)
		}
	}
	return nil
}

// tellIdleKernel notes the kernel flags that label spreading ignores.
func (l *labelFlags) tellIdleKernel(a *app, changed func(string) bool) {
	if l.labels == "" || l.classMethod() != gp.Spreading {
		return
	}
	for _, flag := range []string{"family", "method", "scales", "solver", "nu", "alpha", "laplacian", "hops", "walks", "rank"} {
		if changed(flag) {
			a.Talk.Say("note: --%s has no effect with --classifier spreading", flag)
		}
	}
}

// readLabels reads the file that the flags name.
func (l *labelFlags) readLabels(ctx context.Context, a *app, g *graph.Graph, opts graphio.Options) (*graphio.ClassLabels, error) {
	s := a.Talk.Stage("reading labels")
	opts.Progress = s.Update
	read, err := graphio.ReadLabels(ctx, a.Source(l.labels), g, opts)
	if err == nil {
		s.Done("%s of %s from %s", plural.Count(len(read.Nodes), "labels"), plural.Count(len(read.Classes), "classes"), read.Report.File)
	}
	return read, err
}

// classData is a graph with the labels that a classifier is fitted to.
type classData struct {
	net    *graphio.Network
	labels *graphio.ClassLabels
	data   gp.Labels
	known  *nodeFacts // nil: no covariates
}

// loadLabels reads a graph and labels, and refuses too few labels.
func (l *labelFlags) loadLabels(ctx context.Context, a *app, in *cli.Input, c *covariateFlags) (*classData, error) {
	if l.labels == "" {
		return nil, cli.Usagef("no labels: give --labels FILE")
	}
	if err := in.PointsOf(&a.App, l.labels); err != nil {
		return nil, err
	}
	var d classData
	net, err := in.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		d.labels, err = l.readLabels(ctx, a, net.Graph, in.Of("labels", opts))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.TellNetwork(net)
	in.TellValues(&a.App, d.labels.Report, l.labels, net)
	if err := d.labels.Enough(); err != nil {
		return nil, err
	}
	d.net = net
	d.data = gp.LabelsOf(d.labels)
	d.known, err = c.known(a, net, in, ofLabels(d.labels, l.labels))
	return &d, err
}

// fitClasses fits a classifier and prints its choices.
func (a *app) fitClasses(ctx context.Context, d *classData, spec grfgp.Spec, method gp.ClassMethod) (*grfgp.Classification, error) {
	g := d.net.Graph
	if err := a.fits(ctx, fmt.Sprintf("classifying %d nodes", g.Len()), g, spec,
		grfgp.Job{Measurements: d.data.Len(), Classes: d.data.Classes, Places: g.Len()}); err != nil {
		return nil, err
	}
	s := a.Talk.Stage("fitting")
	t, err := grfgp.NewTrainer(g, spec)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	c, err := t.ClassifyProgress(ctx, d.data, method, s.Work())
	if err != nil {
		return nil, fitError(ctx, err)
	}
	choice := c.Choice()
	s.Done("%s, method %s, %s, %v classifier", report.KernelName(choice.Family, choice.Terms), choice.Method, scaleWords[choice.Scales],
		method)
	a.Talk.Detail("  labels: %s", d.tally(d.data.Counts()))
	a.tellReasons(choice.Why, choice.Cautions)
	a.Talk.Detail("  hyperparameters: %s", thetaWords(choice.Fit.Names, choice.Fit.Theta))
	if !choice.Fit.Converged {
		a.Talk.Say("  warning: the fit stopped after %d evaluations without converging", choice.Fit.Evaluations)
	}
	if blind := report.ComponentsWithout(g, d.data.Nodes); blind.Count > 0 {
		a.Talk.Say("  components without a label: %d, with %d nodes; probabilities there %s", blind.Count, blind.Nodes,
			withoutNeighbours(choice.Terms, "are the shares of the classes among the labels"))
	}
	return c, nil
}

// tally lists classes with a number each, the first ten.
func (d *classData) tally(counts []int) string {
	const most = 10
	var all []string
	for c, n := range counts[:min(most, len(counts))] {
		all = append(all, fmt.Sprintf("%q %d", d.labels.Classes[c], n))
	}
	text := strings.Join(all, ", ")
	if more := len(counts) - most; more > 0 {
		text += fmt.Sprintf(" and %d more classes", more)
	}
	return text
}
