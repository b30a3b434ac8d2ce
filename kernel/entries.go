package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/solve"
	"grfgp/sparse"
)

// Entries sets dst to the entries of an operator that Covariance.Cross returned, without a product with the
// identity matrix where the operator has its entries at hand.
func Entries(ctx context.Context, dst *mat.Dense, op solve.Operator) error {
	rows, cols := op.Dims()
	if rows == 0 || cols == 0 {
		return ctx.Err()
	}
	if e, ok := op.(entrywise); ok && e.hasEntries() {
		return e.entries(ctx, dst)
	}
	one := mat.NewDense(cols, cols, nil)
	for k := range cols {
		one.Set(k, k, 1)
	}
	return op.Apply(ctx, dst, one)
}

// entrywise is an operator that knows its entries. entries sets dst, which is not empty.
type entrywise interface {
	hasEntries() bool
	entries(ctx context.Context, dst *mat.Dense) error
}

func (o sumOperator) hasEntries() bool { return true }

func (o sumOperator) entries(ctx context.Context, dst *mat.Dense) error {
	if err := Entries(ctx, dst, o[0]); err != nil {
		return err
	}
	var one *mat.Dense
	for _, part := range o[1:] {
		if r, ok := part.(*constantCross); ok {
			raw := dst.RawMatrix()
			parallel.Ranges(raw.Rows, 256, func(lo, hi int) {
				for a := lo; a < hi; a++ {
					row := raw.Data[a*raw.Stride:][:raw.Cols]
					for b := range row {
						row[b] += r.variance
					}
				}
			})
			continue
		}
		if one == nil {
			rows, columns := dst.Dims()
			one = mat.NewDense(rows, columns, nil)
		}
		if err := Entries(ctx, one, part); err != nil {
			return err
		}
		addRows(dst, one)
	}
	return nil
}

func (o *smoothCross) hasEntries() bool { return true }

func (o *smoothCross) entries(ctx context.Context, dst *mat.Dense) error {
	raw := dst.RawMatrix()
	return o.cov.blocks(ctx, o.rows, o.cols, func(b *smoothBlock) {
		parallel.Ranges(b.r2.Rows, 8, func(lo, hi int) {
			for a := lo; a < hi; a++ {
				row := b.row(a)
				o.cov.shape.values(row, o.cov.variance)
				copy(raw.Data[(b.r0+a)*raw.Stride+b.c0:], row)
			}
		})
	})
}

func (o *grfCross) hasEntries() bool {
	_, ok := o.left.(*sparse.CSR)
	return ok && o.err == nil && o.spread == nil
}

// entries multiplies rows of Φ by Φᵀ, which costs as much as they have entries in common columns.
func (o *grfCross) entries(ctx context.Context, dst *mat.Dense) error {
	return sparseTimes(ctx, dst, o.left.(*sparse.CSR), o.right)
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
