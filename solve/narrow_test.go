package solve

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/space"
)

// narrowed returns the system of a matrix with a narrow one, whose products it counts.
func narrowed(t testing.TB, a *matrix, noise []float64) (s *System, singles *int) {
	t.Helper()
	s, singles = SystemOf(a, noise), new(int)
	in, _, err := systemIn(background, space.Narrow(s.Space), s.Axis, space.Of(sparseOf(t, a)), noise)
	if err != nil {
		t.Fatal(err)
	}
	apply := in.Apply
	in.Apply = func(ctx context.Context, dst, x space.Block) error {
		*singles++
		return apply(ctx, dst, x)
	}
	s.Narrow = in
	return s, singles
}

// solve is System.CG from zero, for matrices.
func (s *System) solve(x, b *mat.Dense, opts Options) (Stats, error) {
	_, k := b.Dims()
	to, from := s.Space.Block(s.Axis, k), s.Space.Block(s.Axis, k)
	to.Zero()
	from.Set(mat.DenseCopyOf(b).RawMatrix().Data)
	stats, err := s.CG(background, to, from, true, opts)
	to.Get(x.RawMatrix().Data)
	return stats, err
}

// TestCGSingle: iterations of float32 reach a tolerance below the rounding of float32,
// by restarts from the true residual, with all products of float32.
func TestCGSingle(t *testing.T) {
	t.Parallel()
	const n, k = 120, 5
	a, noise := withCondition(t, n, 200, 1), constant(n, 0.01)
	b := normals(n, k, 2)
	s, singles := narrowed(t, a, noise)
	for name, precond := range map[string]func(space.Space) Preconditioner{
		"none":   func(space.Space) Preconditioner { return nil },
		"Jacobi": func(s space.Space) Preconditioner { return jacobiIn(t, s, a.diag(), noise) },
		"low rank": func(s space.Space) Preconditioner {
			p, err := NewLowRank(s, space.Rows(n), normals(n, 2, 4), constant(n, 1))
			if err != nil {
				t.Fatal(err)
			}
			return p
		},
	} {
		s.Precond, s.Narrow.Precond = precond(s.Space), precond(s.Narrow.Space)
		for _, tol := range []float64{1e-2, 1e-5, 1e-10} {
			*singles = 0
			x := mat.NewDense(n, k, nil)
			opts := Options{Tol: tol, MaxIter: 2000, Single: true}
			stats, err := s.solve(x, b, opts)
			if err != nil {
				t.Fatal(err)
			}
			checkResiduals(t, stats, x, a, noise, b)
			if *singles != stats.Iterations || stats.Iterations == 0 {
				t.Errorf("%s, tolerance %g: %d of %d iterations by float32", name, tol, *singles, stats.Iterations)
			}
			opts.Single = false
			plain, err := s.solve(x, b, opts)
			if err != nil {
				t.Fatal(err)
			}
			if stats.Iterations > 4*plain.Iterations {
				t.Errorf("%s, tolerance %g: %d iterations of float32, %d of float64", name, tol, stats.Iterations, plain.Iterations)
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
	huge := withCondition(t, n, 10, 1)
	huge.ScaleSym(1e60, huge.SymDense)
	singular := constant(n, 1e-9)
	singular[0] = 1
	for name, a := range map[string]*matrix{"overflow": huge, "rounding": withSpectrum(t, singular, 3)} {
		s, singles := narrowed(t, a, constant(n, 0))
		x := mat.NewDense(n, 2, nil)
		stats, err := s.solve(x, b, Options{Tol: 1e-6, MaxIter: 5000, Single: true})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if *singles == 0 || *singles >= stats.Iterations {
			t.Errorf("%s: %d of %d iterations by float32", name, *singles, stats.Iterations)
		}
		checkResiduals(t, stats, x, a, constant(n, 0), b)
	}
	// What is not positive definite in float64 is an error.
	indefinite := constant(n, 1)
	indefinite[3] = -1
	s, _ := narrowed(t, withSpectrum(t, indefinite, 1), constant(n, 0))
	if _, err := s.solve(mat.NewDense(n, 2, nil), b, Options{Tol: 1e-6, MaxIter: 50, Single: true}); !errors.Is(err, ErrNotPositiveDefinite) {
		t.Errorf("indefinite: %v", err)
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
		s := SystemOf(laplacian(n), noise)
		var err error
		if s.Narrow, _, err = systemIn(background, space.Host32(), s.Axis, path(n), noise); err != nil {
			t.Fatal(err)
		}
		x := mat.NewDense(n, k, nil)
		if _, err := s.solve(x, b, Options{Tol: 1e-4, MaxIter: 1000, Single: true}); err != nil {
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
