package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"grfgp"
	"grfgp/crossval"
	"grfgp/internal/cli"
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
		Short: "Cross-validate a model: error against baselines, coverage of intervals",
		Long: `Validate cross-validates: it holds out one fold of the measurements at a time, learns
from the others, and compares predictions with the held-out values. The kernel is chosen once, from all
measurements, and its hyperparameters are learned again for each fold; --choose-again chooses
the kernel again too, which takes several times as long. Scattered folds
measure the error at nodes between measured ones; neighbourhoods measure the error
far from all measurements. The baselines are the overall mean, the nearest
measured node, harmonic interpolation, a graph ridge (Laplacian-regularised least
squares), least squares on covariates if there are any, and a ridge on singular
vectors of the graph. Repeated measurements of a
node are held out together and count as one, their mean; with --repeats keep they
are compared one by one. Intervals are those of a reading: reading_lower to
reading_upper of predict.

The model is learned again for every fold. The report does the same, so that its error
is this one. The page of a study keeps the hyperparameters that were learned from all
measurements; its error is slightly smaller.

Of counts and shares, errors are those of rates and probabilities, weighted by
exposures, and intervals are those of a new count, or of a new number of positives,
with the exposure of the one held out. They are of whole numbers and contain more
than their level; the verdict compares with what the model itself expects.

With --time, measurements of a node in different periods are held out one by one
(neighbourhoods: together). The baselines are then the overall mean, the nearest
measured node and harmonic interpolation in the same period, and the same node at
the nearest time. A second table is about the latest period: nodes held out there
are predicted from all other measurements.

With --labels it does the same for classes and reports the accuracy, the mean
negative log probability of the true class (NLL), the expected calibration error
(ECE, in 15 bins) and the confusion matrix; the baselines are the majority class,
label spreading, and the two regressions with one regression per class.`,
		Example: `  grfgp validate --edges roads.csv --measurements speeds.csv
  grfgp validate --edges roads.csv --measurements speeds.csv --leave-out neighbourhoods --folds 5
  grfgp validate --edges citations.csv --labels topics.csv --folds 5`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.validate(cmd.Context(), &f, cmd.Flags().Changed)
		},
	}
	f.fitFlags.flags(cmd)
	f.device.flag(cmd)
	f.labelFlags.flags(cmd)
	f.foldFlags.flags(cmd, "number of folds, at most the number of measured nodes or labels")
	return cmd
}

func (a *app) validate(ctx context.Context, f *validateFlags, changed func(string) bool) error {
	spec, err := f.resolve(a, changed)
	if err != nil {
		return err
	}
	if f.folds < 2 {
		return cli.Usagef("--folds %d: give 2 or more", f.folds)
	}
	if err := f.either(changed); err != nil {
		return err
	}
	f.tellIdleKernel(a, changed)
	if f.labels != "" {
		return a.validateLabels(ctx, f, spec)
	}
	if f.measurements == "" {
		return cli.Usagef("no measurements and no labels: give --measurements FILE or --labels FILE")
	}
	d, err := loadData(ctx, a, &f.fitFlags, spec)
	if err != nil {
		return err
	}
	folds := min(f.folds, d.measuredNodes())
	if folds < 2 {
		return cli.Dataf("%s: only one node is measured, so no measurement is left to predict from; measure more nodes to validate",
			d.measurements.Report.File)
	}
	d.folds = folds
	var whole *grfgp.Model // of all measurements
	if !f.chooseAgain {
		if whole, err = a.fit(ctx, d, d.known.spec(spec)); err != nil {
			return err
		}
	}
	v, err := a.crossValidate(ctx, d, d.known.spec(spec), whole, f.options(folds))
	if err != nil {
		return err
	}
	now, err := a.validateLatest(ctx, f, d, spec, whole)
	if err != nil {
		return err
	}
	effects, err := a.tellEffects(ctx, d, spec, whole)
	if err != nil {
		return err
	}
	if a.JSON {
		answer := newValidateAnswer(d, v, now, spec)
		answer.Effects = effects
		return json.NewEncoder(a.Out).Encode(answer)
	}
	if err := a.printValidation(v, spec); err != nil || now == nil {
		return err
	}
	if _, err := fmt.Fprintf(a.Out, "\nAt nodes held out in the latest period, %s, by all other measurements:\n",
		d.time.names[d.latest()]); err != nil {
		return err
	}
	return a.printValidation(now, spec)
}

// validateLatest holds out nodes in the latest period of a model over time: what is it
// now, where nobody looked? The result is nil without time, or with one node measured.
func (a *app) validateLatest(ctx context.Context, f *validateFlags, d *modelData, spec grfgp.Spec,
	whole *grfgp.Model) (*crossval.Validation, error) {
	if d.time == nil || d.time.model == "" {
		return nil, nil
	}
	folds := min(f.folds, d.timeFacts(nil).Periods[d.latest()].Measurements)
	if folds < 2 {
		a.Talk.Say("  note: only one node is measured in the latest period, %s, so it is not validated by itself", d.time.names[d.latest()])
		return nil, nil
	}
	opts := f.options(folds)
	opts.Scheme = crossval.LatestPeriod
	return a.crossValidate(ctx, d, d.known.spec(spec), whole, opts)
}

