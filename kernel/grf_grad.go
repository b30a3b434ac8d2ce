package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
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
		a, b := c.block(f.width, columns), c.block(f.width, columns)
		defer c.blocks.Put(a)
		defer c.blocks.Put(b)
		if err := ctx.Err(); err != nil {
			return err
		}
		phiT.Mul(a, u)
		phiT.Mul(b, w)
		return c.project(ctx, slope, f.pattern, func(dst []float64, i int, cols []uint32) {
			pairDots(dst, cols, u.RawRowView(i), b, w.RawRowView(i), a)
		})
	})
	c.chain(grad, slope, err)
	return err
}

// GramGrad adds ⟨g, ∂K/∂θ_j⟩ to grad[j]: ∂/∂f_l = 2⟨Ψ_l, gΦ⟩, with gΦ taken only
// where Ψ_l is not zero.
func (c *grfCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	f := c.factor(rows)
	phiT := f.transpose()
	if f.err != nil {
		return f.err
	}
	checkOrder(g, rows)
	whole := full(g)
	slope := make([]float64, len(c.coeff))
	err := c.project(ctx, slope, f.pattern, func(dst []float64, i int, cols []uint32) {
		gi := whole.RawRowView(i)
		for e, col := range cols {
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
// nothing where err says that slope is not whole.
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
// the entries e of row i, in the given columns. Blocks of rows add up apart and
// then in order.
func (c *grfCovariance) project(ctx context.Context, slope []float64, p *pattern, weigh func(dst []float64, i int, cols []uint32)) error {
	const size = 64
	blocks := (len(p.rows) + size - 1) / size
	lengths := len(slope)
	sums := make([]float64, blocks*lengths)
	scratch := make([][]float64, parallel.Workers(blocks))
	err := eachRow(ctx, len(p.rows), size, func(worker, i int) {
		cols := p.col[p.ptr[i]:p.ptr[i+1]]
		weights := room(&scratch[worker], len(cols))
		weigh(weights, i, cols)
		b := i / size
		c.features.ProjectRow(sums[b*lengths:(b+1)*lengths], weights, p.rows[i])
	})
	if err != nil {
		return err
	}
	for q, v := range sums {
		slope[q%lengths] += v
	}
	return nil
}

// pairDots sets dst[e] = ⟨u, b_c⟩ + ⟨w, a_c⟩ with c = cols[e].
func pairDots(dst []float64, cols []uint32, u []float64, b *mat.Dense, w []float64, a *mat.Dense) {
	rawB, rawA := b.RawMatrix(), a.RawMatrix()
	for e, c := range cols {
		dst[e] = dot(u, rawB.Data[int(c)*rawB.Stride:]) + dot(w, rawA.Data[int(c)*rawA.Stride:])
	}
}

// dot is Σ u_s·v_s over the elements of u, in four sums that do not wait for each
// other. Conversions forbid fused sums, which round differently from one
// processor to the next.
func dot(u, v []float64) float64 {
	v = v[:len(u)]
	var s0, s1, s2, s3 float64
	for len(u) >= 4 && len(v) >= 4 {
		s0 += float64(u[0] * v[0])
		s1 += float64(u[1] * v[1])
		s2 += float64(u[2] * v[2])
		s3 += float64(u[3] * v[3])
		u, v = u[4:], v[4:]
	}
	for s, x := range u {
		s0 += float64(x * v[s])
	}
	return (s0 + s1) + (s2 + s3)
}

// full returns g with both triangles filled in.
func full(g *mat.SymDense) *mat.Dense {
	n := g.SymmetricDim()
	a, raw := mat.NewDense(n, n, nil), g.RawSymmetric()
	for i := range n {
		for j := i; j < n; j++ {
			v := raw.Data[i*raw.Stride+j]
			a.Set(i, j, v)
			a.Set(j, i, v)
		}
	}
	return a
}
