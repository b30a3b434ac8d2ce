package materialized_test

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/lab/materialized"
	"grfgp/walk"
)

func TestContract(t *testing.T) {
	k, err := materialized.New(newGRF(t, scaleFreeFeatures(t), kernel.Diffusion{}))
	if err != nil {
		t.Fatal(err)
	}
	kerneltest.Run(t, k, kerneltest.Options{})
}

// The dense kernel is the sparse one.
func TestIsTheGRF(t *testing.T) {
	t.Parallel()
	grf := newGRF(t, scaleFreeFeatures(t), kernel.Matern{Nu: 2.5})
	k, err := materialized.New(grf)
	if err != nil {
		t.Fatal(err)
	}
	rows := []int{3, 9, 3, 30}
	if got, want := gram(t, k, rows), gram(t, grf, rows); !mat.EqualApprox(got, want, 1e-14) {
		t.Errorf("dense %v, sparse %v", mat.Formatted(got), mat.Formatted(want))
	}
}

func TestTooLarge(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(materialized.MaxNodes + 1)
	f := features(t, g, err, func(o *walk.Options) { o.MaxLen = 0 })
	if _, err := materialized.New(newGRF(t, f, kernel.Diffusion{})); err == nil {
		t.Error("no error")
	}
}

// features are those of a graph, with sampling errors where few walkers are few.
func features(t testing.TB, g *graph.Graph, err error, change func(*walk.Options)) *walk.Features {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen = 6
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	change(&opts)
	f, err := walk.Sample(t.Context(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func scaleFreeFeatures(t testing.TB) *walk.Features {
	g, err := graph.BarabasiAlbert(40, 2, 1)
	return features(t, g, err, func(o *walk.Options) { o.Walks, o.Budget = 8, 4 })
}

func newGRF(t testing.TB, f *walk.Features, m kernel.Modulation) *kernel.GRF {
	t.Helper()
	k, err := kernel.NewGRF(f, m)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func gram(t testing.TB, k kernel.Kernel, rows []int) *mat.SymDense {
	t.Helper()
	cov, err := k.At(kernel.Starts(k)[0])
	if err != nil {
		t.Fatal(err)
	}
	m := mat.NewSymDense(len(rows), nil)
	if err := cov.Gram(t.Context(), m, rows); err != nil {
		t.Fatal(err)
	}
	return m
}
