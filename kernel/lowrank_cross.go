package kernel

import (
	"context"
	"errors"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// lowRankCross is K[rows, cols] = K₁[rows]·K₁[cols]ᵀ.
type lowRankCross struct{ left, right *lowRankFactor }

// Dims returns the lengths of the two lists.
func (o *lowRankCross) Dims() (r, c int) { return len(o.left.rows), len(o.right.rows) }

// Apply sets dst = K₁[rows]·(K₁[cols]ᵀ·x).
func (o *lowRankCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := errors.Join(o.left.err, o.right.err); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	switch r, c := o.Dims(); {
	case r == 0:
		return nil
	case c == 0:
		dst.Zero()
		return nil
	}
	var mid mat.Dense
	mid.Mul(o.right.k1.T(), x)
	if err := ctx.Err(); err != nil {
		return err
	}
	dst.Mul(o.left.k1, &mid)
	return ctx.Err()
}

// lowRankGram is K[rows, rows].
type lowRankGram struct {
	lowRankCross

	mu       sync.Mutex
	noise    []float64      // of the last solve
	woodbury *solve.LowRank // K + diag(noise)
}

// SolveShifted solves (K + diag(noise))·dst = b by Woodbury's formula. For the
// same noise as last time the small factor is not made again.
func (o *lowRankGram) SolveShifted(ctx context.Context, dst, b *mat.Dense, noise []float64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if o.left.err != nil {
		return o.left.err
	}
	if len(o.left.rows) == 0 {
		return nil
	}
	w, err := o.inverse(noise)
	if err != nil {
		return err
	}
	w.Apply(dst, b)
	return ctx.Err()
}

func (o *lowRankGram) inverse(noise []float64) (*solve.LowRank, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.woodbury == nil || !slices.Equal(o.noise, noise) {
		w, err := solve.NewLowRank(o.left.k1, noise)
		if err != nil {
			return nil, err
		}
		o.noise, o.woodbury = slices.Clone(noise), w
	}
	return o.woodbury, nil
}
