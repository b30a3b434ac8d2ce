package solve

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// Coarse is P = D + A·C·Aᵀ, with A sparse of many rows and few columns, C dense
// and positive semidefinite, D diagonal: a matrix whose largest eigenvalues come
// from a coarse grid. It is immutable and safe for concurrent use.
//
// It is LowRank with U = A·B, C = B·Bᵀ, but never forms U. With M = AᵀD⁻¹A, the
// small factor I + BᵀMB = LLᵀ and G = BL⁻ᵀ,
//
//	P⁻¹ = D⁻¹ − D⁻¹A · G·Gᵀ · AᵀD⁻¹
//	P   = F·Fᵀ,  F⁻¹ = D^-½ − D^-½A · G·S·Gᵀ · AᵀD⁻¹,  S = I − (I + L)⁻ᵀ
//	log det P = Σ log D_ii + 2 Σ log L_ii
//
// B is the Cholesky factor of C: for few columns with pivots, as wide as the rank of C,
// so that a remainder of C of about the size of rounding is not part of P; for many
// without, of C plus 1.5e-11 of its largest element on the diagonal.
type Coarse struct {
	a            multiplier                  // A
	t            func() (*columnSums, error) // AᵀD⁻¹, made when first used if one rank has all rows
	inv, invSqrt []float64                   // D⁻¹, D^-½
	g            blas64.General              // a row per column of A
	onePlus      blas64.General              // I + L
	logDet       float64
}

// Sparse is a matrix type M that is stored by rows, such as *sparse.CSR. Its
// methods are safe for concurrent use.
type Sparse[M any] interface {
	Dims() (rows, cols int)
	// Row returns the columns and values of row i. Entries of the same column are
	// added.
	Row(i int) ([]uint32, []float64)
	// TransposedBlocks returns the transposes of blocks of so many rows, one below the other
	// and without empty rows: row q of t is column columns[q], in block b where
	// starts[b] ≤ q < starts[b+1], and within a block columns increase.
	TransposedBlocks(size int) (t M, columns []uint32, starts []int)
	// ColumnsScaled returns the product with diag(by).
	ColumnsScaled(by []float64) M
	multiplier
}

// multiplier is the part of a matrix that is needed once P is known.
type multiplier interface {
	// Mul sets dst to the product with x; the two do not overlap.
	Mul(dst, x *mat.Dense)
}

// NewCoarse returns P for A with a row per element of d, which must be positive,
// and a column per row of c. It keeps a and its transpose; c and d are not kept.
// It takes O(m³) for m columns, and the sum of the squared numbers of entries per
// row of A.
func NewCoarse[M Sparse[M]](a M, c *mat.SymDense, d []float64) (*Coarse, error) {
	return NewCoarseOver(context.Background(), nil, a, c, d)
}

// NewCoarseOver is NewCoarse for several ranks, each of which has its own rows of A and of
// D, and all of C; nil is one rank. All of them call it together, and then all methods, to the
// bits of one rank alone. A method that cannot hear of another rank sets NaN.
func NewCoarseOver[M Sparse[M]](ctx context.Context, rows *Rows, a M, c *mat.SymDense, d []float64) (*Coarse, error) {
	n, m := a.Dims()
	switch {
	case n != len(d):
		return nil, fmt.Errorf("coarse: %w: diagonal of %d for %d rows", ErrArgument, len(d), n)
	case m != c.SymmetricDim():
		return nil, fmt.Errorf("coarse: %w: matrix of %d between %d columns", ErrArgument, c.SymmetricDim(), m)
	case n == 0:
		return nil, fmt.Errorf("coarse: %w: no rows", ErrArgument)
	}
	p := &Coarse{a: a, inv: make([]float64, n)}
	var err error
	if p.invSqrt, p.logDet, err = inverseRoots(newSummation(ctx, rows), d); err != nil {
		return nil, fmt.Errorf("coarse: diagonal element %w", err)
	}
	parallel.Ranges(n, 16*blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			p.inv[i] = 1 / d[i]
		}
	})
	p.t = sync.OnceValues(func() (*columnSums, error) { return newColumnSums(context.Background(), nil, a, p.inv) })
	if !newSummation(ctx, rows).alone() {
		sums, err := newColumnSums(ctx, rows, a, p.inv)
		if err != nil {
			return nil, fmt.Errorf("coarse: %w", err)
		}
		p.t = func() (*columnSums, error) { return sums, nil }
	}
	var b, gram blas64.General
	var order []int
	var factorErr, gramErr error
	parallel.Tasks(2, func(k int) {
		if k == 0 {
			b, order, factorErr = semidefiniteFactor(c)
		} else { // all ranks have the same C, and come here or do not
			gram, gramErr = weightedGram(ctx, rows, a, p.inv)
		}
	})
	if err := cmp.Or(factorErr, gramErr); err != nil {
		return nil, fmt.Errorf("coarse: %w", err)
	}
	defer doubles.Put(gram.Data)
	rank := b.Cols
	if rank == 0 {
		return p, nil
	}
	p.onePlus = congruent(b, order, gram)
	small, err := factorOnePlus(p.onePlus)
	if err != nil {
		return nil, fmt.Errorf("coarse: %w", err)
	}
	p.logDet += small

	if p.g = b; !identical(order) || b.Stride != rank {
		p.g = blas64.General{Rows: m, Cols: rank, Stride: rank, Data: make([]float64, m*rank)}
		for i, j := range order {
			copy(row(p.g, j), row(b, i))
		}
	}
	solveLower(dense.Of(p.onePlus), dense.Of(p.g).T())
	addOne(p.onePlus)
	return p, nil
}

