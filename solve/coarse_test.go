package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/rng"
	"grfgp/sparse"
)

// cells returns an n×m matrix with 0 to most entries per row, some of them in
// the same place; every seventh column is empty, if there are as many.
func cells(t testing.TB, n, m, most int, seed uint64) *sparse.CSR {
	t.Helper()
	r := rand.New(rng.New(seed, "cells"))
	rowPtr, cols, vals := []int{0}, []uint32(nil), []float64(nil)
	for range n {
		for range r.IntN(most + 1) {
			j := r.IntN(m)
			if j%7 == 6 {
				j--
			}
			cols, vals = append(cols, uint32(j)), append(vals, r.Float64())
		}
		rowPtr = append(rowPtr, len(cols))
	}
	return newCSR(t, n, m, rowPtr, cols, vals)
}

// prolongation returns smooth columns: a row lies between two of m nodes on a
// line, and sums to 1.
func prolongation(t testing.TB, n, m int) *sparse.CSR {
	t.Helper()
	rowPtr, cols, vals := []int{0}, []uint32(nil), []float64(nil)
	for i := range n {
		at := float64(i) / float64(n) * float64(m-1)
		j := int(at)
		cols, vals = append(cols, uint32(j), uint32(j+1)), append(vals, 1-(at-float64(j)), at-float64(j))
		rowPtr = append(rowPtr, len(cols))
	}
	return newCSR(t, n, m, rowPtr, cols, vals)
}

func newCSR(t testing.TB, n, m int, rowPtr []int, cols []uint32, vals []float64) *sparse.CSR {
	t.Helper()
	a, err := sparse.NewCSR(n, m, rowPtr, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// gramOf returns X·Xᵀ for m×k normal X: of rank k at most.
func gramOf(m, k int, seed uint64) *mat.SymDense {
	s := mat.NewSymDense(m, nil)
	if k > 0 {
		s.SymOuterK(1, normals(m, k, seed))
	}
	return s
}

// coarseDense returns A·C·Aᵀ.
func coarseDense(a *sparse.CSR, c *mat.SymDense) *matrix {
	n, m := a.Dims()
	full := mat.NewDense(n, m, nil)
	for i := range n {
		cols, vals := a.Row(i)
		for p, j := range cols {
			full.Set(i, int(j), full.At(i, int(j))+vals[p])
		}
	}
	var ac, product mat.Dense
	ac.Mul(full, c)
	product.Mul(&ac, full.T())
	s := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			s.SetSym(i, j, product.At(i, j))
		}
	}
	return &matrix{SymDense: s}
}

func TestCoarse(t *testing.T) {
	t.Parallel()
	const n = 120
	for name, c := range map[string]struct {
		n, m, most, rank int
	}{
		"full rank":                  {n, 40, 5, 40},
		"rank deficient":             {n, 40, 5, 7},
		"rank 1":                     {n, 40, 5, 1},
		"zero":                       {n, 40, 5, 0},
		"one column":                 {n, 1, 2, 1},
		"one row":                    {1, 3, 4, 2},
		"more columns than rows":     {30, 70, 5, 70},
		"blocked":                    {n, 300, 10, 300},
		"blocked and rank deficient": {n, 300, 10, 150},
		"A is zero":                  {n, 5, 0, 5},
	} {
		t.Run(name, func(t *testing.T) {
			a, gram, d := cells(t, c.n, c.m, c.most, 1), gramOf(c.m, c.rank, 2), variances(c.n)
			p, err := NewCoarse(a, gram, d)
			if err != nil {
				t.Fatal(err)
			}
			if p.Rank() != c.rank {
				t.Errorf("rank %d, want %d", p.Rank(), c.rank)
			}
			checkFactored(t, p, coarseDense(a, gram).shifted(d), 1e-9)
		})
	}
}

