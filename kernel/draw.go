package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"
)

// Drawer is a Covariance that draws from a posterior as quickly as from the
// prior: K = ΦΦᵀ and g = Φw, so that g + K[·, x]·u = Φ(w + Φ_xᵀu) is one pass
// over Φ.
type Drawer interface {
	Covariance
	// Draw begins draws from the prior: those of Prior with the same seed. It is
	// nil if a part of the covariance cannot.
	Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error)
}

// Draw is draws g from N(0, K), a column each, of which only some are known yet.
type Draw interface {
	// At returns g[x].
	At() *mat.Dense
	// Update sets dst, a row per node, to g + K[·, x]·u. It can be called once.
	Update(ctx context.Context, dst, u *mat.Dense) error
}

// grfDraw holds w.
type grfDraw struct {
	cov *grfCovariance
	x   *factor
	w   *mat.Dense
	at  *mat.Dense
}

// Draw begins draws from the prior.
func (c *grfCovariance) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	d := &grfDraw{c, c.factor(x), mat.NewDense(c.Nodes(), draws, nil), mat.NewDense(len(x), draws, nil)}
	if d.x.err != nil {
		return nil, d.x.err
	}
	if err := normals(ctx, d.w, seed, "prior", 0); err != nil {
		return nil, err
	}
	w := d.w
	if d.x.nodes != nil {
		w = c.block(d.x.width, draws)
		defer c.blocks.Put(w)
		for a, node := range d.x.nodes {
			copy(w.RawRowView(a), d.w.RawRowView(int(node)))
		}
	}
	d.x.phi.Mul(d.at, w)
	return d, ctx.Err()
}

func (d *grfDraw) At() *mat.Dense { return d.at }

func (d *grfDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	whole := d.cov.factor(d.cov.all())
	if whole.err != nil {
		return whole.err
	}
	_, draws := d.w.Dims()
	up := d.cov.block(d.x.width, draws)
	defer d.cov.blocks.Put(up)
	d.x.transpose().Mul(up, u)
	for a := range d.x.width {
		node := a
		if d.x.nodes != nil {
			node = int(d.x.nodes[a])
		}
		row := d.w.RawRowView(node)
		for s, v := range up.RawRowView(a) {
			row[s] += v
		}
	}
	whole.phi.Mul(dst, d.w) // all nodes reach themselves: their columns are nodes
	return ctx.Err()
}
