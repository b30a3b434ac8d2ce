package gp

import (
	"math"

	"gonum.org/v1/gonum/mathext"
)

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
	if r.values == YesNo {
		exposure = 1
	}
	return NewMeasurement{r, exposure}
}

// Mean returns the mean of the measurement. Under LogTransform and Log1pTransform that
// of a Student value is infinite.
func (m NewMeasurement) Mean() float64 {
	if t := m.r.transform; t != NoTransform {
		switch {
		case m.r.values == Gaussian:
			mean, _ := t.moments(m.r.mean, m.r.sd*m.r.sd+m.r.noise)
			return mean
		case t != SqrtTransform:
			return math.Inf(1)
		}
		return studentMixture(m.r.shape.Freedom, m.r.noise, -40, func(v float64) float64 {
			mean, _ := t.moments(m.r.mean, m.r.sd*m.r.sd+v)
			return mean
		})
	}
	if m.r.values.latent() {
		return m.exposure * m.r.Mean()
	}
	return m.r.mean
}

// SD returns the standard deviation of the measurement. Under a transform that of a
// Student value is infinite.
func (m NewMeasurement) SD() float64 {
	switch t := m.r.transform; {
	case t != NoTransform && m.r.values == Gaussian:
		_, sd := t.moments(m.r.mean, m.r.sd*m.r.sd+m.r.noise)
		return sd
	case t != NoTransform:
		return math.Inf(1)
	}
	e := m.exposure
	switch m.r.values {
	case Student:
		return math.Sqrt(m.r.sd*m.r.sd + m.r.noise*m.r.shape.Freedom/(m.r.shape.Freedom-2))
	case Counts:
		rate, sd := m.r.Mean(), m.r.SD()
		return math.Sqrt(e*rate + e*e*(sd*sd+m.r.shape.Dispersion*(sd*sd+rate*rate)))
	case Shares, YesNo:
		p, v := m.r.probability()
		return math.Sqrt(e*(p-p*p-v) + e*e*v)
	}
	return math.Sqrt(m.r.sd*m.r.sd + m.r.noise)
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
	switch m.r.values {
	case Gaussian:
		return logNormal(y, m.r.mean, m.r.sd*m.r.sd+m.r.noise)
	case Student:
		return studentLogDensity(y, m.r.mean, m.r.sd*m.r.sd, m.r.shape.Freedom, m.r.noise)
	}
	if y < 0 || y != math.Trunc(y) || m.r.values != Counts && y > m.exposure {
		return math.Inf(-1)
	}
	if m.r.values == Counts {
		offset, phi := math.Log(m.exposure), m.r.shape.Dispersion
		return countBase(y, phi) + integrateLog(func(f float64) terms { return countTerms(y, offset+f, phi) }, math.Log(y+0.5)-offset, m.r.mean, m.r.sd*m.r.sd)
	}
	return shareBase(y, m.exposure) + integrateLog(func(f float64) terms { return shareTerms(y, m.exposure, f) }, math.Log((y+0.5)/(m.exposure-y+0.5)), m.r.mean, m.r.sd*m.r.sd)
}

// CDF returns the probability that the measurement is at most y.
func (m NewMeasurement) CDF(y float64) float64 {
	if t := m.r.transform; t != NoTransform {
		if !t.has(y) {
			return 0
		}
		return m.plain().CDF(t.Forward(y))
	}
	switch {
	case m.r.values == Gaussian:
		return normalCDF((y - m.r.mean) / math.Sqrt(m.r.sd*m.r.sd+m.r.noise))
	case m.r.values == Student:
		return studentMixture(m.r.shape.Freedom, m.r.noise, -40, func(v float64) float64 { return normalCDF((y - m.r.mean) / math.Sqrt(m.r.sd*m.r.sd+v)) })
	case y < 0:
		return 0
	case m.r.values != Counts && y >= m.exposure:
		return 1
	}
	y = math.Floor(y)
	sum := 0.0
	m.r.average(m.width(), func(f, w float64) {
		if w > 1e-14 {
			sum += w * m.given(y, f)
		}
	})
	return min(sum, 1)
}

