package main

import (
	"cmp"
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/plural"
	"grfgp/internal/table"
	"grfgp/report"
)

// predictFlags are the flags of the verb.
type predictFlags struct {
	fitFlags
	resultFlags
	known       *nodeColumns // what rows have of the node table
	add         bool
	newExposure float64
	above       float64
	aboveAsked  bool
}

func predictVerb(a *app) *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict --edges FILE --measurements FILE",
		Short: "Predict the value at every node, with its uncertainty",
		Long: `Predict fits a Gaussian process to the measurements and writes a row per node:
node, label and coordinates if --nodes has them, mean, sd, lower, upper,
reading_lower, reading_upper, measured, value, n. The quantity is what is measured,
without noise; a reading is one new measurement of it, with its noise. Mean, sd and
the credible interval lower to upper are those of the quantity; reading_lower to
reading_upper is the interval of a reading. The value is the mean of the node's n
measurements. --keep repeats columns of --nodes.

The file of -o is CSV, GeoJSON or Parquet by its extension. GeoJSON needs columns
lat and lon in --nodes.

All measurements have the same noise level, unless the file has a column sd. Then
repeated measurements of a node are averaged with weights 1/sd², and the noise of a
reading is the root mean square of the sds.

With --values count, mean, sd, lower and upper are those of the rate per unit of
exposure, a relative risk if exposures are the numbers to expect; with share and
yes-no those of the probability. A reading is a new count, or a new number of
positives, with the exposure of --new-exposure. Columns for the exposure and for the
name of the quantity are then added. --above T adds the probability that the quantity
is above T.

With --time, measurements belong to periods, and the model is one of nodes and
periods: the further away in time a measurement is, the less it counts. Rows have
a column time. --at chooses the period; --at all writes a row per node and period.

With --covariates the model also learns from columns of --nodes: numbers,
categories, dates and words. It uses them if the likelihood supports it, and tells the
effect of each column with its interval.

A model of --save-model predicts again with --model, without measurements. With
--measurements it predicts from these, in place of those it was fitted to, or with
--add in addition to them; hyperparameters stay as they were learned.`,
		Example: `  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv
  grfgp predict --edges roads.csv --nodes links.csv --measurements speeds.csv --keep all -o pred.geojson
  grfgp predict --edges roads.csv --nodes links.csv --measurements volumes.csv --covariates lanes,type
  grfgp predict --edges rivers.csv --measurements levels.csv --time date --at 2024-03-01
  grfgp predict --edges borders.csv --measurements cases.csv --values count --exposure expected --above 1
  grfgp predict --edges roads.csv --model speeds.model --measurements today.csv -o today.csv`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.predict(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.flags(cmd)
	f.device.flag(cmd)
	f.levelFlag(cmd)
	f.fileFlags(cmd)
	flags.BoolVar(&f.add, "add", false, "with --model: add --measurements to those of the model (default: they take their place)")
	f.atFlag(cmd, "; all: a row for each node and period")
	f.resultFlags.flags(cmd, "predictions", "CSV on standard output")
	flags.Float64Var(&f.newExposure, "new-exposure", 0,
		"exposure or number tested of a reading, for reading_lower and reading_upper (default: the median of the file)")
	flags.Float64Var(&f.above, "above", 0, "add the probability that the quantity is above this `threshold`")
	return cmd
}

// predictRow is a node in JSON.
type predictRow struct {
	Node string `json:"node"`
	nodeInfo
	Mean         float64  `json:"mean"`
	SD           float64  `json:"sd"`    // of the quantity, as
	Lower        float64  `json:"lower"` // its interval is
	Upper        float64  `json:"upper"`
	ReadingLower float64  `json:"reading_lower"` // of one new measurement
	ReadingUpper float64  `json:"reading_upper"`
	Measured     bool     `json:"measured"`
	Value        *float64 `json:"value,omitempty"` // mean of its measurements; of counts and shares per unit of exposure
	N            int      `json:"n"`
	Above        *float64 `json:"above,omitempty"`    // probability that the quantity is above the threshold
	Exposure     float64  `json:"exposure,omitempty"` // of all its measurements

	Time string `json:"time,omitempty"` // period

	number int // of the node
}

// predictAnswer is the answer in JSON.
type predictAnswer struct {
	Version int      `json:"version"`
	Of      string   `json:"quantity"` // what mean, sd, lower and upper are of: value, rate, relative risk or probability
	Reading string   `json:"reading"`  // what reading_lower and reading_upper are of: value, count, positives or answer
	Values  string   `json:"values,omitempty"`
	Change  string   `json:"transform,omitempty"`
	Above   *float64 `json:"above,omitempty"`    // threshold
	Exposed float64  `json:"exposure,omitempty"` // of the reading
	Level   float64  `json:"level"`

	Measurements int `json:"measurements"` // that predictions are made from
	LearnedFrom  int `json:"learned_from"` // measurements that hyperparameters were learned from

	NoiseSD float64       `json:"noise_sd"`
	Choice  grfgp.Choice  `json:"choice"`
	Known   *nodeFacts    `json:"covariates,omitempty"`
	Effects *effectFacts  `json:"effects,omitempty"`
	Time    *timeAnswer   `json:"time,omitempty"`
	Limits  *grfgp.Limits `json:"limits"`
	Nodes   []predictRow  `json:"nodes"`
}

