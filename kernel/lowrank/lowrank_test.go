package lowrank_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/kernel/lowrank"
	"grfgp/walk"
)

func TestContract(t *testing.T) {
	for name, f := range map[string]*walk.Features{"exact": ringFeatures(t, 30, 6), "sampled": scaleFreeFeatures(t)} {
		for _, dim := range []int{5, 64} { // below and above the number of nodes
			for _, m := range []kernel.Modulation{kernel.Diffusion{}, kernel.Free{Len: 4}} {
				t.Run(name, func(t *testing.T) {
					k, err := lowrank.New(f, m, lowrank.Options{Dim: dim, Seed: 3})
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
func TestIsUnbiased(t *testing.T) {
	t.Parallel()
	const n, dim, runs = 20, 8, 400
	f := ringFeatures(t, n, 4)
	want := gram(t, newGRF(t, f, kernel.Diffusion{}), span(0, n))
	mean := make([]float64, n*n)
	for seed := range runs {
		k, err := lowrank.New(f, kernel.Diffusion{}, lowrank.Options{Dim: dim, Seed: uint64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		got := gram(t, k, span(0, n))
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
func TestDoesNotDependOnLists(t *testing.T) {
	t.Parallel()
	const n = 300
	k, err := lowrank.New(ringFeatures(t, n, 3), kernel.Diffusion{}, lowrank.Options{Dim: 6, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	whole, part := gram(t, k, span(0, n)), gram(t, k, span(120, 130))
	for i := range 10 {
		for j := range 10 {
			if math.Abs(part.At(i, j)-whole.At(120+i, 120+j)) > 1e-14 {
				t.Errorf("entry %d, %d is %v, want %v", i, j, part.At(i, j), whole.At(120+i, 120+j))
			}
		}
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

func ringFeatures(t testing.TB, n, maxLen int) *walk.Features {
	g, err := graph.Ring(n)
	return features(t, g, err, func(o *walk.Options) { o.MaxLen = maxLen })
}

// span returns lo, lo+1, …, hi−1.
func span(lo, hi int) []int {
	list := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		list = append(list, i)
	}
	return list
}
