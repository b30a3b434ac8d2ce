package gp

import (
	"fmt"
	"math"
	"slices"

	"grfgp/internal/enum"
)

// Transform is a function of the values under which they are modelled: f and the noise
// are on its scale. It goes with Gaussian and with Student values.
type Transform int

const (
	// NoTransform leaves values as they are.
	NoTransform Transform = iota
	// LogTransform is log y, for values above 0.
	LogTransform
	// Log1pTransform is log(1 + y), for values from 0 on.
	Log1pTransform
	// SqrtTransform is √y, for values from 0 on.
	SqrtTransform
)

var transforms = enum.New("transform", "none", "log", "log1p", "sqrt")

// TransformNames returns the names of all transforms.
func TransformNames() []string { return transforms.Names() }

// String returns the name.
func (t Transform) String() string { return transforms.Name(int(t)) }

// MarshalText returns the name.
func (t Transform) MarshalText() ([]byte, error) { return transforms.Marshal(int(t)) }

// UnmarshalText reads the name.
func (t *Transform) UnmarshalText(text []byte) error { return transforms.Unmarshal((*int)(t), text) }

// Forward takes a value to the scale of the model. It is NaN or −∞ where there is none.
func (t Transform) Forward(y float64) float64 {
	switch t {
	case LogTransform:
		return math.Log(y)
	case Log1pTransform:
		return math.Log1p(y)
	case SqrtTransform:
		return math.Sqrt(y)
	}
	return y
}

// Inverse takes a number on the scale of the model to the value. Values of
// Log1pTransform and SqrtTransform are never below 0: negative numbers give 0.
func (t Transform) Inverse(z float64) float64 {
	switch t {
	case LogTransform:
		return math.Exp(z)
	case Log1pTransform:
		return math.Expm1(max(z, 0))
	case SqrtTransform:
		return max(z, 0) * max(z, 0)
	}
	return z
}

// logSlope returns the logarithm of the derivative of Forward.
func (t Transform) logSlope(y float64) float64 {
	switch t {
	case LogTransform:
		return -math.Log(y)
	case Log1pTransform:
		return -math.Log1p(y)
	case SqrtTransform:
		return -math.Log(4*y) / 2
	}
	return 0
}

// has reports whether Forward has a finite value at y.
func (t Transform) has(y float64) bool {
	switch t {
	case LogTransform:
		return y > 0
	case Log1pTransform, SqrtTransform:
		return y >= 0
	}
	return true
}

// Transformed returns the measurements on the scale of a transform; the error, which
// wraps ErrData, says which measurement has no value there. Measurements must be given
// one by one, without noise variances: the mean of logarithms is not the logarithm of a
// mean.
func (d Data) Transformed(t Transform) (Data, error) {
	switch {
	case t == NoTransform:
		return d, nil
	case !d.single() || d.Scatter != nil && slices.Max(d.Scatter) > 0:
		return Data{}, fmt.Errorf("%w: means of repeated measurements cannot be transformed; give the measurements one by one", ErrData)
	case d.NoiseVar != nil:
		return Data{}, fmt.Errorf("%w: noise variances are those of values that are not transformed; leave them out, or transform values and "+
			"noise yourself", ErrData)
	}
	out := d.Clone()
	out.Scatter = nil
	for k, y := range d.Y {
		switch {
		case t.has(y):
			out.Y[k] = t.Forward(y)
		case t == LogTransform && y == 0:
			return Data{}, fmt.Errorf("%w: measurement %d, at node %d, is 0, which has no logarithm; take the transform %s", ErrData, k, d.Nodes[k],
				Log1pTransform)
		default:
			return Data{}, fmt.Errorf("%w: measurement %d, at node %d, is %v; the transform %s is for values from 0 on: correct it, or take the "+
				"transform %s", ErrData, k, d.Nodes[k], y, t, NoTransform)
		}
	}
	return out, nil
}

// surely is the number of standard deviations from which a mean is never below 0.
const surely = 7

// moments returns mean and standard deviation of Inverse of a normal number.
func (t Transform) moments(m, variance float64) (mean, sd float64) {
	s := math.Sqrt(variance)
	if s == 0 {
		return t.Inverse(m), 0
	}
	grown := math.Exp(m + variance/2)
	// above is the probability of a positive number, if the mean is shifted by so many
	// variances.
	above := func(shift float64) float64 { return normalCDF((m + shift*variance) / s) }
	square := 0.0
	switch {
	case t == LogTransform:
		return grown, grown * math.Sqrt(math.Expm1(variance))
	case t == Log1pTransform && m > surely*s:
		return grown - 1, grown * math.Sqrt(math.Expm1(variance))
	case t == SqrtTransform && m > surely*s:
		return m*m + variance, s * math.Sqrt(4*m*m+2*variance)
	case t == Log1pTransform:
		mean = grown*above(1) - above(0)
		square = math.Exp(2*(m+variance))*above(2) - 2*grown*above(1) + above(0)
	case t == SqrtTransform:
		dense := math.Exp(-m*m/variance/2) / math.Sqrt(2*math.Pi)
		mean = (m*m+variance)*above(0) + m*s*dense
		square = (m*m*m*m+6*m*m*variance+3*variance*variance)*above(0) + m*s*(m*m+5*variance)*dense
	default:
		return m, s
	}
	return max(mean, 0), math.Sqrt(max(square-mean*mean, 0))
}

// Under returns the distribution of the value of which f is the transform: quantiles
// are those of f taken back, mean and standard deviation those of the value itself. It
// is for Gaussian and for Student values.
func (r Response) Under(t Transform) Response {
	r.transform = t
	return r
}

// At returns the Response with other mean and standard deviation of f.
func (r Response) At(mean, sd float64) Response {
	r.mean, r.sd = mean, sd
	return r
}

// Plain reports whether the quantity is a Gaussian value without a transform.
func (r Response) Plain() bool { return r.values == Gaussian && r.transform == NoTransform }

// Noisy returns the Response with another noise of new measurements: its variance, or
// the squared scale of a Student value.
func (r Response) Noisy(variance float64) Response {
	r.noise = variance
	return r
}

// Values says what is measured.
func (r Response) Values() Values { return r.values }

// Interval returns the central credible interval of the quantity at a level, such as
// 0.95.
func (r Response) Interval(level float64) (lower, upper float64) {
	z := normalQuantile(0.5 + level/2)
	return r.back(r.mean - z*r.sd), r.back(r.mean + z*r.sd)
}

// Interval returns the central interval of the measurement at a level, such as 0.95. Of
// whole numbers it holds at least that probability.
func (m NewMeasurement) Interval(level float64) (lower, upper float64) {
	return m.Quantile(0.5 - level/2), m.Quantile(0.5 + level/2)
}

// plain returns the distribution on the scale of the model.
func (m NewMeasurement) plain() NewMeasurement {
	m.r.transform = NoTransform
	return m
}
