package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel/internal/normal"
)

// Abilities are draws in one pass, and the features.
func (c *grfCovariance) Abilities() Abilities {
	return Abilities{Draw: c.draw, Fine: &Sampling{c.features, c.coeff}}
}

// grfDraw holds w of g = Φw.
type grfDraw struct {
	cov *grfCovariance
	x   *factor
	w   *mat.Dense
	at  *mat.Dense
}

func (c *grfCovariance) draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	d := &grfDraw{c, c.factor(x), mat.NewDense(c.Nodes(), draws, nil), mat.NewDense(len(x), draws, nil)}
	if d.x.err != nil {
		return nil, d.x.err
	}
	if err := normal.Fill(ctx, d.w, seed, "prior", 0); err != nil {
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
	whole.phi.Mul(dst, d.w) // in the pattern of all nodes, columns are nodes
	return ctx.Err()
}
