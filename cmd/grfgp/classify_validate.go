package main

import (
	"context"
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/internal/cli"
	"grfgp/report"
)

func (a *app) validateLabels(ctx context.Context, f *validateFlags, spec grfgp.Spec) error {
	d, err := f.loadLabels(ctx, a, &f.Input, &f.covariateFlags)
	if err != nil {
		return err
	}
	spec = d.known.spec(spec)
	v, err := a.validateClasses(ctx, d, spec, f.classMethod(), nil, &f.foldFlags)
	if err != nil {
		return err
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(newClassAnswer(d, v))
	}
	if err := a.printClassValidation(d, v); err != nil {
		return err
	}
	return a.printVerdict(append(headlineLines(report.SummarizeClasses(v)), report.ClassVerdicts(v)...))
}

// classAnswer is the answer in JSON, with ids and names in place of numbers.
type classAnswer struct {
	Version int      `json:"version"`
	Classes []string `json:"classes"`
	*crossval.ClassValidation
	Baselines map[string]crossval.ClassScore `json:"baselines"` // by crossval.Baseline.Key

	Left    []leftLabel `json:"left"`
	Verdict []string    `json:"verdict"`
	Known   *nodeFacts  `json:"covariates,omitempty"`
}

// leftLabel is a label as predicted from the other folds.
type leftLabel struct {
	Node      string `json:"node"`
	Class     string `json:"class"`
	Predicted string `json:"predicted"`
	crossval.HeldOutLabel
}

func newClassAnswer(d *classData, v *crossval.ClassValidation) *classAnswer {
	answer := &classAnswer{1, d.labels.Classes, v, crossval.ByKey(v.Baselines), []leftLabel{}, report.ClassVerdicts(v), d.known}
	for _, l := range v.HeldOut {
		answer.Left = append(answer.Left, leftLabel{d.net.Graph.IDs().At(l.Node), d.labels.Classes[l.Class], d.labels.Classes[l.Predicted], l})
	}
	return answer
}

// validateClasses cross-validates a classifier. Whole is fitted to all labels; nil: it is fitted here.
func (a *app) validateClasses(ctx context.Context, d *classData, spec grfgp.Spec, method gp.ClassMethod, whole *grfgp.Classification,
	f *foldFlags) (*crossval.ClassValidation, error) {
	twice := 0
	for _, n := range d.data.Counts() {
		if n > 1 {
			twice++
		}
	}
	if twice < 2 {
		return nil, cli.Dataf("%s: cross-validation needs two classes with at least two labels each; label more nodes", d.labels.Report.File)
	}
	folds := min(f.folds, d.data.Len())
	if err := a.fits(ctx, "validating", d.net.Graph, spec,
		grfgp.Job{Measurements: d.data.Len(), Classes: d.data.Classes, Folds: folds}); err != nil {
		return nil, err
	}
	s := a.Talk.Stage("validating")
	opts := f.options(folds)
	opts.Classifier, opts.Progress, opts.Ranks = whole, s.Work(), a.Ranks
	v, err := crossval.ValidateClasses(ctx, d.net.Graph, d.data, spec, method, opts)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	s.Done("%d labels in %d folds, %v classifier", len(v.HeldOut), folds, method)
	return v, nil
}

func (a *app) printClassValidation(d *classData, v *crossval.ClassValidation) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	score := func(name string, of func(crossval.ClassScore) string) {
		fmt.Fprintf(t, "%s\t%s\tthis model\n", name, of(v.ClassScore))
		for _, rule := range crossval.InOrder(v.Baselines) {
			fmt.Fprintf(t, "\t%s\t%s\n", of(v.Baselines[rule]), rule)
		}
	}
	score("accuracy", func(s crossval.ClassScore) string {
		return fmt.Sprintf("%.1f ± %.1f %%", 100*s.Accuracy, 100*s.AccuracySE)
	})
	score("NLL", func(s crossval.ClassScore) string { return fmt.Sprintf("%.3f ± %.3f", s.NLL, s.NLLSE) })
	score("ECE", func(s crossval.ClassScore) string { return fmt.Sprintf("%.3f", s.ECE) })
	if err := t.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintln(a.Out); err != nil {
		return err
	}
	if d.data.Classes > widestConfusion {
		return a.printConfusions(d, v)
	}
	fmt.Fprint(t, "given \\ predicted")
	for _, name := range d.labels.Classes {
		fmt.Fprintf(t, "\t%s", short20(name))
	}
	fmt.Fprintln(t)
	for c, row := range v.Confusion {
		fmt.Fprint(t, short20(d.labels.Classes[c]))
		for _, n := range row {
			fmt.Fprintf(t, "\t%d", n)
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// widestConfusion is the most classes of which a whole confusion matrix is shown.
const widestConfusion = 12

// short20 cuts a name for a table.
func short20(name string) string {
	if r := []rune(name); len(r) > 20 {
		return string(r[:19]) + "…"
	}
	return name
}

// printConfusions is for matrices that are too wide to print.
func (a *app) printConfusions(d *classData, v *crossval.ClassValidation) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "given\tpredicted\tlabels")
	const listed = 10
	all := v.Confusions()
	for _, k := range all[:min(len(all), listed)] {
		fmt.Fprintf(t, "%s\t%s\t%d\n", short20(d.labels.Classes[k.Class]), short20(d.labels.Classes[k.Predicted]), k.Count)
	}
	a.Talk.Say("the %d most frequent confusions of %d; --json has all", min(len(all), listed), len(all))
	return t.Flush()
}
