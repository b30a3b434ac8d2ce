package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel/internal/recent"
	"grfgp/solve"
	"grfgp/sparse"
)

// unit is s²·Φ̂Φ̂ᵀ, Φ̂ = N⁻¹Φ with N the norms of the rows of Φ: features scaled to
// the same variance s² at every node.
type unit struct {
	raw      *grfCovariance
	variance float64
	inverse  *recent.Cache[[]float64]
	precise  *recent.Cache[[]float64] // those of them from features in float64
}

func newUnit(raw *grfCovariance, variance float64) unit {
	return unit{raw, variance, new(recent.Cache[[]float64]), new(recent.Cache[[]float64])}
}

// inverses returns 1/N_i for the given nodes, to be read only. For a long
// list without a factor it computes the values of all nodes: the next list is likely to be
// another part of them.
func (u unit) inverses(nodes []int) []float64 {
	return u.inverse.Get(nodes, func(nodes []int) []float64 {
		inv := make([]float64, len(nodes))
		_, factored := u.raw.factors.Peek(nodes)
		if n := u.raw.Nodes(); 8*len(nodes) > n && len(nodes) < n && !factored {
			whole := u.inverses(u.raw.all())
			eachPlace(len(nodes), func(a int) { inv[a] = whole[nodes[a]] })
			return inv
		}
		if precise := factored || !u.raw.large || 8*len(nodes) <= u.raw.Nodes(); precise && len(nodes) <= growingMost {
			return u.precise.Get(nodes, u.preciseInverses)
		}
		_ = u.raw.Diag(context.Background(), inv, nodes) // fails with its context alone
		invertNorms(inv)
		return inv
	})
}

// growingMost is the longest list of norms that is kept for longer ones: that of a search, not of
// training on a large graph.
const growingMost = 1 << 16

// preciseInverses is inverses of a list whose norms Diag computes in float64. Those of a list
// used before are copied.
func (u unit) preciseInverses(nodes []int) []float64 {
	inv := make([]float64, len(nodes))
	last, others, ok := u.precise.Near(nodes)
	if !ok {
		_ = u.raw.Diag(context.Background(), inv, nodes)
		invertNorms(inv)
		return inv
	}
	fresh := make([]int, len(others))
	for k, a := range others {
		fresh[k] = nodes[a]
	}
	squares := make([]float64, len(others))
	_ = u.raw.squaredRows(context.Background(), squares, fresh)
	invertNorms(squares)
	grownEach(len(nodes), others, func(lo, hi, from int) {
		if from >= 0 {
			copy(inv[lo:hi], last[from:])
		}
	})
	for k, a := range others {
		inv[a] = squares[k]
	}
	return inv
}

// spread returns A·Φ̂[nodes], with the columns of factor f, which is Φ[nodes];
// nil stands for A = I.
func (u unit) spread(a *sparse.CSR, f *factor, inv []float64) (*sparse.CSR, error) {
	if f.err != nil {
		return nil, f.err
	}
	if a == nil {
		ptr, col, val := f.phi.Raw()
		scaled := make([]float64, len(val))
		eachPlace(len(inv), func(i int) {
			for p := ptr[i]; p < ptr[i+1]; p++ {
				scaled[p] = inv[i] * val[p]
			}
		})
		return sparse.NewCSR(len(inv), f.width, ptr, col, scaled)
	}
	rows, cols := a.Dims()
	ptr, col, val := a.Raw()
	scaled := make([]float64, len(val))
	for p, j := range col {
		scaled[p] = val[p] * inv[j]
	}
	b, err := sparse.NewCSR(rows, cols, ptr, col, scaled)
	if err != nil {
		return nil, err
	}
	return b.Times(f.phi)
}

// unitCross is s²·Φ̂_rows·Φ̂_colsᵀ.
type unitCross struct {
	raw         solve.Operator
	left, right []float64 // 1/N
	variance    float64
}

func (u unit) cross(rows, cols []int) unitCross {
	return unitCross{u.raw.Cross(rows, cols), u.inverses(rows), u.inverses(cols), u.variance}
}

// apply sets dst to the product with x, and scales x on the way.
func (o unitCross) apply(ctx context.Context, dst, x *mat.Dense) error {
	scaleRows(x, o.right, o.variance)
	if err := o.raw.Apply(ctx, dst, x); err != nil {
		return err
	}
	scaleRows(dst, o.left, 1)
	return nil
}

// project adds Σ_ic Ψ̂_l[i,c]·Q_ic to the gradient by the shape, where weigh sets
// dst[e] = Q_ic for the entries e of row i of Φ, and returns Σ_ic Φ̂_ic Q_ic. The
// scaling follows Φ: with n = N_i and q the row of Q,
//
//	⟨q, dΦ̂_i⟩ = ⟨q/n − (q·Φ_i) Φ_i/n³, dΦ_i⟩.
func (u unit) project(ctx context.Context, grad []float64, f *factor, inv []float64,
	weigh func(worker int, dst []float64, i int, cols []uint32)) (float64, error) {
	slope := make([]float64, len(u.raw.coeff))
	along := make([]float64, len(inv)) // q·Φ̂_i
	err := u.raw.project(ctx, slope, f.pattern, func(worker int, dst []float64, i int, cols []uint32) {
		weigh(worker, dst, i, cols)
		_, phi := f.phi.Row(i)
		along[i] = follow(dst, phi, inv[i])
	})
	if err != nil {
		return 0, err
	}
	u.chainShape(grad, slope)
	return total(along), nil
}

// follow lets the scaling by inv follow a row phi of Φ, whose row of Q is q; see project. It
// returns q·Φ̂_i.
func follow(q, phi []float64, inv float64) float64 {
	dot := 0.0
	for e, v := range phi {
		dot += float64(v * q[e])
	}
	for e, v := range phi {
		q[e] = (q[e] - dot*inv*inv*v) * inv
	}
	return dot * inv
}

// chainShape adds slope, derivatives by f_l, to grad as derivatives by the shape.
func (u unit) chainShape(grad, slope []float64) {
	full := make([]float64, len(u.raw.theta))
	u.raw.chain(full, slope, nil)
	for j, g := range full[len(full)-len(grad):] { // without the variance, if there is one
		grad[j] += g * u.variance
	}
}

// scaleRows multiplies row i of x by all·each[i].
func scaleRows(x *mat.Dense, each []float64, all float64) {
	raw := x.RawMatrix()
	parallel.Ranges(raw.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, v := raw.Data[i*raw.Stride:][:raw.Cols], all*each[i]
			for s := range row {
				row[s] *= v
			}
		}
	})
}

// addRows sets dst += x.
func addRows(dst, x *mat.Dense) {
	to, from := dst.RawMatrix(), x.RawMatrix()
	parallel.Ranges(to.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := to.Data[i*to.Stride:][:to.Cols]
			for s, v := range from.Data[i*from.Stride:][:from.Cols] {
				row[s] += v
			}
		}
	})
}
