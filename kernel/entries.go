package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/solve"
	"grfgp/sparse"
)

// Entries sets dst = K[rows, cols], without a product with the identity matrix where the covariance has its entries at hand.
func Entries(ctx context.Context, dst *mat.Dense, c Covariance, rows, cols []int) error {
	if len(rows) == 0 || len(cols) == 0 {
		return ctx.Err()
	}
	if e, ok := c.(entrywise); ok {
		return e.entries(ctx, dst, rows, cols)
	}
	return byProducts(ctx, dst, c.Cross(rows, cols))
}

// byProducts sets dst to the entries of an operator.
func byProducts(ctx context.Context, dst *mat.Dense, op solve.Operator) error {
	_, n := op.Dims()
	return op.Apply(ctx, dst, identity(n))
}

// identity returns the identity matrix.
func identity(n int) *mat.Dense {
	one := mat.NewDense(n, n, nil)
	for i := range n {
		one.Set(i, i, 1)
	}
	return one
}

// entrywise is a covariance that knows its entries. entries sets dst, which is not empty.
type entrywise interface {
	entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error
}

func (c *smoothCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	raw := dst.RawMatrix()
	return c.blocks(ctx, rows, cols, func(b *smoothBlock) {
		everyRow(b.r2.Rows, 8, func(a int) {
			row := b.row(a)
			c.shape.values(row, c.variance)
			copy(raw.Data[(b.r0+a)*raw.Stride+b.c0:], row)
		})
	})
}

// sparseTimes sets dst = left·right.
func sparseTimes(ctx context.Context, dst *mat.Dense, left, right *sparse.CSR) error {
	raw := dst.RawMatrix()
	ptr, col, val := right.Raw()
	// An entry must not depend on which other rows are computed with it: the columns of right alone decide.
	full := newFullColumns(len(ptr)-1, raw.Cols, func(c int) int { return ptr[c+1] - ptr[c] })
	err := eachRow(ctx, raw.Rows, 64, func(_, a int) {
		out := raw.Data[a*raw.Stride:][:raw.Cols]
		clear(out)
		cols, vals := left.Row(a)
		for p, c := range cols {
			if full.has(c) {
				continue
			}
			v, lo, hi := vals[p], ptr[c], ptr[c+1]
			to := col[lo:hi]
			for q, w := range val[lo:hi] {
				out[to[q]] += float64(v * w)
			}
		}
	})
	if err == nil && full.count > 0 {
		dense.Add(dense.View(dst), 1, full.of(left), full.rows(right))
	}
	return err
}
