package kernel_test

import (
	"math"
	"testing"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/walk"
)

func TestLowRankContract(t *testing.T) {
	for name, f := range map[string]*walk.Features{"exact": ringFeatures(t, 30, 6), "sampled": scaleFreeFeatures(t)} {
		for _, dim := range []int{5, 64} { // below and above the number of nodes
			for _, m := range []kernel.Modulation{kernel.Diffusion{}, kernel.Free{Len: 4}} {
				t.Run(name, func(t *testing.T) {
					k, err := kernel.NewLowRank(f, m, kernel.LowRankOptions{Dim: dim, Seed: 3})
					if err != nil {
						t.Fatal(err)
					}
					kerneltest.Run(t, k, kerneltest.Options{})
				})
			}
		}
	}
}

// E[K₁K₁ᵀ] = ΦΦᵀ: an entry of K₁K₁ᵀ has the variance (K_ii·K_jj + K_ij²)/m, and
// the mean over R seeds must lie within six of its standard deviations.
func TestLowRankIsUnbiased(t *testing.T) {
	const n, dim, runs = 20, 8, 400
	f := ringFeatures(t, n, 4)
	want := gram(t, atStart(t, newGRF(t, f, kernel.Diffusion{})), span(0, n))
	mean := make([]float64, n*n)
	for seed := range runs {
		k, err := kernel.NewLowRank(f, kernel.Diffusion{}, kernel.LowRankOptions{Dim: dim, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		got := gram(t, atStart(t, k), span(0, n))
		for i := range n {
			for j := range n {
				mean[i*n+j] += got.At(i, j) / runs
			}
		}
	}
	for i := range n {
		for j := range n {
			kij := want.At(i, j)
			sd := math.Sqrt((want.At(i, i)*want.At(j, j) + kij*kij) / (dim * runs))
			if got := mean[i*n+j]; math.Abs(got-kij) > 6*sd {
				t.Errorf("mean of entry %d, %d is %v, want %v ± %v", i, j, got, kij, 6*sd)
			}
		}
	}
}

// A list has the same entries whether or not its columns are relabelled: rows of
// the projection belong to nodes.
func TestLowRankDoesNotDependOnLists(t *testing.T) {
	const n = 300
	k, err := kernel.NewLowRank(ringFeatures(t, n, 3), kernel.Diffusion{}, kernel.LowRankOptions{Dim: 6, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	cov := atStart(t, k)
	whole, part := gram(t, cov, span(0, n)), gram(t, cov, span(120, 130))
	for i := range 10 {
		for j := range 10 {
			if math.Abs(part.At(i, j)-whole.At(120+i, 120+j)) > 1e-14 {
				t.Errorf("entry %d, %d is %v, want %v", i, j, part.At(i, j), whole.At(120+i, 120+j))
			}
		}
	}
}
