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
// precision of float32, and a draw block by block is the whole draw to the bit.
func TestCompactDraws(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(40, 50)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	at := func(lazy bool) kernel.Covariance {
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
		m, err := kernel.NewMultiscale(kernel.UnitVariance(fine), kernel.Diffusion{}, scales, kernel.MultiscaleOptions{})
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
		cov, err := k.At(theta)
		if err != nil {
			t.Fatal(err)
		}
		return kernel.WithConstant(cov, 0.5)
	}
	exact, compact := at(false), at(true)
	all, x := upTo(g.Len()), []int{3, 1990, 3, 700, 701}
	const draws, seed, tol = 5, 3, 1e-5
	u := mat.NewDense(len(x), draws, nil)
	u.Apply(func(i, j int, _ float64) float64 { return float64(1+i) / float64(2+j) }, u)

	diag := [2][]float64{make([]float64, g.Len()), make([]float64, g.Len())}
	var out [2][3]*mat.Dense
	for k, cov := range []kernel.Covariance{exact, compact} {
		if err := cov.Diag(t.Context(), diag[k], all); err != nil {
			t.Fatal(err)
		}
		for q := range out[k] {
			out[k][q] = mat.NewDense(g.Len(), draws, nil)
		}
		if err := cov.Cross(all, x).Apply(t.Context(), out[k][0], u); err != nil {
			t.Fatal(err)
		}
		if err := cov.Prior(t.Context(), out[k][1], seed); err != nil {
			t.Fatal(err)
		}
		begin := kernel.AbilitiesOf(cov).Draw
		d, err := begin(t.Context(), draws, seed, x)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Update(t.Context(), out[k][2], u); err != nil {
			t.Fatal(err)
		}
		if d, err = begin(t.Context(), draws, seed, x); err != nil {
			t.Fatal(err)
		}
		next := 0
		err = kernel.EachRows(t.Context(), d, g.Len(), u, func(lo int, rows *mat.Dense) error {
			n, _ := rows.Dims()
			if lo != next || !mat.Equal(rows, out[k][2].Slice(lo, lo+n, 0, draws)) {
				t.Errorf("rows from %d on are not those of the whole draw", lo)
			}
			next += n
			return nil
		})
		if err != nil || next != g.Len() {
			t.Errorf("%d rows, %v", next, err)
		}
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
