package gp

import "math"

// integrateLog returns log ∫ p(y|f) N(f; mean, variance) df for a log-concave density
// that is given by its terms; guess is an f that the measurement alone suggests. The trapezoidal rule about the mode, in quarters of the
// width there, is exact to about ten digits: its error falls faster than any power.
func integrateLog(at func(f float64) terms, guess, mean, variance float64) float64 {
	if variance <= 0 {
		return at(mean).value
	}
	value := func(f float64) float64 { return at(f).value - (f-mean)*(f-mean)/(2*variance) }
	f, t := peak(at, value, guess, mean, variance)
	top := value(f)
	h := 1 / math.Sqrt(t.weight+1/variance) / 4
	const ignored, most = 36, 4000
	sum := 1.0
	for _, step := range []float64{h, -h} {
		for q := 1; q < most; q++ {
			v := value(f+float64(q)*step) - top
			if !(v > -ignored) {
				break
			}
			sum += math.Exp(v)
		}
	}
	return top + math.Log(sum*h) - math.Log(2*math.Pi*variance)/2
}

// peak returns the mode of value by Newton's method with halved steps, from the better
// of guess and mean.
func peak(at func(f float64) terms, value func(f float64) float64, guess, mean, variance float64) (float64, terms) {
	f := mean
	if !(value(mean) >= value(guess)) {
		f = guess
	}
	t := at(f)
	for range 100 {
		step := (t.slope - (f-mean)/variance) / (t.weight + 1/variance)
		for !(value(f+step) >= value(f)) && math.Abs(step) > 1e-12 {
			step /= 2
		}
		if math.IsNaN(step) || math.Abs(step) <= 1e-9*(1+math.Abs(f)) {
			break
		}
		f += step
		t = at(f)
	}
	return f, t
}

// studentMixture integrates g(v) over the variance v = s/u of noise from Student's t
// with ν degrees of freedom and squared scale s: u has the gamma distribution with
// shape ν/2 and mean 1. The rule is the trapezoidal one in log u; points whose log weight
// is below least are left out.
func studentMixture(nu, s, least float64, g func(v float64) float64) float64 {
	const h, lo, hi = 0.25, -60, 5
	a, sum := nu/2, 0.0
	norm := a*math.Log(a) - logGamma(a)
	for x := float64(lo); x <= hi; x += h {
		w := norm + a*x - a*math.Exp(x)
		if w < least {
			continue
		}
		sum += math.Exp(w) * g(s*math.Exp(-x))
	}
	return sum * h
}

// studentLogDensity returns the log density at y of a normal value of the given mean
// and variance plus Student noise.
func studentLogDensity(y, mean, variance, nu, s float64) float64 {
	return math.Log(studentMixture(nu, s, -300, func(v float64) float64 { return math.Exp(logNormal(y, mean, variance+v)) }))
}

// predictive returns the log density of row k when f has the given mean and variance,
// standardised.
func (o *observations) predictive(k int, mean, variance float64) float64 {
	if o.values == Student {
		return studentLogDensity(o.y[k], mean, variance, o.shape.Freedom, o.scale[k])
	}
	guess, _ := o.guess(k)
	return integrateLog(func(f float64) terms { return o.at(k, f) }, guess, mean, variance)
}