// TestCoarseIsLowRank: over more rows than a block, P is LowRank's for U = A·B.
func TestCoarseIsLowRank(t *testing.T) {
	t.Parallel()
	const n, m = 3000, 20
	d, a, x := variances(n), cells(t, n, m, 5, 1), normals(n, 3, 2)
	root := normals(m, 6, 3)
	gram := mat.NewSymDense(m, nil)
	gram.SymOuterK(1, root)
	coarse, err := NewCoarse(a, gram, d)
	if err != nil {
		t.Fatal(err)
	}
	u := mat.NewDense(n, 6, nil)
	a.Mul(u, root)
	low, err := NewLowRank(u, d)
	if err != nil {
		t.Fatal(err)
	}
	got, want := mat.NewDense(n, 3, nil), mat.NewDense(n, 3, nil)
	coarse.Apply(got, x)
	low.Apply(want, x)
	if d := distance(got, want); d > 1e-11 {
		t.Errorf("P⁻¹x is off that of LowRank by %g", d)
	}
	if d := math.Abs(coarse.LogDet()/low.LogDet() - 1); d > 1e-12 {
		t.Errorf("log det %g, want %g", coarse.LogDet(), low.LogDet())
	}
}

// TestCoarseNearlySingular: pivots that fall far below the first, and a strong
// coarse part, leave P⁻¹·P at the identity within their condition.
func TestCoarseNearlySingular(t *testing.T) {
	t.Parallel()
	const n, m = 150, 30
	c := withCondition(t, m, 1e18, 1)
	c.ScaleSym(1e4, c.SymDense)
	a, d := prolongation(t, n, m), variances(n)
	p, err := NewCoarse(a, c.SymDense, d)
	if err != nil {
		t.Fatal(err)
	}
	if r := p.Rank(); r < m/2 || r > m {
		t.Errorf("rank %d of %d", r, m)
	}
	checkFactored(t, p, coarseDense(a, c.SymDense).shifted(d), 1e-7)
}

func TestCoarseErrors(t *testing.T) {
	t.Parallel()
	const n, m = 10, 3
	a, c, d := cells(t, n, m, 2, 1), gramOf(m, m, 2), variances(n)
	with := func(i, j int, v float64) *mat.SymDense {
		s := mat.NewSymDense(m, nil)
		s.CopySym(c)
		s.SetSym(i, j, v)
		return s
	}
	zero := func(v float64) []float64 { x := variances(n); x[4] = v; return x }
	for name, call := range map[string]struct {
		a    *sparse.CSR
		c    *mat.SymDense
		d    []float64
		want error
	}{
		"diagonal too short":   {a, c, d[1:], ErrArgument},
		"matrix too small":     {a, gramOf(m-1, 1, 1), d, ErrArgument},
		"no rows":              {newCSR(t, 0, m, []int{0}, nil, nil), c, nil, ErrArgument},
		"NaN between columns":  {a, with(0, 2, math.NaN()), d, ErrArgument},
		"Inf between columns":  {a, with(1, 1, math.Inf(1)), d, ErrArgument},
		"zero on the diagonal": {a, c, zero(0), ErrNotPositiveDefinite},
		"negative diagonal":    {a, c, zero(-1), ErrNotPositiveDefinite},
		"NaN on the diagonal":  {a, c, zero(math.NaN()), ErrNotPositiveDefinite},
		"indefinite matrix":    {a, with(1, 1, -1), d, ErrNotPositiveDefinite},
		"too large to weigh": {newCSR(t, 1, 1, []int{0, 1}, []uint32{0}, []float64{1e200}), gramOf(1, 1, 1), []float64{1},
			ErrNotPositiveDefinite},
	} {
		if _, err := NewCoarse(call.a, call.c, call.d); !errors.Is(err, call.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCoarseDeterministic(t *testing.T) {
	const n, m, k = 5000, 150, 5
	a, c, d, x := cells(t, n, m, 6, 1), gramOf(m, 100, 2), variances(n), normals(n, k, 3)
	type result struct {
		apply, whiten, whitenT *mat.Dense
		logDet                 float64
	}
	run := func(procs int) result {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		p, err := NewCoarse(a, c, d)
		if err != nil {
			t.Fatal(err)
		}
		r := result{mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), mat.NewDense(n, k, nil), p.LogDet()}
		p.Apply(r.apply, x)
		p.Whiten(r.whiten, x)
		p.WhitenT(r.whitenT, x)
		return r
	}
	one := run(1)
	for _, procs := range []int{2, 4, 7, 16} {
		r := run(procs)
		if !mat.Equal(r.apply, one.apply) || !mat.Equal(r.whiten, one.whiten) || !mat.Equal(r.whitenT, one.whitenT) || r.logDet != one.logDet {
			t.Errorf("other bits on %d processors", procs)
		}
	}
}

func TestCoarseConcurrent(t *testing.T) {
	t.Parallel()
	const n, m, k = 3000, 40, 3
	p, err := NewCoarse(cells(t, n, m, 5, 1), gramOf(m, m, 2), variances(n))
	if err != nil {
		t.Fatal(err)
	}
	x, want := normals(n, k, 3), mat.NewDense(n, k, nil)
	p.Apply(want, x)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			got := mat.NewDense(n, k, nil)
			for range 3 {
				p.Whiten(got, x)
				p.WhitenT(got, x)
				p.Apply(got, x)
				if !mat.Equal(got, want) {
					t.Error("other values beside other calls")
				}
			}
		})
	}
	wg.Wait()
}

