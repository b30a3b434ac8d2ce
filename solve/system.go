package solve

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/space"
)

// System is (A + diag(Noise))·X = B in the blocks of a space. It is used by one goroutine.
type System struct {
	Space space.Space
	Axis  space.Axis // of the rows
	// Apply sets dst = A·x; the two do not overlap.
	Apply func(ctx context.Context, dst, x space.Block) error
	Noise space.Block
	// Precond approximates the inverse of the matrix; nil means none.
	Precond Preconditioner
	// Narrow, if not nil, is the same matrix in float32, in which CG may iterate: half the memory to move. Solutions and
	// residuals keep the precision of this system. A restart solves for what float32 has left, and where float32 does
	// not do, this system takes over.
	Narrow *System
}

// CG solves by preconditioned conjugate gradients. The columns of b share every product with A but nothing else: each
// advances by its own scalars and stops by itself. x holds the starting guess: zeros, which cold says, or the solution of a
// similar system.
//
// If the residual of the recursion has reached its tolerance but the true residual has not, CG restarts from the solution
// so far, as long as that helps. After ErrNotConverged x holds the last iterates, which are the closest of all to
// the solution in the norm of the matrix. After other errors the contents of x are undefined, and there are no residuals. Four
// blocks of the size of b are used, five with a preconditioner that is not diagonal.
func (s *System) CG(ctx context.Context, x, b space.Block, cold bool, opts Options) (Stats, error) {
	stats, err := s.conjugate(ctx, x, b, cold, opts)
	if failure := s.Space.Err(); failure != nil {
		err = failure // and what follows from it
	}
	if err != nil {
		err = fmt.Errorf("conjugate gradients: %w", err)
	}
	return stats, err
}

func (s *System) conjugate(ctx context.Context, x, b space.Block, cold bool, opts Options) (Stats, error) {
	k := b.Columns()
	if x.Columns() != k || x.Axis().Own != b.Axis().Own || s.Noise.Axis().Own != b.Axis().Own {
		return Stats{}, fmt.Errorf("%w: %d×%d solutions and %d noise variances for %d×%d right-hand sides", ErrArgument,
			x.Axis().Own, x.Columns(), s.Noise.Axis().Own, b.Axis().Own, k)
	}
	if err := opts.check(k); err != nil {
		return Stats{}, err
	}
	n, _ := s.Axis.All()
	c := &conjugate{whole: s, inner: s, x: x, b: b, n: n, k: k, opts: opts, cold: cold}
	if opts.Single && s.Narrow != nil {
		c.inner = s.Narrow
	}
	c.prepare()
	if n == 0 || k == 0 {
		return c.end()
	}
	var err error
	if c.norm, err = s.norms(ctx, b); err != nil {
		return Stats{}, err
	}
	if err := c.run(ctx); err != nil {
		c.stats.Residuals = nil // x is between two iterates
		return c.stats, fmt.Errorf("iteration %d: %w", c.stats.Iterations, err)
	}
	return c.end()
}

// norms returns the Euclidean norms of the columns of b, over the rows of all processes, which must be finite. Those whose
// squares leave the range of float64 are taken of scaled numbers.
func (s *System) norms(ctx context.Context, b space.Block) ([]float64, error) {
	all, safe := b.Sums(b, nil), true
	for j, v := range all {
		all[j] = math.Sqrt(v)
		safe = safe && fits(all[j])
	}
	if safe {
		return all, nil
	}
	k := b.Columns()
	data, top := make([]float64, b.Axis().Own*k), make([]float64, k)
	b.Get(data)
	for q, v := range data {
		if !finite(v) {
			v = math.Inf(1)
		}
		top[q%k] = max(top[q%k], math.Abs(v))
	}
	if b.Axis().Shared() {
		everyone, err := space.Gather(ctx, s.Space, top)
		if err != nil {
			return nil, err
		}
		for q, v := range everyone {
			top[q%k] = max(top[q%k], v)
		}
	}
	sums := space.SumRows(s.Space, b.Axis(), k, func(lo, hi int, sums []float64) {
		for q := lo * k; q < hi*k; q++ {
			if size := top[q%k]; size > 0 {
				v := data[q] / size
				sums[q%k] += float64(v * v)
			}
		}
	})
	for j, size := range top {
		if fits(all[j]) {
			continue
		}
		if all[j] = size * math.Sqrt(sums[j]); finite(all[j]) {
			continue
		}
		if err := notFinite("right-hand side", b); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("%w: right-hand side %d has no finite norm; scale it", ErrArgument, j)
	}
	return all, nil
}

// fits reports that the squares of numbers of a norm are in the range of float64.
func fits(norm float64) bool { return norm > 1e-100 && norm < 1e100 }

// notFinite returns an error about the first number that is not finite; nil if all are.
func notFinite(what string, b space.Block) error {
	k := b.Columns()
	data := make([]float64, b.Axis().Own*k)
	b.Get(data)
	for q, v := range data {
		if !finite(v) {
			return fmt.Errorf("%w: %s (%d, %d) is %g", ErrArgument, what, q/k, q%k, v)
		}
	}
	return nil
}

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

// SystemOf returns the system of an operator in the float64 memory of this process.
func SystemOf(a Operator, noise []float64) *System {
	here, n := space.Host(), len(noise)
	s := &System{Space: here, Axis: space.Rows(n), Noise: here.Block(space.Rows(n), 1)}
	s.Noise.Set(noise)
	s.Apply = func(ctx context.Context, dst, x space.Block) error {
		return a.Apply(ctx, space.DenseOf(dst), space.DenseOf(x))
	}
	return s
}

// CG solves (A + diag(noise))·X = B as System.CG does, by a preconditioner of the memory of this process; nil means none.
// dst holds the starting guess.
func CG(ctx context.Context, dst *mat.Dense, a Operator, noise []float64, b *mat.Dense, precond Preconditioner, opts Options) (
	Stats, error) {
	if err := checkShifted(a, noise); err != nil {
		return Stats{}, fmt.Errorf("conjugate gradients: %w", err)
	}
	n, k := b.Dims()
	if r, c := dst.Dims(); r != n || c != k || n != len(noise) {
		return Stats{}, fmt.Errorf("conjugate gradients: %w: %d×%d solutions and a matrix of %d rows for %d×%d right-hand sides", ErrArgument,
			r, c, len(noise), n, k)
	}
	s := SystemOf(a, noise)
	defer s.Noise.Free()
	s.Precond = precond
	x, side := s.Space.Block(s.Axis, k), s.Space.Block(s.Axis, k)
	defer x.Free()
	defer side.Free()
	space.DenseOf(x).Copy(dst)
	space.DenseOf(side).Copy(b)
	stats, err := s.CG(ctx, x, side, allZero(dst), opts)
	if err == nil || errors.Is(err, ErrNotConverged) {
		dst.Copy(space.DenseOf(x))
	}
	return stats, err
}

func allZero(x *mat.Dense) bool {
	raw := x.RawMatrix()
	for i := range raw.Rows {
		for _, v := range raw.Data[i*raw.Stride:][:raw.Cols] {
			if v != 0 {
				return false
			}
		}
	}
	return true
}
