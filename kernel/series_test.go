package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/sparse"
)

// patchwork returns a weighted graph of three components: a grid, a ring with
// chords and a lone node.
func patchwork(t testing.TB) *graph.Graph {
	t.Helper()
	var e graph.Edges
	add := func(i, j int, w float64) {
		e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(j)), append(e.W, w)
	}
	for i := range 30 {
		if i%6 < 5 {
			add(i, i+1, 1)
		}
		if i+6 < 30 {
			add(i, i+6, 1)
		}
	}
	for i := range 21 {
		add(30+i, 30+(i+1)%21, 1+float64(i%4))
		if i%5 == 0 {
			add(30+i, 30+(i+9)%21, 0.01*float64(i+1))
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(30+21+1), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newSeries(t testing.TB, w *sparse.CSR, m kernel.Modulation, maxLen int) *kernel.Series {
	t.Helper()
	s, err := kernel.NewSeries(w, m, maxLen)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func at(t testing.TB, k kernel.Kernel, theta []float64) kernel.Covariance {
	t.Helper()
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	return cov
}

func TestSeriesContract(t *testing.T) {
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	for _, m := range []kernel.Modulation{kernel.Diffusion{}, kernel.Matern{Nu: 1.5}, kernel.Free{Len: 6}} {
		t.Run(fmt.Sprint(m), func(t *testing.T) {
			kerneltest.Run(t, newSeries(t, w, m, 40), kerneltest.Options{})
		})
	}
	// The length of the series is the family's, shorter or longer.
	t.Run("cut off", func(t *testing.T) { kerneltest.Run(t, newSeries(t, w, kernel.Free{Len: 6}, 3), kerneltest.Options{}) })
	t.Run("one term", func(t *testing.T) { kerneltest.Run(t, newSeries(t, w, kernel.Diffusion{}, 0), kerneltest.Options{}) })
}

// powers returns Σ f_l W^l as a matrix.
func powers(w *sparse.CSR, f []float64) *mat.Dense {
	n, _ := w.Dims()
	power, sum := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		power.Set(i, i, 1)
	}
	for _, v := range f {
		var next mat.Dense
		next.Scale(v, power)
		sum.Add(sum, &next)
		next.Reset()
		next.ReuseAs(n, n)
		w.Mul(&next, power)
		power = &next
	}
	return sum
}

// scale returns Σ |f_l| norm^l, the size of rounding in powers.
func scale(f []float64, norm float64) float64 {
	sum, p := 0.0, 1.0
	for _, v := range f {
		sum += math.Abs(v) * p
		p *= norm
	}
	return sum
}

// K = Ψ² and ∂K = 2Ψ·∂Ψ with explicit powers of W, for matrices of norm 1, 2 and
// beyond, to 1e-12 of what the series adds up.
func TestSeriesEqualsPowers(t *testing.T) {
	t.Parallel()
	g := patchwork(t)
	rows := []int{3, 51, 0, 3, 40} // more than a block of them
	for i := range g.Len() {
		rows = append(rows, (i*7)%g.Len())
	}
	for _, c := range []struct {
		w      graph.Normalization
		m      kernel.Modulation
		theta  []float64
		maxLen int
		norm   float64 // bound of the norm of W
	}{
		{graph.NormalizedAdjacency, kernel.Diffusion{}, []float64{2.5, 30}, 60, 1},
		{graph.NormalizedAdjacency, kernel.Diffusion{}, []float64{0.3, 1e-3}, 60, 1},
		{graph.NormalizedAdjacency, kernel.Diffusion{}, []float64{1, 4}, 0, 1},
		{graph.NormalizedAdjacency, kernel.Matern{Nu: 2.5}, []float64{1, 10}, 250, 1},
		{graph.NormalizedAdjacency, kernel.Free{Len: 5}, []float64{1, -2, 0.5, 0, -1, 3}, 8, 1},
		{graph.NormalizedAdjacency, kernel.Free{Len: 2}, []float64{0, 0, 0}, 4, 1},
		{graph.RawDiffusion, kernel.Matern{Nu: 0.5}, []float64{1, 3}, 80, 1},
		{graph.NormalizedLaplacian, kernel.Free{Len: 4}, []float64{1, -0.9, 0.4, -0.2, 0.05}, 4, 2},
		{graph.RawAdjacency, kernel.Diffusion{}, []float64{1, 2}, 30, 9},
	} {
		t.Run(fmt.Sprintf("%v/%v/%d", c.w, c.m, c.maxLen), func(t *testing.T) {
			w := g.Normalized(c.w)
			f := make([]float64, c.maxLen+1)
			c.m.Coeffs(f, c.theta)
			df := make([][]float64, len(c.theta))
			for j := range df {
				df[j] = make([]float64, c.maxLen+1)
			}
			c.m.CoeffsGrad(df, c.theta)
			psi := powers(w, f)

			cov := at(t, newSeries(t, w, c.m, c.maxLen), c.theta)
			k := mat.NewSymDense(len(rows), nil)
			g := mat.NewSymDense(len(rows), nil)
			for a := range rows {
				for b := a; b < len(rows); b++ {
					g.SetSym(a, b, math.Sin(float64(a+b*b)))
				}
			}
			grad := make([]float64, len(c.theta))
			if err := errors.Join(cov.Gram(t.Context(), k, rows), cov.GramGrad(t.Context(), grad, rows, g)); err != nil {
				t.Fatal(err)
			}
			var want mat.Dense
			want.Mul(psi, psi)
			compare(t, "K", k, &want, rows, 1e-12*scale(f, c.norm)*scale(f, c.norm))
			for j, got := range grad {
				want.Mul(psi, powers(w, df[j])) // half of ∂K/∂θ_j
				slope, size := 0.0, 0.0
				for a, i := range rows {
					for b, l := range rows {
						slope += 2 * g.At(a, b) * want.At(i, l)
						size += math.Abs(g.At(a, b))
					}
				}
				if tol := 2e-12 * size * scale(f, c.norm) * scale(df[j], c.norm); !(math.Abs(got-slope) <= tol) {
					t.Errorf("⟨g, ∂K/∂θ_%d⟩ is %v, want %v ± %.2g", j, got, slope, tol)
				}
			}
		})
	}
}

// compare fails unless got is want[rows, rows] to within tol.
func compare(t *testing.T, what string, got mat.Symmetric, want mat.Matrix, rows []int, tol float64) {
	t.Helper()
	for a, i := range rows {
		for b, j := range rows {
			if d := math.Abs(got.At(a, b) - want.At(i, j)); !(d <= tol) {
				t.Fatalf("%s of nodes %d, %d is %v, want %v ± %.2g", what, i, j, got.At(a, b), want.At(i, j), tol)
			}
		}
	}
}

// The series and the eigenvectors of each family give the same kernel and the same
// derivatives. The series leaves out Σ_{l>L} f_l ≤ 1e-13·Σ f_l, which reduces K by
// up to 2e-13·s²; 1e-11 allows for that in derivatives too.
func TestSeriesEqualsDense(t *testing.T) {
	t.Parallel()
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	n, _ := w.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	type family interface {
		kernel.Modulation
		kernel.Spectrum
	}
	for _, m := range []family{kernel.Diffusion{}, kernel.Matern{Nu: 0.5}, kernel.Matern{Nu: 1}, kernel.Matern{Nu: 2.5},
		kernel.Matern{Nu: 4}} {
		dense, err := kernel.NewDense(w, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, scale := range []float64{0.2, 2, 8} {
			theta := []float64{1.7, scale}
			maxLen, _ := kernel.Hops(m, theta, 1e-13, 4000)
			if maxLen == 4000 {
				t.Fatalf("%v at %v: the coefficients do not die away", m, theta)
			}
			exact, series := at(t, dense, theta), at(t, newSeries(t, w, m, maxLen), theta)
			want, got := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
			g := mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					g.SetSym(i, j, math.Sin(float64(3*i+i*j)))
				}
			}
			wantGrad, gotGrad := make([]float64, 2), make([]float64, 2)
			if err := errors.Join(exact.Gram(t.Context(), want, all), series.Gram(t.Context(), got, all),
				exact.GramGrad(t.Context(), wantGrad, all, g), series.GramGrad(t.Context(), gotGrad, all, g)); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%v at %v: K", m, theta), got, want, all, 1e-11)
			for j := range wantGrad {
				if d := math.Abs(gotGrad[j] - wantGrad[j]); d > 1e-11*float64(n*n) {
					t.Errorf("%v at %v: derivative %d is %v, want %v", m, theta, j, gotGrad[j], wantGrad[j])
				}
			}
		}
	}
}

// A cached kernel gives the same results, matrices with the same bits, whether
// all, some or none of it fits into the cache.
func TestSeriesKeeps(t *testing.T) {
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	plain := newSeries(t, w, kernel.Matern{Nu: 1.5}, 80)
	var rows []int
	for i := range 45 {
		rows = append(rows, (i*11)%52)
	}
	rows = append(rows, 3, 3)
	g := mat.NewSymDense(len(rows), nil)
	for a := range rows {
		for b := a; b < len(rows); b++ {
			g.SetSym(a, b, math.Sin(float64(a+b*b)))
		}
	}
	triangle := 8 * len(rows) * (len(rows) + 1) / 2
	for _, maxBytes := range []int{0, triangle, 30 * triangle, 1000 * triangle} {
		keeps := kernel.Cached(plain, rows, maxBytes)
		t.Run(fmt.Sprintf("contract/%d", maxBytes), func(t *testing.T) {
			kerneltest.Run(t, kernel.Cached(plain, []int{7, 10, 3}, maxBytes), kerneltest.Options{Draws: 100})
		})
		for _, kappa := range []float64{1, 6, 0.5, 3} { // more terms, then fewer
			theta := []float64{1.3, kappa}
			for _, list := range [][]int{rows, rows[:20]} {
				var k [2]*mat.SymDense
				var grad [2][]float64
				for v, kern := range []kernel.Kernel{plain, keeps} {
					cov := at(t, kern, theta)
					k[v], grad[v] = mat.NewSymDense(len(list), nil), []float64{1, 2}
					if err := errors.Join(
						cov.Gram(t.Context(), k[v], list),
						cov.GramGrad(t.Context(), grad[v], list, g.SliceSym(0, len(list)).(*mat.SymDense))); err != nil {
						t.Fatal(err)
					}
				}
				if !mat.Equal(k[0], k[1]) {
					t.Errorf("κ = %v, %d rows, %d bytes: another K", kappa, len(list), maxBytes)
				}
				for j := range grad[0] {
					if math.Abs(grad[0][j]-grad[1][j]) > 1e-11*float64(len(list)) {
						t.Errorf("κ = %v, %d rows, %d bytes: gradient %v, want %v", kappa, len(list), maxBytes, grad[1], grad[0])
					}
				}
			}
		}
	}
	// What a cancelled pass left behind is not used.
	keeps := kernel.Cached(plain, rows, 1000*triangle)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	k, want := mat.NewSymDense(len(rows), nil), mat.NewSymDense(len(rows), nil)
	cov := at(t, keeps, []float64{1, 3})
	if err := cov.Gram(ctx, k, rows); !errors.Is(err, context.Canceled) {
		t.Errorf("Gram after the end: %v", err)
	}
	if err := errors.Join(cov.Gram(t.Context(), k, rows), at(t, plain, []float64{1, 3}).Gram(t.Context(), want, rows)); err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(k, want) {
		t.Error("another K after a pass that was cancelled")
	}
}

func TestSeriesRefuses(t *testing.T) {
	t.Parallel()
	csr := func(rows, cols int, ptr []int, col []uint32, val []float64) *sparse.CSR {
		w, err := sparse.NewCSR(rows, cols, ptr, col, val)
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	for name, w := range map[string]*sparse.CSR{
		"empty":      csr(0, 0, []int{0}, nil, nil),
		"not square": csr(1, 2, []int{0, 1}, []uint32{1}, []float64{1}),
		"one-sided":  csr(2, 2, []int{0, 1, 1}, []uint32{1}, []float64{1}),
		"off by a little": csr(3, 3, []int{0, 2, 4, 6}, []uint32{1, 2, 0, 2, 0, 1},
			[]float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5 + 1e-9}),
		"rotation": csr(2, 2, []int{0, 1, 2}, []uint32{1, 0}, []float64{1, -1}),
	} {
		if _, err := kernel.NewSeries(w, kernel.Diffusion{}, 5); !errors.Is(err, kernel.ErrMatrix) {
			t.Errorf("NewSeries of a matrix that is %s: %v", name, err)
		}
		if _, err := kernel.NewDense(w, kernel.Diffusion{}); !errors.Is(err, kernel.ErrMatrix) {
			t.Errorf("NewDense of a matrix that is %s: %v", name, err)
		}
	}
	g := patchwork(t)
	if _, err := kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, -1); err == nil {
		t.Error("walks of length −1 were taken")
	}
	// A matrix of norm near 8 to the power 500, weighted by Matérn's slow decay.
	endless := newSeries(t, g.Normalized(graph.RawAdjacency), kernel.Matern{Nu: 1}, 500)
	if _, err := endless.At([]float64{1, 10}); !errors.Is(err, kernel.ErrTheta) {
		t.Errorf("a series that overflows: %v", err)
	}
}

