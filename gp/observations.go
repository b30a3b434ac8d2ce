package gp

import (
	"math"

	"grfgp/internal/parallel"
)

// observations are measurements together with their distribution given f, in
// standardised units. The linear predictor of row k is offset_k + f_k.
type observations struct {
	values   Values
	shape    Shape
	y        []float64
	exposure []float64 // of counts, or trials of shares; nil: 1 each
	offset   []float64 // nil: 0
	scale    []float64 // squared scale of each Student measurement
	base     []float64 // part of the log density that does not depend on f
}

// terms are the log density of a measurement and its derivatives.
type terms struct {
	value  float64 // log p(y|f)
	slope  float64 // by f
	curve  float64 // minus the second derivative
	weight float64 // W: curve, or 0 where that is negative
	bend   float64 // derivative of curve by f

	// Derivatives by the parameter of the likelihood, if there is one: φ of counts,
	// the squared scale of Student's t.
	valueBy, slopeBy, weightBy float64
}

// observe returns the observations of data. Those of Gaussian or Student values are
// standardised; the others are as given, with the center of the units in the offset.
func observe(v Values, shape Shape, center, noise float64, d Data) *observations {
	o := &observations{values: v, shape: shape, y: d.Y, exposure: d.Exposure}
	n := d.Len()
	o.base = make([]float64, n)
	switch v {
	case Student:
		o.scale = noises(d, noise)
		for k := range o.base {
			o.base[k] = studentBase(shape.Freedom, o.scale[k])
		}
		return o
	case Counts:
		for k := range o.base {
			o.base[k] = countBase(o.y[k], shape.Dispersion)
		}
	case Shares:
		for k := range o.base {
			o.base[k] = shareBase(o.y[k], d.exposure(k))
		}
	}
	o.offset = make([]float64, n)
	for k := range o.offset {
		o.offset[k] = center
		if v == Counts {
			o.offset[k] += math.Log(d.exposure(k))
		}
	}
	return o
}

func (o *observations) len() int { return len(o.y) }

// at returns the terms of row k at f.
func (o *observations) at(k int, f float64) terms {
	var t terms
	switch o.values {
	case Student:
		t = studentTerms(o.y[k]-f, o.shape.Freedom, o.scale[k])
	case Counts:
		t = countTerms(o.y[k], o.offset[k]+f, o.shape.Dispersion)
	case Shares:
		t = shareTerms(o.y[k], o.trials(k), o.offset[k]+f)
	default:
		t = shareTerms(o.y[k], 1, o.offset[k]+f)
	}
	t.value += o.base[k]
	return t
}

func (o *observations) trials(k int) float64 {
	if o.exposure == nil {
		return 1
	}
	return o.exposure[k]
}

// guess returns a rough pseudo-measurement of f at row k, with its weight, to start
// from: what the measurement alone says.
func (o *observations) guess(k int) (z, weight float64) {
	switch o.values {
	case Student:
		return o.y[k], studentInformation(o.shape.Freedom, o.scale[k])
	case Counts:
		mu := o.y[k] + 0.5
		return math.Log(mu) - o.offset[k], mu / (1 + o.shape.Dispersion*mu)
	default:
		n := o.trials(k)
		p := (o.y[k] + 0.5) / (n + 1)
		return math.Log(p/(1-p)) - o.offset[k], (n + 1) * p * (1 - p)
	}
}

// stepWeight returns the weight of row k in a step towards the mode: W, or the
// expected one of Student's t, which is positive and does not depend on f.
func (o *observations) stepWeight(k int, t terms) float64 {
	if o.values == Student {
		return studentInformation(o.shape.Freedom, o.scale[k])
	}
	return t.weight
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