// crossValidate holds out folds of the measurements. The model is fitted to all of them; with
// opts.ChooseAgain it is not needed.
func (a *app) crossValidate(ctx context.Context, d *modelData, spec grfgp.Spec, whole *grfgp.Model,
	opts crossval.Options) (*crossval.Validation, error) {
	if d.folds == 0 || whole == nil { // else the fit has looked at it
		if err := a.fits(ctx, "validating", d.net.Graph, d.time.spec(spec),
			grfgp.Job{Measurements: d.data.Len(), Folds: opts.Folds}); err != nil {
			return nil, err
		}
	}
	s := a.Talk.Stage("validating")
	opts.Model, opts.Progress, opts.Ranks = whole, s.Work(), a.Ranks
	v, err := crossval.Validate(ctx, d.net.Graph, d.data, d.time.spec(spec), opts)
	if err != nil {
		return nil, fitError(ctx, err)
	}
	s.Done("%d measurements in %d folds", len(v.HeldOut), opts.Folds)
	return v, nil
}

// validateAnswer is the answer in JSON, with ids of nodes.
type validateAnswer struct {
	Version int `json:"version"`
	*crossval.Validation
	// mean log density of held-out measurements; of counts, shares and yes-no values log probability
	LogDensity   float64            `json:"log_density"`
	BaselineRMSE map[string]float64 `json:"baseline_rmse"` // by crossval.Baseline.Key

	Left     []leftNode      `json:"left"`
	Headline report.Headline `json:"headline"`
	Verdict  []string        `json:"verdict"`
	Known    *nodeFacts      `json:"covariates,omitempty"`
	// Effects are those in a model of all measurements.
	Effects *effectFacts `json:"effects,omitempty"`

	Time   *timeAnswer     `json:"time,omitempty"`
	Latest *validateAnswer `json:"latest_period,omitempty"` // at nodes held out there
}

// leftNode is a measurement as predicted from the other folds.
type leftNode struct {
	Node string `json:"node"`
	Time string `json:"time,omitempty"`
	crossval.HeldOut
}

func newValidateAnswer(d *modelData, v, now *crossval.Validation, spec grfgp.Spec) *validateAnswer {
	answer := &validateAnswer{Version: 1, Validation: v, LogDensity: -v.NLPD, BaselineRMSE: crossval.ByKey(v.BaselineRMSE), Left: []leftNode{},
		Headline: report.Summarize(v, spec, ""), Verdict: report.Verdicts(v), Known: d.known, Time: d.timeFacts(nil)}
	for _, l := range v.HeldOut {
		answer.Left = append(answer.Left, leftNode{d.net.Graph.IDs().At(l.Node), d.time.name(l.Period), l})
	}
	if now != nil {
		answer.Latest = newValidateAnswer(d, now, nil, spec)
		answer.Latest.Known, answer.Latest.Time = nil, nil
	}
	return answer
}

func (a *app) printValidation(v *crossval.Validation, spec grfgp.Spec) error {
	t := tabwriter.NewWriter(a.Out, 0, 0, 2, ' ', 0)
	of := "RMSE"
	if e := v.JudgeError(); e.Of != "" {
		of += " of " + e.Of
	}
	fmt.Fprintf(t, "error (%s)\t%.4g ± %.2g\tthis model\n", of, v.RMSE, v.RMSESE)
	for _, name := range crossval.InOrder(v.BaselineRMSE) {
		fmt.Fprintf(t, "\t%.4g\t%s\n", v.BaselineRMSE[name], name)
	}
	score := "log density"
	if v.Values.About().Whole {
		score = "log probability"
	}
	fmt.Fprintf(t, "%s\t%.4g\tper held-out measurement\n", score, -v.NLPD)
	for _, c := range v.Coverage {
		expected := ""
		if c.Expected != c.Level {
			expected = fmt.Sprintf(", %.1f %% expected", 100*c.Expected)
		}
		fmt.Fprintf(t, "coverage\t%.1f %%\tby %g %% intervals of a reading%s\n", 100*c.Share, 100*c.Level, expected)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	// The headline compares with baselines: the sentences that follow are about intervals.
	return a.printVerdict(append(headlineLines(report.Summarize(v, spec, "")), report.Verdicts(v)[1:]...))
}

// headlineLines are the lines of a headline on a terminal.
func headlineLines(h report.Headline) []string {
	return slices.Concat([]string{"Can I trust it? " + string(h.Trust)}, h.Words, h.Advice)
}

// printVerdict prints sentences below a table.
func (a *app) printVerdict(sentences []string) error {
	_, err := fmt.Fprintf(a.Out, "\n%s\n", strings.Join(sentences, "\n"))
	return err
}
