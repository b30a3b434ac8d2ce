package crossval_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
)

// interpolated is the harmonic interpolation on a path: linear between measured
// nodes, and constant beyond the last one.
func interpolated(of map[int]float64, at int) float64 {
	lo, hi := math.MinInt, math.MaxInt
	for i := range of {
		if i <= at {
			lo = max(lo, i)
		}
		if i >= at {
			hi = min(hi, i)
		}
	}
	switch {
	case lo == hi || hi == math.MaxInt:
		return of[lo]
	case lo == math.MinInt:
		return of[hi]
	}
	return of[lo] + (of[hi]-of[lo])*float64(at-lo)/float64(hi-lo)
}

// The baseline Harmonic is fully converged: on a long path, where sweeps over
// neighbours would need tens of thousands of iterations, its error is that of
// linear interpolation between measured nodes.
func TestHarmonicHasConverged(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 1400
	g, err := graph.Grid(1, n)
	if err != nil {
		t.Fatal(err)
	}
	walk, random := make([]float64, n), rand.New(rng.New(1, "path"))
	for i := 1; i < n; i++ {
		walk[i] = walk[i-1] + 0.05*random.NormFloat64()
	}
	var d gp.Data
	for _, i := range random.Perm(n)[:60] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, walk[i])
	}
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 1.5, Method: "grf", Scales: "one", Hops: 10}, Seed: 1}
	v, err := crossval.Validate(context.Background(), g, d, spec, crossval.Options{Folds: 5, Scheme: crossval.Scattered})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, l := range v.HeldOut {
		others := map[int]float64{}
		for _, o := range v.HeldOut {
			if o.Fold != l.Fold {
				others[o.Node] = o.Value
			}
		}
		sum += math.Pow(interpolated(others, l.Node)-l.Value, 2)
	}
	want := math.Sqrt(sum / float64(len(v.HeldOut)))
	if got := v.BaselineRMSE[crossval.Harmonic]; math.Abs(got-want) > 1e-8*want {
		t.Errorf("harmonic interpolation has an error of %.10g, straight lines %.10g", got, want)
	}
	if rest := v.BaselineRMSE; slices.Min([]float64{rest[crossval.Mean], rest[crossval.Nearest]}) < want {
		t.Errorf("harmonic interpolation %v is not the best rule of a random walk: %v", want, rest)
	}
}
