package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/study"
)

// measurementFlags are the flags that name the measurements.
type measurementFlags struct {
	measurements string
	repeats      cli.Choice
	timeFlags
	oneNoise bool // sds are not used
}

func (m *measurementFlags) flags(cmd *cobra.Command) {
	m.register(cmd, "node, value and, if known, sd", "mean", "keep", "last", "error")
	m.timeFlags.flags(cmd)
}

// flagsWithoutSD are for verbs that learn one noise level for all measurements.
func (m *measurementFlags) flagsWithoutSD(cmd *cobra.Command) {
	m.oneNoise = true
	m.register(cmd, "node and value", "mean", "keep", "last", "error")
	m.flagsWithoutModel(cmd)
}

// flagsOfStudy are for studies, which keep repeated measurements one by one: a mean
// would be taken for a single measurement.
func (m *measurementFlags) flagsOfStudy(cmd *cobra.Command) {
	m.oneNoise = true
	m.register(cmd, "node and value", "keep", "last", "error")
	m.flagsWithoutModel(cmd)
}

func (m *measurementFlags) register(cmd *cobra.Command, columns string, repeats ...string) {
	cmd.Flags().StringVar(&m.measurements, "measurements", "", "`file` of measurements, as text or another format of --edges: "+columns)
	m.repeats.Flag(cmd, "repeats", "what to do with repeated measurements of a node", repeats...)
}

// readMeasurements reads the file that the flags name.
func (m *measurementFlags) readMeasurements(ctx context.Context, a *app, g *graph.Graph, opts graphio.Options) (*graphio.Measurements,
	error) {
	if m.repeats.Value != "mean" {
		opts.Repeats = graphio.Repeats(m.repeats.Value)
	}
	opts, err := m.timeOptions(opts)
	if err != nil {
		return nil, err
	}
	s := a.Talk.Stage("reading measurements")
	opts.Progress, opts.IgnoreSD = s.Update, m.oneNoise || opts.IgnoreSD
	read, err := graphio.ReadMeasurements(ctx, a.Source(m.measurements), g, opts)
	if err == nil {
		s.Done("%s from %s", plural.Count(len(read.Values), "values"), read.Report.File)
	}
	m.remedies(err)
	return read, err
}

// tellRepeats notes how repeated measurements are used.
func (a *app) tellRepeats(r *graphio.Report, repeats cli.Choice) {
	if n := r.Ledger.Repeats; n > 0 && repeats.Value == "mean" {
		a.Talk.Say("  note: repeated measurements of a node: %d; the mean of a node's measurements is used, with the noise of that mean; see "+
			"--repeats", n)
	}
}

// tellUnusedSD notes that the column sd is ignored.
func (a *app) tellUnusedSD(m *graphio.Measurements, who string) {
	if slices.ContainsFunc(m.Report.Columns, func(c graphio.Column) bool { return c.Role == graphio.RoleSD }) {
		a.Talk.Say("  note: %s one noise level for all measurements; the column sd is not used", who)
	}
}

// refuseUnknown returns an error about rows of unknown nodes in a file for a study, unless they may be skipped.
func refuseUnknown(in *cli.Reading, r *graphio.Report) error {
	if n := r.Ledger.Unknown; n > 0 && in.OnUnknown.Value != "skip" {
		return cli.Dataf("%s: rows of unknown nodes: %d; nothing was added: correct the rows, or skip them with --on-unknown skip", r.File, n)
	}
	return nil
}

// observations returns measurements for a study. It refuses a file with unusable rows
// unless they may be skipped.
func (m *measurementFlags) observations(a *app, g *graph.Graph, read *graphio.Measurements, in *cli.Reading) ([]study.Measurement, error) {
	a.Tell(read.Report)
	a.tellRepeats(read.Report, m.repeats)
	a.tellUnusedSD(read, "studies learn")
	l := read.Report.Ledger
	if err := refuseUnknown(in, read.Report); err != nil {
		return nil, err
	}
	if l.Missing > 0 && in.OnBadRow.Value != "skip" {
		return nil, cli.Dataf("%s: rows without a value: %d; nothing was added: correct the rows, or skip them with --on-bad-row skip",
			read.Report.File, l.Missing)
	}
	var all []study.Measurement
	sizes := read.Exposures()
	for k, node := range read.Nodes {
		m := study.Measurement{Node: g.IDs().At(node), Value: read.Values[k]}
		if sizes != nil {
			m.Exposure = sizes[k]
		}
		all = append(all, m)
	}
	return all, nil
}

// modelData is a graph with the measurements that a model is fitted to.
type modelData struct {
	folds        int    // of the validation that follows a fit; 0: there is none
	checkpoints  string // folder; empty: there are none
	net          *graphio.Network
	measurements *graphio.Measurements
	data         gp.Data    // with time, its nodes are places
	known        *nodeFacts // nil: no covariates
	time         *timeline  // nil: no time
}

// loadData reads a graph and measurements, and refuses too few measurements.
func loadData(ctx context.Context, a *app, f *fitFlags, spec grfgp.Spec) (*modelData, error) {
	if f.measurements == "" {
		return nil, cli.Usagef("no measurements: give --measurements FILE")
	}
	if err := f.PointsOf(&a.App, f.measurements); err != nil {
		return nil, err
	}
	d := modelData{checkpoints: f.checkpoints}
	net, err := f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		d.measurements, err = f.readMeasurements(ctx, a, net.Graph, f.readingOptions(spec, f.Of("measurements", opts)))
		return err
	})
	if err != nil {
		return nil, err
	}
	a.TellNetwork(net)
	f.TellValues(&a.App, d.measurements.Report, f.measurements, net)
	a.tellSums(d.measurements.Report, f.repeats, spec)
	if err := a.askKind(d.measurements, &f.valueFlags, spec); err != nil {
		return nil, err
	}
	if err := checkNumbers(d.measurements, net.Graph.IDs(), spec); err != nil {
		return nil, err
	}
	if err := enough(d.measurements, spec); err != nil {
		return nil, err
	}
	if n := d.measurements.Report.Nodes; n < crossval.FewHeldOut {
		a.Talk.Say("  note: only %s measured: too few to judge the model, whose intervals may be far too narrow or too wide",
			map[bool]string{true: "1 node is", false: fmt.Sprintf("%d nodes are", n)}[n == 1])
	}
	d.net = net
	if d.known, err = f.known(a, net, &f.Input, ofValues(d.measurements, f.measurements)); err != nil {
		return nil, err
	}
	if err := d.readTimes(a, f.timeFlags.model.Chosen()); err != nil {
		return nil, err
	}
	if d.time != nil && f.at != "" && f.at != allTimes {
		_, _, err = d.time.find(f.at)
	}
	return &d, err
}

// enough refuses measurements that a model cannot learn from.
func enough(m *graphio.Measurements, spec grfgp.Spec) error {
	if !spec.About().Noisy {
		return nil // equal counts of different exposures differ, and the overall rate is known
	}
	err := m.Enough(spec.Mean != nil, spec.NoiseSD != nil)
	var file *graphio.Error
	if errors.As(err, &file) {
		file.Remedies = append(file.Remedies, graphio.Remedy{Do: "give what is known: --mean and --noise-sd"})
	}
	return err
}

// measuredNodes returns the number of measured nodes.
func (d *modelData) measuredNodes() int {
	return len(slices.Compact(slices.Sorted(slices.Values(d.data.Nodes))))
}

// valueReport is that of the file of measurements; nil if there is none.
func (d *modelData) valueReport() *graphio.Report {
	if d.measurements == nil {
		return nil
	}
	return d.measurements.Report
}
