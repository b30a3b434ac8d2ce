package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/gp"
	"grfgp/report"
)

// predictFlags are the flags of the verb.
type predictFlags struct {
	fitFlags
	out         string
	reading     bool
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
node, mean, sd, lower, upper, measured, value, n. Standard deviation (sd) and
credible interval (lower, upper) are those of the quantity itself, without noise,
or, with --reading, those of one new measurement, with its noise. The value is the
mean of the node's n measurements.

All measurements have the same noise level, unless the file has a column sd. Then
repeated measurements of a node are averaged with weights 1/sd², and the noise of a
new measurement is the root mean square of the sds.

With --values count, mean, sd and interval are those of the rate per unit of
exposure, a relative risk if exposures are the numbers to expect; with share and
yes-no those of the probability. With --reading they are those of a new count, or of
a new number of positives. Columns for the exposure and for the name of the quantity are
then added. --above T adds the probability that the quantity is above T.

With --time, measurements belong to periods, and the model is one of nodes and
periods: the further away in time a measurement is, the less it counts. Rows have
a column time. --at chooses the period; --at all writes a row per node and period.

With --covariates the model also learns from columns of --nodes: numbers,
categories, dates and words. It uses them if the likelihood supports it, and tells the
effect of each column with its interval.`,
		Example: `  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv
  grfgp predict --edges roads.csv --nodes links.csv --measurements volumes.csv --covariates lanes,type
  grfgp predict --edges roads.csv --measurements speeds.csv --family matern --reading
  grfgp predict --edges rivers.csv --measurements levels.csv --time date --at 2024-03-01
  grfgp predict --edges borders.csv --measurements cases.csv --values count --exposure expected --above 1`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.predict(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.flags(cmd)
	f.levelFlag(cmd)
	f.fileFlags(cmd)
	f.atFlag(cmd, "; all: a row for each node and period")
	flags.StringVarP(&f.out, "out", "o", "", "`file` for the predictions (default: standard output)")
	flags.BoolVar(&f.reading, "reading", false, "give sd and interval of one new measurement, with its noise")
	flags.Float64Var(&f.newExposure, "new-exposure", 0, "with --reading: exposure or number tested of the new measurement (default: the median of the file)")
	flags.Float64Var(&f.above, "above", 0, "add the probability that the quantity is above this `threshold`")
	return cmd
}

// predictRow is a node in JSON.
type predictRow struct {
	Node     string   `json:"node"`
	Mean     float64  `json:"mean"`
	SD       float64  `json:"sd"`
	Lower    float64  `json:"lower"`
	Upper    float64  `json:"upper"`
	Measured bool     `json:"measured"`
	Value    *float64 `json:"value,omitempty"` // mean of its measurements; of counts and shares per unit of exposure
	N        int      `json:"n"`
	Above    *float64 `json:"above,omitempty"`    // probability that the quantity is above the threshold
	Exposure float64  `json:"exposure,omitempty"` // of all its measurements

	Time string `json:"time,omitempty"` // period
}

// predictAnswer is the answer in JSON.
type predictAnswer struct {
	Version int           `json:"version"`
	SDOf    string        `json:"sd_of"`    // quantity or reading
	Of      string        `json:"quantity"` // what mean, sd, lower and upper are of: value, rate, relative risk, probability, count, positives or answer
	Values  string        `json:"values,omitempty"`
	Change  string        `json:"transform,omitempty"`
	Above   *float64      `json:"above,omitempty"`    // threshold
	Exposed float64       `json:"exposure,omitempty"` // of the new reading
	Level   float64       `json:"level"`
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
	if changed("new-exposure") && !(f.newExposure > 0) {
		return usagef("--new-exposure %v: give a number above 0", f.newExposure)
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
		if err := a.writeFile(f.saveFile, m.Save); err != nil {
			return err
		}
	}
	periods, m, err := d.predictAt(ctx, a, m, f.at)
	if err != nil {
		return err
	}
	if s := m.Spec(); f.reading && s.Values == "student" && s.Transform != "" {
		return usagef("--reading: a new student value under --transform %s has no finite standard deviation; leave --reading out, or take gaussian values", s.Transform)
	}
	s := a.talk.Stage("predicting")
	var nodes []int
	for _, period := range periods {
		nodes = append(nodes, grfgp.Places(d.net.Graph, d.net.Graph.Nodes(), period)...)
	}
	share := grfgp.NewShare(a.ranks, nodes)
	p, err := m.PredictShare(ctx, share, s.Work())
	if err != nil {
		return fitError(ctx, err)
	}
	s.Done("%s%s", d.predicted(periods), a.sharedWords())
	if e := m.SDError(len(nodes)); e > 0 {
		a.talk.Say("  standard deviations are estimated from posterior draws, with a standard error of %.0f %% each", 100*e)
	}
	limits, err := a.limits(ctx, m, share, p)
	if err != nil {
		return err
	}
	for _, words := range report.LimitNotes(limits, "nodes") {
		a.talk.Say("  %s", words)
	}
	var effects *effectFacts
	if a.ranks.Rank() == 0 {
		if effects, err = a.effects(ctx, m, m.Choice().Terms, valueName(d.valueReport())); err != nil {
			return err
		}
	}
	f.aboveAsked = changed("above")
	answer := predictAnswer{Version: 1, SDOf: "quantity", Of: quantity(m.Spec(), f.exposure), Values: m.Spec().Values, Change: m.Spec().Transform, Level: f.level, NoiseSD: m.NoiseSD(), Choice: m.Choice(), Known: d.known, Effects: effects, Time: d.timeFacts(periods), Limits: limits, Nodes: []predictRow{}}
	if f.reading {
		answer.SDOf, answer.Of = "reading", newReading(m.Spec())
		if d.data.Exposure != nil {
			answer.Exposed = f.exposureOfNew(d.data)
		}
	}
	if f.aboveAsked {
		answer.Above = &f.above
	}
	a.tellQuantity(m.Spec(), answer.Of)
	if answer.Exposed > 0 {
		a.talk.Say("  of a new reading with the exposure %.4g", answer.Exposed)
	}
	rows := f.newRows(a.ranks, d, m, periods, share, p)
	if f.out == "" {
		return a.writePredictions(ctx, a.Out, &answer, rows)
	}
	if err := a.writeFile(f.out, func(w io.Writer) error { return a.writePredictions(ctx, w, &answer, rows) }); err != nil {
		return err
	}
	a.talk.Say("the predictions are in %s", f.out)
	return nil
}

// limits says what the predictions leave out.
func (a *app) limits(ctx context.Context, m *grfgp.Model, share grfgp.Share, p grfgp.Prediction) (*grfgp.Limits, error) {
	s := a.talk.Stage("measuring the error of random walks")
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
	if f.modelFile == "" {
		return nil
	}
	for _, flag := range []string{"measurements", "repeats", "values", "transform", "exposure", "tested", "family", "method", "scales", "variance", "trend", "solver", "nu", "alpha", "laplacian", "hops", "walks", "rank", "mean", "noise-sd", "covariates", "roles", "time", "time-model"} {
		if changed(flag) {
			return usagef("--model has its own measurements and hyperparameters: leave out --%s", flag)
		}
	}
	file, err := openModel(f.modelFile)
	if err != nil {
		return err
	}
	return file.Close()
}

// model fits a model, or loads a saved one.
func (f *predictFlags) model(ctx context.Context, a *app, spec grfgp.Spec) (*modelData, *grfgp.Model, error) {
	if f.modelFile == "" {
		d, err := loadData(ctx, a, &f.fitFlags, spec)
		if err != nil {
			return nil, nil, err
		}
		m, err := a.fit(ctx, d, d.known.spec(spec))
		return d, m, err
	}
	net, err := f.input.load(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	m, k, err := a.loadModel(ctx, f.modelFile, net)
	if err != nil {
		return nil, nil, err
	}
	return &modelData{net: net, data: m.Data(), known: k, time: timesOf(m.Spec())}, m, nil
}

// exposureOfNew returns the exposure of a new reading.
func (f *predictFlags) exposureOfNew(d gp.Data) float64 {
	if f.newExposure > 0 {
		return f.newExposure
	}
	return medianExposure(d)
}
