package kernel_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// TestCompactDraws: on a large graph, where features are lazy and Φ of all nodes has
// float32 entries, products, diagonals and draws are those of the exact Φ to the
// precision of float32.
func TestCompactDraws(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(40, 50)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	at := func(lazy bool) (kernel.Kernel, []float64) {
		sample := func(g *graph.Graph) *walk.Features {
			opts := walk.Default()
			opts.MaxLen, opts.Scale = 5, g.WalkScale(graph.NormalizedAdjacency)
			w := g.Normalized(graph.NormalizedAdjacency)
			f, err := walk.Sample(t.Context(), w, opts)
			if lazy {
				f, err = walk.Lazy(w, opts)
			}
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		fine, err := kernel.NewGRF(sample(g), kernel.Diffusion{})
		if err != nil {
			t.Fatal(err)
		}
		var scales []kernel.Scale
		for _, l := range g.Coarsen(20) {
			scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sample(l.Graph)})
		}
		x := make([]float64, g.Len())
		for i := range x {
			x[i] = float64(i%7) / 7
		}
		m, err := kernel.NewMultiscale(kernel.UnitVariance(fine), kernel.Diffusion{}, scales)
		if err != nil {
			t.Fatal(err)
		}
		if lazy {
			fine.CompactFrom(100)
			m.CompactFrom(100)
		}
		k := kernel.Trend(m, x)
		var theta []float64
		for _, p := range k.Params() {
			theta = append(theta, 1.3*p.Start)
		}
		return k, theta
	}
	all, x := upTo(g.Len()), []int{3, 1990, 3, 700, 701}
	const draws, seed, tol = 5, 3, 1e-5
	u := mat.NewDense(len(x), draws, nil)
	u.Apply(func(i, j int, _ float64) float64 { return float64(1+i) / float64(2+j) }, u)

	diag := [2][]float64{make([]float64, g.Len()), make([]float64, g.Len())}
	var out [2][3]*mat.Dense
	for q, lazy := range []bool{false, true} {
		k, theta := at(lazy)
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		if err := cov.Diag(t.Context(), diag[q], all); err != nil {
			t.Fatal(err)
		}
		out[q][0], out[q][1] = mat.NewDense(g.Len(), draws, nil), mat.NewDense(g.Len(), draws, nil)
		if err := cov.Cross(all, x).Apply(t.Context(), out[q][0], u); err != nil {
			t.Fatal(err)
		}
		if err := cov.Prior(t.Context(), out[q][1], seed); err != nil {
			t.Fatal(err)
		}
		_, out[q][2] = drawn(t, k, theta, seed, x, u)
	}
	for q, name := range []string{"product", "prior", "draw"} {
		if !mat.EqualApprox(out[0][q], out[1][q], tol) {
			t.Errorf("%s differs from that of the exact Φ", name)
		}
		if mat.Equal(out[0][q], out[1][q]) {
			t.Errorf("%s is not computed with float32", name)
		}
	}
	for i, v := range diag[0] {
		if d := v - diag[1][i]; d > tol || d < -tol {
			t.Fatalf("node %d has variance %v, want %v", i, diag[1][i], v)
		}
	}
}
