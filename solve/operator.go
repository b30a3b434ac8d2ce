package solve

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"
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

// SingleOperator is an Operator that may have products with blocks of float32, for
// Options.Single.
type SingleOperator interface {
	Operator
	// Single returns a function that sets dst = A·x, safe for concurrent use, or nil.
	Single() func(ctx context.Context, dst, x blas32.General) error
}

// singleOf returns the products with float32 of an operator; nil if it has none.
func singleOf(a Operator) func(ctx context.Context, dst, x blas32.General) error {
	if s, ok := a.(SingleOperator); ok {
		return s.Single()
	}
	return nil
}

// Errors of this package.
var (
	ErrNotConverged        = errors.New("not converged")
	ErrNotPositiveDefinite = errors.New("not positive definite")
)
