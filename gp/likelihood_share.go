package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// binomial values are shares: y positives of n trials, the exposure, each with the probability p = 1/(1 + exp(−f)).
type binomial struct{ logConcave }

func (binomial) about() About {
	return About{Name: "share", Title: "shares: positives among tested", Help: "positives among tested", Quantity: "probability",
		Quantities: "probabilities", Reading: "positives", NewReading: "a new number of positives", Scale: "logit", Whole: true,
		Exposure: ExposureRequired, Exposures: "the number tested", Repeats: RepeatsSum, Most: 1}
}

func (binomial) check(y, n, _ float64) error {
	switch {
	case !(n <= mostCount && n == math.Trunc(n)):
		return fmt.Errorf("is of %v trials, want an integer", n)
	case !(y >= 0 && y <= n && y == math.Trunc(y)):
		return fmt.Errorf("is %v positives of %v trials; want an integer from 0 to the number of trials, which is the exposure", y, n)
	}
	return nil
}

func (binomial) noise(Shape, float64) string { return "binomial values" }

func (binomial) checkShape(s Shape) error { return s.want(Shape{}) }

func (binomial) link(x float64) float64    { return math.Log(x) - math.Log1p(-x) }
func (binomial) inverse(f float64) float64 { return logistic(f) }

func logistic(f float64) float64 {
	if f < 0 {
		e := math.Exp(f)
		return e / (1 + e)
	}
	return 1 / (1 + math.Exp(-f))
}

// units have the overall share as their center. Half a positive guards against none at all, and against nothing else.
func (l binomial) units(d Data, opts FitOptions) (Units, error) {
	events, exposure, err := d.totals()
	return centered(l, math.Log(events+0.5)-math.Log(exposure-events+0.5), err, opts)
}

func (binomial) parameter() parameter { return parameter{} }

func (binomial) shaped(float64) (Shape, float64) { return Shape{}, 0 }

func (binomial) offset(float64) float64 { return 0 }

// base is the logarithm of the number of ways to choose y of n.
func (binomial) base(o reading) float64 {
	return logGamma(o.exposure+1) - logGamma(o.y+1) - logGamma(o.exposure-o.y+1)
}

func (binomial) terms(o reading, f float64) terms {
	y, n, p := o.y, o.exposure, logistic(f)
	w := n * p * logistic(-f)
	value := y*f - n*(max(f, 0)+math.Log1p(math.Exp(-math.Abs(f))))
	return terms{value: value, slope: y - n*p, curve: w, weight: w, bend: w * (1 - 2*p)}
}

func (binomial) guess(o reading) (f, weight float64) {
	n := o.exposure
	p := (o.y + 0.5) / (n + 1)
	return math.Log(p / (1 - p)), (n + 1) * p * (1 - p)
}

func (l binomial) predictive(o reading, mean, variance float64) float64 {
	return integrateLog(l, o, mean, variance)
}

func (binomial) moments(mean, sd float64) (float64, float64) {
	m, square := 0.0, 0.0
	average(mean, sd, 0, func(f, w float64) {
		p := logistic(f)
		m += w * p
		square += w * p * p
	})
	return m, math.Sqrt(max(square-m*m, 0))
}

func (l binomial) measurement(o reading, mean, sd float64) (float64, float64) {
	n := o.exposure
	p, s := l.moments(mean, sd)
	return n * p, math.Sqrt(n*(p-p*p-s*s) + n*n*s*s)
}

// cdf averages over f, in steps finer than the standard deviation of a share on the scale of f.
func (l binomial) cdf(o reading, mean, sd float64) float64 {
	switch {
	case o.y < 0:
		return 0
	case o.y >= o.exposure:
		return 1
	}
	p, y := logistic(mean), math.Floor(o.y)
	return expected(mean, sd, 1/math.Sqrt(o.exposure*p*(1-p)), func(f float64) float64 {
		p := logistic(f)
		if p == 0 || p == 1 {
			return 1 - p
		}
		return mathext.RegIncBeta(o.exposure-y, y+1, 1-p)
	})
}

func (l binomial) quantile(o reading, mean, sd, p float64) float64 {
	return wholeQuantile(l, o, mean, sd, p, o.exposure)
}

// bernoulli values are shares of one trial.
type bernoulli struct{ binomial }

func (bernoulli) about() About {
	return About{Name: "yes-no", Title: "yes or no: 1 or 0", Help: "1 and 0", Quantity: "probability", Quantities: "probabilities",
		Reading: "answer", NewReading: "a new answer", Scale: "logit", Whole: true, Exposure: ExposureNone, Repeats: RepeatsEach, Most: 1}
}

func (bernoulli) check(y, _, _ float64) error {
	if y != 0 && y != 1 {
		return fmt.Errorf("is %v, want 0 or 1; for positives among trials take values of kind %s", y, Shares)
	}
	return nil
}
