// Package eigen finds eigenvectors of symmetric matrices: all of a dense one, by [Symmetric], and the leading ones of a large one
// that is known by its products, by a [Block].
//
// A block is a subspace that every [Block.Filter] turns towards the leading eigenvectors, by a polynomial of the
// matrix that is large at their eigenvalues and small at all others. [Block.Ritz] finds the best approximations to
// eigenvectors within it, and [Block.Residuals] how good they are: there is an eigenvalue as near to an approximate one as
// its residual. How long to go on is the caller's decision: until residuals are those of rounding, where eigenvectors
// replace the matrix; or for a few products, where any subspace of about this kind serves.
//
// Results are the same bits at any number of threads.
package eigen

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/internal/scratch"
)

// Operator is a symmetric matrix, known by its products.
type Operator interface {
	Dims() (rows, cols int)
	Mul(dst, x *mat.Dense) // dst = a·x, which do not overlap
}

// Block is a block of vectors, the columns of X. It needs little memory beside X: products are computed
// for some columns at a time, changes of basis for some rows at a time.
type Block struct {
	A    Operator
	Unit float64    // of eigenvalues: those of the matrix are those of A times Unit
	X    *mat.Dense // a row per row of A; nil if no columns are left
}

const (
	slab      = 32    // columns that are multiplied at a time
	slabBytes = 32e6  // about the most memory of a slab of more than 8 columns; three are needed
	rowBlock  = 8192  // rows that are worked on as one
	resolved  = 1e-14 // share of the largest eigenvalue of products of columns that one pass tells from rounding
	dependent = 1e12  // growth of rounding in a column that depends on others
	passes    = 6     // at most, to make a block orthonormal
)

// Start returns a block of so many columns: random numbers from a seed of that name at the given rows, and zeros elsewhere.
// A row of X depends on its place among the given ones only.
func Start(a Operator, rows []int, width int, name string) *Block {
	n, _ := a.Dims()
	b := &Block{A: a, Unit: 1, X: mat.NewDense(n, width, nil)}
	random := rand.New(rng.New(0, name))
	for _, i := range rows {
		row := b.X.RawRowView(i)
		for c := range row {
			row[c] = random.NormFloat64()
		}
	}
	return b
}

// Width returns the number of columns.
func (b *Block) Width() int {
	if b.X == nil {
		return 0
	}
	return b.X.RawMatrix().Cols
}

// slabs calls do with some columns of X at a time, of which the first is number lo, and blocks of their size for what it computes.
func (b *Block) slabs(blocks int, do func(x *mat.Dense, lo int, blocks []*mat.Dense)) {
	n, w := b.X.Dims()
	size := min(slab, max(8, int(slabBytes/8)/n))
	for lo := 0; lo < w; lo += size {
		hi := min(w, lo+size)
		all := make([]*mat.Dense, blocks)
		for k := range all {
			all[k] = borrow(n, hi-lo)
		}
		do(b.X.Slice(0, n, lo, hi).(*mat.Dense), lo, all)
		giveBack(all...)
	}
}

// products calls do with some columns of X at a time, of which the first is number lo, and their products with A.
func (b *Block) products(do func(x, y *mat.Dense, lo int)) {
	b.slabs(1, func(x *mat.Dense, lo int, blocks []*mat.Dense) {
		b.A.Mul(blocks[0], x)
		do(x, blocks[0], lo)
	})
}

// memory is that of blocks that are not in use.
var memory scratch.Pool[float64]

// borrow returns a matrix of undefined contents.
func borrow(rows, cols int) *mat.Dense { return mat.NewDense(rows, cols, memory.Get(rows*cols)) }

func giveBack(blocks ...*mat.Dense) {
	for _, m := range blocks {
		memory.Put(m.RawMatrix().Data)
	}
}

