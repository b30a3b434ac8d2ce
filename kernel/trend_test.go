package kernel_test

import (
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// A kernel with a trend keeps the contract of kernels, whatever is beneath.
func TestTrend(t *testing.T) {
	hubs, err := graph.BarabasiAlbert(120, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	series, err := kernel.NewSeries(hubs.Normalized(graph.NormalizedAdjacency), kernel.Matern{Nu: 1}, 12)
	if err != nil {
		t.Fatal(err)
	}
	for name, k := range map[string]kernel.Kernel{
		"features":          newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{}),
		"free coefficients": newGRF(t, scaleFreeFeatures(t), kernel.Free{Len: 3}),
		"series":            series,
		"many scales":       newMultiscale(t, hubs, nil, kernel.Diffusion{}, 10, kernel.MultiscaleOptions{}),
	} {
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
