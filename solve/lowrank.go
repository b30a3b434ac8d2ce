package solve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/space"
)

// LowRank is P = D + A·C·Aᵀ with D diagonal, A of many rows and few columns, and C positive semidefinite: a kernel of
// low rank, or a matrix whose largest eigenvalues come from a coarse grid. Its inverse is known by Woodbury's
// formula. With C = B·Bᵀ, M = AᵀD⁻¹A, the small factor I + BᵀMB = LLᵀ and G = BL⁻ᵀ,
//
//	P⁻¹ = D⁻¹ − D⁻¹A · G·Gᵀ · AᵀD⁻¹
//	P   = F·Fᵀ,  F⁻¹ = D^-½ − D^-½A · G·S·Gᵀ · AᵀD⁻¹,  S = I − (I + L)⁻ᵀ
//	log det P = Σ log D_ii + 2 Σ log L_ii
//
// F·Fᵀ is P because (I+L)(I+L)ᵀ = (I+L) + (I+L)ᵀ + LLᵀ − I.
//
// B is the Cholesky factor of C: for few columns with pivots, as wide as the rank of C,
// so that a remainder of C of about the size of rounding is not part of P; for many
// without, of C plus 1.5e-11 of its largest element on the diagonal.
type LowRank struct {
	space           space.Space
	inv, invSqrt, d space.Block // D⁻¹, D^-½ and D^½
	a               space.Matrix
	own             space.Matrix // A, if it is freed with this
	g               space.Matrix // nil if the rank is 0
	columns, rank   space.Axis   // of A, and of B
	onePlus         blas64.General
	s               space.Matrix // made when first used
	logDet          float64
}

// NewLowRank returns D + U·Uᵀ in a space, for a dense U with a row per element of d. That of a process without rows is
// empty.
func NewLowRank(s space.Space, rows space.Axis, u *mat.Dense, d []float64) (*LowRank, error) {
	n, k := u.Dims()
	if n != len(d) {
		return nil, fmt.Errorf("low rank: %w: %d noise variances for %d rows", ErrArgument, len(d), n)
	}
	if all, _ := rows.All(); rows.Shared() && all > 0 { // the mean is the width, which a process without rows does not know
		k = int(space.Sum(s, rows, slices.Repeat([]float64{float64(k)}, n)) / float64(all))
		if err := s.Err(); err != nil {
			return nil, fmt.Errorf("low rank: %w", err)
		}
	}
	a, raw := s.Dense(rows, u), u.RawMatrix()
	raw.Cols = k
	p, err := NewLowRankIn(s, rows, a, k, nil, d, func(inv []float64) (blas64.General, error) {
		return weightedGram(s, rows, raw, inv), s.Err()
	})
	if err != nil {
		a.Free()
		return nil, err
	}
	p.own = a
	return p, nil
}

// weightedGram returns UᵀWU for diagonal weights, over the rows of all processes.
func weightedGram(s space.Space, a space.Axis, u blas64.General, weight []float64) blas64.General {
	const most = 1 << 22 // numbers of parts of sums, at a time
	k := u.Cols
	gram := blas64.General{Rows: k, Cols: k, Stride: max(1, k), Data: make([]float64, k*k)}
	n, _ := a.All()
	panel := max(1, most/((n/1024+1)*k))
	for first := 0; first < k; first += panel {
		end := min(k, first+panel)
		copy(gram.Data[first*k:], space.SumRows(s, a, (end-first)*k, func(lo, hi int, sums []float64) {
			if hi == lo {
				return
			}
			part := blas64.General{Rows: hi - lo, Cols: end - first, Stride: end - first, Data: make([]float64, (hi-lo)*(end-first))}
			for i := lo; i < hi; i++ {
				to := row(part, i-lo)
				for t, v := range row(u, i)[first:end] {
					to[t] = weight[i] * v
				}
			}
			to := blas64.General{Rows: end - first, Cols: k, Stride: k, Data: sums}
			dense.Add(dense.Of(to), 1, dense.Of(part).T(), dense.Of(slice(u, lo, hi, 0, k)))
		}))
	}
	return gram
}

