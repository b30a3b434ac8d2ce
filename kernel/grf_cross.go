package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

// stripColumns is the number of right-hand sides that share a product. It bounds
// the scratch memory, one number per touched node and right-hand side.
const stripColumns = 32

// grfCross is K[rows, cols] = Φ_rows·Φ_colsᵀ.
type grfCross struct {
	kernel *GRF
	left   rowProduct
	right  *sparse.CSR
	spread []uint32 // the column of left that each row of right belongs to; nil: its own
	err    error    // why the matrix could not be formed
}

// Dims returns the lengths of the two lists.
func (o *grfCross) Dims() (r, c int) {
	r, _ = o.left.Dims()
	_, c = o.right.Dims()
	return r, c
}

// Apply sets dst = Φ_rows·(Φ_colsᵀ·x).
func (o *grfCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.err != nil {
		return o.err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	r, c := o.Dims()
	_, columns := dst.Dims()
	switch {
	case r == 0:
		return nil
	case c == 0:
		dst.Zero()
		return nil
	case columns <= stripColumns:
		return o.strip(ctx, dst, x) // without views, which are allocated
	}
	return strips(dst, func(lo int, dst *mat.Dense) error {
		return o.strip(ctx, dst, columnsOf(x, lo, dst))
	})
}

func (o *grfCross) strip(ctx context.Context, dst, x *mat.Dense) error {
	width, _ := o.right.Dims()
	_, columns := x.Dims()
	mid := o.kernel.block(width, columns)
	defer o.kernel.blocks.Put(mid)
	o.right.Mul(mid, x)
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.spread != nil {
		_, width := o.left.Dims()
		wide := o.kernel.block(width, columns)
		defer o.kernel.blocks.Put(wide)
		wide.Zero()
		for a, node := range o.spread {
			copy(wide.RawRowView(int(node)), mid.RawRowView(a))
		}
		mid = wide
	}
	o.left.Mul(dst, mid)
	return ctx.Err()
}

// strips calls do with each strip of the columns of dst and its first column.
func strips(dst *mat.Dense, do func(lo int, dst *mat.Dense) error) error {
	_, columns := dst.Dims()
	for lo := 0; lo < columns; lo += stripColumns {
		if err := do(lo, fromToColumns(dst, lo, min(columns, lo+stripColumns))); err != nil {
			return err
		}
	}
	return nil
}

// columnsOf returns as many columns of x, from lo on, as like has.
func columnsOf(x *mat.Dense, lo int, like *mat.Dense) *mat.Dense {
	_, columns := like.Dims()
	return fromToColumns(x, lo, lo+columns)
}

// fromToColumns returns the columns [lo, hi) of x, which a rank may have no row of.
func fromToColumns(x *mat.Dense, lo, hi int) *mat.Dense {
	rows, _ := x.Dims()
	if rows == 0 {
		return emptyBlock(0, hi-lo)
	}
	return x.Slice(0, rows, lo, hi).(*mat.Dense)
}
