package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Prior adds a draw of each scale, interpolated, to a draw of the fine kernel.
func (c *multiscaleCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := c.fine.Prior(ctx, dst, seed); err != nil {
		return err
	}
	return c.raise(ctx, dst, func(k int, y *mat.Dense) error { return c.sampler(k).Prior(ctx, y, drawSeed(seed, k)) })
}

// raise adds Σ_k s_k P_k N⁻¹ f_k to dst, a row per node, where f sets f_k, a row
// per node of the scale.
func (c *multiscaleCovariance) raise(ctx context.Context, dst *mat.Dense, f func(k int, y *mat.Dense) error) error {
	_, columns := dst.Dims()
	above, err := c.raised(ctx, columns, f)
	if err != nil {
		return err
	}
	defer c.scales[0].grf.blocks.Put(above)
	return c.whole().rise(ctx, 0, dst, above)
}

// raised returns the sum of raise at the nodes of the first coarser scale, in a block
// of its GRF.
func (c *multiscaleCovariance) raised(ctx context.Context, columns int, f func(k int, y *mat.Dense) error) (*mat.Dense, error) {
	return c.raisedOn(ctx, c.whole(), nil, columns, f)
}

// raisedOn is raised for the nodes of a chain. With windows, f sets the rows of those that
// are not nil only.
func (c *multiscaleCovariance) raisedOn(ctx context.Context, chain *chain, windows []*grfWindow, columns int,
	f func(k int, y *mat.Dense) error) (*mat.Dense, error) {
	return c.ascend(ctx, chain, columns, func(k int, y *mat.Dense) error {
		u, nodes := c.parts[k], chain.nodes[k+1]
		if windows != nil && windows[k] != nil {
			if err := f(k, y); err != nil {
				return err
			}
			inverses, err := windows[k].inverses(ctx)
			if err != nil {
				return err
			}
			scaleRows(y, inverses, math.Sqrt(u.variance))
			return nil
		}
		all := y
		if n := u.raw.Nodes(); c.spreadOf(k) == nil && len(nodes) < n { // other nodes of the scale interpolate to no node of the chain
			_, columns := y.Dims()
			all = u.raw.block(n, columns)
			defer u.raw.blocks.Put(all)
		}
		if err := f(k, all); err != nil {
			return err
		}
		if all != y {
			for a, i := range nodes {
				copy(y.RawRowView(a), all.RawRowView(i))
			}
		}
		inverses, err := c.inversesOf(ctx, k, chain)
		scaleRows(y, inverses, math.Sqrt(u.variance))
		return err
	})
}

// draw begins draws from the prior, with a pass over the features of each scale.
func (c *multiscaleCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return c.drawOn(ctx, draws, seed, x, c.whole(), AbilitiesOf(c.fine).Draw, nil)
}

// drawOn is draw at the nodes of a chain, with draws of the fine kernel there and with
// windows of the scales; without those, or where one is nil, a scale is drawn at all its nodes.
func (c *multiscaleCovariance) drawOn(ctx context.Context, draws int, seed uint64, x []int, rows *chain, fine beginDraw,
	windows []*grfWindow) (Draw, error) {
	d := &multiscaleDraw{cov: c, x: c.chain(x), rows: rows, windows: windows}
	var err error
	if d.fine, err = fine(ctx, draws, seed, x); err != nil {
		return nil, err
	}
	for k := range c.parts {
		begin := c.sampler(k).draw
		if windows != nil && windows[k] != nil {
			begin = windows[k].Draw
		}
		part, err := begin(ctx, draws, drawSeed(seed, k), d.x.nodes[k+1])
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, part)
	}
	d.at = mat.DenseCopyOf(d.fine.At())
	return d, c.climb(ctx, d.x, d.at, func(k int, y *mat.Dense) error {
		y.Copy(d.parts[k].At())
		inverses, err := c.inversesOf(ctx, k, d.x)
		scaleRows(y, inverses, math.Sqrt(c.parts[k].variance))
		return err
	})
}

// multiscaleDraw is a draw of every scale.
type multiscaleDraw struct {
	cov     *multiscaleCovariance
	x       *chain
	rows    *chain       // of the nodes that are drawn at
	windows []*grfWindow // of the scales, if those are not all nodes
	fine    Draw
	parts   []Draw
	at      *mat.Dense
	above   *mat.Dense // the sum of the scales on the first of them, after settle
}

func (d *multiscaleDraw) At() *mat.Dense { return d.at }

func (d *multiscaleDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	if err := d.fine.Update(ctx, dst, u); err != nil {
		return err
	}
	above, err := d.coarse(ctx, u)
	if err != nil {
		return err
	}
	defer d.cov.scales[0].grf.blocks.Put(above)
	return d.rows.rise(ctx, 0, dst, above)
}
