package kernel

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/eigen"
)

// value is Σ c_k T_k(x), T_k(x) = cos(k·arccos x).
func (c polynomial) value(x float64) float64 {
	sum := 0.0
	for k, v := range c {
		sum += v * math.Cos(float64(k)*math.Acos(x))
	}
	return sum
}

func TestChebyshevEqualsPowers(t *testing.T) {
	t.Parallel()
	for _, f := range [][]float64{{3}, {0, 1}, {1, -2, 0.5, 0, 0.25}, {0, 0, 0, 0, 0, 0, 1}} {
		for _, norm := range []float64{1, 0.5, 3} {
			c := chebyshev(f, norm)
			d := chebyshev([]float64{0.5, -1, 2}, norm)
			for _, x := range []float64{-1, -0.7, 0, 0.2, 0.99, 1} {
				want, p, size := 0.0, 1.0, 0.0
				for _, v := range f {
					want += v * p
					size += math.Abs(v * p)
					p *= norm * x
				}
				if got := c.value(x); math.Abs(got-want) > 1e-12*(1+size) {
					t.Errorf("%v with norm %v at %v: %v, want %v", f, norm, x, got, want)
				}
				want *= 0.5 - norm*x + 2*norm*x*norm*x
				if got := c.times(d).value(x); math.Abs(got-want) > 1e-10*(1+size) {
					t.Errorf("product of %v with norm %v at %v: %v, want %v", f, norm, x, got, want)
				}
			}
		}
	}
}

// Interpolation reproduces polynomials, with even and odd terms, on any interval;
// a polynomial mapped from a part of an interval to the whole is the same
// function.
func TestInterpolate(t *testing.T) {
	t.Parallel()
	want := []polynomial{{3}, {1, -2, 0.5, 0, 0.25, 0.125}, {0, 0, 0, 0, 0, 0, 0, 1}}
	const lo, hi = -0.8, 3.1
	got := interpolate(lo, hi, 8, len(want), func(dst []float64, w float64) {
		for f, p := range want {
			dst[f] = p.at((2*w - lo - hi) / (hi - lo))
		}
	})
	for f, p := range got {
		for k, v := range p {
			exact := 0.0
			if k < len(want[f]) {
				exact = want[f][k]
			}
			if math.Abs(v-exact) > 1e-14 {
				t.Errorf("function %d: c_%d = %v, want %v", f, k, v, exact)
			}
		}
		whole := p.of(1.25, 0.25) // of [−1, 0.6] on [−1, 1]
		for _, x := range []float64{-1, -0.3, 0, 0.6} {
			if v, want := whole.value(x), p.value(1.25*x+0.25); math.Abs(v-want) > 1e-13 || math.Abs(whole.at(x)-want) > 1e-13 {
				t.Errorf("function %d at %v: %v and %v, want %v", f, x, v, whole.at(x), want)
			}
		}
	}
}

// The terms that trimmed drops are below 1e-14 of the whole, and the numbers of
// terms are those in the documentation of Series.
func TestTermsDieAway(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m             Modulation
		theta         []float64
		terms, powers int // of K
	}{
		{Diffusion{}, []float64{1, 110}, 84, 200},
		{Matern{2.5}, []float64{1, 10}, 116, 767},
	} {
		f := make([]float64, 1001)
		c.m.Coeffs(f, c.theta)
		psi := chebyshev(f, 1)
		all := psi.times(psi)
		k := all.trimmed()
		if len(k) != c.terms {
			t.Errorf("%v at %v takes %d terms, want %d", c.m, c.theta, len(k), c.terms)
		}
		tail, sum := 0.0, 0.0
		for i, v := range all {
			sum += math.Abs(v)
			if i >= len(k) {
				tail += math.Abs(v)
			}
		}
		if tail > 1e-14*sum {
			t.Errorf("%v at %v: terms left out add up to %v of %v", c.m, c.theta, tail, sum)
		}
		// The same of plain powers: K = Σ (f∗f)_r W^r.
		alpha, total := make([]float64, 2*len(f)-1), 0.0
		for i, a := range f {
			for j, b := range f {
				alpha[i+j] += a * b
			}
		}
		for _, v := range alpha {
			total += v
		}
		n, left := len(alpha), 0.0
		for ; left+alpha[n-1] <= 1e-14*total; n-- {
			left += alpha[n-1]
		}
		if n != c.powers {
			t.Errorf("%v at %v takes %d powers, want %d", c.m, c.theta, n, c.powers)
		}
	}
}

// The bound holds, and is tight on ordinary graphs.
func TestNormBound(t *testing.T) {
	t.Parallel()
	hubs, err := graph.BarabasiAlbert(150, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	grid, err := graph.Grid(9, 13)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		g    *graph.Graph
		w    graph.Normalization
		most float64 // times the norm
	}{
		{"grid", grid, graph.NormalizedAdjacency, 1 + 1e-12},
		{"hubs", hubs, graph.NormalizedAdjacency, 1 + 1e-12},
		{"grid", grid, graph.RawAdjacency, 1.05},
		{"hubs", hubs, graph.RawAdjacency, 1.05},
		{"grid", grid, graph.NormalizedLaplacian, 1.05},
		{"hubs", hubs, graph.NormalizedLaplacian, 1.1},
		{"hubs", hubs, graph.RawDiffusion, 1.05},
	} {
		w := c.g.Normalized(c.w)
		n, _ := w.Dims()
		a := mat.NewDense(n, n, nil)
		for i := range n {
			cols, vals := w.Row(i)
			for p, j := range cols {
				a.Set(i, int(j), vals[p])
			}
		}
		values, err := eigen.Symmetric(a, eigen.Falling)
		if err != nil {
			t.Fatal(err)
		}
		norm := 0.0
		for _, v := range values {
			norm = max(norm, math.Abs(v))
		}
		if got := normBound(w, nil); got < norm*(1-1e-12) || got > norm*c.most {
			t.Errorf("%s, %v: bound %v of norm %v", c.name, c.w, got, norm)
		}
	}
}
