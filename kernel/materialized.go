package kernel

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// MaxMaterialized is the largest number of nodes of a Materialized kernel: K
// takes 2 GiB then.
const MaxMaterialized = 1 << 14

// Materialized is a GRF whose K is formed as a dense matrix, N² numbers, whenever
// hyperparameters change; systems are solved by a Cholesky factor. It is what
// sparse features are compared with, and gives the same results. Draws from the
// prior and gradients are those of the GRF.
type Materialized struct{ grf *GRF }

// NewMaterialized returns k as a dense kernel.
func NewMaterialized(k *GRF) (*Materialized, error) {
	if n := k.Nodes(); n > MaxMaterialized {
		return nil, fmt.Errorf("forming a dense matrix of %d nodes, at most %d are possible; use the features themselves", n, MaxMaterialized)
	}
	return &Materialized{k}, nil
}

// Nodes returns the number of nodes.
func (m *Materialized) Nodes() int { return m.grf.Nodes() }

// Params returns the parameters of the family.
func (m *Materialized) Params() []Param { return m.grf.Params() }

// At forms K at theta.
func (m *Materialized) At(theta []float64) (Covariance, error) {
	c, err := m.grf.at(theta)
	if err != nil {
		return nil, err
	}
	all := m.grf.all()
	k := mat.NewSymDense(len(all), nil)
	if err := c.Gram(context.Background(), k, all); err != nil {
		return nil, err
	}
	return &materializedCovariance{c, full(k)}, nil
}

// materializedCovariance is a Materialized kernel at one theta.
type materializedCovariance struct {
	*grfCovariance
	k *mat.Dense
}

// Cross returns K[rows, cols]. Where rows and cols are the same list it is a
// solve.Direct.
func (c *materializedCovariance) Cross(rows, cols []int) solve.Operator {
	part := materializedCross{len(rows), len(cols), nil}
	if len(rows) > 0 && len(cols) > 0 {
		part.k = mat.NewDense(len(rows), len(cols), nil)
	}
	c.eachBlock(rows, func(a, i int) {
		if part.k == nil {
			return
		}
		out, in := part.k.RawRowView(a), c.k.RawRowView(i)
		for b, j := range cols {
			out[b] = in[j]
		}
	})
	if slices.Equal(rows, cols) {
		return &materializedGram{part}
	}
	return &part
}

// Gram sets dst = K[rows, rows].
func (c *materializedCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	checkOrder(dst, rows)
	raw := dst.RawSymmetric()
	return eachRow(ctx, len(rows), gramRows, func(_, a int) {
		in := c.k.RawRowView(rows[a])
		for b := a; b < len(rows); b++ {
			raw.Data[a*raw.Stride+b] = in[rows[b]]
		}
	})
}

// Diag sets dst[a] = K[rows[a], rows[a]].
func (c *materializedCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	for a, i := range rows {
		dst[a] = c.k.At(i, i)
	}
	return ctx.Err()
}

// materializedCross is K[rows, cols] as a dense matrix.
type materializedCross struct {
	rows, cols int
	k          *mat.Dense // nil where one of the lists is empty
}

// Dims returns the lengths of the two lists.
func (o *materializedCross) Dims() (r, c int) { return o.rows, o.cols }

// Apply sets dst = K[rows, cols]·x.
func (o *materializedCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	switch err := ctx.Err(); {
	case err != nil:
		return err
	case o.k != nil:
		dst.Mul(o.k, x)
	case o.rows > 0:
		dst.Zero()
	}
	return ctx.Err()
}

// materializedGram is K[rows, rows] as a dense matrix.
type materializedGram struct{ materializedCross }

// SolveShifted solves (K + diag(noise))·dst = b by a Cholesky factor, made anew
// in each call.
func (o *materializedGram) SolveShifted(ctx context.Context, dst, b *mat.Dense, noise []float64) error {
	if err := ctx.Err(); err != nil || o.k == nil {
		return err
	}
	h := mat.NewSymDense(o.rows, nil)
	for i, v := range noise {
		copy(h.RawSymmetric().Data[i*o.rows:][:o.rows], o.k.RawRowView(i))
		h.SetSym(i, i, o.k.At(i, i)+v)
	}
	l, err := solve.NewCholesky(h)
	if err != nil {
		return err
	}
	l.Solve(dst, b)
	return ctx.Err()
}