func TestSeriesCancels(t *testing.T) {
	t.Parallel()
	cov := at(t, newSeries(t, patchwork(t).Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 20), []float64{1, 4})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := cov.Diag(ctx, make([]float64, 2), []int{0, 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("Diag after the end: %v", err)
	}
}

// Scratch blocks are reused.
func TestSeriesReusesBlocks(t *testing.T) {
	g, err := graph.Ring(20_000)
	if err != nil {
		t.Fatal(err)
	}
	cov := at(t, newSeries(t, g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 20), []float64{1, 4})
	rows := []int{0, 5}
	op := cov.Cross(rows, rows)
	dst, x := mat.NewDense(2, 3, nil), mat.NewDense(2, 3, []float64{1, 2, 3, 4, 5, 6})
	const runs = 50
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range runs {
		if err := op.Apply(t.Context(), dst, x); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	// The race detector makes a pool forget every fourth block.
	blocks := uint64(3 * 3 * 8 * g.Len())
	if got := (after.TotalAlloc - before.TotalAlloc) / runs; got > blocks/2 {
		t.Errorf("a product allocates %d bytes, and works on blocks of %d", got, blocks)
	}
}

func BenchmarkSeries(b *testing.B) {
	g, err := graph.Grid(73, 144)
	if err != nil {
		b.Fatal(err)
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	rows := make([]int, 1424)
	for a := range rows {
		rows[a] = (a * 7919) % g.Len()
	}
	for _, c := range []struct {
		m     kernel.Modulation
		theta []float64
	}{{kernel.Diffusion{}, []float64{1, 40}}, {kernel.Diffusion{}, []float64{1, 110}}, {kernel.Matern{Nu: 2.5}, []float64{1, 10}}} {
		cov := at(b, newSeries(b, w, c.m, 250), c.theta)
		k := mat.NewSymDense(len(rows), nil)
		name := fmt.Sprintf("%v(%v)", c.m, c.theta[1])
		b.Run(name+"/Gram", func(b *testing.B) {
			for b.Loop() {
				if err := cov.Gram(b.Context(), k, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/GramGrad", func(b *testing.B) {
			for b.Loop() {
				if err := cov.GramGrad(b.Context(), make([]float64, 2), rows, k); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
