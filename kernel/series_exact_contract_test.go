package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/sparse"
)

// The contract holds for short reach, with all eigenvectors, with some, and with
// small components beside large ones.
func TestExactContract(t *testing.T) {
	ring, err := graph.Ring(150)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		w     *sparse.CSR
		pairs int // 0: as many as are taken
	}{
		"all pairs":  {patchwork(t).Normalized(graph.NormalizedAdjacency), 0},
		"some pairs": {ring.Normalized(graph.NormalizedAdjacency), 20},
		"fragments":  {fragments(t).Normalized(graph.NormalizedAdjacency), 12},
	} {
		for _, f := range []struct {
			m      kernel.Spectrum
			length float64
		}{{kernel.Matern{Nu: 1.5}, 3}, {kernel.Matern{Nu: 0.5}, 60}, {kernel.Matern{Nu: 2}, 200}, {kernel.Diffusion{}, 8000}} {
			t.Run(fmt.Sprintf("%s/%v/%v", name, f.m, f.length), func(t *testing.T) {
				k := newExact(t, c.w, f.m, nil)
				if c.pairs > 0 {
					if got := k.FewPairs(c.pairs, 10); got < c.pairs {
						t.Fatalf("%d eigenpairs, want %d", got, c.pairs)
					}
				}
				theta := []float64{0.9, f.length}
				kerneltest.Run(t, k, kerneltest.Options{Theta: theta})
				kerneltest.Run(t, kernel.Cached(k, []int{7, 10, 3}, 1<<20), kerneltest.Options{Theta: theta, Draws: 100})
			})
		}
	}
}

