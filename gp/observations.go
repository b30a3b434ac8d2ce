package gp

import "grfgp/internal/parallel"

// observations are measurements together with their distribution given f, in
// standardised units. The linear predictor of row k is offset_k + f_k.
type observations struct {
	of     likelihood
	rows   []reading
	offset []float64
	base   []float64 // part of the log density that does not depend on f
}

// observe returns the observations of data. Those of values with noise are
// standardised; the others are as given, with the center of the units in the offset.
func observe(v Values, shape Shape, center, noise float64, d Data) *observations {
	n := d.Len()
	o := &observations{of: v.likelihood(), rows: make([]reading, n), offset: make([]float64, n), base: make([]float64, n)}
	if o.of.about().Noisy {
		center = 0
	}
	var scale []float64
	if o.of.about().Noisy {
		scale = noises(d, noise)
	}
	for k := range o.rows {
		o.rows[k] = reading{y: d.Y[k], exposure: d.exposure(k), shape: shape}
		if scale != nil {
			o.rows[k].noise = scale[k]
		}
		o.offset[k] = center + o.of.offset(d.exposure(k))
		o.base[k] = o.of.base(o.rows[k])
	}
	return o
}

func (o *observations) len() int { return len(o.rows) }

// at returns the terms of row k at f.
func (o *observations) at(k int, f float64) terms {
	t := o.of.terms(o.rows[k], o.offset[k]+f)
	t.value += o.base[k]
	return t
}

// guess returns a rough pseudo-measurement of f at row k, with its weight, to start
// from: what the measurement alone says.
func (o *observations) guess(k int) (z, weight float64) {
	z, weight = o.of.guess(o.rows[k])
	return z - o.offset[k], weight
}

// stepWeight returns the weight of row k in a step towards the mode.
func (o *observations) stepWeight(k int, t terms) float64 { return o.of.stepWeight(o.rows[k], t) }

// predictive returns the log density of row k when f has the given mean and variance,
// standardised.
func (o *observations) predictive(k int, mean, variance float64) float64 {
	return o.of.predictive(o.rows[k], o.offset[k]+mean, variance)
}

// logDensity returns Σ log p(y_k|f_k), added in a fixed order; −∞ or NaN where it
// cannot be computed.
func (o *observations) logDensity(f []float64) float64 {
	values := make([]float64, o.len())
	parallel.Ranges(len(f), 4096, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			values[k] = o.at(k, f[k]).value
		}
	})
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

// all returns the terms of every row.
func (o *observations) all(f []float64) []terms {
	ts := make([]terms, o.len())
	parallel.Ranges(len(f), 4096, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			ts[k] = o.at(k, f[k])
		}
	})
	return ts
}
