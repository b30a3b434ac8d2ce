// Package materialized is the kernel of random features with K formed as a dense
// matrix of N² numbers whenever hyperparameters change. It is the reference for
// sparse features in the paper's scaling experiment and is never chosen
// automatically. Results are those of kernel.GRF up to rounding.
package materialized

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// MaxNodes is the largest number of nodes of a Kernel; K then takes 2 GiB.
const MaxNodes = 1 << 14

// Kernel is a GRF whose covariances hold K as a dense matrix and solve systems by
// a Cholesky factor. Draws from the prior and gradients are those of the GRF.
type Kernel struct{ *kernel.GRF }

// New returns k as a dense kernel.
func New(k *kernel.GRF) (*Kernel, error) {
	if n := k.Nodes(); n > MaxNodes {
		return nil, fmt.Errorf("a dense matrix of %d nodes, at most %d are possible; use the features themselves", n, MaxNodes)
	}
	return &Kernel{k}, nil
}

// At forms K at theta.
func (k *Kernel) At(theta []float64) (kernel.Covariance, error) {
	c, err := k.GRF.At(theta)
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

// Abilities are those of the GRF, and an inverse by a Cholesky factor.
func (c *covariance) Abilities() kernel.Abilities {
	a := kernel.AbilitiesOf(c.Covariance)
	a.Invert = c.invert
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

// invert factors K[rows, rows] + diag(noise).
func (c *covariance) invert(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Preconditioner, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h := mat.NewSymDense(len(rows), nil)
	if err := c.Gram(ctx, h, rows); err != nil {
		return nil, err
	}
	for i, v := range noise {
		h.SetSym(i, i, h.At(i, i)+v)
	}
	l, err := solve.NewCholesky(h)
	if err != nil {
		return nil, err
	}
	return solve.PlusConstant(inverse{l}, constant), nil
}

// inverse is a Cholesky factor as a solve.Preconditioner.
type inverse struct{ *solve.Cholesky }

func (p inverse) Apply(dst, b *mat.Dense) { p.Solve(dst, b) }

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
