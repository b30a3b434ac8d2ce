package crossval

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/binomial"
)

// ErrorVerdict compares the error of a model with that of the best baseline.
type ErrorVerdict struct {
	Of           string   // whose error: "" for measurements, "rates" or "probabilities"
	RMSE         float64  // of held-out measurements
	Baseline     Baseline // with the smallest error
	BaselineRMSE float64
	Gain         float64 // 1 − RMSE/BaselineRMSE
	Better       bool    // by half a percent or more
	Standing     Standing
}

// Standing compares a model with a baseline.
type Standing int

// Standings, by whether the errors differ by more than two standard errors.
const (
	Unjudged Standing = iota // standard errors are not known
	Even                     // no clear difference
	Ahead                    // the error of the model is clearly smaller
	Behind                   // the error of the baseline is clearly smaller
)

// CompareErrors compares root mean square errors at held-out measurements.
func CompareErrors(rmse float64, baselines map[Baseline]float64) ErrorVerdict {
	name := best(baselines, func(v float64) float64 { return v })
	gain := 1 - rmse/baselines[name]
	// false for NaN: both errors are 0
	return ErrorVerdict{RMSE: rmse, Baseline: name, BaselineRMSE: baselines[name], Gain: gain, Better: gain >= 0.005}
}

// best returns the baseline with the smallest score; of equals the simplest, and a
// caller's own last.
func best[V any](of map[Baseline]V, score func(V) float64) Baseline {
	return slices.MinFunc(InOrder(of), func(a, b Baseline) int { return cmp.Compare(score(of[a]), score(of[b])) })
}

func (v ErrorVerdict) String() string {
	of := "RMSE"
	if v.Of != "" {
		of += " of " + v.Of
	}
	if v.Better {
		clear := ""
		if v.Standing == Even {
			clear = ": no clear difference"
		}
		return fmt.Sprintf("The error (%s) at held-out measurements is %.4g, %.0f %% less than that of the best baseline, %s%s.", of, v.RMSE,
			100*v.Gain, v.Baseline, clear)
	}
	return fmt.Sprintf("The error (%s) at held-out measurements is %.4g, no less than that of the baseline %s, which has no intervals.", of,
		v.RMSE, v.Baseline)
}

// FewHeldOut is the number of held-out measurements below which nothing can be told: intervals
// of 95 % would hold all of them more often than not, and the error is known to a third at best.
const FewHeldOut = 10

// JudgeError compares the error with those of baselines.
func (v *Validation) JudgeError() ErrorVerdict {
	verdict := CompareErrors(v.RMSE, v.BaselineRMSE)
	switch difference := v.RMSE - verdict.BaselineRMSE; {
	case difference < -2*v.RMSESE:
		verdict.Standing = Ahead
	case difference > 2*v.RMSESE:
		verdict.Standing = Behind
	default:
		verdict.Standing = Even
	}
	if about := v.Values.About(); about.Latent() {
		verdict.Of = about.Quantities
	}
	return verdict
}

// JudgeCoverages compares the coverages with those that the model expects.
func (v *Validation) JudgeCoverages() []CoverageVerdict {
	var all []CoverageVerdict
	for _, c := range v.Coverage {
		verdict := JudgeCoverage(cmp.Or(c.Expected, c.Level), c.Share, len(v.HeldOut))
		verdict.Level = c.Level
		if about := v.Values.About(); about.Latent() {
			verdict.Of = about.NewReading
		}
		all = append(all, verdict)
	}
	return all
}

// Width says whether credible intervals are too narrow, right or too wide.
type Width int

// Widths of intervals, by the share of held-out measurements that they contain.
const (
	WidthRight Width = iota // the share is within the range expected of a calibrated model
	TooNarrow
	TooWide
)

// CoverageVerdict compares the coverage of credible intervals with their level.
type CoverageVerdict struct {
	Of        string  // whose intervals: "" for measurements, or what these are
	Level     float64 // of the intervals
	Expected  float64 // probability of the intervals by the model: Level, or more where they are of whole numbers
	Share     float64 // of held-out measurements inside
	Low, High float64 // the middle 95 % of the shares expected of a calibrated model
	Width     Width
	Values    int // held-out measurements
}

// FewValues is the number of held-out values below which a wrong model is easily missed.
const FewValues = 30

