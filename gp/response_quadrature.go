package gp

import "math"

// integrateLog returns the log density ∫ p(y|f) N(f; mean, variance) df of a reading whose likelihood is
// log-concave; f includes the offset. The trapezoidal rule about the mode, in quarters of the
// width there, is exact to about ten digits: its error falls faster than any power.
func integrateLog(l likelihood, o reading, mean, variance float64) float64 {
	at := func(f float64) terms { return l.terms(o, f) }
	if variance <= 0 {
		return l.base(o) + at(mean).value
	}
	guess, _ := l.guess(o)
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
	return l.base(o) + top + math.Log(sum*h) - math.Log(2*math.Pi*variance)/2
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

// expected returns the mean of a probability given f, where f is normal.
func expected(mean, sd, width float64, of func(f float64) float64) float64 {
	sum := 0.0
	average(mean, sd, width, func(f, w float64) {
		if w > 1e-14 {
			sum += w * of(f)
		}
	})
	return min(sum, 1)
}

// average calls add with points of f and weights that add to 1: the trapezoidal rule
// on eight and a half standard deviations either way, in quarters of one or finer where
// the integrand changes within width; 0 means nothing finer. At most 1,025 points are
// taken; the step is then wider than the width, and probabilities are exact to the
// step's own, below 0.7 %.
func average(mean, sd, width float64, add func(f, weight float64)) {
	if sd == 0 {
		add(mean, 1)
		return
	}
	const reach, most = 8.5, 512
	n := 34
	if width > 0 {
		n = min(most, max(n, int(math.Ceil(reach*sd/width*1.5))))
	}
	h, sum := reach/float64(n), 0.0
	for q := -n; q <= n; q++ {
		z := float64(q) * h
		sum += math.Exp(-z * z / 2)
	}
	for q := -n; q <= n; q++ {
		z := float64(q) * h
		add(mean+sd*z, math.Exp(-z*z/2)/sum)
	}
}
