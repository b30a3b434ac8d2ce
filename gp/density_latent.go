package gp

import (
	"math"

	"grfgp/internal/parallel"
)

// scaleOfNoise returns the squared scale of one more Student measurement, standardised:
// that of the model, or the mean of those that came with the measurements.
func (p *Posterior) scaleOfNoise() float64 {
	given := p.measured.data.NoiseVar
	if given == nil {
		return p.model.noiseOfNew()
	}
	sum := 0.0
	for _, v := range given {
		sum += v
	}
	return sum / float64(len(given)) / p.model.units.Scale / p.model.units.Scale
}

// logDensity returns the log density of measurements that are not Gaussian, one at a
// time, where f has the given means and variances, in the units of f.
func (p *Posterior) logDensity(d Data, mean, variance []float64) []float64 {
	m, u := p.model, p.model.units
	obs := observe(m.values, m.shapeOfNew(), u.Center, p.scaleOfNoise(), u.standardLatent(d, m.values))
	density := make([]float64, d.Len())
	parallel.Ranges(d.Len(), 256, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			density[k] = obs.predictive(k, (mean[k]-u.Center)/u.Scale, variance[k]/u.Scale/u.Scale)
			if !m.values.latent() {
				density[k] -= math.Log(u.Scale)
			}
		}
	})
	return density
}

// leftOut returns the distribution on the scale that people read at every measurement,
// given all others.
func (p *Posterior) leftOut() []Response {
	n, u := p.measured.obs.len(), p.model.units // without rows of ConditionOnMeans
	mean, variance := (&factor{h: p.h, alpha: p.alpha}).leaveOneOut(p.data)
	all := make([]Response, n)
	for k := range all {
		v := max(variance[k]-p.noise[k], 0)
		all[k] = p.model.Response(u.Center+u.Scale*mean[k], v*u.Scale*u.Scale)
		if p.model.values.About().Noisy {
			all[k].noise = p.measured.obs.rows[k].noise * u.Scale * u.Scale
		}
	}
	return all
}

// leaveOneOutValues returns mean and standard deviation of every measurement given all
// others.
func (p *Posterior) leaveOneOutValues() (mean, sd []float64) {
	n := p.measured.obs.len()
	mean, sd = make([]float64, n), make([]float64, n)
	for k, r := range p.leftOut() {
		one := r.Measurement(p.measured.data.exposure(k))
		mean[k], sd[k] = one.Mean(), one.SD()
	}
	return mean, sd
}

// normalScores returns the normal quantile of each measurement's place in its
// distribution given all others; half of its own probability counts.
func (p *Posterior) normalScores() []float64 {
	z := make([]float64, p.measured.obs.len())
	for k, r := range p.leftOut() {
		place := r.Measurement(p.measured.data.exposure(k)).Place(p.measured.data.Y[k])
		z[k] = normalQuantile(min(max(place, 1e-12), 1-1e-12))
	}
	return z
}
