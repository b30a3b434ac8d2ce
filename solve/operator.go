package solve

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/mat"
)

// Operator is a matrix that is known only by its products with vectors.
// Implementations are safe for concurrent use.
type Operator interface {
	Dims() (r, c int)
	// Apply sets dst = A·x for a block of right-hand sides; dst and x must not
	// overlap.
	Apply(ctx context.Context, dst, x *mat.Dense) error
}

// Errors of this package.
var (
	ErrNotConverged        = errors.New("not converged")
	ErrNotPositiveDefinite = errors.New("not positive definite")
)
