package kernel_test

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
)

// The kernel on −W that shares caches with the one on W is that of NewExact on −W, to 1e-12, whichever is trained first and
// though the terms of the cache grow between evaluations.
func TestSeriesOpposite(t *testing.T) {
	t.Parallel()
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	usual, err := kernel.NewExact(w, kernel.Diffusion{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := kernel.NewExact(w.Scaled(-1), kernel.Diffusion{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer usual.ShareCaches()()
	rows := []int{4, 40, 51, 4}
	for i := range 40 {
		rows = append(rows, (i*7)%52)
	}
	g := mat.NewSymDense(len(rows), nil)
	for a := range rows {
		for b := a; b < len(rows); b++ {
			g.SetSym(a, b, math.Sin(float64(a+b*b)))
		}
	}
	opposite := usual.Opposite(kernel.Diffusion{})
	for _, beta := range []float64{1, 3, 9, 20, 2} {
		for _, pair := range [][2]kernel.Kernel{{alone, opposite}, {usual, usual}} {
			var k [2]*mat.SymDense
			var grad [2][]float64
			for v, kern := range []kernel.Kernel{pair[0], kernel.Cached(pair[1], rows, 1<<28)} {
				cov := at(t, kern, []float64{1.3, beta})
				k[v], grad[v] = mat.NewSymDense(len(rows), nil), make([]float64, 2)
				if err := errors.Join(cov.Gram(t.Context(), k[v], rows), cov.GramGrad(t.Context(), grad[v], rows, g)); err != nil {
					t.Fatal(err)
				}
			}
			compare(t, "opposite", k[1], k[0], upTo(len(rows)), 1e-12*mat.Max(k[0]))
			for j := range grad[0] {
				if math.Abs(grad[0][j]-grad[1][j]) > 1e-9*(1+math.Abs(grad[0][j])) {
					t.Errorf("β = %v: gradient %v, want %v", beta, grad[1], grad[0])
				}
			}
		}
	}
	if back := opposite.Opposite(kernel.Diffusion{}); back.Nodes() != usual.Nodes() {
		t.Errorf("%d nodes", back.Nodes())
	}
}

// On a graph of high degree the diagonal, from half as many steps, is that of the Gram matrix.
func TestSeriesDiagDoubles(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.BarabasiAlbert(500, 8, 1)
	if err != nil {
		t.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	k, err := kernel.NewExact(w, kernel.Matern{Nu: 1.5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{499, 3, 3}
	for i := range 100 {
		rows = append(rows, (i*7)%500)
	}
	for _, kappa := range []float64{0.3, 2, 40} {
		cov := at(t, k, []float64{1.5, kappa})
		diag, gram := make([]float64, len(rows)), mat.NewSymDense(len(rows), nil)
		if err := errors.Join(cov.Diag(t.Context(), diag, rows), cov.Gram(t.Context(), gram, rows)); err != nil {
			t.Fatal(err)
		}
		for a, v := range diag {
			if want := gram.At(a, a); math.Abs(v-want) > 1e-12*mat.Max(gram) {
				t.Fatalf("κ = %v: variance %v of node %d, want %v", kappa, v, rows[a], want)
			}
		}
	}
}
