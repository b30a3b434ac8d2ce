package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"grfgp/client"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/study"
)

// anyClass, in place of a list of classes, stands for those that the labels bring.
const anyClass = "any"

// classFlags are the flags of a study of classes.
type classFlags struct {
	labels  string
	classes []string
}

func (c *classFlags) flags(cmd *cobra.Command) {
	c.fileFlag(cmd)
	cmd.Flags().StringSliceVar(&c.classes, "classes", nil,
		"results are classes, of this `list`, as in oak,beech; any: those that come (default with --labels)")
}

func (c *classFlags) fileFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.labels, "labels", "", "`file` of labels, for a study of classes: node and class")
}

// given reports whether the study is to be one of classes.
func (c *classFlags) given() bool { return c.labels != "" || c.classes != nil }

// either refuses flags that are for values.
func (c *classFlags) either(changed func(string) bool) error {
	if !c.given() {
		return nil
	}
	for _, flag := range []string{"measurements", "repeats", "values", "transform", "exposure", "tested", "variance", "trend", "mean",
		"noise-sd", "again"} {
		if changed(flag) {
			return cli.Usagef("--%s is for values; a study of classes (--labels or --classes) does not have it", flag)
		}
	}
	return nil
}

// settings adds the classes to the settings of a study.
func (c *classFlags) settings(s *study.Settings) {
	if s.Labels = c.given(); len(c.classes) != 1 || c.classes[0] != anyClass {
		s.Classes = slices.Clone(c.classes)
	}
}

// read reads the file of labels.
func (c *classFlags) read(ctx context.Context, a *app, g *graph.Graph, opts graphio.Options) (*graphio.ClassLabels, error) {
	return (&labelFlags{labels: c.labels}).readLabels(ctx, a, g, opts)
}

// labelled returns labels for a study. It refuses a file with rows of unknown nodes unless
// they may be skipped; rows without a class are nodes to predict.
func labelled(g *graph.Graph, read *graphio.ClassLabels, in *cli.Reading) ([]study.Measurement, error) {
	if err := refuseUnknown(in, read.Report); err != nil {
		return nil, err
	}
	var all []study.Measurement
	for k, node := range read.Nodes {
		all = append(all, study.Measurement{Node: g.IDs().At(node), Class: read.Classes[read.Class[k]]})
	}
	return all, nil
}

// readOutcome parses the result of a trial: failed, a value, or in a study of classes a class.
func readOutcome(s study.Settings, arg, text, note string) (o study.Outcome, err error) {
	o.Note = note
	switch {
	case text == "failed":
		o.Failed = true
	case s.Labels:
		o.Class = strings.TrimSpace(text)
	default:
		o.Value, o.Exposure, err = readResult(arg, text)
	}
	return o, err
}

// readingOf parses a measurement, as in a7=0.52 or, in a study of classes, a7=oak.
func readingOf(s study.Settings, arg string) (m study.Measurement, err error) {
	at := strings.LastIndexByte(arg, '=') // an id may hold one
	if at < 0 && s.Labels {
		return m, cli.Usagef("%q: give a node and its class, as in a7=oak", arg)
	}
	if at < 0 {
		return m, cli.Usagef("%q: give a node and its value, as in a7=0.52", arg)
	}
	if m.Node = arg[:at]; s.Labels {
		m.Class = strings.TrimSpace(arg[at+1:])
		return m, nil
	}
	m.Value, m.Exposure, err = readResult(arg, arg[at+1:])
	return m, err
}

// labelsOf reads the labels of a file for a study.
func (a *app) labelsOf(ctx context.Context, s client.Study, in *observeFlags) ([]study.Measurement, error) {
	opts, err := in.Reading.Options()
	if err != nil {
		return nil, err
	}
	net, err := s.Network(ctx)
	if err != nil {
		return nil, err
	}
	var read *graphio.ClassLabels
	err = in.Rejecting(&a.App, func(w io.Writer) (err error) {
		opts.Rejects = w
		read, err = in.classFlags.read(ctx, a, net.Graph, in.Of("labels", opts))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.Tell(read.Report)
	return labelled(net.Graph, read, &in.Reading)
}

// predictedText is what a suggestion says about its node, for the columns mean and sd of a
// table: in a study of classes the most probable class and its probability.
func predictedText(i study.Issued) (first, second string) {
	switch {
	case i.Probability != nil:
		return i.Expected, fmt.Sprintf("%.0f %%", 100**i.Probability)
	case i.Mean != nil:
		return fmt.Sprintf("%.4g", *i.Mean), fmt.Sprintf("%.4g", *i.SD)
	}
	return "–", "–"
}
