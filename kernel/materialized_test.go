package kernel_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

func TestMaterializedContract(t *testing.T) {
	k, err := kernel.NewMaterialized(newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{}))
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, k, kerneltest.Options{})
}

// The dense kernel is the sparse one.
func TestMaterializedIsTheGRF(t *testing.T) {
	grf := newGRF(t, scaleFreeFeatures(t), kernel.Matern{Nu: 2.5})
	k, err := kernel.NewMaterialized(grf)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{3, 9, 3, 30}
	if got, want := gram(t, atStart(t, k), rows), gram(t, atStart(t, grf), rows); !mat.EqualApprox(got, want, 1e-14) {
		t.Errorf("dense %v, sparse %v", mat.Formatted(got), mat.Formatted(want))
	}
}
