package kernel_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// With cached products of walk lengths, matrices and gradients of all families are those of sparse products, to 1e-12 of the
// largest entry; kernels of several families share one cache.
func TestPairProducts(t *testing.T) {
	t.Parallel()
	g, err := graph.BarabasiAlbert(400, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	base := newGRF(t, sampled(t, g, nil, func(o *walk.Options) { o.MaxLen = 6 }), kernel.Diffusion{})
	defer base.ShareCaches()()
	rows := []int{17, 3, 17}
	for i := range 90 {
		rows = append(rows, (i*31)%g.Len())
	}
	weights := mat.NewSymDense(len(rows), nil)
	for a := range rows {
		for b := a; b < len(rows); b++ {
			weights.SetSym(a, b, math.Sin(float64(a+b*b)))
		}
	}
	for _, c := range []struct {
		m     kernel.Modulation
		theta []float64
	}{
		{kernel.Diffusion{}, []float64{1.7, 3}},
		{kernel.Matern{Nu: 1.5}, []float64{0.3, 2}},
		{kernel.Free{Len: 6}, []float64{1, -0.5, 0.25, 0, -0.1, 0.3, 0.2}},
	} {
		k, err := base.With(c.m)
		if err != nil {
			t.Fatal(err)
		}
		var gram [2]*mat.SymDense
		var grad [2][]float64
		for v, one := range []kernel.Kernel{k, kernel.Cached(k, rows, 1<<30)} {
			cov := at(t, one, c.theta)
			gram[v], grad[v] = mat.NewSymDense(len(rows), nil), make([]float64, len(c.theta))
			if err := errors.Join(cov.Gram(t.Context(), gram[v], rows), cov.GramGrad(t.Context(), grad[v], rows, weights)); err != nil {
				t.Fatal(err)
			}
		}
		compare(t, "cached", gram[1], gram[0], upTo(len(rows)), 1e-12*mat.Max(gram[0]))
		for j, want := range grad[0] {
			if d := math.Abs(grad[1][j] - want); d > 1e-9*(1+math.Abs(want)) {
				t.Errorf("%v: derivative %d is %v, want %v", c.m, j, grad[1][j], want)
			}
		}
	}
	if _, err := base.With(kernel.Free{Len: 7}); !errors.Is(err, kernel.ErrFeatures) {
		t.Errorf("coefficients beyond the longest walk: %v", err)
	}
}