// Filter replaces X by an orthonormal basis of T(f·A − shift·I)·X, where T is the Chebyshev polynomial of a degree: at most 1
// on [−1, 1], and growing the faster beyond the higher the degree. T of degree 1 is the identity: Filter(ctx, 1, 1, 0) takes the
// product with A.
func (b *Block) Filter(ctx context.Context, degree int, f, shift float64) error {
	b.slabs(3, func(x *mat.Dense, _ int, blocks []*mat.Dense) {
		before, now, next := blocks[0], blocks[1], blocks[2]
		before.Zero()
		now.Copy(x)
		for k := 0; k < degree && ctx.Err() == nil; k++ {
			b.A.Mul(next, now)
			Chebyshev(next, now, before, k, f, shift)
			before, now, next = now, next, before
		}
		x.Copy(now)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	return b.orthonormalize()
}

// Chebyshev turns next = A·now into the Chebyshev polynomial of degree k+1 of f·A − shift·I, given those of degree k (now)
// and k−1 (before; zeros if k is 0). None of them has gaps between rows.
func Chebyshev(next, now, before *mat.Dense, k int, f, shift float64) {
	if k > 0 {
		f, shift = 2*f, 2*shift
	}
	all, nows, befores := next.RawMatrix().Data, now.RawMatrix().Data, before.RawMatrix().Data
	parallel.Ranges(len(all), 1<<15, func(lo, hi int) {
		next, now, before := all[lo:hi], nows[lo:hi], befores[lo:hi]
		next, before = next[:len(now)], before[:len(now)] // spares checks of bounds
		for i, v := range now {
			next[i] = float64(f*next[i]) - float64(shift*v) - before[i]
		}
	})
}

// Rate returns by how many e-folds every degree of a filter raises an eigenvalue y > 1 of f·A − shift·I above those in [−1, 1]:
// T_k(y) ≈ exp(k·arcosh y)/2.
func Rate(y float64) float64 { return math.Acosh(max(1+1e-12, y)) }

// orthonormalize replaces the columns of X by an orthonormal basis of their span, with fewer columns where they are
// dependent.
//
// A pass turns columns of length 1 into the eigenvectors of their products. Rounding hides those whose eigenvalues are tiny:
// their columns are in the right span, but short and not orthogonal. A further pass resolves them, and a last one makes the
// basis orthonormal to rounding. Columns that are mostly rounding by then depend on others.
func (b *Block) orthonormalize() error {
	var growth []float64 // of rounding in columns, which was that of columns of length 1
	for pass := range passes {
		if b.X == nil {
			return nil
		}
		q := inner(b.X, b.X)
		if pass == 0 {
			for c := range b.Width() {
				growth = append(growth, math.Sqrt(q.At(c, c)))
			}
		}
		scale, left := make([]float64, b.Width()), []int{}
		for c := range scale {
			if scale[c] = 1 / math.Sqrt(q.At(c, c)); growth[c]*scale[c] < dependent { // nor is it NaN
				left = append(left, c)
			}
		}
		if len(left) < len(scale) {
			growth = b.keep(left, growth)
			continue
		}
		for r, s := range scale {
			growth[r] *= s
			row := q.RawRowView(r)
			for c := range r + 1 {
				row[c] = row[c] * s * scale[c]
			}
		}
		values, err := decompose(q.RawMatrix().Data, len(scale))
		if err != nil {
			return err
		}
		squares, least := make([]float64, len(values)), resolved*slices.Max(values)
		for r, s := range scale {
			row := q.RawRowView(r)
			for c, v := range values {
				v = max(v, least)
				squares[c] += float64(row[c] * row[c] * growth[r] * growth[r] / v)
				row[c] *= s / math.Sqrt(v)
			}
		}
		for c, s := range squares {
			growth[c] = math.Sqrt(s)
		}
		if b.turn(q); pass > 0 && slices.Min(values) > 0.5 {
			return nil
		}
	}
	return errors.New("a basis does not become orthonormal")
}

// keep leaves the given columns of X, and returns their elements of x.
func (b *Block) keep(columns []int, x []float64) (kept []float64) {
	all := b.X
	if b.X = nil; len(columns) > 0 {
		b.X = mat.NewDense(all.RawMatrix().Rows, len(columns), nil)
	}
	for to, from := range columns {
		kept = append(kept, x[from])
		b.X.SetCol(to, mat.Col(nil, from, all))
	}
	return kept
}

// turn sets X = X·q.
func (b *Block) turn(q *mat.Dense) {
	x := dense.View(b.X)
	for lo := 0; lo < x.Rows; lo += rowBlock {
		rows := x.Block(lo, min(x.Rows, lo+rowBlock), 0, x.Cols)
		out := borrow(rows.Rows, x.Cols)
		dense.Mul(dense.View(out), rows, dense.View(q))
		copy(rows.Data, out.RawMatrix().Data)
		giveBack(out)
	}
}

// inner returns qᵀ·p, summed in an order that depends only on the number of rows: of qᵀ·q the diagonal and what is below.
func inner(q, p *mat.Dense) *mat.Dense {
	const rows, parts = 128, 64 // of a part, and how many there are at a time
	x, y := dense.View(q), dense.View(p)
	multiply := dense.Add
	if q == p {
		multiply = dense.AddLower
	}
	sum, all := mat.NewDense(x.Cols, y.Cols, nil), make([]*mat.Dense, min(parts, (x.Rows+rows-1)/rows))
	for k := range all {
		all[k] = borrow(x.Cols, y.Cols)
	}
	defer giveBack(all...)
	for first := 0; first < x.Rows; first += rows * parts {
		last := min(x.Rows, first+rows*parts)
		parallel.Ranges(last-first, rows, func(lo, hi int) {
			part := all[lo/rows]
			part.Zero()
			multiply(dense.View(part), 1, x.Block(first+lo, first+hi, 0, x.Cols).T(), y.Block(first+lo, first+hi, 0, y.Cols))
		})
		for _, part := range all[:(last-first+rows-1)/rows] {
			sum.Add(sum, part)
		}
	}
	return sum
}

// Ritz turns the orthonormal columns of X into approximate eigenvectors, and returns their eigenvalues in an order.
func (b *Block) Ritz(by Order) ([]float64, error) {
	w := b.Width()
	h := mat.NewDense(w, w, nil)
	b.products(func(x, y *mat.Dense, lo int) {
		h.Slice(0, w, lo, lo+x.RawMatrix().Cols).(*mat.Dense).Copy(inner(b.X, y))
	})
	for r := range w {
		for c := range r + 1 {
			h.Set(r, c, (h.At(r, c)+h.At(c, r))*b.Unit/2)
		}
	}
	values, err := Symmetric(h, by)
	if err != nil {
		return nil, fmt.Errorf("within a block of vectors: %w", err)
	}
	b.turn(h)
	return values, nil
}

// Residuals returns the norms of M·v − λ·v for the columns v of X, the matrix M and values λ.
func (b *Block) Residuals(values []float64) []float64 {
	all := make([]float64, b.Width())
	b.products(func(x, y *mat.Dense, lo int) {
		n, w := x.Dims()
		parallel.Ranges(w, 8, func(first, last int) {
			squares := make([]float64, last-first)
			for i := range n {
				product := y.RawRowView(i)[first:last]
				for c, v := range x.RawRowView(i)[first:last] {
					d := float64(product[c]*b.Unit) - float64(values[lo+first+c]*v)
					squares[c] += float64(d * d)
				}
			}
			for c, s := range squares {
				all[lo+first+c] = math.Sqrt(s)
			}
		})
	})
	return all
}
