package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/study"
)

// measurementFlags are the flags by which a verb takes measurements.
type measurementFlags struct {
	measurements string
	repeats      choice
}

func (m *measurementFlags) flags(f *pflag.FlagSet) {
	m.register(f, "node, value and, if known, sd", "mean", "keep", "last", "error")
}

// flagsWithoutSD are for verbs that learn one noise for all readings.
func (m *measurementFlags) flagsWithoutSD(f *pflag.FlagSet) {
	m.register(f, "node and value", "mean", "keep", "last", "error")
}

// flagsOfStudy are for studies, which hold as many observations of a node as there
// are.
func (m *measurementFlags) flagsOfStudy(f *pflag.FlagSet) {
	m.register(f, "node and value", "keep", "mean", "last", "error")
}

func (m *measurementFlags) register(f *pflag.FlagSet, columns string, repeats ...string) {
	f.StringVar(&m.measurements, "measurements", "", "file of measurements: "+columns)
	m.repeats = newChoice(repeats...)
	f.Var(&m.repeats, "repeats", "several measurements of one node: "+strings.Join(repeats[:3], ", ")+" or "+repeats[3])
}

func (m *measurementFlags) complete(cmd *cobra.Command) {
	complete(cmd, "repeats", m.repeats.words...)
}

// readMeasurements reads the file that the flags name.
func (m *measurementFlags) readMeasurements(ctx context.Context, a *app, g *graph.Graph, opts graphio.Options) (*graphio.Measurements, error) {
	if m.repeats.value != "mean" {
		opts.Repeats = graphio.Repeats(m.repeats.value)
	}
	s := a.talk.Stage("reading measurements")
	opts.Progress = s.Update
	read, err := graphio.ReadMeasurements(ctx, a.source(m.measurements), g, opts)
	if err == nil {
		s.Done("%d values from %s", len(read.Values), read.Report.File)
	}
	return read, err
}

// tellRepeats says what became of several measurements of one node.
func (a *app) tellRepeats(r *graphio.Report, repeats choice) {
	if n := r.Ledger.Repeats; n > 0 && repeats.value == "mean" {
		a.talk.Say("  note: rows of nodes that had a value already: %d; the mean of a node's values is taken, --repeats says otherwise", n)
	}
}

// tellUnusedSD says that sds are there which who has no use for.
func (a *app) tellUnusedSD(m *graphio.Measurements, who string) {
	if m.SD != nil {
		a.talk.Say("  note: %s one noise for all readings; the column sd is not used", who)
	}
}

// observations are measurements as a study takes them: all of them, unless rows
// that cannot be used may be skipped.
func (m *measurementFlags) observations(a *app, g *graph.Graph, read *graphio.Measurements, in *reading) ([]study.Reading, error) {
	a.tell(read.Report)
	a.tellRepeats(read.Report, m.repeats)
	a.tellUnusedSD(read, "studies learn")
	if l := read.Report.Ledger; l.Unknown+l.Missing > 0 && in.onBadRow.value != "skip" {
		return nil, dataf("%s: of its rows %d are of no node of the graph, and %d have no value; nothing was taken: correct them, or leave them out with --on-bad-row skip", read.Report.File, l.Unknown, l.Missing)
	}
	var all []study.Reading
	for k, node := range read.Nodes {
		all = append(all, study.Reading{Node: g.Labels().At(node), Value: read.Values[k]})
	}
	return all, nil
}

// modelData is a graph with the measurements that a model is fitted to.
type modelData struct {
	net          *graphio.Network
	measurements *graphio.Measurements
	data         gp.Data
}

// loadData reads a graph and measurements, and refuses what no model can use.
func loadData(ctx context.Context, a *app, f *fitFlags) (*modelData, error) {
	if f.measurements == "" {
		return nil, usagef("no measurements: give --measurements FILE")
	}
	var d modelData
	net, err := f.loadThen(ctx, a, func(net *graphio.Network, opts graphio.Options) (err error) {
		d.measurements, err = f.readMeasurements(ctx, a, net.Graph, f.of("measurements", opts))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.tellNetwork(net)
	a.tell(d.measurements.Report)
	a.tellRepeats(d.measurements.Report, f.repeats)
	if err := d.measurements.Enough(); err != nil {
		return nil, err
	}
	d.net = net
	d.data = gp.Data{Nodes: d.measurements.Nodes, Y: d.measurements.Values}
	if d.measurements.SD != nil {
		for k, sd := range d.measurements.SD {
			if !(sd >= 0) {
				return nil, dataf("the value of node %q has no sd while others have one; give all, or leave the column out with --column sd=…", net.Graph.Labels().At(d.data.Nodes[k]))
			}
			d.data.NoiseVar = append(d.data.NoiseVar, sd*sd)
		}
	}
	return &d, nil
}