// coarseAndFine is A·C·Aᵀ plus a fine part, the path Laplacian: with 0.5 on the
// diagonal its condition is 9.
type coarseAndFine struct {
	laplacian
	a *sparse.CSR
	c *mat.SymDense
}

func (o coarseAndFine) Apply(ctx context.Context, dst, x *mat.Dense) error {
	n, m := o.a.Dims()
	_, k := x.Dims()
	if err := o.laplacian.Apply(ctx, dst, x); err != nil {
		return err
	}
	down, between, up := mat.NewDense(m, k, nil), mat.NewDense(m, k, nil), mat.NewDense(n, k, nil)
	o.a.T().Mul(down, x)
	between.Mul(o.c, down)
	o.a.Mul(up, between)
	dst.Add(dst, up)
	return nil
}

// TestCoarsePays: a strong smooth part over a fine one, as in a kernel summed
// over scales.
func TestCoarsePays(t *testing.T) {
	t.Parallel()
	const n, m = 4000, 100
	c := mat.NewSymDense(m, nil)
	for i := range m {
		for j := i; j < m; j++ {
			c.SetSym(i, j, 10*math.Exp(-float64(j-i)/20))
		}
	}
	o := coarseAndFine{n, prolongation(t, n, m), c}
	noise := constant(n, 0.5)
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = 2
		cols, vals := o.a.Row(i)
		for p, j := range cols {
			for q, l := range cols {
				diag[i] += vals[p] * vals[q] * c.At(int(j), int(l))
			}
		}
	}
	jacobi, err := NewJacobi(diag, noise)
	if err != nil {
		t.Fatal(err)
	}
	coarse, err := NewCoarse(o.a, c, constant(n, 2.5))
	if err != nil {
		t.Fatal(err)
	}
	b := normals(n, 2, 1)
	solutions, counts := []*mat.Dense(nil), []int(nil)
	for _, p := range []Preconditioner{jacobi, coarse} {
		x := mat.NewDense(n, 2, nil)
		stats, err := CG(background, x, o, noise, b, Options{Tol: 1e-8, MaxIter: 5000, Precond: p})
		if err != nil {
			t.Fatal(err)
		}
		solutions, counts = append(solutions, x), append(counts, stats.Iterations)
	}
	t.Logf("iterations: Jacobi %d, coarse %d; rank %d of %d", counts[0], counts[1], coarse.Rank(), m)
	if counts[0] < 5*counts[1] {
		t.Errorf("%d iterations with Jacobi, %d with the coarse part", counts[0], counts[1])
	}
	if d := distance(solutions[1], solutions[0]); d > 1e-6 {
		t.Errorf("solutions differ by %g", d)
	}
}

