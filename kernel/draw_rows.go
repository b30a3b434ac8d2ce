package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// drawBlock is the number of nodes that a draw returns at a time.
const drawBlock = 1 << 15

// rowsDraw is a Draw that returns some nodes at a time, so that draws at all nodes are
// never held at once.
type rowsDraw interface {
	Draw
	streams() bool                                           // whether the methods below can be used
	settle(ctx context.Context, u *mat.Dense) error          // takes u, once, instead of Update
	block(ctx context.Context, dst *mat.Dense, lo int) error // sets dst to g + K[·, x]·u at nodes lo and following
	release()                                                // gives scratch memory back after the last use
}

// EachRows calls do with g + K[·, x]·u at all nodes, a block of rows from node lo on at
// a time, in order. It is Update without the memory for all nodes, if the draw allows it, and the draw
// can be used no more.
func EachRows(ctx context.Context, d Draw, nodes int, u *mat.Dense, do func(lo int, rows *mat.Dense) error) error {
	_, draws := u.Dims()
	from, streamed := d.(rowsDraw)
	streamed = streamed && from.streams()
	var whole *mat.Dense
	if streamed {
		defer from.release()
		if err := from.settle(ctx, u); err != nil {
			return err
		}
		whole = mat.NewDense(min(nodes, drawBlock), draws, nil)
	} else {
		whole = mat.NewDense(nodes, draws, nil)
		if err := d.Update(ctx, whole, u); err != nil {
			return err
		}
	}
	for lo := 0; lo < nodes; lo += drawBlock {
		n := min(drawBlock, nodes-lo)
		at := lo
		if streamed {
			at = 0
		}
		rows := whole.Slice(at, at+n, 0, draws).(*mat.Dense)
		if streamed {
			if err := from.block(ctx, rows, lo); err != nil {
				return err
			}
		}
		if err := do(lo, rows); err != nil {
			return err
		}
	}
	return nil
}

func (d *grfDraw) streams() bool { return true }

func (d *grfDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	phi, err := d.cov.phi(ctx)
	if err != nil {
		return err
	}
	phi.MulRows(dst, d.w, lo)
	return ctx.Err()
}

func (d *multiscaleDraw) streams() bool {
	fine, ok := d.fine.(rowsDraw)
	return ok && fine.streams()
}

func (d *multiscaleDraw) settle(ctx context.Context, u *mat.Dense) error {
	if err := d.fine.(rowsDraw).settle(ctx, u); err != nil {
		return err
	}
	var err error
	d.above, err = d.coarse(ctx, u)
	return err
}

func (d *multiscaleDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	if err := d.fine.(rowsDraw).block(ctx, dst, lo); err != nil {
		return err
	}
	d.cov.addUp(d.rows, dst, d.above, lo)
	return ctx.Err()
}

func (d *multiscaleDraw) release() {
	if d.above != nil {
		d.cov.scales[0].grf.blocks.Put(d.above)
	}
	d.fine.(rowsDraw).release()
}

func (d *sumDraw) streams() bool {
	for _, part := range d.parts {
		if p, ok := part.(rowsDraw); !ok || !p.streams() {
			return false
		}
	}
	return len(d.others) == 0
}

func (d *sumDraw) settle(ctx context.Context, u *mat.Dense) error {
	for _, part := range d.parts {
		if err := part.(rowsDraw).settle(ctx, u); err != nil {
			return err
		}
	}
	if len(d.constants) == 0 {
		return nil
	}
	sums, err := d.all.sums(ctx, u)
	if err != nil {
		return err
	}
	for k, r := range d.constants {
		for s, v := range sums {
			d.levels[k][s] += r.variance * v
		}
	}
	return nil
}

func (d *sumDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	if err := d.parts[0].(rowsDraw).block(ctx, dst, lo); err != nil {
		return err
	}
	if len(d.parts) > 1 {
		n, draws := dst.Dims()
		one := mat.NewDense(n, draws, nil)
		for _, part := range d.parts[1:] {
			if err := part.(rowsDraw).block(ctx, one, lo); err != nil {
				return err
			}
			addRows(dst, one)
		}
	}
	for _, levels := range d.levels {
		addToRows(dst, levels)
	}
	return nil
}

func (d *sumDraw) release() {
	for _, part := range d.parts {
		part.(rowsDraw).release()
	}
}

func (d *unitVarianceDraw) streams() bool {
	below, ok := d.below.(rowsDraw)
	return ok && below.streams()
}

func (d *unitVarianceDraw) settle(ctx context.Context, u *mat.Dense) error {
	scaled := mat.DenseCopyOf(u)
	scaleRows(scaled, d.known, 1)
	return d.below.(rowsDraw).settle(ctx, scaled)
}

func (d *unitVarianceDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	if err := d.below.(rowsDraw).block(ctx, dst, lo); err != nil {
		return err
	}
	n, _ := dst.Dims()
	scaleRows(dst, d.all[lo:lo+n], 1)
	return nil
}

func (d *unitVarianceDraw) release() { d.below.(rowsDraw).release() }

func (d *linearDraw) streams() bool { return true }

func (d *linearDraw) block(ctx context.Context, dst *mat.Dense, lo int) error {
	n, _ := dst.Dims()
	return d.cov.x.at(d.all[lo:lo+n]).times(ctx, dst, d.w)
}

func (d *linearDraw) release() {}

// coarse returns Σ_k s_k P_k N⁻¹ f_k at the nodes of the first coarser scale, of which
// the sum at all nodes is the interpolation: it brings u down to every scale, where
// with s² N⁻¹ΦΦᵀN⁻¹ for K the sum g + K[·, x]·u is s N⁻¹ times the same sum of the raw
// features for s N⁻¹u.
func (d *multiscaleDraw) coarse(ctx context.Context, u *mat.Dense) (*mat.Dense, error) {
	_, draws := u.Dims()
	down := make([]*mat.Dense, len(d.parts))
	below := u
	for k := range d.x.up {
		down[k] = emptyBlock(len(d.x.nodes[k+1]), draws)
		if err := d.x.descend(ctx, k, down[k], below); err != nil {
			return nil, err
		}
		below = down[k]
	}
	return d.cov.raisedOn(ctx, d.rows, d.windows, draws, func(k int, y *mat.Dense) error {
		inverses, err := d.cov.inversesOf(ctx, k, d.x)
		if err != nil {
			return err
		}
		scaleRows(down[k], inverses, math.Sqrt(d.cov.parts[k].variance))
		return d.parts[k].Update(ctx, y, down[k])
	})
}
