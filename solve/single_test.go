package solve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"
)

// narrowed is a matrix with products of float32, counted.
type narrowed struct {
	*matrix
	singles int
}

func (m *narrowed) Single() func(ctx context.Context, dst, x blas32.General) error {
	return func(_ context.Context, dst, x blas32.General) error {
		m.singles++
		n := x.Rows
		for i := range n {
			for j := range x.Cols {
				sum := float32(0)
				for k := range n {
					sum += float32(float32(m.At(i, k)) * x.Data[k*x.Stride+j])
				}
				dst.Data[i*dst.Stride+j] = sum
			}
		}
		return nil
	}
}

// TestCGSingle: iterations of float32 reach a tolerance below the rounding of float32,
// by restarts from the true residual, with nearly all products of float32.
func TestCGSingle(t *testing.T) {
	t.Parallel()
	const n, k = 120, 5
	a := &narrowed{matrix: withCondition(t, n, 200, 1)}
	noise := constant(n, 0.01)
	b := normals(n, k, 2)
	jacobi, err := NewJacobi(a.diag(), noise)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Preconditioner{nil, jacobi} {
		for _, tol := range []float64{1e-2, 1e-5, 1e-10} {
			a.singles = 0
			x := mat.NewDense(n, k, nil)
			stats, err := CG(background, x, a, noise, b, Options{Tol: tol, MaxIter: 2000, Single: true, Precond: p})
			if err != nil {
				t.Fatal(err)
			}
			checkResiduals(t, stats, x, a.matrix, noise, b)
			if a.singles != stats.Iterations || stats.Iterations == 0 {
				t.Errorf("tolerance %g: %d of %d iterations by float32", tol, a.singles, stats.Iterations)
			}
			plain, err := CG(background, mat.NewDense(n, k, nil), a, noise, b, Options{Tol: tol, MaxIter: 2000, Precond: p})
			if err != nil {
				t.Fatal(err)
			}
			if stats.Iterations > 4*plain.Iterations {
				t.Errorf("tolerance %g: %d iterations of float32, %d of float64", tol, stats.Iterations, plain.Iterations)
			}
		}
	}
}

// TestCGSingleGivesWay: where float32 overflows, or stalls above the tolerance, float64
// finishes.
func TestCGSingleGivesWay(t *testing.T) {
	t.Parallel()
	const n = 40
	b := normals(n, 2, 2)
	huge := &narrowed{matrix: withCondition(t, n, 10, 1)}
	for i := range n {
		for j := i; j < n; j++ {
			huge.SetSym(i, j, 1e60*huge.At(i, j))
		}
	}
	singular := constant(n, 1e-9)
	singular[0] = 1
	hard := &narrowed{matrix: withSpectrum(t, singular, 3)}
	for name, a := range map[string]*narrowed{"overflow": huge, "rounding": hard} {
		x := mat.NewDense(n, 2, nil)
		stats, err := CG(background, x, a, constant(n, 0), b, Options{Tol: 1e-6, MaxIter: 5000, Single: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if a.singles == 0 || a.singles >= stats.Iterations {
			t.Errorf("%s: %d of %d iterations by float32", name, a.singles, stats.Iterations)
		}
		checkResiduals(t, stats, x, a.matrix, constant(n, 0), b)
	}
	// What is not positive definite in float64 is an error.
	indefinite := constant(n, 1)
	indefinite[3] = -1
	a := &narrowed{matrix: withSpectrum(t, indefinite, 1)}
	if _, err := CG(background, mat.NewDense(n, 2, nil), a, constant(n, 0), b, Options{Tol: 1e-6, MaxIter: 50, Single: true}); !errors.Is(err,
		ErrNotPositiveDefinite) {
		t.Errorf("indefinite: %v", err)
	}
}

// TestCGRecursive: no product is spent on checking.
func TestCGRecursive(t *testing.T) {
	t.Parallel()
	const n = 80
	a := withCondition(t, n, 100, 1)
	b := normals(n, 6, 2)
	x := mat.NewDense(n, 6, nil)
	stats, err := CG(background, x, a, constant(n, 0.1), b, Options{Tol: 1e-6, MaxIter: 1000, Recursive: true})
	if err != nil || stats.Products != stats.Iterations {
		t.Errorf("%d products, %d iterations: %v", stats.Products, stats.Iterations, err)
	}
	for j, r := range stats.Residuals {
		if !(r > 0 && r <= 1e-6) {
			t.Errorf("column %d: residual %g", j, r)
		}
	}
	if d := distance(x, solved(t, a, constant(n, 0.1), b)); d > 1e-4 {
		t.Errorf("distance %g", d)
	}
}

// pathSingle is a path's Laplacian with products of float32.
type pathSingle struct{ laplacian }

func (r pathSingle) Single() func(ctx context.Context, dst, x blas32.General) error {
	return func(_ context.Context, dst, x blas32.General) error {
		n := int(r.laplacian)
		for i := range n {
			for j := range x.Cols {
				at := func(i int) float32 {
					if i < 0 || i >= n {
						return 0
					}
					return x.Data[i*x.Stride+j]
				}
				dst.Data[i*dst.Stride+j] = 2*at(i) - at(i-1) - at(i+1)
			}
		}
		return nil
	}
}

// TestCGSingleDeterministic: float32, too, gives the same bits at any number of threads,
// and for columns alone or together.
func TestCGSingleDeterministic(t *testing.T) {
	const n, k = 5000, 5
	b, noise := normals(n, k, 1), constant(n, 0.5)
	run := func(procs int, b *mat.Dense) *mat.Dense {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		_, k := b.Dims()
		x := mat.NewDense(n, k, nil)
		if _, err := CG(background, x, pathSingle{n}, noise, b, Options{Tol: 1e-4, MaxIter: 1000, Single: true}); err != nil {
			t.Fatal(err)
		}
		return x
	}
	want := run(1, b)
	if math.IsNaN(want.At(0, 0)) || !mat.Equal(run(4, b), want) {
		t.Error("4 processors give other bits")
	}
	for j := range k {
		if one := run(2, mat.DenseCopyOf(b.Slice(0, n, j, j+1))); !mat.Equal(one, want.Slice(0, n, j, j+1)) {
			t.Errorf("column %d differs from the same alone", j)
		}
	}
}
