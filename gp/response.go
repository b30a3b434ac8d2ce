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
	return Response{values: m.values, shape: m.shapeOfNew(), mean: mean, sd: math.Sqrt(max(variance, 0)),
		noise: m.noiseOfNew() * scale * scale}
}

// Response is that of the model, but a new Gaussian measurement has the noise of
// NoiseVar, and a Student one the mean squared scale of those that came with the
// measurements, if they did.
func (p *Posterior) Response(mean, variance float64) Response {
	r := p.model.Response(mean, variance)
	switch {
	case r.values == Gaussian:
		r.noise = p.NoiseVar()
	case r.values.About().Noisy:
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
	mean, _ := r.moments()
	return mean
}

// SD returns the standard deviation of the quantity.
func (r Response) SD() float64 {
	_, sd := r.moments()
	return sd
}

func (r Response) moments() (mean, sd float64) {
	if r.transform != NoTransform {
		return r.transform.moments(r.mean, r.sd*r.sd)
	}
	return r.values.likelihood().moments(r.mean, r.sd)
}

// Quantile returns the value that the quantity is below with probability p.
func (r Response) Quantile(p float64) float64 {
	if r.sd == 0 {
		return r.back(r.mean)
	}
	return r.back(r.mean + r.sd*normalQuantile(p))
}

// back takes a number on the scale of f to the quantity.
func (r Response) back(f float64) float64 { return r.transform.Inverse(r.values.Inverse(f)) }

// Above returns the probability that the quantity is above a threshold, such as 1 for
// a relative risk.
func (r Response) Above(threshold float64) float64 {
	about := r.values.About()
	switch {
	case threshold < about.Least, r.transform != NoTransform && threshold < 0:
		return 1
	case threshold >= about.Most:
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

func normalCDF(z float64) float64      { return math.Erfc(-z/math.Sqrt2) / 2 }
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
