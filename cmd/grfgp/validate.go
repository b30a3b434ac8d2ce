package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/graph"
	"grfgp/report"
)

// validateFlags are the flags of the verb.
type validateFlags struct {
	fitFlags
	labelFlags
	foldFlags
}

func validateVerb(a *app) *cobra.Command {
	var f validateFlags
	cmd := &cobra.Command{
		Use:   "validate --edges FILE --measurements FILE | --labels FILE",
		Short: "Say how far to trust predictions: error against simple rules, coverage of intervals",
		Long: `Validate leaves out part of the measurements, fits to the others, and compares
what is predicted with what was measured, fold by fold. Scattered folds tell how
well a node is known between others, neighbourhoods how well where nothing was
measured nearby. The mean of several readings of a node is one measurement, and
is compared with the interval of such a mean; --repeats keep compares readings.

With --labels it does the same for classes: how many are right, how likely the
right class was (NLL, the mean negative log probability), how far the largest
probability is from how often it is right (ECE, in 15 bins), and which classes are
taken for which, beside the majority class and label spreading.`,
		Example: `  grfgp validate --edges roads.csv --measurements speeds.csv
  grfgp validate --edges roads.csv --measurements speeds.csv --leave-out neighbourhoods --folds 5
  grfgp validate --edges citations.csv --labels topics.csv --folds 5`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.validate(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	f.fitFlags.flags(cmd)
	f.labelFlags.flags(cmd)
	f.foldFlags.flags(cmd, "number of folds; at most that of measurements or labels")
	return cmd
}

func (a *app) validate(ctx context.Context, f *validateFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if f.folds < 2 {
		return usagef("--folds %d: give 2 or more", f.folds)
	}
	if err := f.either(changed); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if f.labels != "" {
		return a.validateLabels(ctx, f, spec)
	}
	d, err := loadData(ctx, a, &f.fitFlags, spec)
	if err != nil {
		return err
	}
	folds := min(f.folds, d.measuredNodes())
	if folds < 2 {
		return dataf("%s: only one node was measured, and without it there is nothing to predict from; measure more nodes to validate", d.measurements.Report.File)
	}
	v, err := a.crossValidate(ctx, d, spec, folds, crossval.Scheme(f.scheme.value))
	if err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.Out).Encode(newValidateAnswer(d.net.Graph.IDs(), v))
	}
	return a.printValidation(v)
}

// crossValidate holds out folds of the measurements.
func (a *app) crossValidate(ctx context.Context, d *modelData, spec grfgp.Spec, folds int, scheme crossval.Scheme) (*crossval.Validation, error) {
	s := a.talk.Stage("validating")
	v, err := crossval.Validate(ctx, d.net.Graph, d.data, spec, crossval.Options{Folds: folds, Scheme: scheme, Progress: s.Update})
	if err != nil {
		return nil, fitError(ctx, err)
	}
	s.Done("%d measurements in %d folds", len(v.HeldOut), folds)
	return v, nil
}

// validateAnswer is the answer in JSON, with ids in place of the numbers of nodes.
type validateAnswer struct {
	Version int `json:"version"`
	*crossval.Validation
	Left    []leftNode `json:"left"`
	Verdict []string   `json:"verdict"`
}

// leftNode is a measurement that was predicted without its fold.
type leftNode struct {
	Node string `json:"node"`
	crossval.HeldOut
}

func newValidateAnswer(labels *graph.IDs, v *crossval.Validation) *validateAnswer {
	answer := &validateAnswer{1, v, []leftNode{}, report.Verdicts(v)}
	for _, l := range v.HeldOut {
		answer.Left = append(answer.Left, leftNode{labels.At(l.Node), l})
	}
	return answer
}

func (a *app) printValidation(v *crossval.Validation) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "error (RMSE)\t%.4g ± %.2g\tthis model\n", v.RMSE, v.RMSESE)
	for _, name := range crossval.Baselines() {
		fmt.Fprintf(t, "\t%.4g\t%s\n", v.BaselineRMSE[name], name)
	}
	fmt.Fprintf(t, "log density\t%.4g\tper measurement\n", -v.NLPD)
	for _, c := range v.Coverage {
		fmt.Fprintf(t, "coverage\t%.1f %%\tof %g %% intervals\n", 100*c.Share, 100*c.Level)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return a.printVerdict(report.Verdicts(v))
}

// printVerdict says below a table what it means.
func (a *app) printVerdict(sentences []string) error {
	_, err := fmt.Fprintf(a.Out, "\n%s\n", strings.Join(sentences, "\n"))
	return err
}
