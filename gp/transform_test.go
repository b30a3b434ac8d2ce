package gp

import (
	"errors"
	"math"
	"testing"
)

// TestTransformMoments compares closed forms with the trapezoidal rule.
func TestTransformMoments(t *testing.T) {
	t.Parallel()
	for _, by := range []Transform{NoTransform, LogTransform, Log1pTransform, SqrtTransform} {
		for _, m := range []float64{-1, 0.2, 1, 6} {
			for _, s := range []float64{0, 0.3, 0.8, 1.5} {
				mean, square := 0.0, 0.0
				const h = 1e-4
				if s == 0 {
					mean = by.Inverse(m)
					square = mean * mean
				} else {
					for z := -12.0; z <= 12; z += h {
						v, w := by.Inverse(m+s*z), h*math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)
						mean += w * v
						square += w * v * v
					}
				}
				sd := math.Sqrt(max(square-mean*mean, 0))
				gotMean, gotSD := by.moments(m, s*s)
				if math.Abs(gotMean-mean) > 1e-6*(1+math.Abs(mean)) || math.Abs(gotSD-sd) > 1e-5*(1+sd) {
					t.Errorf("%v of N(%v, %v²): mean %v, sd %v; numerically %v, %v", by, m, s, gotMean, gotSD, mean, sd)
				}
			}
		}
	}
}

// TestResponseUnderTransform: quantiles go through the transform, means do not, and
// densities are those of the value.
func TestResponseUnderTransform(t *testing.T) {
	t.Parallel()
	for _, v := range []Values{Gaussian, Student} {
		plain := Response{values: v, shape: Shape{Freedom: 4}, mean: 1.2, sd: 0.3, noise: 0.04}
		for _, by := range []Transform{LogTransform, Log1pTransform, SqrtTransform} {
			r := plain.Under(by)
			m, before := r.Measurement(1), plain.Measurement(1)
			for _, p := range []float64{0.025, 0.5, 0.9} {
				if got, want := r.Quantile(p), by.Inverse(plain.Quantile(p)); got != want {
					t.Errorf("%v %v: quantile %v is %v, want %v", v, by, p, got, want)
				}
				y := m.Quantile(p)
				if want := by.Inverse(before.Quantile(p)); y != want {
					t.Errorf("%v %v: quantile %v of a measurement is %v, want %v", v, by, p, y, want)
				}
				if got := m.CDF(y); math.Abs(got-p) > 1e-9 {
					t.Errorf("%v %v: distribution function %v at quantile %v", v, by, got, p)
				}
				const h = 1e-5
				if slope := (m.CDF(y+h) - m.CDF(y-h)) / (2 * h); math.Abs(math.Log(slope)-m.LogDensity(y)) > 1e-4 {
					t.Errorf("%v %v: log density %v at %v, slope of the distribution function %v", v, by, m.LogDensity(y), y, math.Log(slope))
				}
				if got := r.Above(r.Quantile(p)); math.Abs(got-(1-p)) > 1e-9 {
					t.Errorf("%v %v: %v above quantile %v", v, by, got, p)
				}
			}
			if lower, upper := r.Interval(0.95); math.Abs(lower-r.Quantile(0.025)) > 1e-12 || math.Abs(upper-r.Quantile(0.975)) > 1e-12 {
				t.Errorf("%v %v: interval %v to %v", v, by, lower, upper)
			}
			if r.Above(-1) != 1 || !math.IsInf(m.LogDensity(-1), -1) || m.CDF(-1) != 0 {
				t.Errorf("%v %v: negative values are possible", v, by)
			}
		}
		if mean := plain.Under(SqrtTransform).Measurement(1).Mean(); v == Student && math.Abs(mean-(1.44+0.09+0.08)) > 5e-3 {
			t.Errorf("mean of a squared Student value %v, want %v", mean, 1.44+0.09+0.08)
		}
	}
}

func TestDataTransformed(t *testing.T) {
	t.Parallel()
	d := Data{Nodes: []int{0, 1}, Y: []float64{1, math.E}}
	out, err := d.Transformed(LogTransform)
	if err != nil || out.Y[0] != 0 || out.Y[1] != 1 || d.Y[0] != 1 {
		t.Errorf("logarithms %v (%v), values %v", out.Y, err, d.Y)
	}
	for _, bad := range []struct {
		d  Data
		by Transform
	}{
		{Data{Nodes: []int{0}, Y: []float64{0}}, LogTransform},
		{Data{Nodes: []int{0}, Y: []float64{-1}}, Log1pTransform},
		{Data{Nodes: []int{0}, Y: []float64{-1}}, SqrtTransform},
		{Data{Nodes: []int{0}, Y: []float64{1}, Count: []int{2}}, LogTransform},
		{Data{Nodes: []int{0}, Y: []float64{1}, NoiseVar: []float64{1}}, LogTransform},
	} {
		if _, err := bad.d.Transformed(bad.by); !errors.Is(err, ErrData) {
			t.Errorf("%v by %v: %v", bad.d, bad.by, err)
		}
	}
}
