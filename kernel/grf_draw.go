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
	d := &grfDraw{c, c.factor(x), c.block(c.Nodes(), draws), mat.NewDense(len(x), draws, nil)}
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
		eachPlace(len(d.x.nodes), func(a int) { copy(w.RawRowView(a), d.w.RawRowView(int(d.x.nodes[a]))) })
	}
	d.x.phi.Mul(d.at, w)
	return d, ctx.Err()
}

func (d *grfDraw) At() *mat.Dense { return d.at }

func (d *grfDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	defer d.release()
	if err := d.settle(ctx, u); err != nil {
		return err
	}
	phi, err := d.cov.phi(ctx)
	if err != nil {
		return err
	}
	phi.Mul(dst, d.w) // columns are nodes
	return ctx.Err()
}

// settle adds Φ_xᵀu to w.
func (d *grfDraw) settle(ctx context.Context, u *mat.Dense) error {
	_, draws := d.w.Dims()
	up := d.cov.block(d.x.width, draws)
	defer d.cov.blocks.Put(up)
	d.x.mulTransposed(up, u)
	eachPlace(d.x.width, func(a int) {
		node := a
		if d.x.nodes != nil {
			node = int(d.x.nodes[a])
		}
		row := d.w.RawRowView(node)
		for s, v := range up.RawRowView(a) {
			row[s] += v
		}
	})
	return ctx.Err()
}

func (d *grfDraw) release() {
	if d.w != nil {
		d.cov.blocks.Put(d.w)
		d.w = nil
	}
}
