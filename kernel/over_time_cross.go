package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// timeCross is K[rows, cols]: a product with the kernel on the distinct nodes, for all
// periods at once, and a recursion along time.
type timeCross struct {
	cov        *timeCovariance
	rows, cols *timeList
	graph      solve.Operator // on the distinct nodes
	mix        *mixer         // from the periods of cols to those of rows
	mixFirst   bool           // before the product with the kernel on nodes
}

func (c *timeCovariance) Cross(rows, cols []int) solve.Operator {
	o := &timeCross{cov: c, rows: c.list(rows), cols: c.list(cols)}
	if len(rows) == 0 || len(cols) == 0 {
		return o
	}
	o.graph = c.graph.Cross(o.rows.nodes, o.cols.nodes)
	o.mix = c.mixer(o.rows.periods, o.cols.periods)
	into, from := len(o.rows.periods), len(o.cols.periods)
	o.mixFirst = into < from || into == from && len(o.cols.nodes) <= len(o.rows.nodes)
	return o
}

func (o *timeCross) Dims() (r, c int) { return len(o.rows.node), len(o.cols.node) }

func (o *timeCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	switch {
	case len(o.rows.node) == 0:
		return ctx.Err()
	case len(o.cols.node) == 0:
		dst.Zero()
		return ctx.Err()
	}
	_, columns := x.Dims()
	each := max(len(o.rows.nodes), len(o.cols.nodes)) * max(len(o.rows.periods), len(o.cols.periods))
	return timeStrips(columns, each, func(lo, hi int) error {
		return o.strip(ctx, strip(dst, lo, hi), strip(x, lo, hi))
	})
}

// strip computes a few columns.
func (o *timeCross) strip(ctx context.Context, dst, x *mat.Dense) error {
	_, width := x.Dims()
	c, into, from := o.cov, len(o.rows.periods)*width, len(o.cols.periods)*width
	z := c.block(len(o.cols.nodes), from)
	defer c.release(z)
	o.cols.scatter(z, x)
	if o.mixFirst {
		mixed := c.block(len(o.cols.nodes), into)
		defer c.release(mixed)
		if err := o.mix.apply(ctx, mixed, z, width); err != nil {
			return err
		}
		z, from = mixed, into
	}
	y := c.block(len(o.rows.nodes), from)
	defer c.release(y)
	if err := o.graph.Apply(ctx, y, z); err != nil {
		return err
	}
	if !o.mixFirst {
		mixed := c.block(len(o.rows.nodes), into)
		defer c.release(mixed)
		if err := o.mix.apply(ctx, mixed, y, width); err != nil {
			return err
		}
		y = mixed
	}
	o.rows.gather(dst, y)
	return ctx.Err()
}

// timeBlock is the most numbers in a block of columns that share a product: 128 MiB.
const timeBlock = 1 << 24

// timeStrips calls do with each strip of columns, where a column takes the given
// number of entries.
func timeStrips(columns, entries int, do func(lo, hi int) error) error {
	width := max(1, timeBlock/max(1, entries))
	for lo := 0; lo < columns; lo += width {
		if err := do(lo, min(columns, lo+width)); err != nil {
			return err
		}
	}
	return nil
}

// strip returns the columns [lo, hi) of x.
func strip(x *mat.Dense, lo, hi int) *mat.Dense {
	rows, columns := x.Dims()
	if lo == 0 && hi == columns {
		return x
	}
	return x.Slice(0, rows, lo, hi).(*mat.Dense)
}
