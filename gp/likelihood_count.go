package gp

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mathext"
)

// negativeBinomial values: counts are negative binomial with mean μ = exp(f), and with their exposure in f, and variance μ + φμ²; with
// φ = 0 they are Poisson. Both are log-concave in f. With r = 1/φ,
//
//	log p = log Γ(y + r) − log Γ(r) − log y! + y log φμ − (y + r) log(1 + φμ).
type negativeBinomial struct{ logScale }

// leastDispersion is where a negative binomial number is a Poisson number, to
// rounding.
const leastDispersion = 1e-9

// dispersionStart is where learning a dispersion starts, and the median of its weak prior.
const dispersionStart = 0.1

// mostCount is the largest count that is an exact number.
const mostCount = 1 << 53

func (negativeBinomial) about() About {
	return About{Name: "count", Title: "counts: 0, 1, 2, …", Help: "numbers of events", Quantity: "rate", Quantities: "rates",
		Reading:    "count",
		NewReading: "a new count", Scale: "log", Whole: true, Exposure: ExposureOptional,
		Exposures: "the number to expect, or the people or the time at risk", Repeats: RepeatsEach, Most: math.Inf(1)}
}

func (negativeBinomial) check(y, _, _ float64) error {
	if !(y >= 0 && y <= mostCount && y == math.Trunc(y)) {
		return fmt.Errorf("is %v, which is no count; counts are 0, 1, 2, …: correct it, or take another kind of values", y)
	}
	return nil
}

func (negativeBinomial) noise(s Shape, _ float64) string {
	if s.Dispersion > 0 {
		return fmt.Sprintf("counts more dispersed than Poisson numbers (φ = %.3g)", s.Dispersion)
	}
	return "Poisson counts"
}

func (negativeBinomial) checkShape(s Shape) error { return s.dispersed() }

// units have the overall rate as their center. Half an event guards against none at all.
func (l negativeBinomial) units(d Data, opts FitOptions) (Units, error) {
	events, exposure, err := d.totals()
	return centered(l, math.Log(events+0.5)-math.Log(exposure), err, opts)
}

// parameter: Poisson numbers are the limit of no dispersion, which a search by logarithms does not reach.
func (negativeBinomial) parameter() parameter {
	return parameter{name: "dispersion", start: dispersionStart, optional: true}
}

func (negativeBinomial) shaped(value float64) (Shape, float64) { return Shape{Dispersion: value}, 0 }

func (negativeBinomial) base(o reading) float64 {
	base := -logGamma(o.y + 1)
	if o.shape.Dispersion < leastDispersion {
		return base
	}
	r := 1 / o.shape.Dispersion
	return base + logGamma(o.y+r) - logGamma(r) + o.y*math.Log(o.shape.Dispersion)
}

func (negativeBinomial) terms(o reading, f float64) terms {
	y, phi, mu := o.y, o.shape.Dispersion, math.Exp(f)
	if phi < leastDispersion {
		return terms{value: y*f - mu, slope: y - mu, curve: mu, weight: mu, bend: mu, valueBy: ((y-mu)*(y-mu) - y) / 2,
			slopeBy: (mu - y) * mu, weightBy: mu*y - 2*mu*mu}
	}
	r, c := 1/phi, 1+phi*mu
	w := mu * (1 + phi*y) / c / c
	t := terms{value: y*f - (y+r)*math.Log1p(phi*mu), slope: (y - mu) / c, curve: w, weight: w}
	t.bend = t.weight * (1 - phi*mu) / c
	t.slopeBy = -t.slope * mu / c
	t.weightBy = mu*y/c/c - 2*t.weight*mu/c
	// ∂/∂r = ψ(y + r) − ψ(r) − log(1 + μ/r) + (μ − y)/(r + μ), and ∂r/∂φ = −r².
	t.valueBy = -r * r * (digammaDifference(y, r) - math.Log1p(phi*mu) + (mu-y)/(r+mu))
	return t
}

func (negativeBinomial) guess(o reading) (f, weight float64) {
	mu := o.y + 0.5
	return math.Log(mu), mu / (1 + o.shape.Dispersion*mu)
}

func (l negativeBinomial) predictive(o reading, mean, variance float64) float64 {
	return integrateLog(l, o, mean, variance)
}

func (l negativeBinomial) measurement(o reading, mean, sd float64) (float64, float64) {
	e := o.exposure
	rate, sd := l.moments(mean, sd)
	return e * rate, math.Sqrt(e*rate + e*e*(sd*sd+o.shape.Dispersion*(sd*sd+rate*rate)))
}

// cdf averages over f, in steps finer than the standard deviation of a count on the scale of f.
func (l negativeBinomial) cdf(o reading, mean, sd float64) float64 {
	if o.y < 0 {
		return 0
	}
	mu := o.exposure * math.Exp(mean+sd)
	return expected(mean, sd, math.Sqrt(1/mu+o.shape.Dispersion), func(f float64) float64 { return l.below(o, f) })
}

// below is the probability of at most y given f.
func (negativeBinomial) below(o reading, f float64) float64 {
	y, mu, phi := math.Floor(o.y), o.exposure*math.Exp(f), o.shape.Dispersion
	switch {
	case mu == 0:
		return 1
	case math.IsInf(mu, 0):
		return 0
	case phi < leastDispersion:
		return mathext.GammaIncRegComp(y+1, mu)
	}
	r := 1 / phi
	return mathext.RegIncBeta(r, y+1, r/(r+mu))
}

func (l negativeBinomial) quantile(o reading, mean, sd, p float64) float64 {
	return wholeQuantile(l, o, mean, sd, p, math.Inf(1))
}

// dispersed returns an error unless the shape is a dispersion.
func (s Shape) dispersed() error {
	if !(s.Dispersion >= 0 && s.Dispersion <= math.MaxFloat64) {
		return fmt.Errorf("the dispersion is %v, want a finite number ≥ 0", s.Dispersion)
	}
	return s.want(Shape{Dispersion: s.Dispersion})
}

// digammaDifference returns ψ(y + r) − ψ(r) for an integer y, without cancellation
// where y is small.
func digammaDifference(y, r float64) float64 {
	if y > 200 {
		return digamma(y+r) - digamma(r)
	}
	sum := 0.0
	for j := y - 1; j >= 0; j-- {
		sum += 1 / (r + j)
	}
	return sum
}

func digamma(x float64) float64 {
	sum := 0.0
	for ; x < 10; x++ {
		sum -= 1 / x
	}
	q := 1 / (x * x)
	return sum + math.Log(x) - 1/(2*x) - q*(1.0/12-q*(1.0/120-q*(1.0/252-q*(1.0/240-q/132))))
}

func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}
