package kernel_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/sparse"
	"grfgp/walk"
)

// alphas are power series, with zeros at ends of [−1, 1] and, in the complex
// plane, within the unit circle.
var alphas = [][]float64{
	{2},
	{1, 0.5, 0.25, 0.125},
	{1, -0.5, 0.3},
	{1, 1},     // zero at −1
	{1, -2, 1}, // zero at 1, twice
	{1, 0, 4},  // zeros ±i/2: the f_l grow
}

func newPower(t testing.TB, alpha []float64) *kernel.Power {
	t.Helper()
	p, err := kernel.NewPower(alpha)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// polynomial returns Σ_r c_r W^r by products of dense matrices.
func polynomial(w *sparse.CSR, c []float64) *mat.Dense {
	n, _ := w.Dims()
	full, power, sum := mat.NewDense(n, n, nil), mat.NewDense(n, n, nil), mat.NewDense(n, n, nil)
	for i := range n {
		power.Set(i, i, 1)
		cols, vals := w.Row(i)
		for p, j := range cols {
			full.Set(i, int(j), vals[p])
		}
	}
	for _, v := range c {
		var term mat.Dense
		term.Scale(v, power)
		sum.Add(sum, &term)
		term.Mul(full, power)
		power.Copy(&term)
	}
	return sum
}

// wholeGram returns K over all nodes.
func wholeGram(t testing.TB, k kernel.Kernel, theta []float64) *mat.SymDense {
	t.Helper()
	rows := make([]int, k.Nodes())
	for i := range rows {
		rows[i] = i
	}
	dst := mat.NewSymDense(len(rows), nil)
	if err := at(t, k, theta).Gram(context.Background(), dst, rows); err != nil {
		t.Fatal(err)
	}
	return dst
}

// apartBy returns the largest difference of two matrices, as a share of the
// largest entry of the second.
func apartBy(a, b mat.Matrix) float64 {
	r, c := b.Dims()
	gap, size := 0.0, 0.0
	for i := range r {
		for j := range c {
			gap = max(gap, math.Abs(a.At(i, j)-b.At(i, j)))
			size = max(size, math.Abs(b.At(i, j)))
		}
	}
	return gap / size
}

// By eigenvectors K is exactly Σ α_r W^r.
func TestPowerIsItsSeries(t *testing.T) {
	t.Parallel()
	for _, kind := range []graph.Normalization{graph.NormalizedAdjacency, graph.RawDiffusion} {
		w := patchwork(t).Normalized(kind)
		for _, alpha := range alphas {
			want := polynomial(w, alpha)
			want.Scale(1.7, want)
			k, err := kernel.NewDense(w, newPower(t, alpha))
			if err != nil {
				t.Fatal(err)
			}
			if gap := apartBy(wholeGram(t, k, []float64{1.7}), want); gap > 1e-12 {
				t.Errorf("%v on %v: dense is %.2g off", alpha, kind, gap)
			}
		}
	}
}

// Cut off at L the kernel of walks has the coefficients α_0 … α_L; it is as far
// from the series as Miss says, and no farther.
func TestPowerByWalks(t *testing.T) {
	t.Parallel()
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	for _, alpha := range alphas {
		p := newPower(t, alpha)
		for _, maxLen := range []int{0, 1, 3, 12} {
			f := make([]float64, maxLen+1)
			p.Coeffs(f, []float64{1})
			square := make([]float64, 2*maxLen+1)
			size := 0.0
			for i, a := range f {
				for j, b := range f {
					square[i+j] += a * b
				}
				size += math.Abs(a)
			}
			for r := range f {
				want := 0.0
				if r < len(alpha) {
					want = alpha[r]
				}
				if math.Abs(square[r]-want) > 1e-14*size*size {
					t.Errorf("%v to length %d: coefficient %d of the square is %v, want %v", alpha, maxLen, r, square[r], want)
				}
			}
			want := polynomial(w, square)
			opts := walk.Default()
			opts.MaxLen, opts.Walks, opts.Budget = maxLen, 200, 1000 // every row is exact
			features, err := walk.Sample(context.Background(), w, opts)
			if err != nil {
				t.Fatal(err)
			}
			grf, err := kernel.NewGRF(features, p)
			if err != nil {
				t.Fatal(err)
			}
			scale := size * size / mat.Max(want)
			if gap := apartBy(wholeGram(t, grf, []float64{1}), want); gap > 1e-6*scale { // of float32
				t.Errorf("%v to length %d: features are %.2g off", alpha, maxLen, gap)
			}
			series := newSeries(t, w, p, maxLen)
			if gap := apartBy(wholeGram(t, series, []float64{1}), want); gap > 1e-12*scale {
				t.Errorf("%v to length %d: the series is %.2g off", alpha, maxLen, gap)
			}
			// Over eigenvalues the two differ by Miss; the grid's reach ±1.
			exact := polynomial(w, alpha)
			var gap mat.Dense
			gap.Sub(want, exact)
			most := 0.0
			for k := range 1001 {
				v, x := 0.0, math.Cos(math.Pi*float64(k)/1000)
				for r := len(alpha) - 1; r >= 0; r-- {
					v = v*x + alpha[r]
				}
				most = max(most, v)
			}
			if got, miss := spectralNorm(&gap)/most, p.Miss(maxLen); got > miss*(1+1e-9)+1e-12 {
				t.Errorf("%v to length %d: the kernel is %v off, Miss says %v", alpha, maxLen, got, miss)
			}
		}
	}
}

// spectralNorm returns the largest absolute eigenvalue of a symmetric matrix.
func spectralNorm(a *mat.Dense) float64 {
	n, _ := a.Dims()
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, a.At(i, j))
		}
	}
	var eig mat.EigenSym
	if !eig.Factorize(s, false) {
		panic("no eigenvalues")
	}
	most := 0.0
	for _, v := range eig.Values(nil) {
		most = max(most, math.Abs(v))
	}
	return most
}

