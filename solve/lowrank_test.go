package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/space"
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

// coarse returns D + A·C·Aᵀ in a space, for the rows of A that this process has, and a function that gives their memory back.
func coarse(ctx context.Context, s space.Space, rows space.Axis, a *sparse.CSR, c *mat.SymDense, d []float64) (*LowRank, func(), error) {
	_, m := a.Dims()
	in, err := s.Sparse(ctx, rows, space.Rows(m), space.Of(a))
	if err != nil {
		return nil, nil, err
	}
	p, err := NewLowRankIn(s, rows, in, m, c, d, func(inv []float64) (blas64.General, error) { return space.Gram(s, rows, a, inv) })
	if err != nil {
		in.Free()
		return nil, nil, err
	}
	return p, func() { p.Free(); in.Free() }, nil
}

// coarseHere is coarse in the float64 memory of this process.
func coarseHere(t testing.TB, a *sparse.CSR, c *mat.SymDense, d []float64) *LowRank {
	t.Helper()
	p, _, err := coarse(context.Background(), space.Host(), space.Rows(len(d)), a, c, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
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

// lowRankDense returns U·Uᵀ + diag(noise).
func lowRankDense(u *mat.Dense, noise []float64) *mat.SymDense {
	n, _ := u.Dims()
	a := &matrix{SymDense: mat.NewSymDense(n, nil)}
	a.SymOuterK(1, u)
	return a.shifted(noise)
}

// leading returns the preconditioner by the largest eigenvalues of a and their
// vectors.
func leading(t testing.TB, a *matrix, noise []float64, rank int) *LowRank {
	t.Helper()
	var eig mat.EigenSym
	if !eig.Factorize(a, true) {
		t.Fatal("no eigenvalues")
	}
	var v mat.Dense
	eig.VectorsTo(&v)
	n := len(noise)
	u := mat.DenseCopyOf(v.Slice(0, n, n-rank, n))
	for j, value := range eig.Values(nil)[n-rank:] {
		for i := range n {
			u.Set(i, j, u.At(i, j)*math.Sqrt(max(0, value)))
		}
	}
	return lowRank(t, u, noise)
}

// lowRank returns U·Uᵀ + diag(noise) in the float64 memory of this process.
func lowRank(t testing.TB, u *mat.Dense, noise []float64) *LowRank {
	t.Helper()
	p, err := NewLowRank(space.Host(), space.Rows(len(noise)), u, noise)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestLowRank: U·Uᵀ + D of fewer and of more columns than rows is that of dense matrices, in every memory.
func TestLowRank(t *testing.T) {
	t.Parallel()
	for _, m := range memories() {
		for _, c := range []struct{ n, k int }{{1, 1}, {30, 1}, {30, 30}, {30, 45}, {200, 70}, {1500, 3}} {
			t.Run(fmt.Sprintf("%s/%d×%d", m.name, c.n, c.k), func(t *testing.T) {
				s := m.open()
				u, noise := normals(c.n, c.k, 1), variances(c.n)
				p, err := NewLowRank(s, space.Rows(c.n), u, noise)
				if err != nil {
					t.Fatal(err)
				}
				if p.Rank() != c.k {
					t.Errorf("rank %d", p.Rank())
				}
				tol := max(1e-10, 3000*m.rounding)
				if c.n <= 200 {
					checkFactored(t, s, p, lowRankDense(u, noise), tol)
				} else { // more rows than a block: P·P⁻¹·r = r
					r := normals(c.n, 4, 2)
					var back mat.Dense
					back.Mul(lowRankDense(u, noise), applied(s, p.Apply, r))
					if d := distance(&back, r); !(d <= tol) {
						t.Errorf("P·P⁻¹r is off r by %g", d)
					}
				}
				p.Free()
				m.empty(t, s)
			})
		}
	}
}

// TestCoarse: A·C·Aᵀ + D with a sparse A and any rank of C is that of dense matrices, in every memory.
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
		for _, m := range memories() {
			t.Run(m.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				s := m.open()
				a, gram, d := cells(t, c.n, c.m, c.most, 1), gramOf(c.m, c.rank, 2), variances(c.n)
				p, free, err := coarse(t.Context(), s, space.Rows(c.n), a, gram, d)
				if err != nil {
					t.Fatal(err)
				}
				if p.Rank() != c.rank {
					t.Errorf("rank %d, want %d", p.Rank(), c.rank)
				}
				checkFactored(t, s, p, coarseDense(a, gram).shifted(d), max(1e-9, 20000*m.rounding))
				free()
				m.empty(t, s)
			})
		}
	}
}