// JudgeCoverage compares the share of n held-out measurements inside credible
// intervals of a level with its binomial distribution under a calibrated model.
func JudgeCoverage(level, share float64, n int) CoverageVerdict {
	lo, hi := binomial.Interval(n, level)
	v := CoverageVerdict{Level: level, Expected: level, Share: share, Low: float64(lo) / float64(n), High: float64(hi) / float64(n), Values: n}
	switch inside := int(math.Round(share * float64(n))); {
	case inside < lo:
		v.Width = TooNarrow
	case inside > hi:
		v.Width = TooWide
	}
	return v
}

func (v CoverageVerdict) String() string {
	words := [...]string{"as expected", "too few: the intervals are too narrow", "too many: the intervals are too wide"}
	if v.Values < FewValues && v.Width == WidthRight {
		words[v.Width] = "too few to tell"
	}
	of, whole := "", ""
	if v.Of != "" {
		of = " of " + v.Of
	}
	if v.Expected != v.Level {
		whole = fmt.Sprintf("intervals of whole numbers hold more than their level: %.1f %% by the model; ", 100*v.Expected)
	}
	return fmt.Sprintf(
		"%g %% intervals%s contain %.1f %% of held-out measurements, %s (%s95 %% range of a calibrated model: %.1f to %.1f %%).",
		100*v.Level, of, 100*v.Share, words[v.Width], whole, 100*v.Low, 100*v.High)
}

// AccuracyVerdict compares the accuracy of a classifier with the best baseline.
type AccuracyVerdict struct {
	Labels       int // held-out
	Accuracy, SE float64
	Baseline     Baseline // with the highest accuracy
	Gain         float64
	Better       bool // by 0.05 points or more
}

// CompareAccuracy compares the share of held-out labels that are predicted
// correctly with that of baselines.
func CompareAccuracy(labels int, accuracy, se float64, baselines map[Baseline]float64) AccuracyVerdict {
	name := best(baselines, func(v float64) float64 { return -v })
	gain := accuracy - baselines[name]
	return AccuracyVerdict{labels, accuracy, se, name, gain, gain >= 0.0005}
}

func (v AccuracyVerdict) String() string {
	words := "no more than by the baseline " + string(v.Baseline)
	if v.Better {
		words = fmt.Sprintf("%.1f points more than by the best baseline, %s", 100*v.Gain, v.Baseline)
	}
	return fmt.Sprintf("Of %d held-out labels %.1f ± %.1f %% are predicted correctly, %s.", v.Labels, 100*v.Accuracy, 100*v.SE, words)
}

// CalibrationVerdict says whether the probabilities of a classifier are calibrated.
type CalibrationVerdict struct {
	ECE        float64 // expected calibration error
	Expected   float64 // expected error of calibrated probabilities, by chance alone
	Bins       int
	Calibrated bool
}

// JudgeCalibration compares an expected calibration error with that of calibrated
// probabilities. In a bin of n labels with mean probability c, the share
// predicted correctly differs from c by √(2/π)·√(c(1−c)/n) on average.
func JudgeCalibration(ece float64, bins []ReliabilityBin) CalibrationVerdict {
	n, expected := 0, 0.0
	for _, b := range bins {
		n += b.Count
		if b.Count > 0 {
			expected += math.Sqrt(2 / math.Pi * max(0, b.Confidence*(1-b.Confidence)) * float64(b.Count))
		}
	}
	expected /= float64(n)
	return CalibrationVerdict{ece, expected, len(bins), ece <= 1.5*expected+0.01}
}

func (v CalibrationVerdict) String() string {
	words := "no sign of miscalibration"
	if !v.Calibrated {
		words = "the probabilities are not calibrated"
	}
	return fmt.Sprintf("Probabilities differ by %.3f on average from the observed frequencies (ECE, %d bins), and those of a calibrated "+
		"model by about %.3f: %s.", v.ECE, v.Bins, v.Expected, words)
}

// Confusion counts labels of one class that were predicted as another.
type Confusion struct{ Class, Predicted, Count int }

// Confusions returns the confusions, the most frequent first.
func (v *ClassValidation) Confusions() []Confusion {
	var all []Confusion
	for c, row := range v.Confusion {
		for p, n := range row {
			if c != p && n > 0 {
				all = append(all, Confusion{c, p, n})
			}
		}
	}
	slices.SortStableFunc(all, func(x, y Confusion) int { return cmp.Compare(y.Count, x.Count) })
	return all
}

// BestBaseline returns the baseline of highest accuracy.
func (v *ClassValidation) BestBaseline() Baseline {
	return best(v.Baselines, func(s ClassScore) float64 { return -s.Accuracy })
}
