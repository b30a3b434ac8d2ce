package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
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
new measurement is the root mean square of the sds.`,
		Example: `  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv
  grfgp predict --edges roads.csv --measurements speeds.csv --family matern --reading`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.predict(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.flags(cmd)
	f.levelFlag(cmd)
	f.fileFlags(cmd)
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
}

// predictAnswer is the answer in JSON.
type predictAnswer struct {
	Version int           `json:"version"`
	SDOf    string        `json:"sd_of"` // quantity or reading
	Level   float64       `json:"level"`
	NoiseSD float64       `json:"noise_sd"`
	Choice  grfgp.Choice  `json:"choice"`
	Known   *nodeFacts    `json:"covariates,omitempty"`
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
	d, m, err := f.model(ctx, a, spec)
	if err != nil {
		return err
	}
	if f.saveFile != "" {
		if err := atomicfile.Write(f.saveFile, m.Save); err != nil {
			return err
		}
	}
	s := a.talk.Stage("predicting")
	nodes := d.net.Graph.Nodes()
	p, err := m.Predict(ctx, nodes)
	if err != nil {
		return fitError(ctx, err)
	}
	s.Done("%d nodes", len(nodes))
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
	answer := predictAnswer{Version: 1, SDOf: "quantity", Level: f.level, NoiseSD: m.NoiseSD(), Choice: m.Choice(), Known: d.known, Limits: limits, Nodes: f.rows(d, m, p)}
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
	for _, flag := range []string{"measurements", "repeats", "family", "method", "scales", "variance", "trend", "solver", "nu", "alpha", "laplacian", "hops", "walks", "rank", "mean", "noise-sd", "covariates", "roles"} {
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
	return &modelData{net: net, data: m.Data(), known: k}, m, nil
}

// rows joins predictions and measurements, in the order of the user's file.
func (f *predictFlags) rows(d *modelData, m *grfgp.Model, p grfgp.Prediction) []predictRow {
	z := distuv.UnitNormal.Quantile(0.5 + f.level/2)
	rows := make([]predictRow, len(p.Mean))
	for i := range rows {
		sd := p.SD[i]
		if f.reading {
			sd = math.Hypot(sd, m.NoiseSD())
		}
		rows[i] = predictRow{Node: d.net.Graph.IDs().At(i), Mean: p.Mean[i], SD: sd, Lower: p.Mean[i] - z*sd, Upper: p.Mean[i] + z*sd}
	}
	for k, i := range d.data.Nodes {
		r, n := &rows[i], 1
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
	return inputOrder(d.net.Graph, rows)
}

func (a *app) writePredictions(w io.Writer, answer *predictAnswer) error {
	if a.json {
		return json.NewEncoder(w).Encode(answer)
	}
	buffered := bufio.NewWriter(w)
	out := csv.NewWriter(buffered)
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', 8, 64) }
	if err := out.Write([]string{"node", "mean", "sd", "lower", "upper", "measured", "value", "n"}); err != nil {
		return err
	}
	for _, r := range answer.Nodes {
		value := ""
		if r.Value != nil {
			value = number(*r.Value)
		}
		err := out.Write([]string{r.Node, number(r.Mean), number(r.SD), number(r.Lower), number(r.Upper), strconv.FormatBool(r.Measured), value, strconv.Itoa(r.N)})
		if err != nil {
			return err
		}
	}
	out.Flush()
	if err := out.Error(); err != nil {
		return err
	}
	return buffered.Flush()
}
