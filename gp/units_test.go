package gp

import (
	"errors"
	"math"
	"strings"
	"testing"
)

// One measurement, or values that are all the same, say something where mean and
// noise are known. The posterior is that of the formula, and follows the units.
func TestOneMeasurement(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	for name, k := range kernels(t, g) {
		for what, d := range map[string]Data{
			"one":              {Nodes: []int{7}, Y: []float64{13}},
			"one node":         {Nodes: []int{7, 7}, Y: []float64{13, 13}},
			"one, as the mean": {Nodes: []int{7}, Y: []float64{10}},
			"constant":         {Nodes: []int{7, 8, 20}, Y: []float64{13, 13, 13}},
			"with noise":       {Nodes: []int{7}, Y: []float64{13}, NoiseVar: []float64{0.25}},
		} {
			mean, noise := 10.0, 0.5
			var at [2][]float64
			for r, unit := range []float64{1, 1e-130} {
				mean, noise, d := mean*unit, noise*unit, d.Clone()
				for k := range d.Y {
					d.Y[k] *= unit
				}
				for k := range d.NoiseVar {
					d.NoiseVar[k] *= unit * unit
				}
				opts := FitOptions{Mean: &mean, NoiseSD: &noise}
				if d.NoiseVar != nil {
					opts.NoiseSD = nil
				}
				m, _, err := Fit(background, k, d, opts)
				if err != nil {
					t.Fatalf("%s, %s: %v", name, what, err)
				}
				p, err := m.Condition(background, d)
				if err != nil {
					t.Fatal(err)
				}
				numbers := step[[]float64](t)
				mu, variance := numbers(p.Mean(background, []int{7, 14})), numbers(p.Variance(background, []int{7, 14}))
				wantMean, wantCov := byFormula(t, m, d)
				near(t, name+", "+what+": mean", mu, []float64{wantMean[7], wantMean[14]}, 1e-9*unit)
				near(t, name+", "+what+": sd", []float64{math.Sqrt(variance[0]), math.Sqrt(variance[1])},
					[]float64{math.Sqrt(wantCov.At(7, 7)), math.Sqrt(wantCov.At(14, 14))}, 1e-9*unit)
				if !(variance[0] > 0 && variance[1] > 0) {
					t.Errorf("%s, %s: variances %v", name, what, variance)
				}
				if off := (mu[0] - mean) / unit; d.Y[0] > mean && !(off > 0 && off < 3) || d.Y[0] == mean && math.Abs(off) > 1e-9 {
					t.Errorf("%s, %s: mean %v at the measurement", name, what, mu[0])
				}
				at[r] = []float64{mu[0] / unit, mu[1] / unit, math.Sqrt(variance[0]) / unit, math.Sqrt(variance[1]) / unit}
			}
			near(t, name+", "+what+": in another unit", at[1], at[0], 1e-6)
		}
	}
}

// What is too little to learn from, or at the edge of what numbers can be, is
// refused with a reason, and never answered with a standard deviation of 0.
func TestEdgesOfSpread(t *testing.T) {
	t.Parallel()
	k := kernels(t, smallGraph(t))["dense"]
	at := func(v float64) *float64 { return &v }
	three := func(unit float64) Data {
		return Data{Nodes: []int{1, 9, 20}, Y: []float64{unit, 2 * unit, 4 * unit}}
	}
	for _, c := range []struct {
		name string
		d    Data
		opts FitOptions
		want string // "": fits
	}{
		{"tiny", three(1e-149), FitOptions{}, ""},
		{"huge", three(1e149), FitOptions{}, ""},
		{"too tiny", three(1e-151), FitOptions{}, "too little for a variance to be a number"},
		{"far too tiny", three(1e-320), FitOptions{}, "too little for a variance to be a number"},
		{"too huge", three(1e151), FitOptions{}, "too far for a variance to be a number"},
		{"too far a mean", three(1), FitOptions{Mean: at(1e200)}, "too far from the mean"},
		{"too far a mean for the spread", three(1e-100), FitOptions{Mean: at(1e100)}, "too far from the mean"},
		{"too much noise", three(1), FitOptions{NoiseSD: at(1e200)}, "the noise 1e+200 is too large"},
		{"one", Data{Nodes: []int{1}, Y: []float64{4}}, FitOptions{}, "give both the mean and the noise"},
		{"one with a mean", Data{Nodes: []int{1}, Y: []float64{4}}, FitOptions{Mean: at(3)}, "give both the mean and the noise"},
		{"one with a noise", Data{Nodes: []int{1}, Y: []float64{4}}, FitOptions{NoiseSD: at(3)}, "give both the mean and the noise"},
		{"one as the mean", Data{Nodes: []int{1}, Y: []float64{4}}, FitOptions{Mean: at(4), NoiseSD: at(0)}, "nothing says how far values vary"},
		{"one without noise", Data{Nodes: []int{1}, Y: []float64{4}}, FitOptions{Mean: at(3), NoiseSD: at(0)}, ""},
		{"one too near the mean", Data{Nodes: []int{1}, Y: []float64{1e-160}}, FitOptions{Mean: at(0), NoiseSD: at(1e-170)},
			"too little for a variance to be a number"},
	} {
		m, _, err := Fit(background, k, c.d, c.opts)
		if c.want != "" {
			if !errors.Is(err, ErrData) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		p, err := m.Condition(background, c.d)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if v := step[[]float64](t)(p.Variance(background, []int{2})); !(v[0] > 0) || math.IsInf(v[0], 0) {
			t.Errorf("%s: variance %v", c.name, v[0])
		}
	}
}
