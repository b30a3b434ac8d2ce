package kernel_test

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// hubFeatures are those of a graph with hubs, through which most walks come.
func hubFeatures(t testing.TB) (*graph.Graph, *walk.Features) {
	t.Helper()
	g, err := graph.BarabasiAlbert(600, 2, 5)
	return g, sampled(t, g, err, func(o *walk.Options) { o.MaxLen, o.Walks = 4, 20 })
}

// TestFullColumns: where some columns of the features are full and others are not, Gram, its gradient and entries are those of
// products column by column.
func TestFullColumns(t *testing.T) {
	t.Parallel()
	_, f := hubFeatures(t)
	k := newGRF(t, f, kernel.Diffusion{})
	rows := span(100, 400)
	cov := atStart(t, k)
	full, width := kernel.FullColumns(cov, rows)
	if full < 8 || full > width/2 {
		t.Fatalf("%d of %d columns are full: this does not test both parts", full, width)
	}
	want := mat.NewDense(len(rows), len(rows), nil)
	one := mat.NewDense(len(rows), len(rows), nil)
	for i := range rows {
		one.Set(i, i, 1)
	}
	if err := cov.Cross(rows, rows).Apply(t.Context(), want, one); err != nil {
		t.Fatal(err)
	}
	got := gram(t, cov, rows)
	entries := mat.NewDense(len(rows), len(rows), nil)
	if err := kernel.Entries(t.Context(), entries, cov, rows, rows); err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		for j := range rows {
			w := want.At(i, j)
			if d := max(math.Abs(got.At(i, j)-w), math.Abs(entries.At(i, j)-w)); d > 1e-14*want.At(i, i) {
				t.Fatalf("entry %d, %d: Gram %v, Entries %v, want %v", i, j, got.At(i, j), entries.At(i, j), w)
			}
		}
	}
	// ⟨ghᵀ + hgᵀ, ∂K⟩ is what Grad returns twice for g and h.
	g, h := block(len(rows), 1), block(len(rows), 1)
	weights := mat.NewSymDense(len(rows), nil)
	for i := range rows {
		h.Set(i, 0, math.Cos(float64(i)))
		for j := range i + 1 {
			weights.SetSym(j, i, g.At(i, 0)*h.At(j, 0)+h.At(i, 0)*g.At(j, 0))
		}
	}
	grad, exact := make([]float64, len(k.Params())), make([]float64, len(k.Params()))
	if err := cov.GramGrad(t.Context(), grad, rows, weights); err != nil {
		t.Fatal(err)
	}
	if err := cov.Grad(t.Context(), exact, rows, g, h); err != nil {
		t.Fatal(err)
	}
	for j, v := range grad {
		if math.Abs(v-2*exact[j]) > 1e-10*math.Abs(v) {
			t.Errorf("derivative %d is %v, want %v", j, v, 2*exact[j])
		}
	}
}

// TestCellsOfPredictions: entries of all nodes, some at a time, are those of products with the identity, and what is kept for
// the next nodes is dropped after the last.
func TestCellsOfPredictions(t *testing.T) {
	t.Parallel()
	g, f := hubFeatures(t)
	k, err := kernel.NewMultiscale(newGRF(t, f, kernel.Diffusion{}), kernel.Diffusion{}, scalesOf(t, g, 20))
	if err != nil {
		t.Fatal(err)
	}
	cov := atStart(t, k)
	cols := []int{3, 77, 300, 301, 599}
	one := mat.NewDense(len(cols), len(cols), nil)
	for i := range cols {
		one.Set(i, i, 1)
	}
	for turn := range 2 {
		for lo := 0; lo < 600; lo += 200 {
			rows := span(lo, lo+200)
			got, want := mat.NewDense(200, len(cols), nil), mat.NewDense(200, len(cols), nil)
			if err := kernel.Entries(t.Context(), got, cov, rows, cols); err != nil {
				t.Fatal(err)
			}
			if err := cov.Cross(rows, cols).Apply(t.Context(), want, one); err != nil {
				t.Fatal(err)
			}
			if !mat.EqualApprox(got, want, 1e-13) {
				t.Fatalf("turn %d: entries of nodes from %d on are not those of products", turn, lo)
			}
			if kept := kernel.KeepsCells(cov); kept != (lo < 400) {
				t.Errorf("turn %d: after nodes up to %d, cells are kept: %v", turn, lo+200, kept)
			}
		}
	}
}

// TestRowsOfCompactFeatures: covariances between lists of a large graph have the same bits whether Φ of all nodes was computed
// before or not.
func TestRowsOfCompactFeatures(t *testing.T) {
	t.Parallel()
	_, f := hubFeatures(t)
	k := newGRF(t, f, kernel.Diffusion{})
	k.CompactFrom(100)
	rows, cols := span(50, 350), span(0, 40)
	entries := func(cov kernel.Covariance) []float64 {
		dst := mat.NewDense(len(rows), len(cols), nil)
		if err := kernel.Entries(t.Context(), dst, cov, rows, cols); err != nil {
			t.Fatal(err)
		}
		return dst.RawMatrix().Data
	}
	before, after := atStart(t, k), atStart(t, k)
	if err := after.Diag(t.Context(), make([]float64, 600), span(0, 600)); err != nil { // computes Φ of all nodes
		t.Fatal(err)
	}
	if !slices.Equal(entries(before), entries(after)) {
		t.Error("covariances depend on what was computed before")
	}
}
