package report

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
)

// Trust is how far predictions can be trusted, by cross-validation.
type Trust string

// Answers to "can I trust it?".
const (
	Trusted  Trust = "Yes, so far."
	TooEarly Trust = "Too early to tell."
	Unproven Trust = "Not yet."
	Careful  Trust = "Take care."
	Untested Trust = "Not tested."
)

// tone is the style of an answer.
func (t Trust) tone() string {
	switch t {
	case Trusted:
		return "good"
	case Careful:
		return "care"
	}
	return "open"
}

// aboutEqual is the gain over a simple rule that nobody would notice.
const aboutEqual = 0.03

// Headline is the result of a cross-validation in a few sentences, for the top of a report.
type Headline struct {
	Trust  Trust    `json:"trust"`
	Words  []string `json:"words"`            // what was found
	Advice []string `json:"advice,omitempty"` // what may help
}

// ruleNames are the names of baselines within a sentence.
var ruleNames = map[crossval.Baseline]string{
	crossval.Mean:             "the overall mean",
	crossval.Nearest:          "the nearest measured node",
	crossval.Harmonic:         "averaging neighbours",
	crossval.GraphRidge:       "a smooth function of the network",
	crossval.LeastSquares:     "a linear function of the covariates",
	crossval.SingularRidge:    "a linear regression on the links of each node",
	crossval.SameNode:         "the same node at the nearest time",
	crossval.ClassFrequencies: "the most frequent class",
	crossval.LabelSpreading:   "label spreading",
}

// ruleName names a baseline within a sentence.
func ruleName(b crossval.Baseline) string {
	if name, ok := ruleNames[b]; ok {
		return name
	}
	return string(b)
}

