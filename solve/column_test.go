package solve

import (
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
)

// growing returns a factor of n rows with room for more, by columns that decay.
func growing(t testing.TB, n int) *Cholesky {
	h := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			h.SetSym(i, j, 1/float64(1+(j-i)*(j-i)))
		}
	}
	c, err := NewCholesky(h)
	if err != nil {
		t.Fatal(err)
	}
	next := make([]float64, n+1)
	for j := range next {
		next[j] = 1 / float64(1+(n-j)*(n-j))
	}
	if err := c.Append(next); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestColumnBits: solves with one right-hand side have the bits of plain substitution, at any
// number of threads, size and distance of the elements.
func TestColumnBits(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, n := range []int{1, 63, columnRows - 1, columnRows, 2*columnRows + 37, 777} {
		c := growing(t, n)
		n := c.N()
		for _, inc := range []int{1, 3} {
			b := normals(n, inc, uint64(n)).RawMatrix().Data
			for _, trans := range []blas.Transpose{blas.NoTrans, blas.Trans} {
				want := slices.Clone(b)
				blas64.Trsv(trans, lower(c.l), blas64.Vector{N: n, Inc: inc, Data: want})
				for _, threads := range []int{1, 2, 5} {
					runtime.GOMAXPROCS(threads)
					got := slices.Clone(b)
					solveColumn(trans, c.l, got, inc)
					if !slices.Equal(got, want) {
						t.Errorf("%d rows, elements %d apart, on %d threads: other bits than one after the other", n, inc, threads)
					}
				}
			}
		}
	}
}

// TestExtendLower: L⁻¹y in parts has the bits of L⁻¹y at once, and a half solve after it those
// of Solve.
func TestExtendLower(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 70, 600} {
		c := growing(t, n)
		n := c.N()
		y := normals(n, 1, 5).RawMatrix().Data
		lower, whole := mat.NewDense(n, 1, nil), mat.NewDense(n, 1, nil)
		c.SolveLower(lower, mat.NewDense(n, 1, y))
		c.Solve(whole, mat.NewDense(n, 1, y))
		want := lower.RawMatrix().Data
		for _, known := range []int{0, 1, n / 2, n - 1, n} {
			z := slices.Clone(want[:known])
			got := c.ExtendLower(z[:known:known], y)
			if !slices.Equal(got, want) || !slices.Equal(z, want[:known]) {
				t.Errorf("%d of %d rows known: other bits than all at once", known, n)
			}
			x := make([]float64, n)
			c.SolveUpper(x, got)
			if !slices.Equal(x, whole.RawMatrix().Data) {
				t.Errorf("%d of %d rows known: other bits than Solve", known, n)
			}
		}
	}
}

// TestSolveByColumns: triangles with many right-hand sides, on many processors, have the bits of one processor.
func TestSolveByColumns(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n, m = 260, 610
	l := normals(n, n, 1)
	for i := range n {
		l.Set(i, i, 20+l.At(i, i))
	}
	for _, transposed := range []bool{false, true} {
		for name, solve := range map[string]func(l, b dense.Matrix){"L": solveLower, "Lᵀ": solveLowerT} {
			var want *mat.Dense
			for _, threads := range []int{1, 2, 5, 16} {
				runtime.GOMAXPROCS(threads)
				x := normals(n, m, 2)
				b := dense.View(x)
				if transposed {
					x = mat.DenseCopyOf(x.T())
					b = dense.View(x).T()
				}
				solve(dense.View(l), b)
				if want == nil {
					want = x
				}
				if !mat.Equal(x, want) {
					t.Errorf("%s, transposed %t: other bits with %d threads", name, transposed, threads)
				}
			}
			var product mat.Dense
			x, lower := mat.Matrix(want), mat.NewDense(n, n, nil)
			if transposed {
				x = want.T()
			}
			for i := range n {
				copy(lower.RawRowView(i)[:i+1], l.RawRowView(i))
			}
			if name == "L" {
				product.Mul(lower, x)
			} else {
				product.Mul(lower.T(), x)
			}
			if product.Sub(&product, normals(n, m, 2)); mat.Norm(&product, 2) > 1e-9 {
				t.Errorf("%s, transposed %t: off by %g", name, transposed, mat.Norm(&product, 2))
			}
		}
	}
}

// BenchmarkColumn is one right-hand side beside plain substitution.
func BenchmarkColumn(b *testing.B) {
	c := growing(b, 2000)
	x := make([]float64, c.N())
	for name, solve := range map[string]func(t blas.Transpose){
		"shared": func(t blas.Transpose) { solveColumn(t, c.l, x, 1) },
		"plain":  func(t blas.Transpose) { blas64.Trsv(t, lower(c.l), blas64.Vector{N: c.N(), Inc: 1, Data: x}) },
	} {
		for what, t := range map[string]blas.Transpose{"lower": blas.NoTrans, "upper": blas.Trans} {
			b.Run(what+"/"+name, func(b *testing.B) {
				for b.Loop() {
					for i := range x {
						x[i] = 1
					}
					solve(t)
				}
			})
		}
	}
}
