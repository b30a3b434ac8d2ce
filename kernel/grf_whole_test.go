package kernel_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Once the features of all nodes are combined, they are used for products with
// all nodes, and give the same bits as features combined for one product.
func TestGRFCrossOfAllNodes(t *testing.T) {
	t.Parallel()
	const n = 400
	k := newGRF(t, ringFeatures(t, n, 6), kernel.Diffusion{})
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	few := []int{7, 3, 200, 3}
	x := mat.NewDense(len(few), 2, []float64{1, -2, 3, 0.5, -4, 1e-3, 2, 2})
	before, after := mat.NewDense(n, 2, nil), mat.NewDense(n, 2, nil)
	cov := atStart(t, k)
	if err := cov.Cross(all, few).Apply(t.Context(), before, x); err != nil {
		t.Fatal(err)
	}
	if err := cov.Prior(t.Context(), mat.NewDense(n, 1, nil), 1); err != nil {
		t.Fatal(err)
	}
	if err := cov.Cross(all, few).Apply(t.Context(), after, x); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before.RawMatrix().Data, after.RawMatrix().Data) {
		t.Error("products differ after a draw from the prior")
	}
}

// A draw that is updated in one pass is a draw from the prior plus a product.
func TestGRFDraw(t *testing.T) {
	t.Parallel()
	const n, draws = 200, 3
	k := newGRF(t, ringFeatures(t, n, 6), kernel.Diffusion{})
	cov := atStart(t, k)
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	for _, x := range [][]int{{7, 3, 150, 3}, all} { // few columns, and a column per node
		prior, update, got := mat.NewDense(n, draws, nil), mat.NewDense(n, draws, nil), mat.NewDense(n, draws, nil)
		u := mat.NewDense(len(x), draws, nil)
		u.Apply(func(i, j int, _ float64) float64 { return float64(i%5) - float64(j) }, u)
		if err := cov.Prior(t.Context(), prior, 9); err != nil {
			t.Fatal(err)
		}
		if err := cov.Cross(all, x).Apply(t.Context(), update, u); err != nil {
			t.Fatal(err)
		}
		d, err := kernel.AbilitiesOf(cov).Draw(t.Context(), draws, 9, x)
		if err != nil {
			t.Fatal(err)
		}
		for r, i := range x {
			for s := range draws {
				if g := d.At().At(r, s); g != prior.At(i, s) {
					t.Fatalf("draw %d at node %d is %v, from the prior %v", s, i, g, prior.At(i, s))
				}
			}
		}
		if err := d.Update(t.Context(), got, u); err != nil {
			t.Fatal(err)
		}
		prior.Add(prior, update)
		if !mat.EqualApprox(got, prior, 1e-12) {
			t.Error("an updated draw is not a draw plus a product")
		}
	}
}
