package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
)

// timeFlags say what becomes of measurements at different times. Nothing is averaged
// over time unless the user says so.
type timeFlags struct {
	column string // of times; cli.TimeAuto: it is found; "": times are not used
	model  cli.Choice
}

const allTimes = "all" // of --at

func (t *timeFlags) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.column, "time", "", "`column` of times; auto finds it, and reads wide tables, of times × nodes or nodes × "+
		"times (default: different times of a node are an error)")
	cli.Complete(cmd, "time", cli.TimeAuto)
	t.model.Flag(cmd, "time-model", "how times are modelled; joint: one function of node and time, separate: independent periods with the "+
		"same hyperparameters, latest: only the latest values of each node, ignore: values of all times as repeats; auto: joint with --time, "+
		"and without it different times are an error",
		cli.TimeAuto, "joint", "separate", string(graphio.TimesLatest), string(graphio.TimesIgnore))
}

// flagsWithoutModel are for verbs that have no model over time.
func (t *timeFlags) flagsWithoutModel(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.column, "time", "", "`column` of times, for --time-model latest; auto finds it (default: different times of a "+
		"node are an error)")
	cli.Complete(cmd, "time", cli.TimeAuto)
	t.model.Flag(cmd, "time-model", "how times are used; latest: only the latest values of each node, ignore: values of all times as "+
		"repeats; auto: different times are an error",
		cli.TimeAuto, string(graphio.TimesLatest), string(graphio.TimesIgnore))
}

// modelled reports whether the verb has models over time.
func (t *timeFlags) modelled() bool { return slices.Contains(t.model.Words, "joint") }

// timeOptions adds those of times to the options of a file of measurements.
func (t *timeFlags) timeOptions(opts graphio.Options) (graphio.Options, error) {
	model := t.model.Chosen()
	switch {
	case model == string(graphio.TimesIgnore) && t.column != "":
		return opts, cli.Usagef("--time %s and --time-model ignore: give only one", t.column)
	case !t.modelled() && model == "" && t.column != "":
		return opts, cli.Usagef("--time %s: there is no model over time here; add --time-model latest, which takes the latest values of each "+
			"node",
			t.column)
	case model == string(graphio.TimesLatest), model == string(graphio.TimesIgnore):
		opts.Times = graphio.Times(model)
	case model != "" || t.column != "":
		opts.Times = graphio.TimesKeep
	}
	if t.column != "" && t.column != cli.TimeAuto {
		opts.Columns = maps.Clone(opts.Columns)
		opts.Columns[graphio.RoleTime] = t.column
	}
	return opts, nil
}

// remedies leaves out of an error of a reader the ways that the verb does not have.
func (t *timeFlags) remedies(err error) {
	var file *graphio.Error
	if t.modelled() || !errors.As(err, &file) {
		return
	}
	file.Remedies = slices.DeleteFunc(file.Remedies, func(r graphio.Remedy) bool {
		return slices.ContainsFunc(r.Set, func(s graphio.Setting) bool {
			return s.Option == graphio.OptionTimes && s.Value == string(graphio.TimesKeep) || s.Option == graphio.OptionColumns &&
				s.Role == graphio.RoleTime
		})
	})
}

// timeline is the time of a model.
type timeline struct {
	times []float64
	names []string
	model string           // joint or separate; "": all measurements are of one period, and the model has no time
	read  *graphio.Periods // nil: it comes from a model file
	unit  graphio.TimeUnit
}

// readTimes puts the measurements into periods.
func (d *modelData) readTimes(a *app, model string) (err error) {
	m := d.measurements
	if m.Time == nil || model == string(graphio.TimesLatest) {
		d.data, err = gp.DataOf(m)
		return err
	}
	p := m.Periods(0)
	d.time = &timeline{times: p.Times, names: p.Names, read: p, unit: m.TimeUnit}
	if p.Len() == 1 {
		a.Talk.Say("  note: all measurements are of one time, %s: the model has no time", p.Names[0])
		d.data, err = gp.DataOf(m.InPeriod(p, 0))
		return err
	}
	if d.time.model = model; model == "" {
		d.time.model = "joint"
	}
	each := ""
	if p.Step != "time" {
		each = fmt.Sprintf(", each a %s; values of a node in the same %s are taken as repeats", p.Step, p.Step)
	}
	a.Talk.Say("  %s, from %s to %s%s", plural.Count(p.Len(), "periods"), p.Names[0], p.Names[p.Len()-1], each)
	d.data, err = gp.DataOf(m.OverTime(p, d.net.Graph.Len()))
	return err
}

