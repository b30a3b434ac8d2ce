// Package materialized is the kernel of random features with K formed as a dense
// matrix of N² numbers whenever hyperparameters change. It is the reference for
// sparse features in the paper's scaling experiment. Results are those of kernel.GRF up to rounding.
package materialized

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/space"
)

// MaxNodes is the largest number of nodes of a Kernel; K then takes 2 GiB.
const MaxNodes = 1 << 14

// Kernel is a GRF whose covariances hold K as a dense matrix and solve systems by
// a Cholesky factor. Draws from the prior and gradients are those of the GRF.
type Kernel struct{ grf *kernel.GRF }

// New returns k as a dense kernel.
func New(k *kernel.GRF) (*Kernel, error) {
	if n := k.Nodes(); n > MaxNodes {
		return nil, fmt.Errorf("a dense matrix of %d nodes, at most %d are possible; use the features themselves", n, MaxNodes)
	}
	return &Kernel{k}, nil
}

// Nodes returns the number of nodes.
func (k *Kernel) Nodes() int { return k.grf.Nodes() }

// Params returns the parameters of the family.
func (k *Kernel) Params() []kernel.Param { return k.grf.Params() }

// At forms K at theta.
func (k *Kernel) At(theta []float64) (kernel.Covariance, error) {
	c, err := k.grf.At(theta)
	if err != nil {
		return nil, err
	}
	all := make([]int, k.Nodes())
	for i := range all {
		all[i] = i
	}
	gram := mat.NewSymDense(len(all), nil)
	if err := c.Gram(context.Background(), gram, all); err != nil {
		return nil, err
	}
	return &covariance{c, mat.DenseCopyOf(gram)}, nil
}

// covariance is a Kernel at one theta.
type covariance struct {
	kernel.Covariance
	k *mat.Dense
}

// Nodes returns the number of nodes.
func (c *covariance) Nodes() int { n, _ := c.k.Dims(); return n }

// Abilities are those of the GRF, and a Cholesky factor as an exact preconditioner.
func (c *covariance) Abilities() kernel.Abilities {
	a := kernel.AbilitiesOf(c.Covariance)
	a.Precondition = c.precondition
	return a
}

// part returns K[rows, cols]; neither list is empty.
func (c *covariance) part(rows, cols []int) *mat.Dense {
	part := mat.NewDense(len(rows), len(cols), nil)
	for a, i := range rows {
		out, in := part.RawRowView(a), c.k.RawRowView(i)
		for b, j := range cols {
			out[b] = in[j]
		}
	}
	return part
}

// Cross returns K[rows, cols].
func (c *covariance) Cross(rows, cols []int) solve.Operator {
	o := &cross{rows: len(rows), cols: len(cols)}
	if len(rows) > 0 && len(cols) > 0 {
		o.k = c.part(rows, cols)
	}
	return o
}

// Gram sets dst = K[rows, rows].
func (c *covariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	for a, i := range rows {
		in := c.k.RawRowView(i)
		for b, j := range rows[a:] {
			dst.SetSym(a, a+b, in[j])
		}
	}
	return ctx.Err()
}

// Diag sets dst[a] = K[rows[a], rows[a]].
func (c *covariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	for a, i := range rows {
		dst[a] = c.k.At(i, i)
	}
	return ctx.Err()
}

// precondition factors K[rows, rows] + constant·11ᵀ + diag(noise).
func (c *covariance) precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := mat.NewSymDense(len(rows), nil)
	if err := c.Gram(ctx, h, rows); err != nil {
		return nil, err
	}
	for i := range rows {
		for j := i; j < len(rows); j++ {
			h.SetSym(i, j, h.At(i, j)+constant)
		}
		h.SetSym(i, i, h.At(i, i)+noise[i])
	}
	l, err := solve.NewCholesky(h)
	if err != nil {
		return nil, err
	}
	return factored{l}, nil
}

// factored is a Cholesky factor as a solve.Factored.
type factored struct{ *solve.Cholesky }

func (p factored) Apply(dst, r space.Block)  { p.Solve(space.DenseOf(dst), space.DenseOf(r)) }
func (p factored) Whiten(dst, x space.Block) { p.SolveLower(space.DenseOf(dst), space.DenseOf(x)) }

func (p factored) WhitenT(dst, x space.Block) {
	to, from := space.DenseOf(dst), space.DenseOf(x)
	for t := range x.Columns() {
		column := mat.Col(nil, t, from)
		p.SolveUpper(column, column)
		to.SetCol(t, column)
	}
}

// cross is K[rows, cols] as a dense matrix.
type cross struct {
	rows, cols int
	k          *mat.Dense // nil where one of the lists is empty
}

// Dims returns the lengths of the two lists.
func (o *cross) Dims() (r, c int) { return o.rows, o.cols }

// Apply sets dst = K[rows, cols]·x.
func (o *cross) Apply(ctx context.Context, dst, x *mat.Dense) error {
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