// beginning names a baseline at the beginning of a sentence.
func beginning(b crossval.Baseline) string {
	name := ruleName(b)
	if b == crossval.Harmonic || b == crossval.GraphRidge || b == crossval.LabelSpreading {
		return "Simple smoothing (" + name + ")"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// Summarize states in words how good the predictions of a model of values are; v is nil if there was
// no validation. The unit may be empty.
func Summarize(v *crossval.Validation, spec grfgp.Spec, unit string) Headline {
	if v == nil {
		return untested()
	}
	e, n := v.JudgeError(), len(v.HeldOut)
	at := judged(v.JudgeCoverages())
	few := n < crossval.FewValues
	h := Headline{Trust: Unproven}
	switch {
	case e.Standing == crossval.Behind || at.Width == crossval.TooNarrow:
		h.Trust = Careful
	case few:
		h.Trust = TooEarly
	case e.Standing == crossval.Ahead:
		h.Trust = Trusted
	}
	miss := threeDigits(e.RMSE)
	own, rule := miss.in(e.RMSE, unit), miss.in(e.BaselineRMSE, unit)
	typical := "The typical miss at held-out measurements"
	if e.Of != "" {
		typical = "The typical miss of held-out " + e.Of
	}
	switch {
	case few:
		h.Words = append(h.Words, fmt.Sprintf("%s are too few to tell. %s is %s, and %s with %s, the best simple rule.",
			firstUpper(count(n, "measurements")), typical, own, rule, ruleName(e.Baseline)))
	case e.Standing == crossval.Ahead:
		h.Words = append(h.Words, fmt.Sprintf("%s is %s, %s less than with %s, the best simple rule (%s).", typical, own, percent(e.Gain),
			ruleName(e.Baseline), rule))
	case e.Standing == crossval.Behind:
		h.Words = append(h.Words, fmt.Sprintf("%s predicts better here: its typical miss is %s, that of the model %s.", beginning(e.Baseline),
			rule, own))
		h.Advice = append(h.Advice, "Check that edges join nodes with similar values, and add columns that explain the values. Until then, "+
			"prefer the means of the simple rule.")
	case e.Gain > aboutEqual:
		h.Words = append(h.Words, fmt.Sprintf("%s predicts almost as well here: its typical miss is %s, that of the model %s, no clear "+
			"difference. What the model adds for sure is the intervals.", beginning(e.Baseline), rule, own))
	default:
		h.Words = append(h.Words, fmt.Sprintf("%s predicts just as well here: its typical miss is %s, that of the model %s. What the model "+
			"adds is the intervals.", beginning(e.Baseline), rule, own))
	}
	if !math.IsNaN(at.Share) {
		h.Words = append(h.Words, intervalWords(at, n))
	}
	switch at.Width {
	case crossval.TooNarrow:
		h.Advice = append(h.Advice, "Intervals are too narrow: read them as a lower bound of the uncertainty.")
	case crossval.TooWide:
		h.Advice = append(h.Advice, "Intervals are wider than they need to be: they err on the safe side.")
	}
	if words := shapeAdvice(v, spec.Transform != ""); words != "" {
		h.Advice = append(h.Advice, words)
	}
	return h
}

func untested() Headline {
	return Headline{
		Trust: Untested, Words: []string{"No cross-validation was made, so nothing is known about the errors of these predictions."}}
}

func firstUpper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// judged returns the level by which intervals are judged: one that is too narrow or else too wide,
// or else the highest.
func judged(all []crossval.CoverageVerdict) crossval.CoverageVerdict {
	if len(all) == 0 {
		return crossval.CoverageVerdict{Share: math.NaN()}
	}
	best := all[len(all)-1]
	for _, width := range []crossval.Width{crossval.TooWide, crossval.TooNarrow} {
		for _, c := range all {
			if c.Width == width {
				best = c
			}
		}
	}
	return best
}

// intervalWords says whether intervals contain as many held-out readings as they should.
func intervalWords(c crossval.CoverageVerdict, n int) string {
	of := "readings"
	if c.Of != "" {
		of = c.Of
	}
	words := fmt.Sprintf("%g %% intervals of %s contain %s of %s", 100*c.Level, of, percent(c.Share), count(n, "held-out readings"))
	expected := fmt.Sprintf("%s to %s", percent(c.Low), percent(c.High))
	switch {
	case c.Width == crossval.TooNarrow:
		return fmt.Sprintf("%s, too few: right ones would contain %s.", words, expected)
	case c.Width == crossval.TooWide:
		return fmt.Sprintf("%s, more than they should: right ones would contain %s.", words, expected)
	case n < crossval.FewValues:
		return fmt.Sprintf("%s, too few to tell whether they hold: chance alone could give %s.", words, expected)
	}
	return fmt.Sprintf("%s, as they should.", words)
}

// shapeAdvice says what may help if errors are skewed or have heavy tails; "" if neither. The normal
// scores of the PIT are normal numbers if the model is right; the skewness of n of them has a
// standard error of √(6/n), their excess kurtosis of √(24/n).
func shapeAdvice(v *crossval.Validation, transformed bool) string {
	n := float64(len(v.HeldOut))
	if v.Values != gp.Gaussian || n < crossval.FewValues {
		return ""
	}
	z, positive := make([]float64, len(v.HeldOut)), true
	for k, h := range v.HeldOut {
		z[k] = distuv.UnitNormal.Quantile(min(1-1e-12, max(1e-12, h.PIT)))
		positive = positive && h.Value > 0
	}
	skew, tails, clear := stat.Skew(z, nil), stat.ExKurtosis(z, nil), max(0.8, 4*math.Sqrt(6/n))
	switch {
	case skew > clear && positive && !transformed:
		return "Errors are skewed: measurements far above their prediction are more frequent than far below. As all values are positive, a " +
			"transform (log or square root) may help."
	case skew > clear:
		return "Errors are skewed: measurements far above their prediction are more frequent than far below, so that upper limits are too low."
	case skew < -clear:
		return "Errors are skewed: measurements far below their prediction are more frequent than far above, so that lower limits are too high."
	case tails > max(3, 5*math.Sqrt(24/n)):
		return "A few measurements are very far from their prediction. See the largest surprises; noise with heavy tails (Student's t) may " +
			"fit better."
	}
	return ""
}

// SummarizeClasses is Summarize for predicted classes.
func SummarizeClasses(v *crossval.ClassValidation) Headline {
	if v == nil {
		return untested()
	}
	n, name := len(v.HeldOut), v.BestBaseline()
	best := v.Baselines[name]
	room := 2 * math.Hypot(v.AccuracySE, best.AccuracySE)
	h := Headline{Trust: Unproven}
	own, rule := fmt.Sprintf("%.1f %%", 100*v.Accuracy), fmt.Sprintf("%.1f %%", 100*best.Accuracy)
	right := fmt.Sprintf("%s of %s are predicted correctly", own, count(n, "held-out labels"))
	few := n < crossval.FewValues
	switch {
	case best.Accuracy-v.Accuracy > room:
		h.Trust = Careful
		h.Words = append(h.Words, fmt.Sprintf("%s predicts better here: %s against %s of the model.", beginning(name), rule, own))
		h.Advice = append(h.Advice, "Check that edges join nodes of the same class, and add columns that explain the classes. Until then, "+
			"prefer the simple rule.")
	case few:
		h.Trust = TooEarly
		h.Words = append(h.Words, fmt.Sprintf("%s are too few to tell. %s, and %s by %s, the best simple rule.", count(n, "labels"), right, rule,
			ruleName(name)))
	case v.Accuracy-best.Accuracy > room:
		h.Trust = Trusted
		h.Words = append(h.Words, fmt.Sprintf("%s, and %s by %s, the best simple rule.", right, rule, ruleName(name)))
	case v.Accuracy-best.Accuracy > aboutEqual:
		h.Words = append(h.Words, fmt.Sprintf("%s, and %s by %s, the best simple rule: with so few labels, chance may explain the difference. "+
			"What the model adds for sure is its probabilities.", right, rule, ruleName(name)))
	default:
		h.Words = append(h.Words, fmt.Sprintf("%s predicts just as well here: %s against %s of the model. What the model adds is its "+
			"probabilities.", beginning(name), rule, own))
	}
	if c := crossval.JudgeCalibration(v.ECE, v.Reliability); !few {
		words := "Probabilities mean what they say, as far as can be told: they differ from observed frequencies no more than chance explains."
		if !c.Calibrated {
			words = fmt.Sprintf("Probabilities are off by %.0f points on average: do not take them literally.", 100*c.ECE)
		}
		h.Words = append(h.Words, words)
	}
	return h
}
