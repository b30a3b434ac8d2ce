package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/graphio"
)

// reportFlags are the flags of the verb.
type reportFlags struct {
	fitFlags
	labelFlags
	out, title, unit string
	foldFlags
}

func reportVerb(a *app) *cobra.Command {
	var f reportFlags
	cmd := &cobra.Command{
		Use:   "report --edges FILE --measurements FILE | --labels FILE [-o report.html]",
		Short: "Write one file to e-mail: what was read, the maps, and how far to trust them",
		Long: `Report fits, predicts and validates, and writes what came of it as one HTML file
that needs nothing else: maps of the mean and of its uncertainty, the nodes that
are least known, the measurements that surprise most, error against simple rules
and coverage of intervals. With --labels it is about classes: maps of them and of
their entropy, how many left-out labels are predicted right, whether probabilities
can be trusted, and which classes are taken for which.

Nodes are drawn at lat, lon or x, y of --nodes, and otherwise by their edges.`,
		Example: `  grfgp report --edges roads.csv --measurements speeds.csv -o speeds.html
  grfgp report --edges roads.csv --nodes places.csv --measurements speeds.csv --title "Speeds in May" --unit km/h
  grfgp report --edges citations.csv --labels topics.csv -o topics.html`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.makeReport(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	flags := cmd.Flags()
	f.fitFlags.register(cmd)
	f.levelFlag(flags)
	f.labelFlags.flags(flags)
	f.labelFlags.complete(cmd)
	flags.StringVarP(&f.out, "out", "o", "report.html", "`file` for the report")
	flags.StringVar(&f.title, "title", "", "heading of the report (default: the file of measurements or labels)")
	flags.StringVar(&f.unit, "unit", "", "unit of the values, as in km/h")
	f.foldFlags.register(cmd, "folds of the validation, at most the number of measurements or labels; 0: none")
	return cmd
}

func (a *app) makeReport(ctx context.Context, f *reportFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if f.folds < 0 || f.folds == 1 {
		return usagef("--folds %d: give 2 or more, or 0 for no validation", f.folds)
	}
	if err := f.either(changed); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if f.labels != "" {
		return a.reportLabels(ctx, f, spec)
	}
	d, err := loadData(ctx, a, &f.fitFlags, spec)
	if err != nil {
		return err
	}
	file := d.measurements.Report
	r := &subject{
		data: d, title: cmp.Or(f.title, filepath.Base(file.File)), unit: f.unit, label: cmp.Or(f.unit, valueName(file)),
		spec: spec, level: f.level, folds: min(f.folds, d.measuredNodes()), scheme: grfgp.Scheme(f.scheme.value),
	}
	if r.folds == 1 {
		r.folds = 0
		a.talk.Say("  note: only one node was measured, so there is nothing to validate with")
	}
	if err := a.run(ctx, r); err != nil {
		return err
	}
	if err := a.writePage(ctx, f.out, r); err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(r.answer(f.out))
	}
	_, err = fmt.Fprintf(a.Out, "the report is in %s\n", f.out)
	return err
}

// valueName returns the name of the column of values, "" if it has none or one
// that says nothing.
func valueName(r *graphio.Report) string {
	for _, c := range r.Columns {
		if c.Role == graphio.RoleValue && c.Name != "value" && c.Name != "y" {
			return c.Name
		}
	}
	return ""
}

// subject is all that a report is about.
type subject struct {
	data   *modelData
	title  string
	unit   string // of the values, if known
	label  string // beside axes: the unit, or else what is measured
	spec   grfgp.Spec
	level  float64
	folds  int // 0: no validation
	scheme grfgp.Scheme

	model      *grfgp.Model
	prediction grfgp.Prediction // of every node
	limits     *grfgp.Limits    // of the prediction
	validation *grfgp.Validation
	truth      []float64 // of every node, where it is known
}

// run fits, predicts and validates.
func (a *app) run(ctx context.Context, r *subject) (err error) {
	if r.model, err = a.fit(ctx, r.data, r.spec); err != nil {
		return err
	}
	s := a.talk.Stage("predicting")
	nodes := allNodes(r.data.net.Graph.Len())
	if r.prediction, err = r.model.Predict(ctx, nodes); err != nil {
		return fitError(ctx, err)
	}
	s.Done("%d nodes", len(nodes))
	if r.limits, err = r.model.Limits(ctx, nodes, r.prediction); err != nil {
		return fitError(ctx, err)
	}
	if r.folds == 0 {
		return nil
	}
	s = a.talk.Stage("validating")
	r.validation, err = grfgp.Validate(ctx, r.data.net.Graph, r.data.data, r.spec, grfgp.ValidateOptions{Folds: r.folds, Scheme: r.scheme, Progress: s.Update})
	if err != nil {
		return fitError(ctx, err)
	}
	s.Done("%d measurements in %d folds", len(r.validation.Left), r.folds)
	return nil
}

// writePage draws the report and writes it.
func (a *app) writePage(ctx context.Context, path string, r *subject) error {
	return a.drawPage(ctx, path, pageTemplate, func() any { return r.page() })
}

// drawPage writes what a template makes of a page.
func (a *app) drawPage(ctx context.Context, path string, t *template.Template, draw func() any) error {
	s := a.talk.Stage("drawing")
	p := draw()
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := graphio.WriteFile(path, func(w io.Writer) error { return t.Execute(w, p) }); err != nil {
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
	Limits       *grfgp.Limits      `json:"limits"`
	RMSE         *float64           `json:"rmse,omitempty"` // of left-out measurements
	BaselineRMSE map[string]float64 `json:"baseline_rmse,omitempty"`
	Coverage     map[string]float64 `json:"coverage,omitempty"`
	Uncertain    []string           `json:"most_uncertain"` // nodes
	Truth        *truthFacts        `json:"truth,omitempty"`
}

func (r *subject) answer(file string) reportAnswer {
	g := r.data.net.Graph
	answer := reportAnswer{
		Version: 1, File: file, Nodes: g.Len(), Edges: g.Edges(), Measurements: r.data.data.Len(),
		NoiseSD: r.model.NoiseSD(), Choice: r.model.Choice(), Limits: r.limits, Truth: r.againstTruth(),
	}
	if v := r.validation; v != nil {
		answer.RMSE, answer.BaselineRMSE, answer.Coverage = &v.RMSE, v.BaselineRMSE, v.Coverage
	}
	for _, i := range r.mostUncertain() {
		answer.Uncertain = append(answer.Uncertain, g.IDs().At(i))
	}
	return answer
}
