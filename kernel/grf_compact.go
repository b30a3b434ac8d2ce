package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

// compactFrom is the number of nodes from which Φ of all nodes has float32 entries, in
// half the memory or less. The values of Ψ_l are float32 too, so Φ loses no more than they have.
// It is a variable for tests.
var compactFrom = 1 << 15

// compact returns Φ of all nodes, computed at first use and kept.
func (c *grfCovariance) compact(ctx context.Context) (*sparse.Compact, error) {
	c.compactMu.Lock()
	defer c.compactMu.Unlock()
	if c.compactPhi == nil {
		phi, err := c.features.Compact(ctx, c.coeff)
		if err != nil {
			if ctx.Err() == nil {
				err = fmt.Errorf("%w: %w", ErrFeatures, err)
			}
			return nil, err
		}
		c.compactPhi = phi
	}
	return c.compactPhi, nil
}

// rowProduct is a matrix that multiplies, as a whole or some rows at a time.
type rowProduct interface {
	Dims() (rows, cols int)
	Mul(dst, x *mat.Dense)
	MulRows(dst, x *mat.Dense, lo int)
}

// phi returns Φ of all nodes.
func (c *grfCovariance) phi(ctx context.Context) (rowProduct, error) {
	if c.large {
		return c.compact(ctx)
	}
	f := c.factor(c.all())
	return f.phi, f.err
}

// compactCross is K[all, cols] = Φ·Φ_colsᵀ with a compact Φ.
type compactCross struct {
	cov   *grfCovariance
	right *factor
}

// Dims returns the lengths of the two lists.
func (o *compactCross) Dims() (r, c int) { return o.cov.Nodes(), len(o.right.rows) }

// Apply sets dst = Φ·(Φ_colsᵀ·x).
func (o *compactCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.right.err != nil {
		return o.right.err
	}
	phi, err := o.cov.compact(ctx)
	if err != nil {
		return err
	}
	left := &grfCross{kernel: o.cov.GRF, left: phi, right: o.right.transpose(), spread: o.right.nodes}
	return left.Apply(ctx, dst, x)
}
