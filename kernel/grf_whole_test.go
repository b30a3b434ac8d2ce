package kernel_test

import (
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Once features of all nodes are at hand they are used for products with all
// nodes, and give the bytes of features made for the product alone.
func TestGRFCrossOfAllNodes(t *testing.T) {
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
