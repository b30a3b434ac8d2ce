package gp

import (
	"context"
	"math"
)

// Response is the distribution of the quantity at a node on the scale that people
// read, given that f is normal there: the value itself for Gaussian and Student
// values, the rate per unit of exposure of counts (a relative risk, where exposures
// are expected counts), a probability for shares and yes-no values.
type Response struct {
	values   Values
	shape    Shape
	mean, sd float64 // of f
	noise    float64 // variance of Gaussian noise, squared scale of Student's t

	transform Transform // of which f is on the scale
}

// Response returns the distribution on the scale that people read where f has the given
// mean and variance, such as those of Posterior.Mean and Posterior.Variance.
func (m *Model) Response(mean, variance float64) Response {
	scale := m.units.Scale
	return Response{values: m.values, shape: m.shapeOfNew(), mean: mean, sd: math.Sqrt(max(variance, 0)), noise: m.noiseOfNew() * scale * scale}
}

// Response is that of the model, but a new Gaussian measurement has the noise of
// NoiseVar, and a Student one the mean squared scale of those that came with the
// measurements, if they did.
func (p *Posterior) Response(mean, variance float64) Response {
	r := p.model.Response(mean, variance)
	switch {
	case r.values == Gaussian:
		r.noise = p.NoiseVar()
	case r.values == Student:
		r.noise = p.scaleOfNoise() * p.model.units.Scale * p.model.units.Scale
	}
	return r
}

// Responses returns the distribution at each of the given nodes.
func (p *Posterior) Responses(ctx context.Context, nodes []int) ([]Response, error) {
	mean, err := p.Mean(ctx, nodes)
	if err != nil {
		return nil, err
	}
	variance, err := p.Variance(ctx, nodes)
	if err != nil {
		return nil, err
	}
	all := make([]Response, len(nodes))
	if len(nodes) == 0 {
		return all, nil
	}
	all[0] = p.Response(mean[0], variance[0]) // the noise is the same at all
	for k := range all {
		all[k] = all[0]
		all[k].mean, all[k].sd = mean[k], math.Sqrt(max(variance[k], 0))
	}
	return all, nil
}

// Latent returns mean and standard deviation of f.
func (r Response) Latent() (mean, sd float64) { return r.mean, r.sd }

// Mean returns the mean of the quantity.
func (r Response) Mean() float64 {
	if r.transform != NoTransform {
		mean, _ := r.transform.moments(r.mean, r.sd*r.sd)
		return mean
	}
	switch r.values {
	case Counts:
		return math.Exp(r.mean + r.sd*r.sd/2)
	case Shares, YesNo:
		p, _ := r.probability()
		return p
	}
	return r.mean
}

// SD returns the standard deviation of the quantity.
func (r Response) SD() float64 {
	if r.transform != NoTransform {
		_, sd := r.transform.moments(r.mean, r.sd*r.sd)
		return sd
	}
	switch r.values {
	case Counts:
		return r.Mean() * math.Sqrt(math.Expm1(r.sd*r.sd))
	case Shares, YesNo:
		_, v := r.probability()
		return math.Sqrt(v)
	}
	return r.sd
}

// probability returns mean and variance of the logistic of f.
func (r Response) probability() (mean, variance float64) {
	square := 0.0
	r.average(0, func(f, w float64) {
		p := logistic(f)
		mean += w * p
		square += w * p * p
	})
	return mean, max(square-mean*mean, 0)
}

// Quantile returns the value that the quantity is below with probability p.
func (r Response) Quantile(p float64) float64 {
	if r.sd == 0 {
		return r.transform.Inverse(r.values.Inverse(r.mean))
	}
	return r.transform.Inverse(r.values.Inverse(r.mean + r.sd*normalQuantile(p)))
}

// Above returns the probability that the quantity is above a threshold, such as 1 for
// a relative risk.
func (r Response) Above(threshold float64) float64 {
	switch {
	case (r.values.latent() || r.transform != NoTransform) && threshold < 0:
		return 1
	case (r.values == Shares || r.values == YesNo) && threshold >= 1:
		return 0
	}
	z := r.mean - r.values.Link(r.transform.Forward(threshold))
	if r.sd == 0 {
		if z > 0 {
			return 1
		}
		return 0
	}
	return normalCDF(z / r.sd)
}

// average calls add with points of f and weights that add to 1: the trapezoidal rule
// on eight and a half standard deviations either way, in quarters of one or finer where
// the integrand changes within width; 0 means nothing finer. At most 1,025 points are
// taken; the step is then wider than the width, and probabilities are exact to the
// step's own, below 0.7 %.
func (r Response) average(width float64, add func(f, weight float64)) {
	if r.sd == 0 {
		add(r.mean, 1)
		return
	}
	const reach, most = 8.5, 512
	n := 34
	if width > 0 {
		n = min(most, max(n, int(math.Ceil(reach*r.sd/width*1.5))))
	}
	h, sum := reach/float64(n), 0.0
	for q := -n; q <= n; q++ {
		z := float64(q) * h
		sum += math.Exp(-z * z / 2)
	}
	for q := -n; q <= n; q++ {
		z := float64(q) * h
		add(r.mean+r.sd*z, math.Exp(-z*z/2)/sum)
	}
}

func normalCDF(z float64) float64      { return math.Erfc(-z/math.Sqrt2) / 2 }
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
