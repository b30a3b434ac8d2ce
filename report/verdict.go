package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/internal/plot"
	"grfgp/internal/plural"
	"grfgp/replay"
)

// ErrorVerdict compares the error of a model with that of the best baseline.
type ErrorVerdict struct {
	RMSE         float64           // of held-out measurements
	Baseline     crossval.Baseline // with the smallest error
	BaselineRMSE float64
	Gain         float64 // 1 − RMSE/BaselineRMSE
	Better       bool    // by half a percent or more
}

// CompareErrors compares root mean square errors at held-out measurements.
func CompareErrors(rmse float64, baselines map[crossval.Baseline]float64) ErrorVerdict {
	name := best(baselines, func(v float64) float64 { return v })
	gain := 1 - rmse/baselines[name]
	return ErrorVerdict{rmse, name, baselines[name], gain, gain >= 0.005} // false for NaN: both errors are 0
}

// best returns the key of the smallest score, the first by name of equals.
func best[V any](of map[crossval.Baseline]V, score func(V) float64) crossval.Baseline {
	return slices.MinFunc(slices.Sorted(maps.Keys(of)), func(a, b crossval.Baseline) int { return cmp.Compare(score(of[a]), score(of[b])) })
}

func (v ErrorVerdict) String() string {
	if v.Better {
		return fmt.Sprintf("The error (RMSE) at held-out measurements is %.4g, %.0f %% less than that of the best baseline, %s.", v.RMSE, 100*v.Gain, v.Baseline)
	}
	return fmt.Sprintf("The error (RMSE) at held-out measurements is %.4g, no less than that of the baseline %s, which has no intervals.", v.RMSE, v.Baseline)
}

// Width says whether credible intervals have the right width.
type Width int

// Widths of intervals, by the share of held-out measurements that they contain.
const (
	WidthRight Width = iota // the share is within 95 % of its distribution
	TooNarrow
	TooWide
)

// CoverageVerdict compares the coverage of credible intervals with their level.
type CoverageVerdict struct {
	Level     float64 // of the intervals
	Share     float64 // of held-out measurements inside
	Low, High float64 // the middle 95 % of the shares expected of a calibrated model
	Width     Width
}

// JudgeCoverage judges intervals of a level that contain a share of n held-out
// measurements, by the binomial distribution.
func JudgeCoverage(level, share float64, n int) CoverageVerdict {
	lo, hi := plot.Band(n, level)
	v := CoverageVerdict{Level: level, Share: share, Low: float64(lo) / float64(n), High: float64(hi) / float64(n)}
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
	return fmt.Sprintf("%g %% intervals contain %.1f %% of held-out measurements, %s (a calibrated model: %.1f to %.1f %%).",
		100*v.Level, 100*v.Share, words[v.Width], 100*v.Low, 100*v.High)
}

