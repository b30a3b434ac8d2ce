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
	return c.raise(ctx, dst, func(k int, y *mat.Dense) error { return c.parts[k].raw.Prior(ctx, y, drawSeed(seed, k)) })
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
	c.addUp(c.whole(), dst, above, 0)
	return ctx.Err()
}

// raised returns the sum of raise at the nodes of the first coarser scale, in a block
// of its GRF.
func (c *multiscaleCovariance) raised(ctx context.Context, columns int, f func(k int, y *mat.Dense) error) (*mat.Dense, error) {
	chain := c.whole()
	return c.ascend(ctx, chain, columns, func(k int, y *mat.Dense) error {
		u, nodes := c.parts[k], chain.nodes[k+1]
		all := y
		if n := u.raw.Nodes(); len(nodes) < n { // some nodes of the scale interpolate to no node
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
		scaleRows(y, u.inverses(nodes), math.Sqrt(u.variance))
		return nil
	})
}

// draw begins draws from the prior, with a pass over the features of each scale.
func (c *multiscaleCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	d := &multiscaleDraw{cov: c, x: c.chain(x)}
	var err error
	if d.fine, err = AbilitiesOf(c.fine).Draw(ctx, draws, seed, x); err != nil {
		return nil, err
	}
	for k, u := range c.parts {
		part, err := u.raw.draw(ctx, draws, drawSeed(seed, k), d.x.nodes[k+1])
		if err != nil {
			return nil, err
		}
		d.parts = append(d.parts, part)
	}
	d.at = mat.DenseCopyOf(d.fine.At())
	return d, c.climb(ctx, d.x, d.at, func(k int, y *mat.Dense) error {
		y.Copy(d.parts[k].At())
		scaleRows(y, c.parts[k].inverses(d.x.nodes[k+1]), math.Sqrt(c.parts[k].variance))
		return nil
	})
}

// multiscaleDraw is a draw of every scale.
type multiscaleDraw struct {
	cov   *multiscaleCovariance
	x     *chain
	fine  Draw
	parts []Draw
	at    *mat.Dense
	above *mat.Dense // the sum of the scales on the first of them, after settle
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
	d.cov.addUp(d.cov.whole(), dst, above, 0)
	return ctx.Err()
}