// NewLowRankIn returns D + A·C·Aᵀ in a space, for A of so many columns; a nil C is the identity. gram returns AᵀD⁻¹A, given
// D⁻¹. It keeps A, which is not freed with it, and takes O(m³) for m columns.
func NewLowRankIn(s space.Space, rows space.Axis, a space.Matrix, columns int, c *mat.SymDense, d []float64,
	gram func(inv []float64) (blas64.General, error)) (*LowRank, error) {
	switch {
	case rows.Own != len(d):
		return nil, fmt.Errorf("low rank: %w: diagonal of %d for %d rows", ErrArgument, len(d), rows.Own)
	case c != nil && columns != c.SymmetricDim():
		return nil, fmt.Errorf("low rank: %w: matrix of %d between %d columns", ErrArgument, c.SymmetricDim(), columns)
	}
	if n, _ := rows.All(); n == 0 {
		return nil, fmt.Errorf("low rank: %w: no rows", ErrArgument)
	}
	p := &LowRank{space: s, a: a, columns: space.Rows(columns)}
	var err error
	if p.inv, p.invSqrt, p.logDet, err = inverses(s, rows, d); err != nil {
		return nil, fmt.Errorf("low rank: diagonal element %w", err)
	}
	inv, root := make([]float64, len(d)), make([]float64, len(d))
	for i, v := range d {
		inv[i], root[i] = 1/v, math.Sqrt(v)
	}
	p.d = s.Block(rows, 1)
	p.d.Set(root)
	fail := func(err error) (*LowRank, error) {
		p.Free()
		return nil, fmt.Errorf("low rank: %w", err)
	}
	var b, m blas64.General
	var order []int
	var factorErr, gramErr error
	parallel.Tasks(2, func(k int) {
		if k == 0 {
			b, order, factorErr = rootOf(c, columns)
		} else {
			m, gramErr = gram(inv)
		}
	})
	if err := cmp.Or(factorErr, gramErr); err != nil {
		return fail(err)
	}
	if p.rank = space.Rows(b.Cols); b.Cols == 0 {
		return p, nil
	}
	p.onePlus = congruent(b, order, m)
	small, err := factorOnePlus(p.onePlus)
	if err != nil {
		return fail(err)
	}
	p.logDet += small
	g := mat.NewDense(columns, b.Cols, nil)
	for i, j := range order {
		copy(g.RawRowView(j), row(b, i))
	}
	solveLower(dense.Of(p.onePlus), dense.View(g).T())
	addOne(p.onePlus)
	if p.g = s.Dense(p.columns, g); p.g == nil {
		return fail(fmt.Errorf("%w: %d columns", ErrArgument, columns))
	}
	return p, nil
}

// Rank returns the rank of C, up to rounding.
func (p *LowRank) Rank() int { return p.rank.Own }

// LogDet returns log det P.
func (p *LowRank) LogDet() float64 { return p.logDet }

// Free gives its memory back.
func (p *LowRank) Free() {
	p.inv.Free()
	p.invSqrt.Free()
	p.d.Free()
	for _, m := range []space.Matrix{p.own, p.g, p.s} {
		if m != nil {
			m.Free()
		}
	}
}

// Apply sets dst = P⁻¹·r.
func (p *LowRank) Apply(dst, r space.Block) { p.subtract(dst, r, p.inv, p.inv, p.inv, nil) }

// Whiten sets dst = F⁻¹·x.
func (p *LowRank) Whiten(dst, x space.Block) {
	p.subtract(dst, x, p.invSqrt, p.invSqrt, p.inv, func(to, c space.Block) { p.shrinking().Mul(to, c, 0, 1, false) })
}

// WhitenT sets dst = F⁻ᵀ·x.
func (p *LowRank) WhitenT(dst, x space.Block) {
	p.subtract(dst, x, p.invSqrt, p.inv, p.invSqrt, func(to, c space.Block) { p.shrinking().MulT(to, c, 1, false) })
}

// subtract sets dst = keep∘x − out∘A·G·c, where c is GᵀAᵀ·(in∘x) after a change.
func (p *LowRank) subtract(dst, x, keep, out, in space.Block, change func(to, c space.Block)) {
	if p.g == nil {
		dst.Scale(x, keep, 1)
		return
	}
	k := x.Columns()
	small, c := p.space.Block(p.columns, k), p.space.Block(p.rank, k)
	defer small.Free()
	defer func() { c.Free() }()
	dst.Scale(x, in, 1)
	p.a.MulT(small, dst, 1, false)
	p.g.MulT(c, small, 1, false)
	if change != nil {
		to := p.space.Block(p.rank, k)
		change(to, c)
		c.Free()
		c = to
	}
	p.g.Mul(small, c, 0, 1, false)
	p.a.Mul(dst, small, 0, 1, false)
	dst.Subtract(x, keep, out)
}

// shrinking returns S = I − (I + L)⁻ᵀ.
func (p *LowRank) shrinking() space.Matrix {
	if p.s == nil {
		r := p.rank.Own
		inverse := blas64.General{Rows: r, Cols: r, Stride: r, Data: make([]float64, r*r)}
		for i := range r {
			inverse.Data[i*r+i] = 1
		}
		solveLower(dense.Of(p.onePlus), dense.Of(inverse))
		s := mat.NewDense(r, r, nil)
		for i := range r {
			for j := range r {
				s.Set(i, j, -inverse.Data[j*r+i])
			}
			s.Set(i, i, 1+s.At(i, i))
		}
		p.s = p.space.Dense(p.rank, s)
	}
	return p.s
}

// rootOf returns the B of C, see semidefiniteFactor; the identity of so many columns for a nil C.
func rootOf(c *mat.SymDense, columns int) (b blas64.General, order []int, err error) {
	if c != nil {
		return semidefiniteFactor(c)
	}
	b = blas64.General{Rows: columns, Cols: columns, Stride: max(1, columns), Data: make([]float64, columns*columns)}
	addOne(b)
	order = make([]int, columns)
	for i := range order {
		order[i] = i
	}
	return b, order, nil
}

