package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// gamma values, such as costs, concentrations or amounts, have the gamma distribution with mean μ = exp(f) and variance φμ²: noise in
// proportion to the value. With a = 1/φ,
//
//	log p = a log a − log Γ(a) + (a − 1) log y − a f − a y exp(−f).
//
// It is log-concave in f.
type gamma struct{ logScale }

func (gamma) about() About {
	return About{Name: "positive", Title: "amounts above 0, with noise in proportion",
		Help:     "amounts above 0 with noise in proportion to them",
		Quantity: "mean", Quantities: "means", Reading: "value", NewReading: "a new reading", Scale: "log", Exposure: ExposureNone,
		Repeats: RepeatsEach, Most: math.Inf(1)}
}

func (gamma) check(y, _, _ float64) error { return checkPositive(y, "amount") }

// checkPositive returns an error unless y is a number above 0 whose reciprocal is one too.
func checkPositive(y float64, what string) error {
	if !(y > 0) || math.IsInf(1/y, 0) {
		return fmt.Errorf("is %v, which is no %s above 0; correct it, or take another kind of values", y, what)
	}
	return nil
}

func (gamma) noise(s Shape, _ float64) string {
	return fmt.Sprintf("gamma values (a reading varies by %.3g %% of its mean)", 100*math.Sqrt(s.Dispersion))
}

func (gamma) checkShape(s Shape) error {
	if s.Dispersion == 0 {
		return fmt.Errorf("the dispersion is 0, want a number above 0")
	}
	return s.dispersed()
}

// units have the logarithm of the mean as their center.
func (l gamma) units(d Data, opts FitOptions) (Units, error) { return meanUnits(l, d, opts) }

func meanUnits(l likelihood, d Data, opts FitOptions) (Units, error) {
	mean := 0.0 // dividing before adding keeps sums of huge values finite
	for _, y := range d.Y {
		mean += y / float64(d.Len())
	}
	return centered(l, l.link(mean), nil, opts)
}

// parameter is never 0: a value without noise has no density.
func (gamma) parameter() parameter {
	return parameter{name: "dispersion", start: dispersionStart, floor: noiseFloorExact}
}

func (gamma) shaped(value float64) (Shape, float64) { return Shape{Dispersion: value}, 0 }

func (gamma) base(o reading) float64 {
	a := 1 / o.shape.Dispersion
	return a*math.Log(a) - logGamma(a) + (a-1)*math.Log(o.y)
}

func (gamma) terms(o reading, f float64) terms {
	a, r := 1/o.shape.Dispersion, o.y*math.Exp(-f)
	w := a * r
	// By a: log a + 1 − ψ(a) + log y − f − r, of which base has all but −f − r; and ∂a/∂φ = −a².
	return terms{value: -a*f - w, slope: w - a, curve: w, weight: w, bend: -w,
		valueBy: -a * a * (math.Log(a) + 1 - digamma(a) + math.Log(o.y) - f - r), slopeBy: -a * a * (r - 1), weightBy: -a * a * r}
}

func (gamma) guess(o reading) (f, weight float64) { return math.Log(o.y), 1 / o.shape.Dispersion }

func (l gamma) predictive(o reading, mean, variance float64) float64 {
	return integrateLog(l, o, mean, variance)
}

func (l gamma) measurement(o reading, mean, sd float64) (float64, float64) {
	m, s := l.moments(mean, sd)
	return o.exposure * m, o.exposure * math.Sqrt(s*s+o.shape.Dispersion*(s*s+m*m))
}

// cdf averages over f, in steps finer than the standard deviation of a reading on the scale of f.
func (gamma) cdf(o reading, mean, sd float64) float64 {
	if o.y <= 0 {
		return 0
	}
	a := 1 / o.shape.Dispersion
	return expected(mean, sd, math.Sqrt(o.shape.Dispersion), func(f float64) float64 {
		return mathext.GammaIncReg(a, min(a*o.y/o.exposure*math.Exp(-f), math.MaxFloat64))
	})
}

// quantile searches log y, of which mean and standard deviation are near those of f and of the noise.
func (l gamma) quantile(o reading, mean, sd, p float64) float64 {
	switch p {
	case 0:
		return 0
	case 1:
		return math.Inf(1)
	}
	cdf := func(x float64) float64 { return l.cdf(o.at(math.Exp(x)), mean, sd) }
	density := func(x float64) float64 {
		at := o.at(math.Exp(x))
		return math.Exp(l.predictive(at, mean+l.offset(o.exposure), sd*sd) + x)
	}
	return math.Exp(continuousQuantile(p, mean+l.offset(o.exposure), math.Sqrt(sd*sd+o.shape.Dispersion), cdf, density))
}