func (a *app) predict(ctx context.Context, f *predictFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if err := f.resultFlags.check(a); err != nil {
		return err
	}
	f.Input.Keep = f.keepNames()
	if changed("new-exposure") && !(f.newExposure > 0) {
		return cli.Usagef("--new-exposure %v: give a number above 0", f.newExposure)
	}
	if err := f.checkModel(changed); err != nil {
		return err
	}
	if err := f.checkAt(f.modelFile != ""); err != nil {
		return err
	}
	d, m, err := f.model(ctx, a, spec)
	if err != nil {
		return err
	}
	if f.saveFile != "" {
		if err := a.WriteFile(f.saveFile, m.Save); err != nil {
			return err
		}
	}
	periods, m, err := d.predictAt(ctx, a, m, f.at)
	if err != nil {
		return err
	}
	s := a.Talk.Stage("predicting")
	var nodes []int
	for k, period := range periods {
		of := grfgp.Places(d.net.Graph, d.net.Graph.Nodes(), period)
		if k == 0 {
			nodes = of // the only ones, mostly
		} else {
			nodes = append(nodes, of...)
		}
	}
	share := grfgp.NewShare(a.Ranks, nodes)
	p, err := m.PredictShare(ctx, share, s.Work())
	if err != nil {
		return fitError(ctx, err)
	}
	s.Done("%s%s", d.predicted(periods), a.SharedWords())
	if e := m.SDError(len(nodes)); e > 0 {
		a.Talk.Say("  standard deviations are estimated from posterior draws, with a standard error of %.0f %% each", 100*e)
	}
	limits, err := a.limits(ctx, m, share, p)
	if err != nil {
		return err
	}
	for _, words := range report.LimitNotes(limits, "nodes") {
		a.Talk.Say("  %s", words)
	}
	var effects *effectFacts
	if a.Ranks.Rank() == 0 {
		if effects, err = a.effects(ctx, m, m.Choice().Terms, valueName(d.valueReport())); err != nil {
			return err
		}
	}
	f.aboveAsked = changed("above")
	choice := m.Choice()
	a.tellReasons(choice.Why, choice.Cautions) // of predictions
	answer := predictAnswer{Version: 1, Of: quantity(m.Spec(), f.exposure), Reading: newReading(m.Spec()), Values: m.Spec().Values,
		Change: m.Spec().Transform, Level: f.level, Measurements: d.data.Measurements(), LearnedFrom: m.LearnedFrom(), NoiseSD: m.NoiseSD(),
		Choice: choice, Known: d.known, Effects: effects, Time: d.timeFacts(periods), Limits: limits, Nodes: []predictRow{}}
	if d.data.Exposure != nil {
		answer.Exposed = f.exposureOfNew(d.data)
	}
	if f.aboveAsked {
		answer.Above = &f.above
	}
	a.tellQuantity(m.Spec(), answer.Of)
	if answer.Exposed > 0 {
		a.Talk.Say("  reading_lower and reading_upper are those of a new %s with the exposure %.4g", answer.Reading, answer.Exposed)
	}
	rows := f.newRows(a.Ranks, d, m, periods, share, p)
	rows.columns = answer.columns()
	if f.out == "" {
		return a.writePredictions(ctx, a.Out, &answer, rows)
	}
	f.known.tellPlaces(a, table.FormatOf(f.out), d.net.Graph.Len())
	if err := a.WriteFile(f.out, func(w io.Writer) error { return a.writePredictions(ctx, w, &answer, rows) }); err != nil {
		return err
	}
	a.Talk.Say("the predictions are in %s", f.out)
	return nil
}

// limits says what the predictions leave out.
func (a *app) limits(ctx context.Context, m *grfgp.Model, share grfgp.Share, p grfgp.Prediction) (*grfgp.Limits, error) {
	s := a.Talk.Stage("measuring the error of random walks")
	defer s.End()
	limits, err := m.LimitsOfShare(ctx, share, p)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	return limits, nil
}

// checkModel refuses flags that contradict --model, and a file that cannot be opened,
// before the graph is read.
func (f *predictFlags) checkModel(changed func(string) bool) error {
	switch {
	case f.modelFile == "" && f.add:
		return cli.Usagef("--add is for measurements in addition to those of --model FILE")
	case f.modelFile == "":
		return nil
	case f.add && f.measurements == "":
		return cli.Usagef("--add: give the measurements to add, with --measurements FILE")
	}
	learned := []string{"values", "transform", "family", "method", "scales", "variance", "trend", "solver", "nu", "alpha", "laplacian", "hops",
		"walks", "rank", "mean", "noise-sd", "covariates", "roles"}
	if f.measurements == "" {
		learned = append(learned, "repeats", "exposure", "tested", "time", "time-model")
	}
	for _, flag := range learned {
		if changed(flag) {
			return cli.Usagef("--model has its own kernel, hyperparameters and kind of values: leave out --%s", flag)
		}
	}
	file, err := openModel(f.modelFile)
	if err != nil {
		return err
	}
	return file.Close()
}

