package gp

import (
	"fmt"
	"math"
)

// gaussian values are f plus normal noise.
type gaussian struct {
	ownScale
	logConcave
}

// ownScale is what likelihoods have in common where f is the value itself, without its noise.
type ownScale struct{}

func (ownScale) link(x float64) float64    { return x }
func (ownScale) inverse(f float64) float64 { return f }

func (ownScale) offset(float64) float64 { return 0 }

func (ownScale) moments(mean, sd float64) (float64, float64) { return mean, sd }

func (ownScale) parameter() parameter {
	return parameter{name: "noise", start: 0.1, floor: noiseFloorExact, noise: true}
}

func (gaussian) about() About {
	return About{Name: "gaussian", Title: "numbers", Help: "numbers with normal noise", Quantity: "value", Quantities: "values",
		Reading:    "value",
		NewReading: "a new reading", Noisy: true, Noise: "sd", Negative: true, Exposure: ExposureNone, Repeats: RepeatsMean, Least: math.Inf(-1),
		Most: math.Inf(1)}
}

func (gaussian) check(_, _, _ float64) error { return nil }

func (gaussian) noise(_ Shape, sd float64) string { return fmt.Sprintf("noise sd %.3g", sd) }

func (gaussian) checkShape(s Shape) error { return s.want(Shape{}) }

func (gaussian) units(d Data, opts FitOptions) (Units, error) { return unitsOf(d, opts) }

func (gaussian) shaped(value float64) (Shape, float64) { return Shape{}, value }

func (gaussian) base(o reading) float64 { return -math.Log(2*math.Pi*o.noise) / 2 }

func (gaussian) terms(o reading, f float64) terms {
	e, w := o.y-f, 1/o.noise
	return terms{value: -e * e * w / 2, slope: e * w, curve: w, weight: w, valueBy: (e*e*w - 1) * w / 2, slopeBy: -e * w * w,
		weightBy: -w * w}
}

func (gaussian) guess(o reading) (f, weight float64) { return o.y, 1 / o.noise }

func (gaussian) predictive(o reading, mean, variance float64) float64 {
	return logNormal(o.y, mean, variance+o.noise)
}

func (gaussian) measurement(o reading, mean, sd float64) (float64, float64) {
	return mean, math.Sqrt(sd*sd + o.noise)
}

func (gaussian) cdf(o reading, mean, sd float64) float64 {
	return normalCDF((o.y - mean) / math.Sqrt(sd*sd+o.noise))
}

func (gaussian) quantile(o reading, mean, sd, p float64) float64 {
	return mean + math.Sqrt(sd*sd+o.noise)*normalQuantile(p)
}

// mix averages over the variances of the noise: there is one.
func (gaussian) mix(o reading, of func(variance float64) float64) float64 { return of(o.noise) }

func (gaussian) heavy() bool { return false }

// additive are likelihoods of f plus noise that is normal given its variance: values that may be transformed.
type additive interface {
	likelihood
	// mix averages a function of the noise's variance.
	mix(o reading, of func(variance float64) float64) float64
	// heavy reports whether the exponential of a value has no mean.
	heavy() bool
}

// want returns an error unless the shape is the one that goes with a likelihood.
func (s Shape) want(only Shape) error {
	if s != only {
		return fmt.Errorf("%+v does not go with these values", s)
	}
	return nil
}
