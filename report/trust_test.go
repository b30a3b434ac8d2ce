package report

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
)

// heldOut is a validation with n held-out values. Their PITs are those of normal numbers, changed by
// shape; nil: as they are.
func heldOut(n int, rmse, rule, coverage float64, shape func(z float64) float64) *crossval.Validation {
	v := &crossval.Validation{RMSE: rmse, RMSESE: rmse / 20, Values: gp.Gaussian,
		BaselineRMSE: map[crossval.Baseline]float64{crossval.Mean: 9, crossval.Harmonic: rule},
		Coverage:     crossval.Coverages{{Level: 0.95, Share: coverage}}}
	for k := range n {
		z := distuv.UnitNormal.Quantile((float64(k) + 0.5) / float64(n))
		if shape != nil {
			z = shape(z)
		}
		v.HeldOut = append(v.HeldOut, crossval.HeldOut{Node: k, Value: 10 + z, Mean: 10, SD: 1, PIT: distuv.UnitNormal.CDF(z)})
	}
	return v
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	long := func(z float64) float64 { return math.Exp(z)/1.5 - 1 } // skewed to high values
	for _, c := range []struct {
		name   string
		v      *crossval.Validation
		spec   grfgp.Spec
		trust  Trust
		want   []string
		absent []string
	}{
		{"better than the rules, intervals hold", heldOut(200, 4.2, 5.6, 0.94, nil), grfgp.Spec{}, Trusted, []string{
			"The typical miss at held-out measurements is 4.20 m, 25 % less than with averaging neighbours, the best simple rule (5.60 m).",
			"95 % intervals of readings contain 94 % of 200 held-out readings, as they should.",
		}, []string{"transform", "Check that edges"}},
		{"no better", heldOut(200, 0.2182, 0.2148, 0.95, nil), grfgp.Spec{}, Unproven, []string{
			"Simple smoothing (averaging neighbours) predicts just as well here: its typical miss is 0.215 m, that of the model 0.218 m. What " +
				"the model adds is the intervals.",
		}, nil},
		{"better, but not clearly", heldOut(100, 1.8, 1.9, 0.95, nil), grfgp.Spec{}, Unproven, []string{
			"Simple smoothing (averaging neighbours) predicts almost as well here: its typical miss is 1.90 m, that of the model 1.80 m, no " +
				"clear difference",
		}, nil},
		{"worse", heldOut(200, 3, 2, 0.95, nil), grfgp.Spec{}, Careful, []string{
			"Simple smoothing (averaging neighbours) predicts better here: its typical miss is 2.00 m, that of the model 3.00 m.",
			"prefer the means of the simple rule",
		}, nil},
		{"intervals too narrow", heldOut(200, 4, 6, 0.75, nil), grfgp.Spec{}, Careful, []string{
			"contain 75 % of 200 held-out readings, too few: right ones would contain 92 % to 98 %.", "Intervals are too narrow",
		}, nil},
		{"too few to tell", heldOut(3, 4, 6, 1.0/3*3, nil), grfgp.Spec{}, TooEarly, []string{
			"3 measurements are too few to tell.", "too few to tell whether they hold",
		}, []string{"as they should"}},
		{"skewed", heldOut(300, 4, 6, 0.95, long), grfgp.Spec{}, Trusted, []string{"a transform (log or square root) may help"}, nil},
		{"skewed though transformed", heldOut(300, 4, 6, 0.95, long), grfgp.Spec{Transform: "log"}, Trusted, []string{"upper limits are too low"},
			[]string{"may help"}},
		{"skewed to low values", heldOut(300, 4, 6, 0.95, func(z float64) float64 { return -long(z) }), grfgp.Spec{}, Trusted,
			[]string{"lower limits are too high"}, nil},
		{"heavy tails", heldOut(300, 4, 6, 0.95, func(z float64) float64 { return z * z * z }), grfgp.Spec{}, Trusted, []string{"Student's t"},
			nil},
		{"no validation", nil, grfgp.Spec{}, Untested, []string{"No cross-validation was made"}, nil},
	} {
		h := Summarize(c.v, c.spec, "m")
		text := strings.Join(append(h.Words, h.Advice...), "\n")
		if h.Trust != c.trust {
			t.Errorf("%s: %s, want %s", c.name, h.Trust, c.trust)
		}
		for _, want := range c.want {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q in\n%s", c.name, want, text)
			}
		}
		for _, absent := range c.absent {
			if strings.Contains(text, absent) {
				t.Errorf("%s: %q in\n%s", c.name, absent, text)
			}
		}
	}
}

func TestSummarizeClasses(t *testing.T) {
	t.Parallel()
	validation := func(n int, accuracy, rule float64) *crossval.ClassValidation {
		v := &crossval.ClassValidation{HeldOut: make([]crossval.HeldOutLabel, n),
			ClassScore: crossval.ClassScore{Accuracy: accuracy, AccuracySE: 0.01, ECE: 0.2},
			Baselines: map[crossval.Baseline]crossval.ClassScore{
				crossval.LabelSpreading: {Accuracy: rule, AccuracySE: 0.01}, crossval.ClassFrequencies: {Accuracy: 0.1}},
			Reliability: []crossval.ReliabilityBin{{Count: n, Confidence: 0.8, Accuracy: accuracy}}}
		return v
	}
	uncertain := validation(60, 0.967, 0.867)
	uncertain.AccuracySE = 0.06
	for _, c := range []struct {
		v     *crossval.ClassValidation
		trust Trust
		want  string
	}{
		{validation(500, 0.9, 0.8), Trusted, "90.0 % of 500 held-out labels are predicted correctly, and 80.0 % by label spreading, the best " +
			"simple rule."},
		{validation(500, 0.81, 0.8), Unproven, "Simple smoothing (label spreading) predicts just as well here"},
		{uncertain, Unproven, "96.7 % of 60 held-out labels are predicted correctly, and 86.7 % by label spreading, the best simple rule: " +
			"with so few labels, chance may explain the difference."},
		{validation(500, 0.7, 0.8), Careful, "Simple smoothing (label spreading) predicts better here: 80.0 % against 70.0 % of the model."},
		{validation(9, 0.9, 0.89), TooEarly, "9 labels are too few to tell."},
		{validation(500, 0.9, 0.8), Trusted, "Probabilities are off by 20 points on average"},
		{nil, Untested, "No cross-validation was made"},
	} {
		if h := SummarizeClasses(c.v); h.Trust != c.trust || !strings.Contains(fmt.Sprint(h.Words), c.want) {
			t.Errorf("%s %q, want %s and %q", h.Trust, h.Words, c.trust, c.want)
		}
	}
}
