package kernel

import (
	"context"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel/internal/recent"
	"grfgp/space"
	"grfgp/sparse"
)

// unit is s²·Φ̂Φ̂ᵀ, Φ̂ = N⁻¹Φ with N the norms of the rows of Φ: features scaled to
// the same variance s² at every node.
type unit struct {
	*unitCovariance
	raw     *grfCovariance
	inverse *recent.Cache[[]float64]
}

func newUnit(c *unitCovariance) unit {
	return unit{c, c.raw.(*grfCovariance), new(recent.Cache[[]float64])}
}

// inverses returns 1/N_i for the given nodes, to be read only. For a long
// list it computes the values of all nodes: the next list is likely to be
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
		_ = u.raw.Diag(context.Background(), inv, nodes) // fails with its context alone
		invertNorms(inv)
		return inv
	})
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

// project adds Σ_ic Ψ̂_l[i,c]·Q_ic to the gradient by the shape, where weigh sets
// dst[e] = Q_ic for the entries e of row i of Φ, and returns Σ_ic Φ̂_ic Q_ic. The
// scaling follows Φ: with n = N_i and q the row of Q,
//
//	⟨q, dΦ̂_i⟩ = ⟨q/n − (q·Φ_i) Φ_i/n³, dΦ_i⟩.
func (u unit) project(ctx context.Context, grad []float64, f *factor, inv []float64,
	weigh func(worker int, dst []float64, i int, cols []uint32)) (float64, error) {
	slope := make([]float64, len(u.raw.coeff))
	along := make([]float64, len(inv)) // q·Φ̂_i
	err := space.Project(ctx, slope, f.List, len(inv), func(worker int, q []float64, i int) []float64 {
		cols, phi := f.phi.Row(i)
		q = room(&q, len(cols))
		weigh(worker, q, i, cols)
		dot := 0.0
		for e, v := range phi {
			dot += float64(v * q[e])
		}
		for e, v := range phi {
			q[e] = (q[e] - dot*inv[i]*inv[i]*v) * inv[i]
		}
		along[i] = dot * inv[i]
		return q
	})
	if err != nil {
		return 0, err
	}
	full := make([]float64, len(u.raw.theta))
	u.raw.chain(full, slope)
	for j, g := range full[len(full)-len(grad):] { // without the variance, if there is one
		grad[j] += g * u.variance
	}
	return space.Sum(space.Host(), space.Rows(len(along)), along), nil
}

// ontoPattern is the pattern of P_k·Φ̂_k for one list, which is the same for every θ. The zero value is ready for use.
type ontoPattern struct {
	once sync.Once
	p    *sparse.Pattern
	err  error
}

// ontoFactor is onto with a pattern that is found once and used again.
func (u unit) ontoFactor(list *chain, k int, shape *ontoPattern) (*factor, error) {
	whole, err := list.whole(k + 1)
	if err != nil {
		return nil, err
	}
	f := u.raw.factor(list.nodes[k+1])
	if f.err != nil {
		return nil, f.err
	}
	shape.once.Do(func() {
		product, err := whole.Times(f.phi)
		if err != nil {
			shape.err = err
			return
		}
		ptr, col, _ := product.Raw()
		shape.p, shape.err = sparse.NewPattern(len(list.nodes[0]), f.width, ptr, col)
	})
	if shape.err != nil {
		return nil, shape.err
	}
	ptr, col := shape.p.Raw()
	val := make([]float64, len(col))
	u.eachOnto(whole, f, u.inverses(list.nodes[k+1]), func(i int, row []float64) {
		for q := ptr[i]; q < ptr[i+1]; q++ {
			c := col[q]
			val[q], row[c] = row[c], 0
		}
	})
	phi, err := shape.p.With(val)
	return &factor{cov: u.raw, rows: len(list.nodes[0]), width: f.width, phi: phi}, err
}

// eachOnto calls do with every row of P·Φ̂, in parallel. The row has an entry for every column of Φ̂, and do sets it to zero.
func (u unit) eachOnto(whole *sparse.CSR, f *factor, inv []float64, do func(i int, row []float64)) {
	const size = 64
	rows, _ := whole.Dims()
	blocks := (rows + size - 1) / size
	scratch := make([][]float64, parallel.Workers(blocks))
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		if scratch[worker] == nil {
			scratch[worker] = make([]float64, f.width)
		}
		row := scratch[worker]
		for i := b * size; i < min(rows, (b+1)*size); i++ {
			cells, weights := whole.Row(i)
			for q, j := range cells {
				v := weights[q] * inv[j]
				cols, vals := f.phi.Row(int(j))
				for p, c := range cols {
					row[c] += float64(v * vals[p])
				}
			}
			do(i, row)
		}
		return nil
	})
}

// addOntoSquares adds the squared norms of the rows of P_k·Φ̂_k, times the variance, to dst.
func (u unit) addOntoSquares(dst []float64, list *chain, k int) error {
	whole, err := list.whole(k + 1)
	if err != nil {
		return err
	}
	f := u.raw.factor(list.nodes[k+1])
	if f.err != nil {
		return f.err
	}
	u.eachOnto(whole, f, u.inverses(list.nodes[k+1]), func(i int, row []float64) {
		sum := 0.0
		cells, _ := whole.Row(i)
		for _, j := range cells {
			cols, _ := f.phi.Row(int(j))
			for _, c := range cols { // the second time a column comes, it is zero
				sum += float64(row[c] * row[c])
				row[c] = 0
			}
		}
		dst[i] += u.variance * sum
	})
	return nil
}

// addSquare adds scale·ΦΦᵀ to the upper triangle of dst.
func addSquare(ctx context.Context, dst *mat.SymDense, phi *sparse.CSR, scale float64) error {
	rows, width := phi.Dims()
	return (&factor{rows: rows, width: width, phi: phi}).addGram(ctx, dst.RawSymmetric(), scale)
}

// scaleRows multiplies row i of x by all·each[i].
func scaleRows(x *mat.Dense, each []float64, all float64) {
	raw := x.RawMatrix()
	everyRow(raw.Rows, 4096, func(i int) {
		row, v := raw.Data[i*raw.Stride:][:raw.Cols], all*each[i]
		for s := range row {
			row[s] *= v
		}
	})
}
