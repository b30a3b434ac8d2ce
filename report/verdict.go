package report

import (
	"fmt"
	"math"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/internal/plural"
	"grfgp/replay"
)

// Verdicts states the results of a validation in sentences.
func Verdicts(v *crossval.Validation) []string {
	all := []string{crossval.CompareErrors(v.RMSE, v.BaselineRMSE).String()}
	for _, c := range v.Coverage {
		all = append(all, crossval.JudgeCoverage(c.Level, c.Share, len(v.HeldOut)).String())
	}
	if v.Limits != nil {
		for _, words := range LimitNotes(v.Limits, "held-out measurements") {
			all = append(all, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	return all
}

<<<<<<< HEAD
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
	words := "no sign of miscalibration"
	if !v.Calibrated {
		words = "the probabilities are not calibrated"
	}
	return fmt.Sprintf("Probabilities differ by %.3f on average from the observed frequencies (ECE, %d bins), and those of a calibrated model by about %.3f: %s.", v.ECE, v.Bins, v.Expected, words)
}

// bestClassBaseline returns the baseline of highest accuracy.
func bestClassBaseline(v *crossval.ClassValidation) crossval.Baseline {
	return best(v.Baselines, func(s crossval.ClassScore) float64 { return -s.Accuracy })
}

=======
>>>>>>> main
// ClassVerdicts states the results of a validation of classes in sentences.
func ClassVerdicts(v *crossval.ClassValidation) []string {
	accuracy := map[crossval.Baseline]float64{}
	for name, s := range v.Baselines {
		accuracy[name] = s.Accuracy
	}
	return []string{
<<<<<<< HEAD
		CompareAccuracy(len(v.HeldOut), v.Accuracy, v.AccuracySE, accuracy).String(),
		fmt.Sprintf("The geometric mean of the probabilities of the true classes is %.2f (NLL %.3f; NLL of label spreading: %.3f).", math.Exp(-v.NLL), v.NLL, v.Baselines[crossval.LabelSpreading].NLL),
		JudgeCalibration(v.ECE, v.Reliability).String(),
=======
		crossval.CompareAccuracy(len(v.HeldOut), v.Accuracy, v.AccuracySE, accuracy).String(),
		fmt.Sprintf("The probability of the true class is %.2f (geometric mean); NLL %.3f, label spreading %.3f.", math.Exp(-v.NLL), v.NLL, v.Baselines[crossval.LabelSpreading].NLL),
		crossval.JudgeCalibration(v.ECE, v.Reliability).String(),
>>>>>>> main
	}
}

// largeWalkError is the error of random walks, as a share of a kernel row or of a
// standard deviation, from which more walkers are advised.
const largeWalkError = 0.2

// LimitNotes states, in sentences, how many predictions are those of the prior
// and how large the error of random walks is; things is the plural noun for the
// predicted items. The result is empty if every node has covariance with a
// measurement and the kernel is exact.
func LimitNotes(l *grfgp.Limits, things string) (all []string) {
	say := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	if l.PriorOnly > 0 {
		say("%d of %d %s (%.2g %%) are out of reach of every measurement: predictions there equal the prior",
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

<<<<<<< HEAD
// Gain says whether a policy beats a reference in replays.
type Gain int

// Results of JudgeGain.
const (
	GainUnknown  Gain = iota // no replay is complete
	GainTooFew               // fewer than replay.LeastSeeds replays
	GainNone                 // the same loss in every replay
	GainConstant             // the same difference in every replay: its error is not known
	GainUnclear              // within 95 % of Student's t distribution about 0
	GainBetter
	GainWorse
)

// JudgeGain judges by how much the loss of a policy is smaller than that of a
// reference: a mean over replays with its standard error, by Student's t test.
func JudgeGain(e replay.Estimate) Gain {
	switch {
	case e.Seeds == 0:
		return GainUnknown
	case e.Seeds < replay.LeastSeeds:
		return GainTooFew
	case e.SE == 0 && e.Mean == 0:
		return GainNone
	case e.SE == 0:
		return GainConstant
	case !e.Clear():
		return GainUnclear
	case e.Mean > 0:
		return GainBetter
	}
	return GainWorse
}

// PolicyVerdict compares a policy with random or uniform draws.
type PolicyVerdict struct {
	Result       Gain
	Policy       string
	Loss         string // name of the loss
	Final        float64
	Uniform      bool    // the reference is the exact expectation of uniform draws, not replays of random
	Reference    float64 // loss of the reference
	Gain         replay.Estimate
	Measurements int
}

func (v PolicyVerdict) String() string {
	reference, paired := "random", "paired by seed"
=======
// PolicyVerdict states in a sentence how a policy compares with random picks; loss is
// the name of the loss.
func PolicyVerdict(v replay.Verdict, loss string) string {
	short, reference, paired := "random", "random", "paired by seed"
>>>>>>> main
	if v.Uniform {
		reference, paired = "uniform draws", "against the exact expectation of uniform draws"
	}
<<<<<<< HEAD
	losses := fmt.Sprintf("%s %.4g against %.4g after %s", v.Loss, v.Final, v.Reference, plural.Count(v.Measurements, "measurements"))
	difference := fmt.Sprintf("the difference is %.2g ± %.2g (mean ± standard error over %s, %s)", math.Abs(v.Gain.Mean), v.Gain.SE, plural.Count(v.Gain.Seeds, "replays"), paired)
	switch v.Result {
	case GainUnknown:
=======
	losses := fmt.Sprintf("%s %.4g, %s %.4g after %s", loss, v.Loss, short, v.Random, plural.Count(v.Measurements, "measurements"))
	difference := fmt.Sprintf("%.2g ± %.2g (mean ± standard error of %s, %s)", math.Abs(v.Gain.Mean), v.Gain.SE, plural.Count(v.Gain.Seeds, "replays"), paired)
	switch v.Outcome {
	case replay.Incomplete:
>>>>>>> main
		return fmt.Sprintf("No verdict on %s: no pair of replays is complete.", v.Policy)
	case replay.TooFew:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s.", v.Gain.Seeds, v.Policy, reference, losses)
	case replay.Equal:
		return fmt.Sprintf("No difference between %s and %s: %s, in all %d replays.", v.Policy, reference, losses, v.Gain.Seeds)
	case replay.Constant:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s, with the same difference in all of them.", v.Gain.Seeds, v.Policy, reference, losses)
<<<<<<< HEAD
	case GainUnclear:
		return fmt.Sprintf("No clear difference between %s and %s: %s; %s.", v.Policy, reference, losses, difference)
	case GainBetter:
		return fmt.Sprintf("%s beats %s: %s; %s.", v.Policy, reference, losses, difference)
=======
	case replay.Unclear:
		return fmt.Sprintf("No clear difference between %s and %s: %s, a difference of %s.", v.Policy, reference, losses, difference)
	case replay.Better:
		return fmt.Sprintf("%s beats %s: %s, better by %s.", v.Policy, reference, losses, difference)
>>>>>>> main
	}
	return fmt.Sprintf("%s is worse than %s: %s; %s.", v.Policy, reference, losses, difference)
}
