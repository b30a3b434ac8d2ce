package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/cli"
	"grfgp/internal/version"
	"grfgp/report"
)

// reportFlags are the flags of the verb.
type reportFlags struct {
	fitFlags
	labelFlags
	out, title, unit string
	centre           string
	foldFlags
}

func reportVerb(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report --edges FILE --measurements FILE | --labels FILE",
		Short: "Write one HTML file with maps, validation and a summary of the input",
		Long: `Report fits, predicts and cross-validates, and writes one self-contained HTML file
that opens offline: whether the predictions can be trusted, in words; maps of the
mean and the standard deviation to zoom and search; the highest, lowest and most
uncertain nodes and the largest surprises; a table of all nodes to sort, filter and
save; the error against baselines and the coverage of intervals. With --labels it
is about classes: maps of the most probable class and of its entropy, accuracy on
held-out labels, reliability of the probabilities and the confusion matrix.

Nodes are drawn as their areas, if --nodes has any, else at its lat and lon or x
and y or, without them, at positions computed from the edges. Values that are far
out, by three interquartile ranges and among the two percent at that end, do not
stretch the colours, and are named below the map.

With --time the model is fitted to all periods and validated on all of them; maps,
tables and measurements are those of one period, the latest or that of --at.`,
		Example: `  grfgp report --edges roads.csv --measurements speeds.csv -o speeds.html
  grfgp report --edges roads.csv --nodes places.csv --measurements speeds.csv --title "Speeds in May" --unit km/h
  grfgp report --edges citations.csv --labels topics.csv -o topics.html`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.makeReport(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.flags(cmd)
	f.device.flag(cmd)
	f.levelFlag(cmd)
	f.atFlag(cmd, "")
	f.labelFlags.flags(cmd)
	flags.StringVarP(&f.out, "out", "o", "report.html", "`file` for the report")
	flags.StringVar(&f.title, "title", "", "title of the report (default: name of the file of measurements or labels)")
	flags.StringVar(&f.unit, "unit", "", "unit of the values, such as km/h")
	flags.StringVar(&f.centre, "centre", "auto", "`value` from which the colours of predictions diverge; auto is 0 if at least a tenth of "+
		"the predictions lie on either side of it, none is a plain scale")
	f.foldFlags.flags(cmd, "number of folds, at most the number of measured nodes or labels; 0: no validation")
	return cmd
}

func (a *app) makeReport(ctx context.Context, f *reportFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if f.folds < 0 || f.folds == 1 {
		return cli.Usagef("--folds %d: give 2 or more, or 0 for no validation", f.folds)
	}
	if err := f.either(changed); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if f.labels != "" {
		return a.reportLabels(ctx, f, spec)
	}
	if f.measurements == "" {
		return cli.Usagef("no measurements and no labels: give --measurements FILE or --labels FILE")
	}
	centre, noCentre, err := readCentre(f.centre)
	if err != nil {
		return err
	}
	if err := f.checkAt(false); err != nil {
		return err
	}
	if f.at == allTimes {
		return cli.Usagef("--at all: a report shows one time; give one")
	}
	d, err := loadData(ctx, a, &f.fitFlags, spec)
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	file := d.measurements.Report
	r := &subject{
		Regression: report.Regression{
			Title: cmp.Or(f.title, filepath.Base(file.File)), Unit: f.unit, Quantity: cmp.Or(f.unit, axisName(spec, f.exposure, file)),
			Network: d.net, Measurements: d.measurements, Data: d.data, Spec: spec, Level: f.level, Program: programName(), Speller: cli.AsFlags,
			Centre: centre, NoCentre: noCentre,
		},
		known: d.known, all: d, at: f.at, validation: f.options(min(f.folds, d.measuredNodes())),
	}
	if r.validation.Folds == 1 {
		r.validation.Folds = 0
		a.Talk.Say("  note: only one node is measured, so there is no validation")
	}
	if err := a.run(ctx, r); err != nil {
		return err
	}
	if err := a.writePage(ctx, f.out, r.Write); err != nil {
		return err
	}
	return a.answerReport(f.out, r.answer(f.out))
}

// answerReport says where the report is.
func (a *app) answerReport(file string, answer any) error {
	return a.Answer(answer, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "the report is in %s\n", file)
		return err
	})
}

// programName is the program with its version, as reports name it.
func programName() string { return "grfgp " + version.Current().String() }

// valueName returns the name of the column of values, "" if it has none or a general
// one.
func valueName(r *graphio.Report) string {
	if r == nil {
		return ""
	}
	for _, c := range r.Columns {
		if c.Role == graphio.RoleValue && c.Name != "value" && c.Name != "y" {
			return c.Name
		}
	}
	return ""
}

// subject is a report with the settings of its validation.
type subject struct {
	report.Regression
	known *nodeFacts
	all   *modelData // what the model is fitted to; nil: Data
	at    string     // time that is shown

	validation crossval.Options // with no folds there is none
}

// run fits, predicts and validates.
func (a *app) run(ctx context.Context, r *subject) (err error) {
	if r.all == nil {
		r.all = &modelData{net: r.Network, measurements: r.Measurements, data: r.Data, known: r.known}
	}
	r.all.folds = r.validation.Folds
	if r.Model, err = a.fit(ctx, r.all, r.Spec); err != nil {
		return err
	}
	nodes, err := a.choosePeriod(ctx, r)
	if err != nil {
		return err
	}
	s := a.Talk.Stage("predicting")
	if r.Prediction, err = r.Model.PredictProgress(ctx, nodes, s.Work()); err != nil {
		return fitError(ctx, err)
	}
	s.Done("%d nodes", len(nodes))
	if r.Limits, err = a.limits(ctx, r.Model, grfgp.NewShare(nil, nodes), r.Prediction); err != nil {
		return err
	}
	if r.Measurements != nil {
		r.Measured = valueName(r.Measurements.Report)
	}
	effects, err := a.effects(ctx, r.Model, r.Model.Choice().Terms, r.Measured)
	if err != nil {
		return err
	}
	if effects != nil {
		r.Effects = effects.Effects
	}
	if r.known != nil {
		r.Known = r.known.sentences()
	}
	if r.validation.Folds == 0 {
		return nil
	}
	r.Validation, err = a.crossValidate(ctx, r.all, r.Spec, r.Model, r.validation)
	return err
}

