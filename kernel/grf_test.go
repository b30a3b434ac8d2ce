package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/kernel/lowrank"
	"grfgp/walk"
)

// sampled returns features of g on its normalised adjacency matrix.
func sampled(t testing.TB, g *graph.Graph, err error, change func(*walk.Options)) *walk.Features {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	opts := walk.Default()
	opts.MaxLen = 6
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	change(&opts)
	f, err := walk.Sample(context.Background(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func same(*walk.Options) {}

func ringFeatures(t testing.TB, n, maxLen int) *walk.Features {
	g, err := graph.Ring(n)
	return sampled(t, g, err, func(o *walk.Options) { o.MaxLen = maxLen })
}

// scaleFreeFeatures have sampling errors.
func scaleFreeFeatures(t testing.TB) *walk.Features {
	g, err := graph.BarabasiAlbert(40, 2, 1)
	f := sampled(t, g, err, func(o *walk.Options) { o.Walks, o.Budget = 8, 4 })
	if f.Size().ExactRows == 40 {
		t.Fatal("features meant to be sampled are exact")
	}
	return f
}

func newGRF(t testing.TB, f *walk.Features, m kernel.Modulation) *kernel.GRF {
	t.Helper()
	k, err := kernel.NewGRF(f, m)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func atStart(t testing.TB, k kernel.Kernel) kernel.Covariance {
	t.Helper()
	var theta []float64
	for _, p := range k.Params() {
		theta = append(theta, p.Start)
	}
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	return cov
}

func TestGRFContract(t *testing.T) {
	for name, f := range map[string]*walk.Features{"exact": ringFeatures(t, 30, 6), "sampled": scaleFreeFeatures(t)} {
		for _, m := range []kernel.Modulation{kernel.Diffusion{}, kernel.Matern{Nu: 1.5}, kernel.Free{Len: 4}} {
			t.Run(fmt.Sprintf("%s/%v", name, m), func(t *testing.T) {
				kerneltest.Run(t, newGRF(t, f, m), kerneltest.Options{})
			})
		}
	}
}

// K is ΦΦᵀ for the Φ of Combine.
func TestGRFIsCombine(t *testing.T) {
	t.Parallel()
	f := scaleFreeFeatures(t)
	theta := []float64{1.3, 2.5}
	cov, err := newGRF(t, f, kernel.Diffusion{}).At(theta)
	if err != nil {
		t.Fatal(err)
	}
	coeff := make([]float64, f.MaxLen()+1)
	kernel.Diffusion{}.Coeffs(coeff, theta)
	phi, err := f.Combine(coeff)
	if err != nil {
		t.Fatal(err)
	}
	got := gram(t, cov, span(0, 40))
	for i := range 40 {
		for j := range 40 {
			want := 0.0
			for c := range 40 {
				want += phi.At(i, c) * phi.At(j, c)
			}
			if math.Abs(got.At(i, j)-want) > 1e-14 {
				t.Errorf("entry %d, %d is %v, want %v", i, j, got.At(i, j), want)
			}
		}
	}
}

func gram(t testing.TB, cov kernel.Covariance, rows []int) *mat.SymDense {
	t.Helper()
	k := mat.NewSymDense(len(rows), nil)
	if err := cov.Gram(t.Context(), k, rows); err != nil {
		t.Fatal(err)
	}
	return k
}

// span returns lo, lo+1, …, hi−1.
func span(lo, hi int) []int {
	list := make([]int, 0, hi-lo)
	for i := lo; i < hi; i++ {
		list = append(list, i)
	}
	return list
}

// The pattern of a list that reaches few nodes has only their columns, that of a
// list that reaches most nodes has all; products of all pairs of such lists must
// agree with K.
func TestGRFCrossOfListsOfAllSizes(t *testing.T) {
	t.Parallel()
	const n = 400
	cov := atStart(t, newGRF(t, ringFeatures(t, n, 3), kernel.Matern{Nu: 1}))
	k := gram(t, cov, span(0, n))
	lists := map[string][]int{
		"few": {17, 3, 5, 17}, "near": {8, 20, 21}, "far": span(200, 230),
		"most": span(0, 300), "other most": span(100, 400), "all": span(0, n), "none": {},
	}
	for left, rows := range lists {
		for right, cols := range lists {
			op := cov.Cross(rows, cols)
			if r, c := op.Dims(); r != len(rows) || c != len(cols) {
				t.Errorf("%s × %s is %d×%d", left, right, r, c)
			}
			for _, width := range []int{2, 150} { // more than go together
				x, dst := block(len(cols), width), block(len(rows), width)
				if err := op.Apply(t.Context(), dst, x); err != nil {
					t.Fatal(err)
				}
				for a, i := range rows {
					for _, s := range []int{0, width - 1} {
						want := 0.0
						for b, j := range cols {
							want += k.At(i, j) * x.At(b, s)
						}
						if got := dst.At(a, s); !(math.Abs(got-want) <= 1e-12) {
							t.Fatalf("%s × %s, %d columns: entry %d, %d is %v, want %v", left, right, width, a, s, got, want)
						}
					}
				}
			}
		}
	}
}

// block returns a matrix without structure, or the empty one.
func block(r, c int) *mat.Dense {
	if r == 0 {
		return &mat.Dense{}
	}
	m := mat.NewDense(r, c, nil)
	for i := range r {
		for j := range c {
			m.Set(i, j, math.Sin(float64(1+i)*1.3+float64(j)*0.7))
		}
	}
	return m
}

// Results have the same bits at any GOMAXPROCS, with many blocks of rows.
func TestKernelsOfManyBlocksAreTheSameOnAnyThreads(t *testing.T) {
	const n = 3000
	f := ringFeatures(t, n, 5)
	lowRank, err := lowrank.New(f, kernel.Diffusion{}, lowrank.Options{Dim: 90, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rows, few := span(200, 2400), span(50, 400)
	for name, k := range map[string]kernel.Kernel{"GRF": newGRF(t, f, kernel.Diffusion{}), "low rank": lowRank} {
		t.Run(name, func(t *testing.T) {
			run := func() []float64 {
				cov := atStart(t, k)
				product, draws := mat.NewDense(len(rows), 70, nil), mat.NewDense(n, 2, nil)
				grad, gramGrad, diag := make([]float64, 2), make([]float64, 2), make([]float64, len(rows))
				g := mat.NewSymDense(len(few), nil)
				for i := range few {
					g.SetSym(i, i, 1)
					g.SetSym(i, (i+5)%len(few), 0.25)
				}
				errs := []error{
					cov.Cross(rows, rows).Apply(t.Context(), product, block(len(rows), 70)),
					cov.Prior(t.Context(), draws, 1),
					cov.Grad(t.Context(), grad, rows, block(len(rows), 70), block(len(rows), 70)),
					cov.GramGrad(t.Context(), gramGrad, few, g),
					cov.Diag(t.Context(), diag, rows),
				}
				p := precondition(t, k, kernel.Starts(k)[0], rows, 0.5, slices.Repeat([]float64{0.1}, len(rows)))
				solution := preconditioned(p, block(len(rows), 3))
				if err := errors.Join(errs...); err != nil {
					t.Fatal(err)
				}
				return slices.Concat(product.RawMatrix().Data, draws.RawMatrix().Data, solution.RawMatrix().Data,
					grad, gramGrad, diag, gram(t, cov, few).RawSymmetric().Data)
			}
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
			want := run()
			for _, threads := range []int{2, 7} {
				runtime.GOMAXPROCS(threads)
				if !slices.Equal(run(), want) {
					t.Errorf("results differ on %d threads", threads)
				}
			}
		})
	}
}

func TestGRFRefuses(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(20)
	shard := sampled(t, g, err, func(o *walk.Options) { o.Lo, o.Hi = 5, 10 })
	if _, err := kernel.NewGRF(shard, kernel.Diffusion{}); !errors.Is(err, kernel.ErrFeatures) {
		t.Errorf("a shard: error %v", err)
	}
	if _, err := lowrank.New(shard, kernel.Diffusion{}, lowrank.Options{Dim: 4}); !errors.Is(err, kernel.ErrFeatures) {
		t.Errorf("a shard, low rank: error %v", err)
	}
	f := sampled(t, g, err, same)
	if _, err := kernel.NewGRF(f, kernel.Free{Len: 7}); !errors.Is(err, kernel.ErrFeatures) {
		t.Errorf("more coefficients than lengths: error %v", err)
	}
	if _, err := newGRF(t, f, kernel.Free{Len: 1}).At([]float64{1, 1e200}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("a kernel that overflows: error %v", err)
	}
	if _, err := lowrank.New(f, kernel.Diffusion{}, lowrank.Options{}); err == nil {
		t.Error("no dimensions: no error")
	}
}

// More lists are used in turn than the cache holds.
func TestGRFForgetsLists(t *testing.T) {
	t.Parallel()
	cov := atStart(t, newGRF(t, ringFeatures(t, 60, 3), kernel.Diffusion{}))
	k := gram(t, cov, span(0, 60))
	for turn := range 12 {
		lo := turn % 5
		part := gram(t, cov, span(lo, lo+9))
		for i := range 9 {
			if math.Abs(part.At(i, 8)-k.At(lo+i, lo+8)) > 1e-14 {
				t.Fatalf("turn %d: entry %d, 8 is %v, want %v", turn, i, part.At(i, 8), k.At(lo+i, lo+8))
			}
		}
	}
}
