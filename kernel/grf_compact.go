package kernel

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
	"grfgp/walk"
)

// compactFrom is the number of nodes from which Φ of all nodes has float32 entries, in
// half the memory or less. The values of Ψ_l are float32 too, so Φ loses no more than they have.
const compactFrom = 1 << 15

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

// rowsOnce are rows of Φ that are used once.
type rowsOnce interface {
	// reached returns the columns of the row at place a, in the memory it is given if that is needed.
	reached(room []uint32, a int) []uint32
	// values sets dst to its values.
	values(dst []float64, a int)
}

// rowsOnce returns rows of Φ. Those of a large graph are float32, whether Φ of all nodes is there or not: what was computed
// before must not show.
func (c *grfCovariance) rowsOnce(rows []int) (rowsOnce, error) {
	if c.large {
		c.compactMu.Lock()
		phi := c.compactPhi
		c.compactMu.Unlock()
		if phi != nil {
			return compactRows{phi, rows}, nil
		}
	}
	own, err := c.features.ListOnce(context.Background(), rows)
	return sampledOnce{own, c}, err
}

// compactRows are rows of a compact Φ.
type compactRows struct {
	phi  *sparse.Compact
	rows []int
}

func (r compactRows) reached(room []uint32, a int) []uint32 { return r.phi.Columns(room, r.rows[a]) }
func (r compactRows) values(dst []float64, a int)           { r.phi.Values(dst, r.rows[a]) }

// sampledOnce are rows of Φ from features.
type sampledOnce struct {
	own *walk.List
	cov *grfCovariance
}

func (r sampledOnce) reached(_ []uint32, a int) []uint32 { return r.own.Reached(a) }

func (r sampledOnce) values(dst []float64, a int) {
	r.own.CombineRow(dst, r.cov.coeff, a)
	if r.cov.large {
		for e, v := range dst {
			dst[e] = float64(float32(v))
		}
	}
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