// readCentre reads the value from which colours diverge: nil for auto, and whether they do not at
// all.
func readCentre(text string) (centre *float64, none bool, err error) {
	switch text {
	case "auto":
		return nil, false, nil
	case "none":
		return nil, true, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, false, cli.Usagef("--centre %s: give a number, auto or none", text)
	}
	return &v, false, nil
}

// writePage draws a report and writes it.
func (a *app) writePage(ctx context.Context, path string, draw func(io.Writer) error) error {
	s := a.Talk.Stage("drawing")
	var page bytes.Buffer
	if err := draw(&page); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := a.WriteFile(path, func(w io.Writer) error { _, err := page.WriteTo(w); return err }); err != nil {
		return err
	}
	s.Done("%s", path)
	return nil
}

// reportAnswer is the answer in JSON.
type reportAnswer struct {
	Version      int                `json:"version"`
	File         string             `json:"file"`
	Nodes        int                `json:"nodes"`
	Edges        int                `json:"edges"`
	Measurements int                `json:"measurements"`
	NoiseSD      float64            `json:"noise_sd"`
	Choice       grfgp.Choice       `json:"choice"`
	Known        *nodeFacts         `json:"covariates,omitempty"`
	Effects      *grfgp.Effects     `json:"effects,omitempty"`
	Limits       *grfgp.Limits      `json:"limits"`
	RMSE         *float64           `json:"rmse,omitempty"`          // at held-out measurements
	BaselineRMSE map[string]float64 `json:"baseline_rmse,omitempty"` // by crossval.Baseline.Key
	Coverage     crossval.Coverages `json:"coverage,omitempty"`
	Uncertain    []string           `json:"most_uncertain"` // nodes
	Truth        *report.TruthFacts `json:"truth,omitempty"`
}

func (r *subject) answer(file string) reportAnswer {
	g := r.Network.Graph
	answer := reportAnswer{
		Version: 1, File: file, Nodes: g.Len(), Edges: g.Edges(), Measurements: r.Data.Len(),
		NoiseSD: r.Model.NoiseSD(), Choice: r.Model.Choice(), Known: r.known, Effects: r.Effects, Limits: r.Limits, Truth: r.AgainstTruth(),
		Uncertain: idsOf(g, r.MostUncertain()),
	}
	if v := r.Validation; v != nil {
		answer.RMSE, answer.BaselineRMSE, answer.Coverage = &v.RMSE, crossval.ByKey(v.BaselineRMSE), v.Coverage
	}
	return answer
}

// reportLabels is report for classes.
func (a *app) reportLabels(ctx context.Context, f *reportFlags, spec grfgp.Spec) error {
	d, err := f.loadLabels(ctx, a, &f.Input, &f.covariateFlags)
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	r := &report.Classes{
		Title: cmp.Or(f.title, filepath.Base(d.labels.Report.File)), Network: d.net, Labels: d.labels, Data: d.data,
		Spec: spec, Method: f.classMethod(), Program: programName(), Speller: cli.AsFlags,
	}
	c, err := a.fitClasses(ctx, d, spec, r.Method)
	if err != nil {
		return err
	}
	r.Choice = c.Choice()
	if r.Table, err = a.classTable(ctx, d, c); err != nil {
		return err
	}
	if f.folds > 0 {
		if r.Validation, err = a.validateClasses(ctx, d, spec, r.Method, c, &f.foldFlags); err != nil {
			return err
		}
	}
	if err := a.writePage(ctx, f.out, r.Write); err != nil {
		return err
	}
	return a.answerReport(f.out, newClassReportAnswer(r, f.out, d.known))
}

// classReportAnswer is the answer in JSON.
type classReportAnswer struct {
	Version   int                            `json:"version"`
	File      string                         `json:"file"`
	Nodes     int                            `json:"nodes"`
	Edges     int                            `json:"edges"`
	Labels    int                            `json:"labels"`
	Classes   []report.ClassCount            `json:"classes"`
	Choice    grfgp.ClassChoice              `json:"choice"`
	Known     *nodeFacts                     `json:"covariates,omitempty"`
	Score     *crossval.ClassScore           `json:"score,omitempty"`     // of held-out labels
	Baselines map[string]crossval.ClassScore `json:"baselines,omitempty"` // by crossval.Baseline.Key
	Uncertain []string                       `json:"most_uncertain"`      // nodes
}

func newClassReportAnswer(r *report.Classes, file string, k *nodeFacts) classReportAnswer {
	g := r.Network.Graph
	answer := classReportAnswer{
		Version: 1, File: file, Nodes: g.Len(), Edges: g.Edges(), Labels: r.Data.Len(),
		Classes: r.Table.Classes, Choice: r.Choice, Known: k, Uncertain: idsOf(g, r.MostUncertain()),
	}
	if v := r.Validation; v != nil {
		answer.Score, answer.Baselines = &v.ClassScore, crossval.ByKey(v.Baselines)
	}
	return answer
}

// idsOf returns the ids of nodes.
func idsOf(g *graph.Graph, nodes []int) []string {
	ids := make([]string, len(nodes))
	for k, i := range nodes {
		ids[k] = g.IDs().At(i)
	}
	return ids
}
