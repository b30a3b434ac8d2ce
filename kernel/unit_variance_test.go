package kernel_test

import (
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
)

// hubKernels are kernels on graphs with hubs, to be wrapped by others.
func hubKernels(t *testing.T) map[string]kernel.Kernel {
	t.Helper()
	hubs, err := graph.BarabasiAlbert(120, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	series, err := kernel.NewSeries(hubs.Normalized(graph.NormalizedAdjacency), kernel.Matern{Nu: 1}, 12)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]kernel.Kernel{
		"features":          newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{}),
		"free coefficients": newGRF(t, scaleFreeFeatures(t), kernel.Free{Len: 3}),
		"series":            series,
		"many scales":       newMultiscale(t, hubs, nil, kernel.Diffusion{}, 10),
	}
}

// A kernel of unit variance satisfies the contract, and has the same variance at
// every node.
func TestUnitVariance(t *testing.T) {
	for name, k := range hubKernels(t) {
		t.Run(name, func(t *testing.T) {
			k := kernel.UnitVariance(k)
			kerneltest.Run(t, k, kerneltest.Options{})
			theta := make([]float64, len(k.Params()))
			for j, p := range k.Params() {
				theta[j] = p.Start
			}
			theta[0] = 2.5
			gram := gramOfAll(t, k, theta)
			for i := range k.Nodes() {
				if v := gram.At(i, i); math.Abs(v-2.5) > 1e-12 {
					t.Fatalf("node %d has variance %v, want 2.5", i, v)
				}
			}
		})
	}
}

// Draws in one pass follow the scaling, on one scale and beneath many.
func TestUnitVarianceDraw(t *testing.T) {
	t.Parallel()
	fine := kernel.UnitVariance(newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{}))
	checkDraw(t, fine)
	checkDraw(t, kernel.Trend(fine, make([]float64, fine.Nodes())))
}

// If the scaled kernel offers starts, so does the kernel of unit variance.
func TestUnitVarianceStarts(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(200)
	k := kernel.UnitVariance(newMultiscale(t, ring, err, kernel.Diffusion{}, 10))
	starts := kernel.Starts(k)
	if len(starts) < 2 {
		t.Fatalf("%d starts, want several", len(starts))
	}
	for _, theta := range starts {
		if _, err := k.At(theta); err != nil {
			t.Error(err)
		}
	}
}