// fragments is a ring of 90 nodes, and pairs, triples and lone nodes.
func fragments(t testing.TB) *graph.Graph {
	t.Helper()
	var e graph.Edges
	add := func(i, j int, w float64) {
		e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(j)), append(e.W, w)
	}
	for i := range 90 {
		add(i, (i+1)%90, 1+float64(i%3))
	}
	for i := 90; i < 110; i += 2 {
		add(i, i+1, 2)
	}
	for i := 110; i < 125; i += 3 {
		add(i, i+1, 1)
		add(i+1, i+2, 4)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(130), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// A cached kernel gives the same bits as without a cache, also with leading
// eigenvectors.
func TestExactKeeps(t *testing.T) {
	t.Parallel()
	g := fragments(t)
	plain := newExact(t, g.Normalized(graph.NormalizedAdjacency), kernel.Matern{Nu: 1.5}, nil)
	plain.FewPairs(12, 8)
	rows := scattered(130, 70)
	weights := mat.NewSymDense(len(rows), nil)
	for a := range rows {
		for b := a; b < len(rows); b++ {
			weights.SetSym(a, b, math.Sin(float64(a+b*b)))
		}
	}
	keeps := kernel.Cached(plain, rows, 1<<28)
	for _, kappa := range []float64{2, 300, 5, 80} { // both ways of fitting, in turn
		theta := []float64{1.3, kappa}
		var k [2]*mat.SymDense
		var grad [2][]float64
		for v, kern := range []kernel.Kernel{plain, keeps} {
			cov := at(t, kern, theta)
			k[v], grad[v] = mat.NewSymDense(len(rows), nil), []float64{1, 2}
			if err := errors.Join(cov.Gram(t.Context(), k[v], rows), cov.GramGrad(t.Context(), grad[v], rows, weights)); err != nil {
				t.Fatal(err)
			}
		}
		if !mat.Equal(k[0], k[1]) {
			t.Errorf("κ = %v: another K", kappa)
		}
		for j := range grad[0] {
			if math.Abs(grad[0][j]-grad[1][j]) > 1e-11*float64(len(rows)) {
				t.Errorf("κ = %v: gradient %v, want %v", kappa, grad[1], grad[0])
			}
		}
	}
}

// Without eigenvectors a series takes up to 3,072 terms. If these are too few, K
// is still positive semidefinite, and Carried is right: the largest eigenvalue of
// K, that of the constant function on a ring, is that share of s².
func TestExactCarries(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ring, err := graph.Ring(60)
	if err != nil {
		t.Fatal(err)
	}
	k := newExact(t, ring.Normalized(graph.NormalizedAdjacency), kernel.Matern{Nu: 1}, nil)
	k.NoPairs()
	rows := make([]int, 60)
	for i := range rows {
		rows[i] = i
	}
	for _, c := range []struct{ kappa, least, most float64 }{{5, 1, 1}, {80, 1, 1}, {2000, 0.5, 0.999}, {1e5, 0, 0.3}} {
		theta := []float64{1.7, c.kappa}
		carried, err := k.Carried(theta)
		if err != nil || carried < c.least || carried > c.most {
			t.Errorf("κ = %v carries %v, want %v to %v; %v", c.kappa, carried, c.least, c.most, err)
		}
		row := mat.NewDense(1, 1, nil)
		x := mat.NewDense(60, 1, ones(60))
		if err := at(t, k, theta).Cross(rows[:1], rows).Apply(t.Context(), row, x); err != nil {
			t.Fatal(err)
		}
		if got := row.At(0, 0) / 1.7; math.Abs(got-carried) > 1e-9 {
			t.Errorf("κ = %v: the constant function has %v of its variance, Carried says %v", c.kappa, got, carried)
		}
	}
	// Its derivative by κ, against differences.
	gram := func(kappa float64) *mat.SymDense { return wholeGram(t, k, []float64{1.7, kappa}) }
	var slope mat.Dense
	slope.Sub(gram(2000.2), gram(1999.8))
	slope.Scale(1/0.4, &slope)
	grad, want := make([]float64, 2), 0.0
	weights := mat.NewSymDense(60, nil)
	for a := range rows {
		for b := range rows {
			weights.SetSym(a, b, math.Sin(float64(a*b)))
			want += math.Sin(float64(a*b)) * slope.At(a, b)
		}
	}
	if err := at(t, k, []float64{1.7, 2000}).GramGrad(t.Context(), grad, rows, weights); err != nil {
		t.Fatal(err)
	}
	if math.Abs(grad[1]-want) > 1e-5*math.Abs(want) {
		t.Errorf("derivative by κ %v, differences give %v", grad[1], want)
	}
	var eig mat.EigenSym
	if !eig.Factorize(gram(2000), false) || eig.Values(nil)[0] < -1e-12 {
		t.Errorf("least eigenvalue %v", eig.Values(nil)[0])
	}
}

// Power series are exact at any size, even where their square root is not smooth.
func TestExactPower(t *testing.T) {
	for _, kind := range []graph.Normalization{graph.NormalizedAdjacency, graph.RawDiffusion} {
		w := patchwork(t).Normalized(kind)
		for _, alpha := range alphas {
			want := polynomial(w, alpha)
			want.Scale(1.7, want)
			k := newExact(t, w, newPower(t, alpha), nil)
			if gap := apartBy(wholeGram(t, k, []float64{1.7}), want); gap > 1e-12 {
				t.Errorf("%v on %v: the series is %.2g off", alpha, kind, gap)
			}
			// (1 − w)² is zero at the eigenvalue 1, where its root |1 − w| has a kink: draws
			// are right to 1e-3 of K there, the contract wants them relative to K_ii = 0.
			if kind == graph.NormalizedAdjacency && !slices.Equal(alpha, []float64{1, -2, 1}) {
				t.Run(fmt.Sprint(alpha), func(t *testing.T) { kerneltest.Run(t, k, kerneltest.Options{}) })
			}
		}
	}
}

// A matrix of larger norm is taken as far as the family goes.
func TestExactOnOtherMatrices(t *testing.T) {
	t.Parallel()
	g := patchwork(t)
	for _, kind := range []graph.Normalization{graph.RawAdjacency, graph.NormalizedLaplacian} {
		w := g.Normalized(kind)
		dense, err := kernel.NewDense(w, kernel.Diffusion{})
		if err != nil {
			t.Fatal(err)
		}
		k := newExact(t, w, kernel.Diffusion{}, nil)
		for _, beta := range []float64{0.5, 3, 60} {
			theta := []float64{1, beta}
			if gap := apartBy(wholeGram(t, k, theta), wholeGram(t, dense, theta)); gap > 1e-11 {
				t.Errorf("diffusion with β = %v on %v is %.2g off", beta, kind, gap)
			}
		}
	}
	k := newExact(t, g.Normalized(graph.RawAdjacency), kernel.Matern{Nu: 1.5}, nil)
	if _, err := k.At([]float64{1, 3}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("eigenvalues beyond the family: %v", err)
	}
}

// Leading eigenvectors have the same bits on any number of threads.
func TestExactThreads(t *testing.T) {
	g, err := graph.Grid(24, 24)
	if err != nil {
		t.Fatal(err)
	}
	w, rows := g.Normalized(graph.NormalizedAdjacency), scattered(g.Len(), 40)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var first *mat.SymDense
	for _, threads := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(threads)
		k := mat.NewSymDense(len(rows), nil)
		if err := at(t, newExact(t, w, kernel.Matern{Nu: 2}, nil), []float64{1, 90}).Gram(t.Context(), k, rows); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = k
		}
		if !mat.Equal(k, first) {
			t.Errorf("%d threads make another K", threads)
		}
	}
}