// spec returns the Spec with the times.
func (t *timeline) spec(s grfgp.Spec) grfgp.Spec {
	if t != nil && t.model != "" {
		s.Times, s.TimeNames, s.TimeModel = t.times, t.names, t.model
	}
	return s
}

// timesOf returns the time of a loaded model; nil if it has none.
func timesOf(s grfgp.Spec) *timeline {
	if s.Times == nil {
		return nil
	}
	t := &timeline{times: s.Times, names: s.TimeNames, model: s.TimeModel}
	if t.names == nil {
		for _, at := range s.Times {
			t.names = append(t.names, fmt.Sprint(at))
		}
	}
	return t
}

// atFlag is that of verbs which predict for a time.
func (f *fitFlags) atFlag(cmd *cobra.Command, all string) {
	cmd.Flags().StringVar(&f.at, "at", "", "`time` to predict for, also one without measurements"+all+" (default: the latest measured)")
}

// checkAt refuses --at without times, before files are read.
func (f *fitFlags) checkAt(loaded bool) error {
	model := f.timeFlags.model.Chosen()
	latest := model == string(graphio.TimesLatest) || model == string(graphio.TimesIgnore)
	switch {
	case f.at == "" || loaded:
		return nil
	case latest:
		return cli.Usagef("--at %s and --time-model %s: a model without time has no times to choose from; leave one out", f.at, model)
	case f.column == "" && model == "" && !slices.ContainsFunc(f.Columns, func(c string) bool { return len(c) > 5 && c[:5] == "time=" }):
		return cli.Usagef("--at %s: name the column of times with --time", f.at)
	}
	return nil
}

// find returns the period of a time as the user writes it. If no measurement is of that
// time, it also returns the periods with it.
func (t *timeline) find(at string) (period int, with *graphio.Periods, err error) {
	if p := slices.Index(t.names, at); p >= 0 {
		return p, nil, nil
	}
	first, last := t.names[0], t.names[len(t.names)-1]
	if t.read == nil {
		return 0, nil, cli.Usagef("--at %s: the saved model has no such time; give one of %s, or fit it again", at, t.some())
	}
	moment, err := t.unit.Parse(at)
	if err != nil {
		return 0, nil, cli.Usagef("--at %w; measurements are from %s to %s", err, first, last)
	}
	with, period = t.read.With(moment)
	switch {
	case with.Len() == len(t.times):
		return period, nil, nil
	case t.model == "":
		return 0, nil, cli.Dataf("--at %s: all measurements are of %s, so that nothing is known about change over time; leave out --at, or add "+
			"measurements of other times", at, first)
	case t.model == "separate":
		return 0, nil, cli.Dataf("--at %s: no measurement is of that time, and separate periods do not inform each other; give one of %s, or "+
			"use --time-model joint", at, t.some())
	}
	return period, with, nil
}

// predictAt returns the periods to predict for, and the model over them: with a further
// period if no measurement is of the time that was asked for.
func (d *modelData) predictAt(ctx context.Context, a *app, m *grfgp.Model, at string) ([]int, *grfgp.Model, error) {
	t := d.time
	switch {
	case t == nil && at != "":
		return nil, nil, cli.Usagef("--at %s: the model has no time; leave it out", at)
	case t == nil:
		return []int{0}, m, nil
	case at == "":
		return []int{d.latest()}, m, nil
	case at == allTimes:
		all := make([]int, len(t.names))
		for p := range all {
			all[p] = p
		}
		return all, m, nil
	}
	p, with, err := t.find(at)
	if err != nil || with == nil {
		return []int{p}, m, err
	}
	first, last := t.names[0], t.names[len(t.names)-1]
	switch p {
	case 0:
		a.Talk.Say("  note: %s is before the first measurement, of %s: the farther away, the less is known", with.Names[p], first)
	case with.Len() - 1:
		a.Talk.Say("  note: %s is after the last measurement, of %s: the farther away, the less is known", with.Names[p], last)
	}
	if m, err = m.OverPeriods(ctx, with.Times, with.Names); err != nil {
		return nil, nil, fitError(ctx, err)
	}
	d.data, d.time = m.Data(), &timeline{with.Times, with.Names, t.model, with, t.unit}
	return []int{p}, m, nil
}

