package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// Cached sums over scales and over layers interpolate between lengths: matrices are within 1e-6 of the largest variance, and
// gradients within 1e-5 of the sum of absolute terms, at lengths on the grid and off it, from a tenth to ten times the start.
func TestTableInterpolates(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.BarabasiAlbert(300, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := graph.Grid(17, 18)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]kernel.Kernel{
		"scales of hubs":         newMultiscale(t, g, nil, kernel.Diffusion{}, 20),
		"scales of a grid":       newMultiscale(t, grid, nil, kernel.Matern{Nu: 2}, 20),
		"scales of rough values": newMultiscale(t, grid, nil, kernel.Matern{Nu: 0.5}, 20),
		"layers":                 newLayers(t, twoPaths(t, 120), kernel.Diffusion{}),
	} {
		t.Run(name, func(t *testing.T) {
			var rows []int
			for i := range 60 {
				rows = append(rows, (i*7)%k.Nodes())
			}
			cached := kernel.Cached(k, rows, 1<<30)
			weights := mat.NewSymDense(len(rows), nil)
			for a := range rows {
				for b := a; b < len(rows); b++ {
					weights.SetSym(a, b, math.Sin(float64(a+b*b)))
				}
			}
			start := kernel.Starts(k)[0]
			for _, by := range []float64{1, math.Exp(0.25), 1.07, 0.1, 0.31, 3, 10} {
				theta := append([]float64(nil), start...)
				for j, p := range k.Params() {
					if j >= 2 && !p.Variance {
						theta[j] *= by
					}
				}
				var gram [2]*mat.SymDense
				var grad [2][]float64
				for v, one := range []kernel.Kernel{k, cached} {
					cov := at(t, one, theta)
					gram[v], grad[v] = mat.NewSymDense(len(rows), nil), make([]float64, len(theta))
					if err := errors.Join(cov.Gram(t.Context(), gram[v], rows), cov.GramGrad(t.Context(), grad[v], rows, weights)); err != nil {
						t.Fatal(err)
					}
				}
				compare(t, fmt.Sprintf("×%v", by), gram[1], gram[0], upTo(len(rows)), 1e-6*mat.Max(gram[0]))
				for j, want := range grad[0] {
					if d := math.Abs(grad[1][j] - want); d > 1e-5*float64(len(rows)*len(rows))*max(1, 1/theta[j]) {
						t.Errorf("×%v: derivative %d is %v, want %v", by, j, grad[1][j], want)
					}
				}
			}
		})
	}
}