// chooseColumns chooses what rows have of the node table, before anything is fitted.
func (f *predictFlags) chooseColumns(a *app, net *graphio.Network) (err error) {
	f.known, err = f.newNodeColumns(a, net, []string{"node", "time", "mean", "sd", "lower", "upper", "reading_lower", "reading_upper",
		"measured", "value", "n", "above", "exposure", "quantity"})
	return err
}

// model fits a model, or loads a saved one, which may be given other measurements.
func (f *predictFlags) model(ctx context.Context, a *app, spec grfgp.Spec) (*modelData, *grfgp.Model, error) {
	if f.modelFile == "" {
		d, err := loadData(ctx, a, &f.fitFlags, spec)
		if err != nil {
			return nil, nil, err
		}
		if err := f.chooseColumns(a, d.net); err != nil {
			return nil, nil, err
		}
		m, err := a.fit(ctx, d, d.known.spec(spec))
		return d, m, err
	}
	var m *grfgp.Model
	d := &modelData{}
	net, err := f.LoadThen(ctx, &a.App, func(net *graphio.Network, opts graphio.Options) (err error) {
		if m, d.known, err = a.loadModel(ctx, f.modelFile, spec.Device, net); err != nil || f.measurements == "" {
			return err
		}
		if err := f.checkNew(m.Spec(), spec); err != nil {
			return err
		}
		d.measurements, err = f.readMeasurements(ctx, a, net.Graph, f.readingOptions(m.Spec(), f.Of("measurements", opts)))
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	a.TellNetwork(net)
	if err := f.chooseColumns(a, net); err != nil {
		return nil, nil, err
	}
	d.net = net
	if d.measurements != nil {
		if m, err = f.condition(ctx, a, d, m); err != nil {
			return nil, nil, err
		}
	}
	d.data, d.time = m.Data(), timesOf(m.Spec())
	return d, m, nil
}

// checkNew refuses new measurements that a saved model cannot take. The Spec of the
// flags says how they are to be read.
func (f *predictFlags) checkNew(model, flags grfgp.Spec) error {
	of := cmp.Or(model.Values, "gaussian")
	switch time := f.timeFlags.model.Chosen(); {
	case model.Times != nil:
		return cli.Usagef("--model %s is one over time, which takes no other measurements: leave out --measurements, or fit again with all "+
			"of them",
			f.modelFile)
	case f.column != "" && time != string(graphio.TimesLatest), time == "joint", time == "separate":
		return cli.Usagef("--model %s has no time: give --time-model latest or ignore, or fit again", f.modelFile)
	case flags.Values != "" && flags.Values != of:
		return cli.Usagef("--model %s is one of %s values, and --exposure and --tested are for others; leave them out", f.modelFile, of)
	case model.About().Exposure == gp.ExposureRequired && f.tested == "":
		return cli.Usagef("--model %s is one of shares: name the column of the numbers tested, as in --tested tested", f.modelFile)
	}
	return nil
}

// condition gives a saved model other measurements, in place of its own or in addition.
func (f *predictFlags) condition(ctx context.Context, a *app, d *modelData, m *grfgp.Model) (*grfgp.Model, error) {
	file := d.measurements.Report.File
	f.TellValues(&a.App, d.measurements.Report, f.measurements, d.net)
	a.tellSums(d.measurements.Report, f.repeats, m.Spec())
	if err := checkNumbers(d.measurements, d.net.Graph.IDs(), m.Spec()); err != nil {
		return nil, err
	}
	data, err := gp.DataOf(d.measurements)
	if err != nil {
		return nil, err
	}
	kept, fresh := "", plural.Count(data.Measurements(), "measurements")
	if f.add {
		kept = fmt.Sprintf("%s of the model and ", plural.Count(m.Data().Measurements(), "measurements"))
		if data, err = m.Data().Append(data); err != nil {
			return nil, cli.Dataf("%s: %w; measurements of one model either all have sds or none", file, err)
		}
	}
	g := d.net.Graph
	if err := a.fits(ctx, fmt.Sprintf("predicting %d nodes", g.Len()), g, m.Spec(),
		grfgp.Job{Measurements: data.Len(), Places: g.Len()}); err != nil {
		return nil, err
	}
	s := a.Talk.Stage("conditioning")
	other, err := m.Condition(ctx, data)
	if err != nil {
		return nil, cli.Dataf("%s: %w", file, err)
	}
	s.Done("on %s%s of %s; hyperparameters as learned from %s", kept, fresh, file, plural.Count(m.LearnedFrom(), "measurements"))
	return other, nil
}

// exposureOfNew returns the exposure of a new reading.
func (f *predictFlags) exposureOfNew(d gp.Data) float64 {
	if f.newExposure > 0 {
		return f.newExposure
	}
	return medianExposure(d)
}
