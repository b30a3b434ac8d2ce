package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/internal/atomicfile"
	"grfgp/report"
)

// predictFlags are the flags of the verb.
type predictFlags struct {
	fitFlags
	out     string
	reading bool
}

func predictVerb(a *app) *cobra.Command {
	var f predictFlags
	cmd := &cobra.Command{
		Use:   "predict --edges FILE --measurements FILE [-o FILE]",
		Short: "Predict the value at every node, with its uncertainty",
		Long: `Predict fits a Gaussian process to the measurements and writes a row per node:
node, mean, sd, lower, upper, measured, value, n. Standard deviation (sd) and
credible interval (lower, upper) are those of the quantity itself, without noise,
or, with --reading, those of one new measurement, with its noise. The value is the
mean of the node's n measurements.

All measurements have the same noise level, unless the file has a column sd. Then
repeated measurements of a node are averaged with weights 1/sd², and the noise of a
new measurement is the root mean square of the sds.

With --time, measurements belong to periods, and the model is one of nodes and
periods: a value of another period counts the less, the longer ago it is. Rows have
a column time. --at chooses the period; all writes a row per node and period.`,
		Example: `  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv
  grfgp predict --edges roads.csv --measurements speeds.csv --family matern --reading
  grfgp predict --edges rivers.csv --measurements levels.csv --time date --at 2024-03-01`,
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
	flags.BoolVar(&f.reading, "reading", false, "sd and interval of one new measurement, with its noise")
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
	Value    *float64 `json:"value,omitempty"` // mean of its measurements
	N        int      `json:"n"`

	Time string `json:"time,omitempty"` // period
}

// predictAnswer is the answer in JSON.
type predictAnswer struct {
	Version int           `json:"version"`
	SDOf    string        `json:"sd_of"` // quantity or reading
	Level   float64       `json:"level"`
	NoiseSD float64       `json:"noise_sd"`
	Choice  grfgp.Choice  `json:"choice"`
	Known   *nodeFacts    `json:"covariates,omitempty"`
	Time    *timeAnswer   `json:"time,omitempty"`
	Limits  *grfgp.Limits `json:"limits"`
	Nodes   []predictRow  `json:"nodes"`
}

func (a *app) predict(ctx context.Context, f *predictFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
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
		if err := atomicfile.Write(f.saveFile, m.Save); err != nil {
			return err
		}
	}
	periods, m, err := d.predictAt(ctx, a, m, f.at)
	if err != nil {
		return err
	}
	s := a.talk.Stage("predicting")
	var nodes []int
	for _, period := range periods {
		nodes = append(nodes, grfgp.Places(d.net.Graph, d.net.Graph.Nodes(), period)...)
	}
	p, err := m.Predict(ctx, nodes)
	if err != nil {
		return fitError(ctx, err)
	}
	s.Done("%s", d.predicted(periods))
	if e := m.SDError(len(nodes)); e > 0 {
		a.talk.Say("  standard deviations are estimated from posterior draws, with a standard error of %.0f %% each", 100*e)
	}
	limits, err := m.Limits(ctx, nodes, p)
	if err != nil {
		return fitError(ctx, err)
	}
	for _, words := range report.LimitNotes(limits, "nodes") {
		a.talk.Say("  %s", words)
	}
	answer := predictAnswer{Version: 1, SDOf: "quantity", Level: f.level, NoiseSD: m.NoiseSD(), Choice: m.Choice(), Known: d.known, Time: d.timeFacts(periods), Limits: limits, Nodes: f.rows(d, m, periods, p)}
	if f.reading {
		answer.SDOf = "reading"
	}
	if f.out == "" {
		return a.writePredictions(a.Out, &answer)
	}
	if err := atomicfile.Write(f.out, func(w io.Writer) error { return a.writePredictions(w, &answer) }); err != nil {
		return err
	}
	a.talk.Say("the predictions are in %s", f.out)
	return nil
}

// checkModel refuses flags that contradict --model, and a file that cannot be opened,
// before the graph is read.
func (f *predictFlags) checkModel(changed func(string) bool) error {
	if f.modelFile == "" {
		return nil
	}
	for _, flag := range []string{"measurements", "repeats", "family", "method", "scales", "variance", "trend", "solver", "nu", "alpha", "laplacian", "hops", "walks", "rank", "mean", "noise-sd", "covariates", "roles", "time", "time-model"} {
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

// rows joins predictions and measurements, by period, in the order of the user's file.
func (f *predictFlags) rows(d *modelData, m *grfgp.Model, periods []int, p grfgp.Prediction) []predictRow {
	g := d.net.Graph
	z := distuv.UnitNormal.Quantile(0.5 + f.level/2)
	rows := make([]predictRow, len(p.Mean))
	first := map[int]int{} // row of each period
	for k, period := range periods {
		first[period] = k * g.Len()
	}
	for i := range rows {
		sd := p.SD[i]
		if f.reading {
			sd = math.Hypot(sd, m.NoiseSD())
		}
		rows[i] = predictRow{Node: g.IDs().At(i % g.Len()), Time: d.time.name(periods[i/g.Len()]), Mean: p.Mean[i], SD: sd, Lower: p.Mean[i] - z*sd, Upper: p.Mean[i] + z*sd}
	}
	for k, place := range d.data.Nodes {
		node, period := grfgp.AtPlace(g, place)
		start, shown := first[period]
		if !shown {
			continue
		}
		r, n := &rows[start+node], 1
		if d.data.Count != nil {
			n = d.data.Count[k]
		}
		sum := d.data.Y[k] * float64(n)
		if r.Measured {
			sum += *r.Value * float64(r.N)
		}
		r.Measured, r.N = true, r.N+n
		value := sum / float64(r.N)
		r.Value = &value
	}
	var ordered []predictRow
	for start := 0; start < len(rows); start += g.Len() {
		ordered = append(ordered, inputOrder(g, rows[start:start+g.Len()])...)
	}
	return ordered
}

func (a *app) writePredictions(w io.Writer, answer *predictAnswer) error {
	if a.json {
		return json.NewEncoder(w).Encode(answer)
	}
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	head := []string{"node", "mean", "sd", "lower", "upper", "measured", "value", "n"}
	if answer.Time != nil {
		head = slices.Insert(head, 1, "time")
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for _, r := range answer.Nodes {
		value := ""
		if r.Value != nil {
			value = number(*r.Value)
		}
		row := []string{r.Node, number(r.Mean), number(r.SD), number(r.Lower), number(r.Upper), strconv.FormatBool(r.Measured), value, strconv.Itoa(r.N)}
		if answer.Time != nil {
			row = slices.Insert(row, 1, r.Time)
		}
		if err := out.Write(row); err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}
