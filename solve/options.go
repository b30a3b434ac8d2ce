package solve

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// ErrArgument is wrapped when sizes do not fit, an option is out of range or a
// number is not finite.
var ErrArgument = errors.New("bad argument")

// Options say when CG stops. A zero means zero, because zero iterations measure a
// residual: start from DefaultOptions.
type Options struct {
	// Tol is the relative residual ‖b − Hx‖/‖b‖ to reach in every column.
	Tol float64
	// ColumnTol, if not nil, is the relative residual to reach per column, instead
	// of Tol.
	ColumnTol []float64
	// MaxIter is the largest number of iterations; 0 only measures the residual.
	MaxIter int
	// Single lets iterations work in System.Narrow, if there is one.
	Single bool
	// Recursive takes the residuals of the recursion for the true ones, so that CG
	// neither checks them, which saves a product, nor restarts.
	Recursive bool
	// Progress, if not nil, is called after every iteration with the largest relative
	// residual according to the recursion.
	Progress func(iteration int, residual float64)
}

// DefaultOptions asks for a relative residual of 1e-6 within 1000 iterations,
// without a preconditioner.
func DefaultOptions() Options { return Options{Tol: 1e-6, MaxIter: 1000} }

// tol is the relative residual that column j has to reach.
func (o Options) tol(j int) float64 {
	if o.ColumnTol == nil {
		return o.Tol
	}
	return o.ColumnTol[j]
}

// Stats say how a solve went.
type Stats struct {
	Iterations int
	// Products counts calls of Operator.Apply, each for a block of columns.
	Products int
	// Residuals are the final ‖b − Hx‖/‖b‖ per column, computed from x and not
	// by recursion, unless Options.Recursive says so; 0 for a column of zeros.
	Residuals []float64
	// Converged reports that no residual is above its tolerance.
	Converged bool
}

// Worst returns the largest residual and its column.
func (s Stats) Worst() (residual float64, column int) {
	for j, r := range s.Residuals {
		if !(r <= residual) {
			residual, column = r, j
		}
	}
	return residual, column
}

// check validates the options for k right-hand sides.
func (o Options) check(k int) error {
	if o.ColumnTol != nil && len(o.ColumnTol) != k {
		return fmt.Errorf("%w: %d tolerances for %d right-hand sides", ErrArgument, len(o.ColumnTol), k)
	}
	for j := range max(1, len(o.ColumnTol)) {
		if tol := o.tol(j); !(tol > 0) || math.IsInf(tol, 1) {
			return fmt.Errorf("%w: tolerance %g; start from DefaultOptions", ErrArgument, tol)
		}
	}
	if o.MaxIter < 0 {
		return fmt.Errorf("%w: at most %d iterations", ErrArgument, o.MaxIter)
	}
	return nil
}

// checkShifted validates a square matrix with noise on its diagonal.
func checkShifted(a Operator, noise []float64) error {
	r, c := a.Dims()
	if r != c {
		return fmt.Errorf("%w: %d×%d matrix is not square", ErrArgument, r, c)
	}
	if len(noise) != r {
		return fmt.Errorf("%w: %d noise variances for %d rows", ErrArgument, len(noise), r)
	}
	return checkFinite("noise variance", noise)
}

func checkFinite(what string, x []float64) error {
	var bad atomic.Bool
	parallel.Ranges(len(x), 1<<14, func(lo, hi int) {
		sum := 0.0
		for _, v := range x[lo:hi] {
			sum += v - v // not zero if v is not finite
		}
		if sum != 0 {
			bad.Store(true)
		}
	})
	if !bad.Load() {
		return nil
	}
	for i, v := range x {
		if !finite(v) {
			return fmt.Errorf("%w: %s %d is %g", ErrArgument, what, i, v)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
