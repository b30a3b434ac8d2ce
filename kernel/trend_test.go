package kernel_test

import (
	"math"
	"testing"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// A kernel with a trend keeps the contract of kernels, whatever is beneath.
func TestTrend(t *testing.T) {
	for name, k := range hubKernels(t) {
		t.Run(name, func(t *testing.T) {
			x := make([]float64, k.Nodes())
			for i := range x {
				x[i] = math.Sin(float64(3 * i))
			}
			kerneltest.Run(t, kernel.Trend(k, x), kerneltest.Options{})
		})
	}
}

// K + s²·xxᵀ, entry by entry.
func TestTrendEntries(t *testing.T) {
	k := newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{})
	x := make([]float64, k.Nodes())
	for i := range x {
		x[i] = float64(i%7) - 3
	}
	without := gramOfAll(t, k, []float64{1.5, 2})
	with := gramOfAll(t, kernel.Trend(k, x), []float64{1.5, 2, 0.25})
	for i := range x {
		for j := range x {
			if want := without.At(i, j) + 0.25*x[i]*x[j]; math.Abs(with.At(i, j)-want) > 1e-12 {
				t.Fatalf("entry %d, %d is %v, want %v", i, j, with.At(i, j), want)
			}
		}
	}
}