// TestCoarseAllocates: what Apply allocates does not depend on n.
func TestCoarseAllocates(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const m, k = 30, 4
	for _, n := range []int{500, 20000} {
		p, err := NewCoarse(prolongation(t, n, m), gramOf(m, m, 1), variances(n))
		if err != nil {
			t.Fatal(err)
		}
		x, y := normals(n, k, 2), mat.NewDense(n, k, nil)
		if allocs := testing.AllocsPerRun(10, func() { p.Apply(y, x) }); allocs > 20 {
			t.Errorf("%g allocations for %d rows", allocs, n)
		}
	}
}

func BenchmarkCoarse(b *testing.B) {
	const n, m, entries, k = 600_000, 1000, 5, 4
	// Cells of neighbours on a line, and the same nodes in a random order.
	for _, order := range []string{"line", "random"} {
		to := rand.New(rng.New(1, "order")).Perm(n)
		rowPtr, cols, vals := make([]int, n+1), make([]uint32, 0, n*entries), make([]float64, 0, n*entries)
		for i := range n {
			at := i
			if order == "random" {
				at = to[i]
			}
			first := min(at/(n/m), m-entries)
			for j := range entries {
				cols, vals = append(cols, uint32(first+j)), append(vals, 1.0/entries)
			}
			rowPtr[i+1] = len(cols)
		}
		a, c, d := newCSR(b, n, m, rowPtr, cols, vals), gramOf(m, 2*m, 1), constant(n, 0.1)
		b.Run(fmt.Sprintf("%s/transpose", order), func(b *testing.B) {
			for b.Loop() {
				newCSR(b, n, m, rowPtr, cols, vals).T()
			}
		})
		b.Run(fmt.Sprintf("%s/setup", order), func(b *testing.B) {
			for b.Loop() {
				if _, err := NewCoarse(a, c, d); err != nil {
					b.Fatal(err)
				}
			}
		})
		p, err := NewCoarse(a, c, d)
		if err != nil {
			b.Fatal(err)
		}
		x, y := normals(n, k, 2), mat.NewDense(n, k, nil)
		b.Run(fmt.Sprintf("%s/apply", order), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Apply(y, x)
			}
		})
	}
}

// TestWeightedGram: sums by parts are those of the definition, with columns that come twice in a row, in any order and
// not at all, at any number of threads to the bit.
func TestWeightedGram(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const n, m = 30_000, 40
	random := rand.New(rng.New(3, "weighted gram"))
	rowPtr, cols, vals := make([]int, n+1), []uint32{}, []float64{}
	for i := range n {
		for range random.IntN(6) {
			cols, vals = append(cols, uint32((i/(n/20)+random.IntN(7)*random.IntN(4))%(m-1))), append(vals, random.NormFloat64())
		}
		rowPtr[i+1] = len(cols)
	}
	a, err := sparse.NewCSR(n, m, rowPtr, cols, vals)
	if err != nil {
		t.Fatal(err)
	}
	w, want := variances(n), mat.NewDense(m, m, nil)
	for i := range n {
		cols, vals := a.Row(i)
		for p, j := range cols {
			for q, l := range cols {
				want.Set(int(j), int(l), want.At(int(j), int(l))+w[i]*vals[p]*vals[q])
			}
		}
	}
	var first []float64
	for _, threads := range []int{1, 2, 5, 16} {
		runtime.GOMAXPROCS(threads)
		got, err := weightedGram(t.Context(), nil, a, w)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = slices.Clone(got.Data)
		}
		if !slices.Equal(got.Data, first) {
			t.Errorf("other bits with %d threads", threads)
		}
		for i := range m {
			for j, v := range got.Data[i*m:][:m] {
				if math.Abs(v-want.At(i, j)) > 1e-9*want.At(i, i) {
					t.Fatalf("element (%d, %d) is %v, want %v", i, j, v, want.At(i, j))
				}
			}
		}
		doubles.Put(got.Data)
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
