package gp

import "math"

// NewMeasurement is the distribution of one more measurement at a node, noise included:
// of a value, of a number of events, of a number of positives.
type NewMeasurement struct {
	r        Response
	exposure float64
}

// Measurement returns the distribution of one more measurement with the given
// exposure: the expected count or the time at risk for counts, the number of trials for
// shares. For other values the exposure is not used.
func (r Response) Measurement(exposure float64) NewMeasurement {
	if r.values.About().Exposure == ExposureNone {
		exposure = 1
	}
	return NewMeasurement{r, exposure}
}

// of returns the likelihood, and a reading of the value y.
func (m NewMeasurement) of(y float64) (likelihood, reading) {
	return m.r.values.likelihood(), reading{y: y, exposure: m.exposure, noise: m.r.noise, shape: m.r.shape}
}

// Mean returns the mean of the measurement. Under LogTransform and Log1pTransform that
// of a Student value is infinite.
func (m NewMeasurement) Mean() float64 {
	l, o := m.of(0)
	if t := m.r.transform; t != NoTransform {
		noise := l.(additive) // no other values are transformed
		if noise.heavy() && t != SqrtTransform {
			return math.Inf(1)
		}
		return noise.mix(o, func(v float64) float64 {
			mean, _ := t.moments(m.r.mean, m.r.sd*m.r.sd+v)
			return mean
		})
	}
	mean, _ := l.measurement(o, m.r.mean, m.r.sd)
	return mean
}

// SD returns the standard deviation of the measurement. Under a transform that of a
// Student value is infinite.
func (m NewMeasurement) SD() float64 {
	l, o := m.of(0)
	if t := m.r.transform; t != NoTransform {
		if l.(additive).heavy() {
			return math.Inf(1)
		}
		_, sd := t.moments(m.r.mean, m.r.sd*m.r.sd+o.noise)
		return sd
	}
	_, sd := l.measurement(o, m.r.mean, m.r.sd)
	return sd
}

// LogDensity returns the log density of the measurement at y; of counts, shares and
// yes-no values the log probability, which is −∞ where y cannot be.
func (m NewMeasurement) LogDensity(y float64) float64 {
	if t := m.r.transform; t != NoTransform {
		if !t.has(y) {
			return math.Inf(-1)
		}
		return m.plain().LogDensity(t.Forward(y)) + t.logSlope(y)
	}
	l, o := m.of(y)
	if l.check(y, m.exposure, math.NaN()) != nil {
		return math.Inf(-1)
	}
	return l.predictive(o, m.r.mean+l.offset(m.exposure), m.r.sd*m.r.sd)
}

// CDF returns the probability that the measurement is at most y.
func (m NewMeasurement) CDF(y float64) float64 {
	if t := m.r.transform; t != NoTransform {
		if !t.has(y) {
			return 0
		}
		return m.plain().CDF(t.Forward(y))
	}
	l, o := m.of(y)
	return l.cdf(o, m.r.mean, m.r.sd)
}

// Place returns the place of y in the distribution of the measurement: CDF(y), or, of whole numbers, with half of the
// probability of y itself.
func (m NewMeasurement) Place(y float64) float64 {
	place := m.CDF(y)
	if m.r.values.About().Whole {
		place = (place + m.CDF(y-1)) / 2
	}
	return place
}

// Quantile returns the least value that the measurement is at most with probability p
// or more; an integer for counts, shares and yes-no values.
func (m NewMeasurement) Quantile(p float64) float64 {
	if t := m.r.transform; t != NoTransform {
		return t.Inverse(m.plain().Quantile(p))
	}
	if math.IsNaN(p) || p < 0 || p > 1 {
		return math.NaN()
	}
	l, o := m.of(0)
	return l.quantile(o, m.r.mean, m.r.sd, p)
}

// wholeQuantile is the quantile of a reading that is a whole number from 0 to most: the least with cdf ≥ p. A log-normal number of the
// same mean and variance is near, and the search doubles its steps.
func wholeQuantile(l likelihood, o reading, mean, sd, p, most float64) float64 {
	if p == 1 {
		return most
	}
	cdf := func(y float64) float64 { return l.cdf(o.at(y), mean, sd) }
	mean2, sd2 := l.measurement(o, mean, sd)
	spread := math.Sqrt(math.Log1p(sd2 * sd2 / mean2 / mean2))
	guess := math.Floor(mean2 * math.Exp(spread*(normalQuantile(min(max(p, 1e-6), 1-1e-6))-spread/2)))
	if !(guess < mostCount) {
		guess = 0
	}
	guess = min(guess, most)
	lo, hi := guess, guess
	for step := 1.0; lo > -1 && cdf(lo) >= p; step *= 2 {
		hi = lo
		lo = max(lo-step, -1)
	}
	for step := 1.0; cdf(hi) < p && hi < mostCount; step *= 2 {
		lo = hi
		hi += step
	}
	for hi-lo > 1 { // cdf(lo) < p ≤ cdf(hi)
		middle := math.Floor(lo + (hi-lo)/2)
		if cdf(middle) >= p {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}

// continuousQuantile inverts a distribution function by Newton's method, within
// bounds that close in.
func continuousQuantile(p, mean, sd float64, cdf, density func(y float64) float64) float64 {
	switch p {
	case 0:
		return math.Inf(-1)
	case 1:
		return math.Inf(1)
	}
	lo, hi := mean-sd, mean+sd
	for step := sd; cdf(lo) > p; step *= 2 {
		lo -= step
	}
	for step := sd; cdf(hi) < p; step *= 2 {
		hi += step
	}
	y := lo + (hi-lo)/2
	for range 200 {
		off := cdf(y) - p
		if off < 0 {
			lo = y
		} else {
			hi = y
		}
		next := y - off/density(y)
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if math.Abs(next-y) <= 1e-11*sd {
			return next
		}
		y = next
	}
	return y
}