// TestCoarseIsLowRank: over more rows than a block, A·C·Aᵀ + D is U·Uᵀ + D for U = A·B.
func TestCoarseIsLowRank(t *testing.T) {
	t.Parallel()
	const n, m = 3000, 20
	d, a, x := variances(n), cells(t, n, m, 5, 1), normals(n, 3, 2)
	root := normals(m, 6, 3)
	gram := mat.NewSymDense(m, nil)
	gram.SymOuterK(1, root)
	u := mat.NewDense(n, 6, nil)
	a.Mul(u, root)
	p, low := coarseHere(t, a, gram, d), lowRank(t, u, d)
	if d := distance(applied(p.space, p.Apply, x), applied(low.space, low.Apply, x)); d > 1e-11 {
		t.Errorf("P⁻¹x is off that of U by %g", d)
	}
	if d := math.Abs(p.LogDet()/low.LogDet() - 1); d > 1e-12 {
		t.Errorf("log det %g, want %g", p.LogDet(), low.LogDet())
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
	p := coarseHere(t, a, c.SymDense, d)
	if r := p.Rank(); r < m/2 || r > m {
		t.Errorf("rank %d of %d", r, m)
	}
	checkFactored(t, p.space, p, coarseDense(a, c.SymDense).shifted(d), 1e-7)
}

// TestLowRankErrors: what cannot be a preconditioner is refused in every memory, which has all its room again.
func TestLowRankErrors(t *testing.T) {
	t.Parallel()
	const n, m = 10, 3
	u, a, c, d := normals(n, 2, 1), cells(t, n, m, 2, 1), gramOf(m, m, 2), variances(n)
	with := func(i, j int, v float64) *mat.SymDense {
		s := mat.NewSymDense(m, nil)
		s.CopySym(c)
		s.SetSym(i, j, v)
		return s
	}
	at := func(v float64) []float64 { x := variances(n); x[4] = v; return x }
	nan := mat.DenseCopyOf(u)
	nan.Set(1, 1, math.NaN())
	vast := newCSR(t, 1, 1, []int{0, 1}, []uint32{0}, []float64{1e200})
	for _, mem := range memories() {
		s := mem.open()
		for name, call := range map[string]struct {
			u    *mat.Dense
			d    []float64
			want error
		}{
			"diagonal too short": {u, d[1:], ErrArgument},
			"no rows":            {&mat.Dense{}, nil, ErrArgument},
			"zero":               {u, at(0), ErrNotPositiveDefinite},
			"negative":           {u, at(-1), ErrNotPositiveDefinite},
			"not a number":       {u, at(math.NaN()), ErrNotPositiveDefinite},
			"infinite":           {u, at(math.Inf(1)), ErrNotPositiveDefinite},
			"U is not a number":  {nan, d, ErrNotPositiveDefinite},
		} {
			if _, err := NewLowRank(s, space.Rows(len(call.d)), call.u, call.d); !errors.Is(err, call.want) {
				t.Errorf("%s, U: %s: %v", mem.name, name, err)
			}
		}
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
			"zero on the diagonal": {a, c, at(0), ErrNotPositiveDefinite},
			"indefinite matrix":    {a, with(1, 1, -1), d, ErrNotPositiveDefinite},
			"too large to weigh":   {vast, gramOf(1, 1, 1), []float64{1}, ErrNotPositiveDefinite},
		} {
			rows, _ := call.a.Dims()
			if _, _, err := coarse(t.Context(), s, space.Rows(rows), call.a, call.c, call.d); !errors.Is(err, call.want) {
				t.Errorf("%s, A: %s: %v", mem.name, name, err)
			}
		}
		mem.empty(t, s)
	}
}

