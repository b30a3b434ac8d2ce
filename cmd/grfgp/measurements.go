package main

import (
	"context"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
)

// measurementFlags are the flags by which a verb takes measurements.
type measurementFlags struct {
	measurements string
	repeats      choice
}

func (m *measurementFlags) flags(f *pflag.FlagSet) {
	f.StringVar(&m.measurements, "measurements", "", "file of measurements: node, value and, if known, sd")
	m.repeats = newChoice("mean", "keep", "last", "error")
	f.Var(&m.repeats, "repeats", "several measurements of one node: mean, keep, last or error")
}

func (m *measurementFlags) complete(cmd *cobra.Command) {
	complete(cmd, "repeats", m.repeats.words...)
}

// readMeasurements reads the file that the flags name.
func (m *measurementFlags) readMeasurements(ctx context.Context, a *app, g *graph.Graph, opts graphio.Options) (*graphio.Measurements, error) {
	opts.Repeats = graphio.Repeats(m.repeats.chosen())
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
