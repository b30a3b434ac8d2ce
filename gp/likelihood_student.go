package gp

import (
	"fmt"
	"math"
	"slices"
)

// studentT values are f plus noise from Student's t with ν degrees of freedom and squared scale s: with residual e = y − f,
//
//	log p = base − (ν+1)/2 · log(1 + e²/(νs)).
//
// It is not log-concave: an outlier, e² > νs, has a second derivative of the wrong sign,
// and W = 0 there. The mode is found by Fisher scoring: in place of W stands its
// expectation (ν+1)/((ν+3)s), the same for all residuals, so that one factored matrix
// serves all steps. The expectation does not serve the marginal likelihood: a
// model that follows the data has residuals near 0, where W is nearly twice that, and
// would be preferred for it.
type studentT struct{ ownScale }

// studentFreedom is not learned. The likelihood of the scale and the degrees of
// freedom together is nearly flat along a ridge, and few data push them to a bound;
// with 4, estimates are robust and lose little where the noise is Gaussian (Lange,
// Little and Taylor, JASA 84, 1989).
const studentFreedom = 4

func (studentT) about() About {
	return About{Name: "student", Title: "numbers with outliers (Student's t)", Help: "numbers with outliers", Quantity: "value",
		Quantities: "values", Reading: "value", NewReading: "a new reading", Noisy: true, Noise: "scale of Student's t", Negative: true,
		Exposure: ExposureNone,
		Repeats:  RepeatsEach, Least: math.Inf(-1), Most: math.Inf(1)}
}

func (studentT) check(_, _, noise float64) error {
	if noise == 0 {
		return fmt.Errorf("is without noise, which Student's t has not; take values of kind %s, or give it a noise", Gaussian)
	}
	return nil
}

func (studentT) noise(_ Shape, sd float64) string {
	return fmt.Sprintf("Student noise of scale %.3g", sd)
}

func (studentT) checkShape(s Shape) error {
	if !(s.Freedom > 2 && s.Freedom <= 1e6) {
		return fmt.Errorf("%v degrees of freedom of Student's t, want more than 2", s.Freedom)
	}
	return s.want(Shape{Freedom: s.Freedom})
}

// units are the median and the spread of the middle half of the data, which
// outliers do not move, or those of Gaussian data where that half is constant.
func (studentT) units(d Data, opts FitOptions) (Units, error) {
	u, err := unitsOf(d, opts)
	if err != nil {
		return u, err
	}
	sorted := slices.Sorted(slices.Values(d.Y))
	n := len(sorted)
	const quartiles = 1.349 // between the quartiles of N(0, 1)
	spread := (sorted[3*(n-1)/4+min(1, (3*(n-1))%4)] - sorted[(n-1)/4]) / quartiles
	if spread > 0 && spread < u.Scale {
		u.Scale = spread
		if opts.Mean == nil {
			u.Center = (sorted[(n-1)/2] + sorted[n/2]) / 2
		}
	}
	return u, u.check(d, opts)
}

func (studentT) shaped(value float64) (Shape, float64) { return Shape{Freedom: studentFreedom}, value }

func (studentT) base(o reading) float64 {
	nu := o.shape.Freedom
	return logGamma((nu+1)/2) - logGamma(nu/2) - math.Log(nu*math.Pi*o.noise)/2
}

func (studentT) terms(o reading, f float64) terms {
	e, nu, s := o.y-f, o.shape.Freedom, o.noise
	q := nu*s + e*e
	t := terms{
		value:   -(nu + 1) / 2 * math.Log1p(e*e/(nu*s)),
		slope:   (nu + 1) * e / q,
		curve:   (nu + 1) * (nu*s - e*e) / q / q,
		bend:    2 * (nu + 1) * e * (3*nu*s - e*e) / q / q / q,
		valueBy: ((nu+1)*e*e/q - 1) / (2 * s),
		slopeBy: -(nu + 1) * e * nu / q / q,
	}
	if t.curve > 0 {
		t.weight = t.curve
		t.weightBy = (nu + 1) * nu * (3*e*e - nu*s) / q / q / q
	}
	return t
}

func (l studentT) guess(o reading) (f, weight float64) { return o.y, l.stepWeight(o, terms{}) }

func (studentT) concave() bool { return false }

// stepWeight is the expectation of minus the second derivative, which is positive and the same at every f.
func (studentT) stepWeight(o reading, _ terms) float64 {
	return (o.shape.Freedom + 1) / (o.shape.Freedom + 3) / o.noise
}

func (studentT) predictive(o reading, mean, variance float64) float64 {
	return math.Log(studentMixture(o, -300, func(v float64) float64 { return math.Exp(logNormal(o.y, mean, variance+v)) }))
}

func (studentT) measurement(o reading, mean, sd float64) (float64, float64) {
	return mean, math.Sqrt(sd*sd + o.noise*o.shape.Freedom/(o.shape.Freedom-2))
}

func (l studentT) cdf(o reading, mean, sd float64) float64 {
	return l.mix(o, func(v float64) float64 { return normalCDF((o.y - mean) / math.Sqrt(sd*sd+v)) })
}

func (l studentT) quantile(o reading, mean, sd, p float64) float64 {
	_, spread := l.measurement(o, mean, sd)
	if spread == 0 {
		return mean
	}
	density := func(y float64) float64 {
		return l.mix(o, func(v float64) float64 { return math.Exp(logNormal(y, mean, sd*sd+v)) })
	}
	return continuousQuantile(p, mean, spread, func(y float64) float64 { return l.cdf(o.at(y), mean, sd) }, density)
}

// mix averages over the variance of the noise; points of a log weight below −40 are left out.
func (studentT) mix(o reading, of func(variance float64) float64) float64 {
	return studentMixture(o, -40, of)
}

func (studentT) heavy() bool { return true }

// studentMixture integrates g(v) over the variance v = s/u of noise from Student's t
// with ν degrees of freedom and squared scale s: u has the gamma distribution with
// shape ν/2 and mean 1. The rule is the trapezoidal one in log u; points whose log weight
// is below least are left out.
func studentMixture(o reading, least float64, g func(v float64) float64) float64 {
	const h, lo, hi = 0.25, -60, 5
	a, sum := o.shape.Freedom/2, 0.0
	norm := a*math.Log(a) - logGamma(a)
	for x := float64(lo); x <= hi; x += h {
		w := norm + a*x - a*math.Exp(x)
		if w < least {
			continue
		}
		sum += math.Exp(w) * g(o.noise*math.Exp(-x))
	}
	return sum * h
}
