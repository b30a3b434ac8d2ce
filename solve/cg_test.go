package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/testkit"
	"grfgp/space"
)

var background = context.Background()

func TestCGAgainstDense(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 20, 70} {
		for _, cond := range []float64{1, 1e2, 1e4, 1e8} {
			if n == 1 && cond > 1 {
				continue
			}
			t.Run(fmt.Sprintf("n=%d cond=%g", n, cond), func(t *testing.T) {
				a := withSpectrum(t, []float64{1}, 1)
				if n > 1 {
					a = withCondition(t, n, cond, 1)
				}
				noise := constant(n, 0)
				b := normals(n, 3, 2)
				// Rounding alone leaves a residual of about 1e-16·cond.
				opts := Options{Tol: max(1e-9, 1e-14*cond), MaxIter: 1000 * n}
				x := mat.NewDense(n, 3, nil)
				stats, err := CG(background, x, a, noise, b, nil, opts)
				if err != nil {
					t.Fatal(err)
				}
				// A relative residual of ε allows an error of cond·ε.
				if d := distance(x, solved(t, a, noise, b)); d > 2*cond*opts.Tol {
					t.Errorf("distance %g from the dense solution", d)
				}
				if int64(stats.Products) != a.products.Load() {
					t.Errorf("%d products counted, %d made", stats.Products, a.products.Load())
				}
				checkResiduals(t, stats, x, a, noise, b)
			})
		}
	}
}

// checkResiduals compares the reported residuals with their definition, which
// rounding changes by about 1e-16 ‖A‖‖x‖/‖b‖.
func checkResiduals(t *testing.T, stats Stats, x *mat.Dense, a *matrix, noise []float64, b *mat.Dense) {
	t.Helper()
	var r mat.Dense
	r.Mul(a.shifted(noise), x)
	r.Sub(b, &r)
	for j, got := range stats.Residuals {
		want := mat.Norm(r.ColView(j), 2) / mat.Norm(b.ColView(j), 2)
		slack := 1e-15 * mat.Norm(a, 2) * mat.Norm(x.ColView(j), 2) / mat.Norm(b.ColView(j), 2)
		if math.Abs(got-want) > slack+1e-12 {
			t.Errorf("residual of column %d is %g, reported as %g", j, want, got)
		}
	}
}

func TestCGWithNoise(t *testing.T) {
	t.Parallel()
	const n = 120
	a := lowRankMatrix(t, n, 30, 1)
	noise := constant(n, 0)
	for i := range noise {
		noise[i] = 0.1 + float64(i)/n
	}
	b := normals(n, 5, 2)
	x := mat.NewDense(n, 5, nil)
	stats, err := CG(background, x, a, noise, b, nil, Options{Tol: 1e-10, MaxIter: 500})
	if err != nil {
		t.Fatal(err)
	}
	if d := distance(x, solved(t, a, noise, b)); d > 1e-7 {
		t.Errorf("distance %g from the dense solution", d)
	}
	checkResiduals(t, stats, x, a, noise, b)
}