// factorOnePlus replaces the lower triangle of a by L, with I + a = L·Lᵀ, and
// returns log det(I + a).
func factorOnePlus(a blas64.General) (logDet float64, err error) {
	addOne(a)
	if pivot := factor(context.Background(), dense.Of(a)); pivot >= 0 {
		return 0, fmt.Errorf("pivot %d of %d: %w", pivot, a.Rows, ErrNotPositiveDefinite)
	}
	for i := range a.Rows {
		logDet += 2 * math.Log(a.Data[i*a.Stride+i])
	}
	return logDet, nil
}

// addOne adds the identity.
func addOne(a blas64.General) {
	for i := range a.Rows {
		a.Data[i*a.Stride+i]++
	}
}

// plainFrom is the size from which a factor without pivots is tried first: it runs on
// all processors, and takes a tenth of the time.
const plainFrom = 512

// plainFactor replaces the lower triangle of a by its factor, and clears the upper one.
// It adds a little to the diagonal, whose largest element is top, so that rounding
// does not stop it; it reports whether it came to the end.
func plainFactor(a blas64.General, top float64) bool {
	const little = 0x1p-36
	for i := range a.Rows {
		a.Data[i*a.Stride+i] += little * top
	}
	if factor(context.Background(), dense.Of(a)) >= 0 {
		return false
	}
	for i := range a.Rows {
		clear(row(a, i)[i+1:])
	}
	return true
}

// unboundedElement returns the first place in the upper triangle of c of an element that is not finite; −1 if there is none.
func unboundedElement(c *mat.SymDense) (i, j int) {
	raw := c.RawSymmetric()
	first := make([]int, raw.N) // per row: the column; −1: none
	parallel.Ranges(raw.N, 64, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			first[i] = slices.IndexFunc(raw.Data[i*raw.Stride:][i:raw.N], func(v float64) bool { return !finite(v) })
		}
	})
	for i, after := range first {
		if after >= 0 {
			return i, i + after
		}
	}
	return -1, -1
}

// semidefiniteFactor returns the lower trapezoidal B and the order of the rows
// for which B·Bᵀ is c up to rounding: element (i, j) of the product is element
// (order[i], order[j]) of c. B has as many columns as c has rank.
func semidefiniteFactor(c *mat.SymDense) (b blas64.General, order []int, err error) {
	m := c.SymmetricDim()
	if i, j := unboundedElement(c); i >= 0 {
		return b, nil, fmt.Errorf("%w: element (%d, %d) of C is %g", ErrArgument, i, j, c.At(i, j))
	}
	top := 0.0
	for i := range m {
		top = max(top, c.At(i, i))
	}
	if m >= plainFrom {
		if l := lowerOf(c); plainFactor(l, top) {
			order = make([]int, m)
			for i := range order {
				order[i] = i
			}
			return l, order, nil
		}
	}
	l := lowerOf(c)
	order = make([]int, m)
	rank := 0
	if m > 0 {
		_, rank, _ = lapack64.Pstrf(blas64.Symmetric{Uplo: blas.Lower, N: m, Stride: l.Stride, Data: l.Data}, order, -1, make([]float64, 2*m))
	}
	b = slice(l, 0, m, 0, rank)
	// Rounding is forgiven generously: whatever is left, P is positive definite.
	const slack = 0x1p-26
	for i := rank; i < m; i++ {
		left := c.At(order[i], order[i])
		for _, v := range row(l, i)[:rank] {
			left -= v * v
		}
		if left < -slack*top {
			return b, nil, fmt.Errorf("diagonal element %d of C is %.3g after %d pivots, with %.3g on the diagonal: %w",
				order[i], left, rank, c.At(order[i], order[i]), ErrNotPositiveDefinite)
		}
	}
	return b, order, nil
}

// congruent returns the lower triangle of BᵀMB for lower trapezoidal B, whose
// row i goes with row and column order[i] of M. M may be mostly zeros.
func congruent(b blas64.General, order []int, m blas64.General) blas64.General {
	n, k := b.Rows, b.Cols
	mb := blas64.General{Rows: n, Cols: k, Stride: k, Data: make([]float64, n*k)}
	const few = 8 // rows that share a row of B while it is at hand
	parallel.Ranges(n, few, func(lo, hi int) {
		clear(mb.Data[lo*k : hi*k])
		for j := range n {
			from := blas64.Vector{N: min(j+1, k), Inc: 1, Data: row(b, j)}
			for i := lo; i < hi; i++ {
				if v := m.Data[order[i]*m.Stride+order[j]]; v != 0 {
					blas64.Axpy(v, from, blas64.Vector{N: from.N, Inc: 1, Data: row(mb, i)})
				}
			}
		}
	})
	c := blas64.General{Rows: k, Cols: k, Stride: k, Data: make([]float64, k*k)}
	const size = 128
	parallel.Tasks((k+size-1)/size, func(panel int) {
		lo, hi := panel*size, min(panel*size+size, k)
		// The columns from lo on are zero above row lo.
		dense.Add(dense.Of(slice(c, lo, hi, 0, hi)), 1, dense.Of(slice(b, lo, n, lo, hi)).T(), dense.Of(slice(mb, lo, n, 0, hi)))
	})
	return c
}
