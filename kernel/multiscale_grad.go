package kernel

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Grad adds Σ_s u_sᵀ(∂K/∂θ_j)w_s to grad[j]. On scale k, with ũ = P_kᵀu and
// w̃ = P_kᵀw, A = Φ̂ᵀũ and B = Φ̂ᵀw̃,
//
//	d(ũᵀΦ̂Φ̂ᵀw̃) = Σ_ic dΦ̂_ic·(⟨ũ_i, B_c⟩ + ⟨w̃_i, A_c⟩).
func (c *multiscaleCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if err := c.fine.Grad(ctx, grad[:len(c.Multiscale.fine.Params())], rows, u, w); err != nil || len(rows) == 0 {
		return err
	}
	list := c.chain(rows)
	return strips(u, func(lo int, u *mat.Dense) error { return c.stripGrad(ctx, grad, list, 0, u, columnsOf(w, lo, u)) })
}

// stripGrad adds the gradients of the scales from the given one on, given u and w at the
// nodes below it.
func (c *multiscaleCovariance) stripGrad(ctx context.Context, grad []float64, list *chain, from int, u, w *mat.Dense) error {
	_, columns := u.Dims()
	for k := from; k < len(c.parts); k++ {
		part, nodes := c.parts[k], list.nodes[k+1]
		below := c.scales[k].grf
		uk, wk := below.block(len(nodes), columns), below.block(len(nodes), columns)
		defer below.blocks.Put(uk)
		defer below.blocks.Put(wk)
		if err := errors.Join(list.descend(ctx, k, uk, u), list.descend(ctx, k, wk, w)); err != nil {
			return err
		}
		u, w = uk, wk
		if c.spreadOf(k) != nil {
			if err := c.spreadGrad(ctx, grad, k, list, u, w); err != nil {
				return err
			}
			continue
		}
		if err := c.partGrad(ctx, grad, k, nodes, part, u, w); err != nil {
			return err
		}
	}
	return nil
}

// partGrad adds the gradient of scale k, given ũ and w̃ at its nodes.
func (c *multiscaleCovariance) partGrad(ctx context.Context, grad []float64, k int, nodes []int, part unit, u, w *mat.Dense) error {
	f := part.raw.factor(nodes)
	if f.err != nil {
		return f.err
	}
	inv := part.inverses(nodes)
	_, columns := u.Dims()
	uw := part.raw.block(len(nodes), 2*columns) // N⁻¹ũ and N⁻¹w̃ side by side
	ab := part.raw.block(f.width, 2*columns)    // A and B
	defer part.raw.blocks.Put(uw)
	defer part.raw.blocks.Put(ab)
	eachPlace(len(nodes), func(i int) {
		row := uw.RawRowView(i)
		copy(row, u.RawRowView(i))
		copy(row[columns:], w.RawRowView(i))
		floats.Scale(inv[i], row)
	})
	f.transpose().Mul(ab, uw)
	pairs := make([][]float64, parallel.Workers(len(nodes)))
	twice, err := part.project(ctx, grad[c.shapeAt(k):][:len(c.shape)], f, inv, func(worker int, dst []float64, i int, cols []uint32) {
		wu := room(&pairs[worker], 2*columns)
		copy(wu, w.RawRowView(i))
		copy(wu[columns:], u.RawRowView(i))
		dots(dst, wu, ab, cols)
	})
	grad[c.varianceAt(k)] += twice / 2
	return err
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]. With F = P_kΦ̂_k it is 2⟨P_kᵀgF, dΦ̂_k⟩ on
// scale k, taken only where Φ_k is not zero.
func (c *multiscaleCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := c.fine.GramGrad(ctx, grad[:len(c.Multiscale.fine.Params())], rows, g); err != nil || len(rows) == 0 {
		return err
	}
	checkOrder(g, rows)
	if all, ok, err := c.stencils(ctx, rows, true); ok || err != nil {
		for k, s := range all {
			value, slope := s.moments(g.RawSymmetric())
			grad[c.varianceAt(k)] += value
			grad[c.shapeAt(k)] += c.parts[k].variance * slope
		}
		return err
	}
	home := c.scales[0].grf
	whole, list, all := home.full(g), c.ownChain(rows), c.onto(rows)
	defer home.blocks.Put(whole)
	shapes, twice, errs := make([][]float64, len(all)), make([]float64, len(all)), make([]error, len(all))
	parallel.Tasks(len(all), func(k int) {
		shapes[k] = make([]float64, len(c.shape))
		twice[k], errs[k] = c.ontoGrad(ctx, shapes[k], k, list, all[k], whole)
	})
	for k, shape := range shapes {
		if errs[k] != nil {
			return errs[k]
		}
		floats.Add(grad[c.shapeAt(k):][:len(shape)], shape)
		grad[c.varianceAt(k)] += twice[k] / 2
	}
	return nil
}

// ontoGrad is the part of scale k in GramGrad for the whole of g. It adds to the gradient by the shape, and returns
// twice that by the variance.
func (c *multiscaleCovariance) ontoGrad(ctx context.Context, grad []float64, k int, list *chain, o onto, g *mat.Dense) (float64, error) {
	if o.err != nil {
		return 0, o.err
	}
	whole, err := list.whole(k + 1)
	if err != nil {
		return 0, err
	}
	u := c.parts[k]
	phiT, wholeT, inv := o.phi.T(), whole.T(), u.inverses(list.nodes[k+1])
	sums := make([][]float64, parallel.Workers(len(inv)))
	return u.project(ctx, grad, o.raw, inv, func(worker int, dst []float64, i int, cols []uint32) {
		q := room(&sums[worker], len(list.nodes[0])) // row i of P_kᵀg
		clear(q)
		from, weights := wholeT.Row(i)
		for p, a := range from {
			floats.AddScaled(q, weights[p], g.RawRowView(int(a)))
		}
		for e, col := range cols {
			others, vals := phiT.Row(int(col))
			sum := 0.0
			for p, a := range others {
				sum += float64(vals[p] * q[a])
			}
			dst[e] = 2 * sum
		}
	})
}