// width is the range of f in which the distribution function of a count changes: its
// standard deviation on the scale of f.
func (m NewMeasurement) width() float64 {
	if m.r.values == Counts {
		mu := m.exposure * math.Exp(m.r.mean+m.r.sd)
		return math.Sqrt(1/mu + m.r.shape.Dispersion)
	}
	p := logistic(m.r.mean)
	return 1 / math.Sqrt(m.exposure*p*(1-p))
}

// given returns the probability of at most y, an integer, given f.
func (m NewMeasurement) given(y, f float64) float64 {
	if m.r.values != Counts {
		p := logistic(f)
		if p == 0 || p == 1 {
			return 1 - p
		}
		return mathext.RegIncBeta(m.exposure-y, y+1, 1-p)
	}
	mu, phi := m.exposure*math.Exp(f), m.r.shape.Dispersion
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

// Quantile returns the least value that the measurement is at most with probability p
// or more; an integer for counts, shares and yes-no values.
func (m NewMeasurement) Quantile(p float64) float64 {
	if t := m.r.transform; t != NoTransform {
		return t.Inverse(m.plain().Quantile(p))
	}
	switch {
	case m.r.values == Gaussian:
		return m.r.mean + math.Sqrt(m.r.sd*m.r.sd+m.r.noise)*normalQuantile(p)
	case m.r.values == Student:
		return m.continuousQuantile(p)
	case math.IsNaN(p) || p < 0 || p > 1:
		return math.NaN()
	case m.r.values == Counts && p == 1:
		return math.Inf(1)
	case m.r.values != Counts && p == 1:
		return m.exposure
	}
	// A log-normal number of the same mean and variance is near, and the search doubles
	// its steps.
	mean, sd := m.Mean(), m.SD()
	spread := math.Sqrt(math.Log1p(sd * sd / mean / mean))
	guess := math.Floor(mean * math.Exp(spread*(normalQuantile(min(max(p, 1e-6), 1-1e-6))-spread/2)))
	if !(guess < mostCount) {
		guess = 0
	}
	if m.r.values != Counts {
		guess = min(guess, m.exposure)
	}
	lo, hi := guess, guess
	for step := 1.0; lo > -1 && m.CDF(lo) >= p; step *= 2 {
		hi = lo
		lo = max(lo-step, -1)
	}
	for step := 1.0; m.CDF(hi) < p && hi < mostCount; step *= 2 {
		lo = hi
		hi += step
	}
	for hi-lo > 1 { // CDF(lo) < p ≤ CDF(hi)
		middle := math.Floor(lo + (hi-lo)/2)
		if m.CDF(middle) >= p {
			hi = middle
		} else {
			lo = middle
		}
	}
	return hi
}

// continuousQuantile inverts the distribution function by Newton's method, within
// bounds that close in.
func (m NewMeasurement) continuousQuantile(p float64) float64 {
	switch {
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	case !(p > 0 && p < 1):
		return math.NaN()
	}
	sd := m.SD()
	if sd == 0 {
		return m.r.mean
	}
	lo, hi := m.r.mean-sd, m.r.mean+sd
	for step := sd; m.CDF(lo) > p; step *= 2 {
		lo -= step
	}
	for step := sd; m.CDF(hi) < p; step *= 2 {
		hi += step
	}
	y := lo + (hi-lo)/2
	for range 200 {
		off := m.CDF(y) - p
		if off < 0 {
			lo = y
		} else {
			hi = y
		}
		density := studentMixture(m.r.shape.Freedom, m.r.noise, -40, func(v float64) float64 { return math.Exp(logNormal(y, m.r.mean, m.r.sd*m.r.sd+v)) })
		next := y - off/density
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
