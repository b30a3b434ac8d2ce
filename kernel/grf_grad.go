package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/sparse"
	"grfgp/walk"
)

// Grad adds Σ_s u_sᵀ(∂K/∂θ_j)w_s to grad[j]. With A = Φᵀu and B = Φᵀw,
//
//	∂/∂f_l = Σ_ic Ψ_l[i,c]·(⟨u_i, B_c⟩ + ⟨w_i, A_c⟩).
func (c *grfCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	f := c.factor(rows)
	phiT := f.transpose()
	if f.err != nil {
		return f.err
	}
	slope := make([]float64, len(c.coeff)) // by f_l
	err := strips(u, func(lo int, u *mat.Dense) error {
		w := columnsOf(w, lo, u)
		_, columns := u.Dims()
		ba := c.block(f.width, 2*columns) // B and A side by side
		defer c.blocks.Put(ba)
		if err := ctx.Err(); err != nil {
			return err
		}
		phiT.Mul(ba.Slice(0, f.width, 0, columns).(*mat.Dense), w)
		phiT.Mul(ba.Slice(0, f.width, columns, 2*columns).(*mat.Dense), u)
		return c.projectPairs(ctx, slope, f.pattern, u, w, ba)
	})
	c.chain(grad, slope, err)
	return err
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]: ∂/∂f_l = 2⟨Ψ_l, gΦ⟩, with gΦ taken only
// where Ψ_l is not zero.
func (c *grfCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if t, ok, err := c.pairs.get(ctx, c.sampledRows, rows); ok || err != nil {
		if err == nil {
			checkOrder(g, rows)
			c.chain(grad, c.pairSlopes(t.inner(g.RawSymmetric(), len(t))), nil)
		}
		return err
	}
	f := c.factor(rows)
	phiT := f.transpose()
	if f.err != nil {
		return f.err
	}
	checkOrder(g, rows)
	whole, hubs := c.full(g), f.fulls()
	defer c.blocks.Put(whole)
	var at *mat.Dense // gΦ at the full columns
	if hubs.count > 0 {
		at = mat.NewDense(len(rows), hubs.count, nil)
		dense.Mul(dense.View(at), dense.View(whole), hubs.of(f.phi))
	}
	slope := make([]float64, len(c.coeff))
	err := c.project(ctx, slope, f.pattern, func(_ int, dst []float64, i int, cols []uint32) {
		gi := whole.RawRowView(i)
		for e, col := range cols {
			if hubs.has(col) {
				dst[e] = 2 * at.At(i, int(hubs.place[col]))
				continue
			}
			others, vals := phiT.Row(int(col))
			sum := 0.0
			for q, k := range others {
				sum += float64(vals[q] * gi[k])
			}
			dst[e] = 2 * sum
		}
	})
	c.chain(grad, slope, err)
	return err
}

// chain adds slope, derivatives by f_l, to grad as derivatives by θ_j; it does
// nothing if err is not nil, because slope is then incomplete.
func (c *grfCovariance) chain(grad, slope []float64, err error) {
	if err != nil {
		return
	}
	by := make([][]float64, len(c.theta))
	for j := range by {
		by[j] = make([]float64, len(slope))
	}
	c.family.CoeffsGrad(by, c.theta)
	for j := range by {
		sum := 0.0
		for l, v := range slope {
			sum += float64(v * by[j][l])
		}
		grad[j] += sum
	}
}

// project adds Σ_ic Ψ_l[i,c]·Q_ic to slope[l], where weigh sets dst[e] = Q_ic for
// the entries e of row i, in the given columns. Sums are taken per block of rows, and
// those of the blocks by a tree.
func (c *grfCovariance) project(ctx context.Context, slope []float64, p *pattern,
	weigh func(worker int, dst []float64, i int, cols []uint32)) error {
	parts, err := projections(ctx, p.own, len(p.rows), len(slope), func(worker int, dst []float64, i int) []float64 {
		cols := p.col[p.ptr[i]:p.ptr[i+1]]
		weights := room(&dst, len(cols))
		weigh(worker, weights, i, cols)
		return weights
	})
	if err != nil {
		return err
	}
	total := make([]float64, len(slope))
	ranks.TreeSum(total, parts)
	for l, v := range total {
		slope[l] += v
	}
	return nil
}

// projections returns Σ_ic Ψ_l[i,c]·Q_ic for every block of ranks.BlockRows rows and
// length l. weigh returns Q_ic for the entries of row i, in the memory it is given if
// that is enough.
func projections(ctx context.Context, own *walk.List, rows, lengths int,
	weigh func(worker int, room []float64, i int) []float64) ([]float64, error) {
	const size = 64 // divides a block
	pieces := (rows + size - 1) / size
	sums := make([]float64, pieces*lengths)
	scratch := make([]struct{ sum, weights []float64 }, parallel.Workers(pieces))
	err := parallel.Blocks(ctx, pieces, func(worker, b int) error {
		// Sums in memory of the worker's own: those of two workers in one cache line would
		// cost more than the products.
		sum, weights := room(&scratch[worker].sum, lengths), scratch[worker].weights
		clear(sum)
		for i := b * size; i < min(rows, (b+1)*size); i++ {
			weights = weigh(worker, weights, i)
			own.ProjectRow(sum, weights, i)
		}
		copy(sums[b*lengths:], sum)
		scratch[worker].weights = weights
		return nil
	})
	if err != nil {
		return nil, err
	}
	parts := make([]float64, (rows+ranks.BlockRows-1)/ranks.BlockRows*lengths)
	for q, v := range sums {
		parts[q/lengths/(ranks.BlockRows/size)*lengths+q%lengths] += v
	}
	return parts, nil
}

// projectPairs is project for Q_ic = ⟨u_i, B_c⟩ + ⟨w_i, A_c⟩, where ba holds B and
// A side by side.
func (c *grfCovariance) projectPairs(ctx context.Context, slope []float64, p *pattern, u, w, ba *mat.Dense) error {
	_, columns := u.Dims()
	pass := meter.Start()
	defer pass.Done(8*(2*len(p.rows)*columns+2*p.width*columns+len(p.ptr)) + 4*len(p.col)) // and the features
	pairs := make([][]float64, parallel.Workers(len(p.rows)))
	return c.project(ctx, slope, p, func(worker int, dst []float64, i int, cols []uint32) {
		uw := room(&pairs[worker], 2*columns)
		copy(uw, u.RawRowView(i))
		copy(uw[columns:], w.RawRowView(i))
		dots(dst, uw, ba, cols)
	})
}

// dots sets dst[e] = ⟨u, v_c⟩ with c = cols[e].
func dots(dst, u []float64, v *mat.Dense, cols []uint32) {
	sparse.Dots(dst, u, v.RawMatrix(), cols)
}

// full returns g with both triangles filled in, in a block of k.
func (k *sampledRows) full(g *mat.SymDense) *mat.Dense {
	n := g.SymmetricDim()
	a, raw := k.block(n, n), g.RawSymmetric()
	to := a.RawMatrix()
	const size = 16 // rows that are written while a row above them is read
	parallel.Ranges(n, size, func(lo, hi int) {
		for j := range hi { // columns lo to hi of the upper triangle become rows
			for i := max(lo, j); i < hi; i++ {
				to.Data[i*to.Stride+j] = raw.Data[j*raw.Stride+i]
			}
		}
		for i := lo; i < hi; i++ {
			copy(to.Data[i*to.Stride+i:][:n-i], raw.Data[i*raw.Stride+i:])
		}
	})
	return a
}