// Rank returns the rank of C, up to rounding.
func (p *Coarse) Rank() int { return p.g.Cols }

// LogDet returns log det P.
func (p *Coarse) LogDet() float64 { return p.logDet }

// Apply sets dst = P⁻¹·r.
func (p *Coarse) Apply(dst, r *mat.Dense) {
	p.subtract(dst, p.inv, p.inv, r, nil, func(blas64.General) {})
}

// Whiten sets dst = F⁻¹·x.
func (p *Coarse) Whiten(dst, x *mat.Dense) {
	p.subtract(dst, p.invSqrt, p.invSqrt, x, nil, func(c blas64.General) { shrink(c, blas.Trans, p.onePlus) })
}

// WhitenT sets dst = F⁻ᵀ·x.
func (p *Coarse) WhitenT(dst, x *mat.Dense) {
	p.subtract(dst, p.invSqrt, p.inv, x, p.root(), func(c blas64.General) { shrink(c, blas.NoTrans, p.onePlus) })
}

// root returns D^½.
func (p *Coarse) root() []float64 {
	r := make([]float64, len(p.inv))
	parallel.Ranges(len(r), 16*blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			r[i] = 1 / p.invSqrt[i]
		}
	})
	return r
}

// subtract sets dst = diag(keep)·x − diag(out)·A·G·c, where c is
// GᵀAᵀD⁻¹·diag(in)·x after a change by the caller, who sees it transposed: a row
// per column of x. If in is nil, that is GᵀAᵀD⁻¹·x.
func (p *Coarse) subtract(dst *mat.Dense, keep, out []float64, x *mat.Dense, in []float64, change func(c blas64.General)) {
	if p.Rank() == 0 { // gonum has no matrices without columns
		scaleRows(dst, x, keep)
		return
	}
	n, k := x.Dims()
	below := x
	if in != nil {
		scaleRows(dst, x, in)
		below = dst
	}
	small := mat.NewDense(p.g.Rows, k, nil)
	sums, err := p.t()
	if err == nil {
		err = sums.Mul(context.Background(), small, below)
	}
	if err != nil {
		fill(dst, math.NaN())
		return
	}
	c := crossProduct(small.RawMatrix(), p.g)
	change(c)
	dense.Mul(dense.View(small), dense.Of(p.g), dense.Of(c).T())
	p.a.Mul(dst, small)

	ds, xs := dst.RawMatrix(), x.RawMatrix()
	pass := meter.Start()
	defer pass.Done(8 * n * (3*k + 2))
	parallel.Ranges(n, blockRows, func(lo, hi int) {
		if fours(ds, xs) {
			subtractFours(ds.Data[4*lo:], xs.Data[4*lo:], keep[lo:hi], out[lo:hi])
			return
		}
		for i := lo; i < hi; i++ {
			d, s, o := row(ds, i), keep[i], out[i]
			for t, v := range row(xs, i) {
				d[t] = float64(s*v) - float64(o*d[t])
			}
		}
	})
}

// fill sets all numbers of x.
func fill(x *mat.Dense, v float64) {
	rows, _ := x.Dims()
	for i := range rows {
		to := x.RawRowView(i)
		for s := range to {
			to[s] = v
		}
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

// identical reports whether order leaves everything in its place.
func identical(order []int) bool {
	for i, j := range order {
		if i != j {
			return false
		}
	}
	return true
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
	mb := blas64.General{Rows: n, Cols: k, Stride: k, Data: doubles.Get(n * k)}
	defer doubles.Put(mb.Data)
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
