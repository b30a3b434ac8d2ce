package kernel

import (
	"context"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/parallel"
	"grfgp/internal/scratch"
	"grfgp/sparse"
)

// Products with blocks of float32, for conjugate gradients (solve.SingleOperator).
// Features are sums of a few float32 numbers, so a product in float32 loses little, and
// it moves half the memory.

// single is a product with a block of float32.
type single = func(ctx context.Context, dst, x blas32.General) error

// singles keeps the memory of blocks for the next product.
var singles scratch.Pool[float32]

// borrowSingle returns an r×c block with undefined contents, to be returned.
func borrowSingle(r, c int) blas32.General {
	return blas32.General{Rows: r, Cols: c, Stride: max(1, c), Data: singles.Get(r * c)}
}

// returnSingle gives a block back.
func returnSingle(x blas32.General) { singles.Put(x.Data) }

// stripsSingle calls do with each strip of the columns of dst and x.
func stripsSingle(dst, x blas32.General, do func(dst, x blas32.General) error) error {
	for lo := 0; lo < dst.Cols; lo += stripColumns {
		hi := min(dst.Cols, lo+stripColumns)
		if err := do(columnsSingle(dst, lo, hi), columnsSingle(x, lo, hi)); err != nil {
			return err
		}
	}
	return nil
}

func columnsSingle(x blas32.General, lo, hi int) blas32.General {
	return blas32.General{Rows: x.Rows, Cols: hi - lo, Stride: x.Stride, Data: x.Data[min(lo, len(x.Data)):]}
}

// Single returns Φ_rows·(Φ_colsᵀ·x) for float32, of measurements with themselves.
func (o *grfCross) Single() func(ctx context.Context, dst, x blas32.General) error {
	phi, ok := o.left.(*sparse.CSR)
	if r, c := o.Dims(); !ok || o.err != nil || o.spread != nil || r == 0 || c == 0 {
		return nil
	}
	left, right := phi.Single(), o.right.Single()
	width, _ := o.right.Dims()
	return func(ctx context.Context, dst, x blas32.General) error {
		return stripsSingle(dst, x, func(dst, x blas32.General) error {
			mid := borrowSingle(width, x.Cols)
			defer returnSingle(mid)
			right.Mul(mid, x)
			if err := ctx.Err(); err != nil {
				return err
			}
			left.Mul(dst, mid)
			return ctx.Err()
		})
	}
}

// Single returns the sum of the products of all parts, if all have them.
func (o sumOperator) Single() func(ctx context.Context, dst, x blas32.General) error {
	if r, c := o.Dims(); r == 0 || c == 0 {
		return nil
	}
	var first single
	var more []single
	for k, part := range o {
		constant, ok := part.(*constantCross)
		if ok && k > 0 {
			more = append(more, constant.addSingle)
			continue
		}
		p := singleOf(part)
		if p == nil {
			return nil
		}
		if k == 0 {
			first = p
			continue
		}
		more = append(more, func(ctx context.Context, dst, x blas32.General) error {
			one := borrowSingle(dst.Rows, dst.Cols)
			defer returnSingle(one)
			if err := p(ctx, one, x); err != nil {
				return err
			}
			addSingle(dst, one)
			return nil
		})
	}
	return func(ctx context.Context, dst, x blas32.General) error {
		if err := first(ctx, dst, x); err != nil {
			return err
		}
		for _, add := range more {
			if err := add(ctx, dst, x); err != nil {
				return err
			}
		}
		return nil
	}
}

// singleOf returns the products of an operator with float32; nil if it has none.
func singleOf(o any) single {
	if s, ok := o.(interface {
		Single() func(ctx context.Context, dst, x blas32.General) error
	}); ok {
		return s.Single()
	}
	return nil
}

// Single returns the product of all scales, if the fine kernel has one.
func (o *multiscaleCross) Single() func(ctx context.Context, dst, x blas32.General) error {
	fine := singleOf(o.fine)
	if fine == nil || o.rows != o.cols {
		return nil
	}
	parts := make([]single, len(o.parts))
	ups, downs := make([]*sparse.Single, len(o.parts)), make([]*sparse.Single, len(o.parts))
	for k, u := range o.parts {
		if parts[k] = u.single(); parts[k] == nil {
			return nil
		}
		ups[k], downs[k] = o.rows.up[k].Single(), o.rows.up[k].T().Single()
	}
	nodes := o.rows.nodes
	strip := func(ctx context.Context, dst, x blas32.General) error {
		if err := fine(ctx, dst, x); err != nil {
			return err
		}
		down := make([]blas32.General, len(parts))
		below := x
		for k := range parts {
			down[k] = borrowSingle(len(nodes[k+1]), x.Cols)
			defer returnSingle(down[k])
			downs[k].Mul(down[k], below)
			below = down[k]
		}
		var above blas32.General
		for k := len(parts) - 1; k >= 0; k-- {
			y := borrowSingle(len(nodes[k+1]), x.Cols)
			defer returnSingle(y)
			if err := parts[k](ctx, y, down[k]); err != nil {
				return err
			}
			if k+1 < len(parts) {
				ups[k+1].MulAdd(y, above)
			}
			above = y
		}
		ups[0].MulAdd(dst, above)
		return ctx.Err()
	}
	return func(ctx context.Context, dst, x blas32.General) error {
		return stripsSingle(dst, x, func(dst, x blas32.General) error { return strip(ctx, dst, x) })
	}
}

// single is apply for float32.
func (o unitCross) single() single {
	raw := singleOf(o.raw)
	if raw == nil {
		return nil
	}
	left, right := scaled32(o.left, 1), scaled32(o.right, o.variance)
	return func(ctx context.Context, dst, x blas32.General) error {
		scaleSingle(x, right)
		if err := raw(ctx, dst, x); err != nil {
			return err
		}
		scaleSingle(dst, left)
		return nil
	}
}

// scaled32 returns all·each in float32.
func scaled32(each []float64, all float64) []float32 {
	out := make([]float32, len(each))
	for i, v := range each {
		out[i] = float32(all * v)
	}
	return out
}

// scaleSingle multiplies row i of x by each[i].
func scaleSingle(x blas32.General, each []float32) {
	parallel.Ranges(x.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, v := x.Data[i*x.Stride:][:x.Cols], each[i]
			for s := range row {
				row[s] *= v
			}
		}
	})
}

// addSingle sets dst += x.
func addSingle(dst, x blas32.General) {
	parallel.Ranges(dst.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.Data[i*dst.Stride:][:dst.Cols]
			for s, v := range x.Data[i*x.Stride:][:x.Cols] {
				row[s] += v
			}
		}
	})
}