// TestLowRankDeterministic: the bits do not depend on the number of processors.
func TestLowRankDeterministic(t *testing.T) {
	const n, m, k = 5000, 150, 5
	u, a, c, d, x := normals(n, 130, 1), cells(t, n, m, 6, 1), gramOf(m, 100, 2), variances(n), normals(n, k, 3)
	run := func(procs int) (all []*mat.Dense, logDets []float64) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		for _, p := range []*LowRank{lowRank(t, u, d), coarseHere(t, a, c, d)} {
			for _, apply := range []func(dst, x space.Block){p.Apply, p.Whiten, p.WhitenT} {
				all = append(all, applied(p.space, apply, x))
			}
			logDets = append(logDets, p.LogDet())
		}
		return all, logDets
	}
	want, logDets := run(1)
	for _, procs := range []int{2, 4, 7, 16} {
		got, others := run(procs)
		same := slices.Equal(others, logDets)
		for q := range want {
			same = same && mat.Equal(got[q], want[q])
		}
		if !same {
			t.Errorf("other bits on %d processors", procs)
		}
	}
}

// TestFourColumns: four columns alone have the bits that they have beside a fifth.
func TestFourColumns(t *testing.T) {
	t.Parallel()
	const n, m = 3000, 60
	wide := normals(n, 5, 3)
	alone := mat.DenseCopyOf(wide.Slice(0, n, 0, 4))
	p, j := coarseHere(t, cells(t, n, m, 6, 1), gramOf(m, 100, 2), variances(n)), jacobi(t, constant(n, 0), variances(n))
	for name, apply := range map[string]func(dst, x space.Block){
		"low rank": p.Apply, "whitened": p.Whiten, "whitened by the transpose": p.WhitenT, "diagonal": j.Apply} {
		if !mat.Equal(applied(p.space, apply, alone), applied(p.space, apply, wide).Slice(0, n, 0, 4)) {
			t.Errorf("%s: other bits", name)
		}
	}
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
	p := coarseHere(t, o.a, c, constant(n, 2.5))
	b := normals(n, 2, 1)
	solutions, counts := []*mat.Dense(nil), []int(nil)
	for _, p := range []Preconditioner{jacobi(t, diag, noise), p} {
		x := mat.NewDense(n, 2, nil)
		stats, err := CG(background, x, o, noise, b, p, Options{Tol: 1e-8, MaxIter: 5000})
		if err != nil {
			t.Fatal(err)
		}
		solutions, counts = append(solutions, x), append(counts, stats.Iterations)
	}
	t.Logf("iterations: Jacobi %d, coarse %d; rank %d of %d", counts[0], counts[1], p.Rank(), m)
	if counts[0] < 5*counts[1] {
		t.Errorf("%d iterations with Jacobi, %d with the coarse part", counts[0], counts[1])
	}
	if d := distance(solutions[1], solutions[0]); d > 1e-6 {
		t.Errorf("solutions differ by %g", d)
	}
}

// TestLowRankAllocates: what Apply allocates does not depend on n.
func TestLowRankAllocates(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const m, k = 30, 4
	for _, n := range []int{500, 20000} {
		p := coarseHere(t, prolongation(t, n, m), gramOf(m, m, 1), variances(n))
		x, y := p.space.Block(space.Rows(n), k), p.space.Block(space.Rows(n), k)
		x.Set(normals(n, k, 2).RawMatrix().Data)
		if allocs := testing.AllocsPerRun(10, func() { p.Apply(y, x) }); allocs > 20 {
			t.Errorf("%g allocations for %d rows", allocs, n)
		}
	}
}