// Verdicts states the results of a validation in sentences.
func Verdicts(v *crossval.Validation) []string {
	all := []string{CompareErrors(v.RMSE, v.BaselineRMSE).String()}
	for _, c := range v.Coverage {
		all = append(all, JudgeCoverage(c.Level, c.Share, len(v.HeldOut)).String())
	}
	if v.Limits != nil {
		for _, words := range LimitNotes(v.Limits, "held-out measurements") {
			all = append(all, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	return all
}

// AccuracyVerdict compares the accuracy of a classifier with the best baseline.
type AccuracyVerdict struct {
	Labels       int // held-out
	Accuracy, SE float64
	Baseline     crossval.Baseline // with the highest accuracy
	Gain         float64
	Better       bool // by 0.05 points or more
}

// CompareAccuracy compares shares of held-out labels that are predicted right.
func CompareAccuracy(labels int, accuracy, se float64, baselines map[crossval.Baseline]float64) AccuracyVerdict {
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

// CalibrationVerdict judges the probabilities of a classifier.
type CalibrationVerdict struct {
	ECE        float64 // expected calibration error
	Expected   float64 // of calibrated probabilities, by chance alone
	Bins       int
	Calibrated bool
}

// JudgeCalibration compares an expected calibration error with that of calibrated
// probabilities. In a bin of n labels with mean probability c the share predicted
// right differs from c by √(2/π)·√(c(1−c)/n) on average.
func JudgeCalibration(ece float64, bins []crossval.ReliabilityBin) CalibrationVerdict {
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
	words := "about what chance alone gives"
	if !v.Calibrated {
		words = "more than chance alone gives: do not take the probabilities literally"
	}
	return fmt.Sprintf("Probabilities differ by %.3f from the observed frequencies (ECE, %d bins), %s (%.3f).", v.ECE, v.Bins, words, v.Expected)
}

// bestClassBaseline returns the baseline of highest accuracy.
func bestClassBaseline(v *crossval.ClassValidation) crossval.Baseline {
	return best(v.Baselines, func(s crossval.ClassScore) float64 { return -s.Accuracy })
}

// ClassVerdicts states the results of a validation of classes in sentences.
func ClassVerdicts(v *crossval.ClassValidation) []string {
	accuracy := map[crossval.Baseline]float64{}
	for name, s := range v.Baselines {
		accuracy[name] = s.Accuracy
	}
	return []string{
		CompareAccuracy(len(v.HeldOut), v.Accuracy, v.AccuracySE, accuracy).String(),
		fmt.Sprintf("The probability of the true class is %.2f (geometric mean); NLL %.3f, label spreading %.3f.", math.Exp(-v.NLL), v.NLL, v.Baselines[crossval.LabelSpreading].NLL),
		JudgeCalibration(v.ECE, v.Reliability).String(),
	}
}

// Confusion counts labels of one class that were predicted as another.
type Confusion struct{ Class, Predicted, Count int }

// Confusions returns the confusions of a validation, the most frequent first.
func Confusions(v *crossval.ClassValidation) []Confusion {
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

// largeWalkError is the error of random walks, as a share of a kernel row or of a
// standard deviation, from which on more walkers are advised.
const largeWalkError = 0.2

// LimitNotes states which predictions rest on the prior alone and how exact the
// random walks are; things names what was predicted. It is empty if measurements
// reach every node and the kernel is exact.
func LimitNotes(l *grfgp.Limits, things string) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if l.PriorOnly > 0 {
		say("%d of %d %s (%.2g %%) are out of reach of every measurement: predictions there are the prior",
			l.PriorOnly, l.Nodes, things, 100*float64(l.PriorOnly)/float64(l.Nodes))
	}
	e := l.Walks
	if e == nil {
		return all
	}
	if e.Kernel > 0 {
		say("random walks: kernel rows have a relative error of %.2g %% (95 %% interval %.2g to %.2g %%); %.2g %% of a node's prior variance is Monte Carlo noise",
			100*e.Kernel, 100*e.Low, 100*e.High, 100*e.NoiseShare)
	}
	if e.Nodes > 0 {
		say("random walks: the Monte Carlo standard error of a mean is %.2g %% of its standard deviation, measured at %d nodes with independent walks", 100*e.Mean, e.Nodes)
	}
	if e.Kernel > largeWalkError || e.Mean > largeWalkError {
		say("four times the walkers, %d a node, would halve the error of the walks", 4*e.Walkers)
	}
	return all
}

// PolicyVerdict states in a sentence how a policy compares with random picks; loss is
// the name of the loss.
func PolicyVerdict(v replay.Verdict, loss string) string {
	short, reference, paired := "random", "random", "paired by seed"
	if v.Uniform {
		short, reference, paired = "uniform draws", "the expectation of uniform draws", "against that expectation"
	}
	losses := fmt.Sprintf("%s %.4g, %s %.4g after %s", loss, v.Loss, short, v.Random, plural.Count(v.Measurements, "measurements"))
	difference := fmt.Sprintf("%.2g ± %.2g (mean ± standard error of %s, %s)", math.Abs(v.Gain.Mean), v.Gain.SE, plural.Count(v.Gain.Seeds, "replays"), paired)
	switch v.Outcome {
	case replay.Incomplete:
		return fmt.Sprintf("No verdict on %s: no pair of replays is complete.", v.Policy)
	case replay.TooFew:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s.", v.Gain.Seeds, v.Policy, reference, losses)
	case replay.Equal:
		return fmt.Sprintf("No difference between %s and %s: %s, in all %d replays.", v.Policy, reference, losses, v.Gain.Seeds)
	case replay.Constant:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s, with the same difference in all of them.", v.Gain.Seeds, v.Policy, reference, losses)
	case replay.Unclear:
		return fmt.Sprintf("No clear difference between %s and %s: %s, a difference of %s.", v.Policy, reference, losses, difference)
	case replay.Better:
		return fmt.Sprintf("%s beats %s: %s, better by %s.", v.Policy, reference, losses, difference)
	}
	return fmt.Sprintf("%s is worse than %s: %s, by %s.", v.Policy, reference, losses, difference)
}
