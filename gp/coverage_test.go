package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// priorDraw returns a draw of f from a model, with its unknown mean.
func priorDraw(t *testing.T, m *Model, seed uint64) []float64 {
	t.Helper()
	base, err := m.kernel.At(m.theta)
	if err != nil {
		t.Fatal(err)
	}
	n := m.kernel.Nodes()
	draw := mat.NewDense(n, 1, nil)
	if err := kernel.WithConstant(base, m.meanVar).Prior(background, draw, seed); err != nil {
		t.Fatal(err)
	}
	f := mat.Col(nil, 0, draw)
	for i := range f {
		f[i] = m.units.Center + m.units.Scale*f[i]
	}
	return f
}

// coverage is how often 95 % intervals held what they are for.
type coverage struct {
	rates, counts float64 // of the rate, and of the count of one more measurement
	nominal       float64 // of the intervals of counts, which are of integers, by the model
	dispersed     int     // fits that took the counts for more dispersed than Poisson numbers
}

// coverageOfCounts simulates counts at 60 of 100 nodes and predicts the other 40. With
// learned the hyperparameters are, else they are known.
func coverageOfCounts(t *testing.T, exposure, dispersion float64, replicas int, learned bool) coverage {
	t.Helper()
	const n = 100
	var nodes, rest []int
	for i := range n {
		if i%5 < 3 {
			nodes = append(nodes, i)
		} else {
			rest = append(rest, i)
		}
	}
	var c coverage
	truth := ringModel(t, n, State{Values: Counts, Theta: []float64{2, 6}, Shape: Shape{Dispersion: dispersion}})
	for s := range uint64(replicas) {
		f := priorDraw(t, truth, s)
		at := func(list []int, seed uint64) Data {
			g := make([]float64, len(list))
			for k, i := range list {
				g[k] = f[i]
			}
			return simulated(Counts, list, g, exposure, truth.shape, 0, seed)
		}
		d, fresh := at(nodes, s), at(rest, s+1000)
		m := truth
		if learned {
			var err error
			if m, _, err = Fit(background, truth.kernel, d, FitOptions{Values: Counts}); err != nil {
				t.Fatal(err)
			}
			if m, err = m.WithAlternatives(background, d, FitOptions{}); err != nil {
				t.Fatal(err)
			}
			if m.shape.Dispersion > 0 {
				c.dispersed++
			}
		}
		p, err := m.Condition(background, d)
		if err != nil {
			t.Fatal(err)
		}
		responses, err := p.Responses(background, rest)
		if err != nil {
			t.Fatal(err)
		}
		share := 1 / float64(len(rest)*replicas)
		for k, r := range responses {
			rate := math.Exp(f[rest[k]])
			if r.Quantile(0.025) <= rate && rate <= r.Quantile(0.975) {
				c.rates += share
			}
			one := r.Measurement(exposure)
			lo, hi := one.Quantile(0.025), one.Quantile(0.975)
			if lo <= fresh.Y[k] && fresh.Y[k] <= hi {
				c.counts += share
			}
			c.nominal += share * (one.CDF(hi) - one.CDF(lo-1))
		}
	}
	return c
}

// TestCoverageOfCounts simulates 100 times in the full suite, at low and high means. Neighbours go
// together, so that 4,000 intervals count for some 1,000 independent ones: a
// standard error of 0.7 percentage points; bounds are three of these, and wider for fewer.
func TestCoverageOfCounts(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, c := range map[string]struct{ exposure, dispersion float64 }{
		"mean 0.5": {0.5, 0}, "mean 2": {2, 0}, "mean 50": {50, 0}, "mean 50, dispersed": {50, 0.2},
	} {
		replicas := testkit.Size(15, 100)
		got := coverageOfCounts(t, c.exposure, c.dispersion, replicas, false)
		most := 0.021 * math.Sqrt(100/float64(replicas))
		t.Logf("%s: rates %.1f %%, new counts %.1f %% (nominal %.1f %%)", name, 100*got.rates, 100*got.counts, 100*got.nominal)
		if math.Abs(got.rates-0.95) > most || math.Abs(got.counts-got.nominal) > most {
			t.Errorf("%s: 95 %% intervals hold %.1f %% of rates and %.1f %% of new counts, nominally %.1f %%", name, 100*got.rates, 100*got.counts,
				100*got.nominal)
		}
	}
}

// TestCoverageWithLearnedHyperparameters learns from 60 counts, 40 times in the full suite. Intervals of
// rates include the uncertainty of the hyperparameters: they hold 95 % within three
// standard errors of 1.1 percentage points, which are more for fewer times.
func TestCoverageWithLearnedHyperparameters(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	replicas := testkit.Size(5, 40)
	most := 0.033 * math.Sqrt(40/float64(replicas))
	for name, c := range map[string]struct{ exposure, dispersion float64 }{
		"mean 0.5": {0.5, 0}, "mean 2": {2, 0}, "mean 50": {50, 0}, "mean 50, dispersed": {50, 0.2},
	} {
		got := coverageOfCounts(t, c.exposure, c.dispersion, replicas, true)
		t.Logf("%s: rates %.1f %%, new counts %.1f %% (nominal %.1f %%), dispersed %d of %d fits", name, 100*got.rates, 100*got.counts,
			100*got.nominal, got.dispersed, replicas)
		if math.Abs(got.rates-0.95) > most || math.Abs(got.counts-got.nominal) > most {
			t.Errorf("%s: 95 %% intervals hold %.1f %% of rates and %.1f %% of new counts, nominally %.1f %%", name, 100*got.rates, 100*got.counts,
				100*got.nominal)
		}
		if c.dispersion == 0 && got.dispersed > replicas/4 || c.dispersion > 0 && got.dispersed < replicas*3/5 {
			t.Errorf("%s: %d of %d fits take the counts for more dispersed than Poisson numbers", name, got.dispersed, replicas)
		}
	}
}