// TestCGSharesProducts: one product an iteration, whatever the number of
// columns, one more for the final residuals, and one for a warm start.
func TestCGSharesProducts(t *testing.T) {
	t.Parallel()
	const n = 80
	a := withCondition(t, n, 100, 1)
	b := normals(n, 6, 2)
	x := mat.NewDense(n, 6, nil)
	cold, err := CG(background, x, a, constant(n, 0.1), b, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if cold.Products != cold.Iterations+1 {
		t.Errorf("%d products for %d iterations from zero", cold.Products, cold.Iterations)
	}
	again, err := CG(background, x, a, constant(n, 0.1), b, nil, DefaultOptions())
	if err != nil || again.Iterations != 0 || again.Products != 1 {
		t.Errorf("from the solution: %+v, %v", again, err)
	}
	// A system nearby.
	warm, err := CG(background, x, a, constant(n, 0.1001), b, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if warm.Iterations >= cold.Iterations*3/4 || warm.Products != warm.Iterations+2 {
		t.Errorf("warm start: %d iterations, %d products; from zero %d iterations", warm.Iterations, warm.Products, cold.Iterations)
	}
	if d := distance(x, solved(t, a, constant(n, 0.1001), b)); d > 1e-4 {
		t.Errorf("warm start: distance %g", d)
	}
}

// TestCGColumnsAreIndependent: the columns of a block have the same bits as
// solved alone, although easy ones stop early and are dropped.
func TestCGColumnsAreIndependent(t *testing.T) {
	t.Parallel()
	const n, k = 90, 8
	a := withCondition(t, n, 1e3, 1)
	noise := constant(n, 1e-3)
	b := normals(n, k, 2)
	var eig mat.EigenSym
	var vectors mat.Dense
	eig.Factorize(a, true)
	eig.VectorsTo(&vectors)
	for j := range 4 { // eigenvectors: solved in one step, but for rounding
		b.SetCol(2*j, mat.Col(nil, j, &vectors))
	}
	opts := Options{Tol: 1e-8, MaxIter: 1000}
	for _, precond := range []Preconditioner{nil, jacobi(t, a.diag(), noise), leading(t, a, noise, 20)} {
		a.products.Store(0)
		a.columns.Store(0)
		x := mat.NewDense(n, k, nil)
		stats, err := CG(background, x, a, noise, b, precond, opts)
		if err != nil {
			t.Fatal(err)
		}
		if precond == nil {
			if mean := float64(a.columns.Load()) / float64(stats.Products); mean > 0.6*k {
				t.Errorf("%.1f columns in the average product: those done were not dropped", mean)
			}
		}
		for j := range k {
			one := mat.NewDense(n, 1, nil)
			if _, err := CG(background, one, a, noise, mat.DenseCopyOf(b.Slice(0, n, j, j+1)), precond, opts); err != nil {
				t.Fatal(err)
			}
			if !mat.Equal(one, x.Slice(0, n, j, j+1)) {
				t.Errorf("column %d differs from the same alone by %g", j, distance(x.Slice(0, n, j, j+1), one))
			}
		}
	}
}

func TestCGZeroRightHandSides(t *testing.T) {
	t.Parallel()
	const n = 30
	a := withCondition(t, n, 10, 1)
	b := normals(n, 3, 2)
	for i := range n {
		b.Set(i, 1, 0)
	}
	x := normals(n, 3, 3) // a guess, wrong for the zeros too
	stats, err := CG(background, x, a, constant(n, 0.1), b, nil, DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	if mat.Norm(x.ColView(1), 2) != 0 || stats.Residuals[1] != 0 {
		t.Errorf("solution of zeros has norm %g, residual %g", mat.Norm(x.ColView(1), 2), stats.Residuals[1])
	}
	if d := distance(x, solved(t, a, constant(n, 0.1), b)); d > 1e-5 {
		t.Errorf("distance %g", d)
	}
	x.Zero()
	stats, err = CG(background, x, a, constant(n, 0.1), mat.NewDense(n, 3, nil), nil, DefaultOptions())
	if err != nil || stats.Iterations != 0 || !stats.Converged {
		t.Errorf("all zeros: %+v, %v", stats, err)
	}
	if stats, err := CG(background, &mat.Dense{}, laplacian(0), nil, &mat.Dense{}, nil, DefaultOptions()); err != nil || !stats.Converged {
		t.Errorf("empty system: %+v, %v", stats, err)
	}
}

// TestCGScales: right-hand sides far from 1, in views of larger matrices.
func TestCGScales(t *testing.T) {
	t.Parallel()
	const n = 30
	a := withCondition(t, n, 10, 1)
	noise := constant(n, 0.5)
	base := normals(n, 1, 2)
	want := solved(t, a, noise, base)
	wide, out := mat.NewDense(n, 7, nil), mat.NewDense(n, 7, nil)
	scales := []float64{1e-300, 1, 1e300}
	for i := range n {
		for j, s := range scales {
			wide.Set(i, 2+j, s*base.At(i, 0))
		}
		out.Set(i, 1, 7)
		out.Set(i, 5, 7)
	}
	x := out.Slice(0, n, 2, 5).(*mat.Dense)
	if _, err := CG(background, x, a, noise, wide.Slice(0, n, 2, 5).(*mat.Dense), nil, DefaultOptions()); err != nil {
		t.Fatal(err)
	}
	for j, s := range scales {
		for i := range n {
			if d := math.Abs(x.At(i, j)/s - want.At(i, 0)); d > 1e-4 {
				t.Fatalf("scale %g, row %d: off by %g", s, i, d)
			}
		}
	}
	for i := range n {
		if out.At(i, 1) != 7 || out.At(i, 5) != 7 || out.At(i, 0) != 0 {
			t.Fatalf("row %d was written beside the view", i)
		}
	}
}

func TestCGDeterministic(t *testing.T) {
	const n, k = 3000, 5
	b := normals(n, k, 1)
	noise := constant(n, 0.05)
	solve := func(procs int) *mat.Dense {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		x := mat.NewDense(n, k, nil)
		if _, err := CG(background, x, laplacian(n), noise, b, jacobi(t, constant(n, 2), noise), Options{Tol: 1e-8, MaxIter: 1000}); err != nil {
			t.Fatal(err)
		}
		return x
	}
	want := solve(1)
	for _, procs := range []int{2, 5} {
		if !mat.Equal(solve(procs), want) {
			t.Errorf("%d processors give other bits", procs)
		}
	}
}

func TestCGNotConverged(t *testing.T) {
	t.Parallel()
	const n = 100
	a := withCondition(t, n, 1e6, 1)
	b := normals(n, 2, 2)
	want := solved(t, a, constant(n, 0), b)
	x := mat.NewDense(n, 2, nil)
	stats, err := CG(background, x, a, constant(n, 0), b, nil, Options{Tol: 1e-9, MaxIter: 10})
	if !errors.Is(err, ErrNotConverged) || stats.Converged || stats.Iterations != 10 {
		t.Fatalf("%+v, %v", stats, err)
	}
	worst, _ := stats.Worst()
	for _, part := range []string{"10 iterations", fmt.Sprintf("%.3g", worst)} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	checkResiduals(t, stats, x, a, constant(n, 0), b)
	if distance(x, want) >= 1 {
		t.Error("the last iterate is no better than zero")
	}
	stats, err = CG(background, x, a, constant(n, 0), b, nil, Options{Tol: 1e-9, MaxIter: 0})
	if !errors.Is(err, ErrNotConverged) || stats.Iterations != 0 || stats.Products != 1 {
		t.Errorf("without iterations: %+v, %v", stats, err)
	}
}

// TestCGStalls: a tolerance below what rounding allows ends by itself.
func TestCGStalls(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 60
	a := withCondition(t, n, 1e8, 1)
	b := normals(n, 2, 2)
	x := mat.NewDense(n, 2, nil)
	stats, err := CG(background, x, a, constant(n, 0), b, nil, Options{Tol: 1e-15, MaxIter: 1 << 20})
	if !errors.Is(err, ErrNotConverged) || stats.Iterations > 1<<16 {
		t.Fatalf("%d iterations, %v", stats.Iterations, err)
	}
	if worst, _ := stats.Worst(); worst > 1e-7 {
		t.Errorf("stalled at %g", worst)
	}
	checkResiduals(t, stats, x, a, constant(n, 0), b)
}

// TestCGPolishes: where the recursion drifts from the truth, a restart from the
// true residual reaches the tolerance all the same.
func TestCGPolishes(t *testing.T) {
	t.Parallel()
	const n = 60
	a := withCondition(t, n, 1e4, 1)
	b := normals(n, 1, 2)
	x := normals(n, 1, 3)
	x.Scale(1e8, x) // rounding of this guess is far above the tolerance
	stats, err := CG(background, x, a, constant(n, 0), b, nil, Options{Tol: 1e-10, MaxIter: 10000})
	if err != nil {
		t.Fatal(err)
	}
	if stats.Products < stats.Iterations+3 {
		t.Errorf("%d products for %d iterations: no restart", stats.Products, stats.Iterations)
	}
}

func TestCGNotPositiveDefinite(t *testing.T) {
	t.Parallel()
	const n = 20
	b := normals(n, 2, 2)
	indefinite := constant(n, 1)
	indefinite[3] = -1
	nan := withCondition(t, n, 10, 1)
	nan.SetSym(2, 3, math.NaN())
	inf := withCondition(t, n, 10, 1)
	inf.SetSym(2, 2, math.Inf(1))
	for name, a := range map[string]*matrix{
		"indefinite": withSpectrum(t, indefinite, 1),
		"zero":       {SymDense: mat.NewSymDense(n, nil)},
		"NaN":        nan,
		"infinite":   inf,
	} {
		x := mat.NewDense(n, 2, nil)
		if _, err := CG(background, x, a, constant(n, 0), b, nil, DefaultOptions()); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("%s: %v", name, err)
		}
		x = normals(n, 2, 3) // a warm start meets the NaN in the first residual
		if _, err := CG(background, x, a, constant(n, 0), b, nil, DefaultOptions()); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("%s, warm: %v", name, err)
		}
	}
	_, err := CG(background, mat.NewDense(n, 2, nil), withCondition(t, n, 10, 1), constant(n, 0), b, negative{}, DefaultOptions())
	if !errors.Is(err, ErrNotPositiveDefinite) || !strings.Contains(err.Error(), "preconditioner") {
		t.Errorf("negative preconditioner: %v", err)
	}
}

type negative struct{}

func (negative) Apply(dst, r space.Block) { dst.Scale(r, nil, -1) }

func TestCGArguments(t *testing.T) {
	t.Parallel()
	const n = 4
	a := withCondition(t, n, 10, 1)
	b, noise := normals(n, 2, 2), constant(n, 0)
	withNaN := mat.DenseCopyOf(b)
	withNaN.Set(1, 1, math.NaN())
	vast := mat.DenseCopyOf(b)
	vast.Set(1, 1, math.MaxFloat64)
	vast.Set(2, 1, math.MaxFloat64)
	ok := DefaultOptions()
	for name, c := range map[string]struct {
		dst   *mat.Dense
		a     Operator
		noise []float64
		b     *mat.Dense
		opts  Options
	}{
		"no tolerance":        {mat.NewDense(n, 2, nil), a, noise, b, Options{MaxIter: 10}},
		"tolerance NaN":       {mat.NewDense(n, 2, nil), a, noise, b, Options{Tol: math.NaN(), MaxIter: 10}},
		"tolerance infinite":  {mat.NewDense(n, 2, nil), a, noise, b, Options{Tol: math.Inf(1), MaxIter: 10}},
		"negative iterations": {mat.NewDense(n, 2, nil), a, noise, b, Options{Tol: 1, MaxIter: -1}},
		"columns":             {mat.NewDense(n, 3, nil), a, noise, b, ok},
		"rows":                {mat.NewDense(n+1, 2, nil), a, constant(n, 0), normals(n+1, 2, 2), ok},
		"few noise":           {mat.NewDense(n, 2, nil), a, noise[:2], b, ok},
		"noise NaN":           {mat.NewDense(n, 2, nil), a, constant(n, math.NaN()), b, ok},
		"not square":          {mat.NewDense(n, 2, nil), oblong{}, noise, b, ok},
		"right-hand side NaN": {mat.NewDense(n, 2, nil), a, noise, withNaN, ok},
		"vast":                {mat.NewDense(n, 2, nil), a, noise, vast, ok},
		"guess NaN":           {mat.DenseCopyOf(withNaN), a, noise, b, ok},
	} {
		if _, err := CG(background, c.dst, c.a, c.noise, c.b, nil, c.opts); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

type oblong struct{ laplacian }

func (oblong) Dims() (int, int) { return 4, 5 }

// failing is an Operator that ends a context, or fails, after some products.
type failing struct {
	laplacian
	left   int
	cancel func()
	err    error
}

func (f *failing) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if f.left--; f.left == 0 {
		if f.cancel == nil {
			return f.err
		}
		f.cancel()
	}
	return f.laplacian.Apply(context.Background(), dst, x)
}

func TestCGStops(t *testing.T) {
	t.Parallel()
	const n = 2000
	b := normals(n, 2, 1)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	stats, err := CG(ctx, mat.NewDense(n, 2, nil), &failing{laplacian: n, left: 5, cancel: cancel}, constant(n, 0), b, nil, DefaultOptions())
	if !errors.Is(err, context.Canceled) || stats.Iterations != 5 || stats.Residuals != nil {
		t.Errorf("after a cancel: %d iterations, %v", stats.Iterations, err)
	}
	broken := errors.New("broken")
	for _, x := range []*mat.Dense{mat.NewDense(n, 2, nil), normals(n, 2, 2)} {
		if _, err := CG(background, x, &failing{laplacian: n, left: 1, err: broken}, constant(n, 0), b, nil, DefaultOptions()); !errors.Is(err,
			broken) {
			t.Errorf("failing product: %v", err)
		}
	}
}

func TestCGProgress(t *testing.T) {
	t.Parallel()
	const n = 50
	opts := DefaultOptions()
	calls, last := 0, math.Inf(1)
	opts.Progress = func(i int, residual float64) {
		if calls++; i != calls {
			t.Errorf("call %d is about iteration %d", calls, i)
		}
		last = residual
	}
	stats, err := CG(background, mat.NewDense(n, 2, nil), withCondition(t, n, 100, 1), constant(n, 0), normals(n, 2, 2), nil, opts)
	if err != nil || calls != stats.Iterations || last > opts.Tol {
		t.Errorf("%d calls for %d iterations, last %g: %v", calls, stats.Iterations, last, err)
	}
}

// TestCGAllocations: an iteration allocates a few headers and scalars, whatever the number of rows: no blocks.
func TestCGAllocations(t *testing.T) {
	testkit.Unraced(t) // it allocates itself
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const k, few, many = 4, 3, 53
	for _, n := range []int{1000, 20_000} {
		b, x, noise := normals(n, k, 1), mat.NewDense(n, k, nil), constant(n, 0)
		for _, precond := range []Preconditioner{nil, jacobi(t, constant(n, 2), noise)} {
			allocs := func(iterations int) float64 {
				return testing.AllocsPerRun(5, func() {
					x.Zero()
					if _, err := CG(background, x, laplacian(n), noise, b, precond, Options{Tol: 1e-12, MaxIter: iterations}); !errors.Is(err,
						ErrNotConverged) {
						t.Fatal(err)
					}
				})
			}
			if each := (allocs(many) - allocs(few)) / (many - few); each > 16 {
				t.Errorf("%d rows: %.1f allocations in an iteration", n, each)
			}
		}
	}
}

// TestCGFromAFactor: from the solution of a factor, CG finds nothing to do, with one product; from one that is a little off,
// it goes on.
func TestCGFromAFactor(t *testing.T) {
	t.Parallel()
	const n = 60
	a := withCondition(t, n, 1e3, 1)
	b, noise := normals(n, 2, 2), constant(n, 1e-3)
	want := solved(t, a, noise, b)
	chol, err := NewCholesky(a.shifted(noise))
	if err != nil {
		t.Fatal(err)
	}
	x := mat.NewDense(n, 2, nil)
	chol.Solve(x, b)
	stats, err := CG(background, x, a, noise, b, nil, DefaultOptions())
	if err != nil || stats.Iterations != 0 || stats.Products != 1 || !stats.Converged || distance(x, want) > 1e-10 {
		t.Errorf("from the solution: %+v, %v", stats, err)
	}
	x.Scale(1+1e-3, x)
	stats, err = CG(background, x, a, noise, b, nil, DefaultOptions())
	if err != nil || stats.Iterations == 0 || distance(x, want) > 1e-3 {
		t.Errorf("from near the solution: %+v, %v", stats, err)
	}
}

// TestCGColumnTolerances: every column stops at its own tolerance, and one that
// does not is named with it.
func TestCGColumnTolerances(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 200
	a := withCondition(t, n, 1e4, 1)
	b, x := normals(n, 3, 2), mat.NewDense(n, 3, nil)
	tols := []float64{1e-8, 1e-1, 1e-4}
	stats, err := CG(background, x, a, constant(n, 0), b, nil, Options{ColumnTol: tols, MaxIter: 2000})
	if err != nil || !stats.Converged {
		t.Fatal(stats, err)
	}
	for j, tol := range tols {
		if r := stats.Residuals[j]; r > tol || r < tol/1000 {
			t.Errorf("residual %g in column %d, wanted %g", r, j, tol)
		}
	}
	checkResiduals(t, stats, x, a, constant(n, 0), b)
	x.Zero()
	_, err = CG(background, x, a, constant(n, 0), b, nil, Options{ColumnTol: []float64{1e-3, 10, 1e-12}, MaxIter: 20})
	if !errors.Is(err, ErrNotConverged) || !strings.Contains(err.Error(), "in column 2") || !strings.Contains(err.Error(), "wanted 1e-12") {
		t.Errorf("%v", err)
	}
	for _, bad := range [][]float64{{1e-3}, {1e-3, 0, 1e-3}, {1e-3, 1e-3, math.NaN()}} {
		if _, err := CG(background, x, a, constant(n, 0), b, nil, Options{ColumnTol: bad, MaxIter: 20}); !errors.Is(err, ErrArgument) {
			t.Errorf("tolerances %v: %v", bad, err)
		}
	}
}

// TestCGRecursive: no product is spent on checking.
func TestCGRecursive(t *testing.T) {
	t.Parallel()
	const n = 80
	a := withCondition(t, n, 100, 1)
	b := normals(n, 6, 2)
	x := mat.NewDense(n, 6, nil)
	stats, err := CG(background, x, a, constant(n, 0.1), b, nil, Options{Tol: 1e-6, MaxIter: 1000, Recursive: true})
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

func BenchmarkCG(b *testing.B) {
	const n = 1 << 17
	for _, k := range []int{1, 16} {
		b.Run(fmt.Sprintf("columns=%d", k), func(b *testing.B) {
			rhs, x, noise := normals(n, k, 1), mat.NewDense(n, k, nil), constant(n, 1e-2)
			iterations := 0
			for b.Loop() {
				x.Zero()
				stats, err := CG(background, x, laplacian(n), noise, rhs, nil, DefaultOptions())
				if err != nil {
					b.Fatal(err)
				}
				iterations += stats.Iterations
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(iterations*n*k), "ns/element")
		})
	}
}
