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
	all := []string{v.JudgeError().String()}
	if n := len(v.HeldOut); n < crossval.FewHeldOut {
		all = []string{fmt.Sprintf("Too few to tell: a verdict on errors and intervals needs %d held-out measurements, and there are %d.",
			crossval.FewHeldOut, n)}
	} else {
		for _, c := range v.JudgeCoverages() {
			all = append(all, c.String())
		}
	}
	if v.Limits != nil {
		for _, words := range LimitNotes(v.Limits, "held-out measurements") {
			all = append(all, strings.ToUpper(words[:1])+words[1:]+".")
		}
	}
	return all
}

// ClassVerdicts states the results of a validation of classes in sentences.
func ClassVerdicts(v *crossval.ClassValidation) []string {
	accuracy := map[crossval.Baseline]float64{}
	for name, s := range v.Baselines {
		accuracy[name] = s.Accuracy
	}
	return []string{
		crossval.CompareAccuracy(len(v.HeldOut), v.Accuracy, v.AccuracySE, accuracy).String(),
		fmt.Sprintf("The geometric mean of the probabilities of the true classes is %.2f (NLL %.3f; NLL of label spreading: %.3f).",
			math.Exp(-v.NLL), v.NLL, v.Baselines[crossval.LabelSpreading].NLL),
		crossval.JudgeCalibration(v.ECE, v.Reliability).String(),
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
		are := "are"
		if l.PriorOnly == 1 {
			are = "is"
		}
		say("%d of %d %s (%.2g %%) %s out of reach of every measurement: predictions there equal the prior",
			l.PriorOnly, l.Nodes, things, 100*float64(l.PriorOnly)/float64(l.Nodes), are)
	}
	e := l.Walks
	if e == nil {
		return all
	}
	if e.Kernel > 0 {
		say("random walks: kernel rows have a relative error of %.2g %% (95 %% interval %.2g to %.2g %%); %.2g %% of a node's prior variance "+
			"is Monte Carlo noise",
			100*e.Kernel, 100*e.Low, 100*e.High, 100*e.NoiseShare)
	}
	if e.Nodes > 0 {
		say("random walks: the Monte Carlo standard error of a mean is %.2g %% of its standard deviation, measured at %d nodes with "+
			"independent walks", 100*e.Mean, e.Nodes)
	}
	if e.Kernel > largeWalkError || e.Mean > largeWalkError {
		say("four times the walkers, %d a node, would halve the error of the walks", 4*e.Walkers)
	}
	return all
}

// PolicyVerdict states in a sentence how a policy compares with random picks; loss is
// the name of the loss.
func PolicyVerdict(v replay.Verdict, loss string) string {
	reference, paired := "random", "paired by seed"
	if v.Uniform {
		reference, paired = "uniform draws", "against the exact expectation of uniform draws"
	}
	losses := fmt.Sprintf("%s %.4g against %.4g after %s", loss, v.Loss, v.Random, plural.Count(v.Measurements, "measurements"))
	difference := fmt.Sprintf("the difference is %.2g ± %.2g (mean ± standard error over %s, %s)", math.Abs(v.Gain.Mean), v.Gain.SE,
		plural.Count(v.Gain.Seeds, "replays"), paired)
	switch v.Outcome {
	case replay.Incomplete:
		return fmt.Sprintf("No verdict on %s: no pair of replays is complete.", v.Policy)
	case replay.TooFew:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s.", v.Gain.Seeds, v.Policy, reference, losses)
	case replay.Equal:
		return fmt.Sprintf("No difference between %s and %s: %s, in all %d replays.", v.Policy, reference, losses, v.Gain.Seeds)
	case replay.Constant:
		return fmt.Sprintf("Too few replays (%d) to tell whether %s beats %s: %s, with the same difference in all of them.", v.Gain.Seeds,
			v.Policy, reference, losses)
	case replay.Unclear:
		return fmt.Sprintf("No clear difference between %s and %s: %s; %s.", v.Policy, reference, losses, difference)
	case replay.Better:
		return fmt.Sprintf("%s beats %s: %s; %s.", v.Policy, reference, losses, difference)
	}
	return fmt.Sprintf("%s is worse than %s: %s; %s.", v.Policy, reference, losses, difference)
}