// TestRanksShareALowRankMatrix: preconditioners over several ranks have the bits of those of one: determinants,
// inverses and factors. Columns of A meet rows of one block, of some, of all, and of none; a rank may have no rows.
func TestRanksShareALowRankMatrix(t *testing.T) {
	t.Parallel()
	const n, m, k = 7*ranks.BlockRows + 300, 40, 3
	random := rand.New(rand.NewPCG(3, 8))
	ptr, cols, vals := []int{0}, []uint32(nil), []float64(nil)
	for i := range n {
		near := i * (m - 8) / n
		for _, j := range []int{near, near + 1, m - 6 + i/(2*ranks.BlockRows), m - 8 + i%2} { // the last column is empty
			cols, vals = append(cols, uint32(j)), append(vals, random.NormFloat64())
		}
		ptr = append(ptr, len(cols))
	}
	d, c, x, u := variances(n), gramOf(m, m+3, 1), normals(n, k, 2), normals(n, 6, 4)
	// compute returns the numbers of the rows of all ranks, of which this one has some.
	compute := func(ctx context.Context, s space.Space, own int) (all []float64, err error) {
		axis, err := s.Axis(ctx, own)
		if err != nil {
			return nil, err
		}
		_, lo := axis.All()
		hi := lo + own
		near := make([]int, own+1)
		for i := range near {
			near[i] = ptr[lo+i] - ptr[lo]
		}
		sparseOnes, _, err := coarse(ctx, s, axis, newCSR(t, own, m, near, cols[ptr[lo]:ptr[hi]], vals[ptr[lo]:ptr[hi]]), c, d[lo:hi])
		if err != nil {
			return nil, err
		}
		few := &mat.Dense{}
		if own > 0 {
			few = u.Slice(lo, hi, 0, 6).(*mat.Dense)
		}
		denseOnes, err := NewLowRank(s, axis, few, d[lo:hi])
		if err != nil {
			return nil, err
		}
		from, to := s.Block(axis, k), s.Block(axis, k)
		from.Set(x.RawMatrix().Data[lo*k : hi*k])
		for _, p := range []*LowRank{sparseOnes, denseOnes} {
			all = append(all, p.LogDet(), float64(p.Rank()))
			for _, apply := range []func(dst, x space.Block){p.Apply, p.Whiten, p.WhitenT} {
				apply(to, from)
				mine := make([]float64, own*k)
				to.Get(mine)
				everyone, err := space.Gather(ctx, s, mine)
				if err != nil {
					return nil, err
				}
				all = append(all, everyone...)
			}
		}
		return all, s.Err()
	}
	for _, single := range []bool{false, true} {
		want, err := compute(t.Context(), space.Together(t.Context(), nil, single), n)
		if err != nil {
			t.Fatal(err)
		}
		const block = ranks.BlockRows
		for _, sizes := range [][]int{{n}, {2 * block, n - 2*block}, {3 * block, block, n - 4*block}, {0, n},
			{block, 4 * block, 0, block, n - 6*block}} {
			err := ranks.Together(t.Context(), len(sizes), func(ctx context.Context, g *ranks.Group) error {
				got, err := compute(ctx, space.Together(ctx, g, single), sizes[g.Rank()])
				if err == nil && !slices.Equal(got, want) {
					err = errors.New("other bits")
				}
				return err
			})
			if err != nil {
				t.Errorf("ranks of %v rows, float32 %v: %v", sizes, single, err)
			}
		}
	}
}

func BenchmarkLowRankApply(b *testing.B) {
	const n, rank = 1 << 16, 100
	p := lowRank(b, normals(n, rank, 1), constant(n, 0.1))
	for _, k := range []int{1, 16} {
		b.Run(fmt.Sprintf("columns=%d", k), func(b *testing.B) {
			r, x := p.space.Block(space.Rows(n), k), p.space.Block(space.Rows(n), k)
			r.Set(normals(n, k, 2).RawMatrix().Data)
			for b.Loop() {
				p.Apply(x, r)
			}
			b.ReportMetric(4*float64(n*rank*k)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
		})
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
		b.Run(order+"/transpose", func(b *testing.B) {
			for b.Loop() {
				newCSR(b, n, m, rowPtr, cols, vals).T()
			}
		})
		b.Run(order+"/setup", func(b *testing.B) {
			for b.Loop() {
				coarseHere(b, a, c, d)
			}
		})
		p := coarseHere(b, a, c, d)
		x, y := p.space.Block(space.Rows(n), k), p.space.Block(space.Rows(n), k)
		x.Set(normals(n, k, 2).RawMatrix().Data)
		b.Run(order+"/apply", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				p.Apply(y, x)
			}
		})
	}
}
