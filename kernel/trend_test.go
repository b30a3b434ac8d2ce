package kernel_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// Any kernel with a trend satisfies the contract of kernels.
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
	t.Parallel()
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

// Draws with a trend are those without plus a multiple of x, whose variance is s²:
// of 4,000 draws within 5·√(2/4000) = 11 %. Prior and Draw give the same.
func TestTrendDraws(t *testing.T) {
	t.Parallel()
	const draws, variance, seed = 4000, 0.25, 3
	k := newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{})
	n := k.Nodes()
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i%7) - 3
	}
	without, with := mat.NewDense(n, draws, nil), mat.NewDense(n, draws, nil)
	for dst, c := range map[*mat.Dense]kernel.Covariance{without: at(t, k, []float64{1.5, 2}),
		with: at(t, kernel.Trend(k, x), []float64{1.5, 2, variance})} {
		if err := c.Prior(t.Context(), dst, seed); err != nil {
			t.Fatal(err)
		}
	}
	sum := 0.0
	for s := range draws {
		slope := (with.At(0, s) - without.At(0, s)) / x[0]
		sum += slope * slope / draws
		for i := range x {
			if off := with.At(i, s) - without.At(i, s) - slope*x[i]; math.Abs(off) > 1e-9 {
				t.Fatalf("draw %d is off the trend by %v at node %d", s, off, i)
			}
		}
	}
	if math.Abs(sum/variance-1) > 0.112 {
		t.Errorf("slopes have variance %v, want %v", sum, variance)
	}
}
