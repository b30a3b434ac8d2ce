package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// productDraws is the number of products of draws in one draw of a product whose
// factors have no low rank, or a higher one.
const productDraws = 128

// Prior returns Σ_m z_m ∘ f_m: for a factor ZZᵀ of low rank with draws f_m of the
// other factor, otherwise with draws f_m of a and z_m of b. It computes a few draws
// and a few m at a time, as many as the number of nodes allows.
func (c *productCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	low, other := c.lowB, c.a
	if low == nil || c.lowA != nil && c.lowA.width() < low.width() {
		low, other = c.lowA, c.b
	}
	width, scale := productDraws, 1/math.Sqrt(productDraws)
	var z *mat.Dense
	if low != nil && low.width() <= productDraws {
		width, scale, z = low.width(), 1, low.factor(upTo(c.Nodes()))
	} else {
		other = c.a
	}
	dst.Zero()
	_, draws := dst.Dims()
	terms := max(1, min(width, c.entries/(4*c.Nodes())))
	batch := max(1, min(64, c.entries/(4*c.Nodes()*terms)))
	keyF, keyZ := rng.Derive(seed, "product prior"), rng.Derive(seed, "product prior of the second factor")
	step := uint64(0)
	for s := 0; s < draws; s += batch {
		for lo := 0; lo < width; lo += terms {
			count, m := min(batch, draws-s), min(terms, width-lo)
			f, second := keyF.At(step), keyZ.At(step)
			step++
			var err error
			if z != nil {
				err = addDraws(ctx, dst, s, count, m, other, f.Uint64(), z.Slice(0, c.Nodes(), lo, lo+m).(*mat.Dense), scale)
			} else {
				weights := mat.NewDense(c.Nodes(), count*m, nil)
				if err = c.b.Prior(ctx, weights, second.Uint64()); err == nil {
					err = addDraws(ctx, dst, s, count, m, other, f.Uint64(), weights, scale)
				}
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// addDraws adds scale·Σ_m z_m ∘ f_m to each of count columns of dst from the given one
// on, with draws f of cov. Columns of z are for one draw after the other, or
// the same for all.
func addDraws(ctx context.Context, dst *mat.Dense, first, count, terms int, cov Covariance, seed uint64, z *mat.Dense,
	scale float64) error {
	rows, _ := dst.Dims()
	f := mat.NewDense(rows, count*terms, nil)
	if err := cov.Prior(ctx, f, seed); err != nil {
		return err
	}
	_, width := z.Dims()
	everyRow(rows, 256, func(i int) {
		out, weights, draws := dst.RawRowView(i)[first:first+count], z.RawRowView(i), f.RawRowView(i)
		for s := range out {
			own := weights
			if width > terms {
				own = weights[s*terms:][:terms]
			}
			out[s] += scale * dot(own, draws[s*terms:][:terms])
		}
	})
	return nil
}