func TestPowerContract(t *testing.T) {
	w := patchwork(t).Normalized(graph.NormalizedAdjacency)
	for _, alpha := range alphas[1:5] {
		t.Run(fmt.Sprint(alpha), func(t *testing.T) {
			k, err := kernel.NewDense(w, newPower(t, alpha))
			if err != nil {
				t.Fatal(err)
			}
			kerneltest.Run(t, k, kerneltest.Options{})
		})
	}
	t.Run("series", func(t *testing.T) {
		kerneltest.Run(t, newSeries(t, w, newPower(t, alphas[1]), 30), kerneltest.Options{})
	})
}

func TestPowerRefuses(t *testing.T) {
	t.Parallel()
	diffusion := make([]float64, 10) // odd at the end: negative at −1
	for r := range diffusion {
		diffusion[r] = math.Pow(8, float64(r)) / math.Gamma(float64(r+1))
	}
	for _, c := range []struct {
		alpha []float64
		says  string
	}{
		{nil, "without coefficients"},
		{[]float64{0, 1}, "α_0"},
		{[]float64{-1}, "α_0"},
		{[]float64{1, math.NaN()}, "α_1"},
		{[]float64{1, 0, math.Inf(1)}, "α_2"},
		{[]float64{1, 1.001}, "at -1"},
		{[]float64{1, -2, 0.999}, "at 1"},
		{[]float64{0.2499, -1, 1}, "at 0.5"}, // −1e-4 in a dip of width 0.02
		{diffusion, "at -1"},
	} {
		_, err := kernel.NewPower(c.alpha)
		if !errors.Is(err, kernel.ErrTheta) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v, want %q", c.alpha, err, c.says)
		}
	}
	alpha := []float64{1, 0.5}
	p := newPower(t, alpha)
	alpha[1] = 7
	if got := p.Density(1, []float64{1}); got != 1.5 {
		t.Errorf("the family followed the list it was made from: %v", got)
	}
}