// latest returns the latest period with a measurement.
func (d *modelData) latest() int {
	last := 0
	for _, place := range d.data.Nodes {
		_, p := grfgp.AtPlace(d.net.Graph, place)
		last = max(last, p)
	}
	return last
}

// some lists the first periods and the last.
func (t *timeline) some() string {
	const most = 6
	if n := len(t.names); n > most {
		return listed(t.names[:most-1]) + ", …, " + t.names[n-1]
	}
	return cli.OneOf(t.names)
}

// name returns the name of a period, "" without times.
func (t *timeline) name(period int) string {
	if t == nil {
		return ""
	}
	return t.names[period]
}

// timeAnswer is the time of a model in JSON.
type timeAnswer struct {
	Model   string       `json:"model"` // joint or separate; none with one period
	Periods []periodFact `json:"periods"`
	At      []string     `json:"at,omitempty"` // periods that are predicted
}

type periodFact struct {
	Name         string  `json:"name"`
	Time         float64 `json:"time"`
	Measurements int     `json:"measurements"` // nodes with one
}

// timeFacts returns the time of the model; nil without one.
func (d *modelData) timeFacts(at []int) *timeAnswer {
	t := d.time
	if t == nil {
		return nil
	}
	answer := &timeAnswer{Model: t.model}
	if t.model == "" {
		answer.Model = "none"
	}
	for p, name := range t.names {
		answer.Periods = append(answer.Periods, periodFact{Name: name, Time: t.times[p]})
	}
	for _, place := range d.data.Nodes {
		_, p := grfgp.AtPlace(d.net.Graph, place)
		answer.Periods[p].Measurements++
	}
	for _, p := range at {
		answer.At = append(answer.At, t.names[p])
	}
	return answer
}

// predicted says what was predicted, in words.
func (d *modelData) predicted(periods []int) string {
	words := plural.Count(d.net.Graph.Len(), "nodes")
	switch {
	case d.time == nil:
		return words
	case len(periods) == 1:
		return words + " at " + d.time.names[periods[0]]
	}
	return fmt.Sprintf("%s in %s", words, plural.Count(len(periods), "periods"))
}

// choosePeriod returns the nodes to predict, as places in the period that a report shows,
// and limits the data of the report to that period.
func (a *app) choosePeriod(ctx context.Context, r *subject) ([]int, error) {
	g, nodes := r.Network.Graph, r.Network.Graph.Nodes()
	if r.all.time == nil {
		return nodes, nil
	}
	shown := *r.all
	periods, m, err := shown.predictAt(ctx, a, r.Model, r.at)
	if err != nil {
		return nil, err
	}
	period, t := periods[0], shown.time
	var rows []int
	for k, place := range shown.data.Nodes {
		if _, p := grfgp.AtPlace(g, place); p == period {
			rows = append(rows, k)
		}
	}
	if len(rows) == 0 {
		return nil, cli.Dataf("--at %s: no measurement is of that time, and a report shows measurements; give one of %s, or use predict", r.at,
			r.all.time.some())
	}
	r.Data = shown.data.Select(rows)
	r.Data.Nodes = grfgp.NodesOf(g, r.Data.Nodes)
	r.Model, r.Measurements, r.Title = m, r.Measurements.InPeriod(t.read, period), r.Title+", "+t.names[period]
	if t.model != "" {
		r.Time = fmt.Sprintf("%s is shown; the model (%s) is fitted to %s, and validated on all", t.names[period], t.model,
			plural.Count(len(t.names), "periods"))
	}
	return grfgp.Places(g, nodes, period), nil
}
