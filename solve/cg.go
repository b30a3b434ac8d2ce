package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// CG solves (A + diag(noise))·X = B by preconditioned conjugate gradients. The
// columns of B share every product with A but nothing else: each advances by its
// own scalars and stops by itself. dst holds the starting guess: zeros, or the
// solution of a similar system. With Options.Inverse the guess is Inverse·B.
//
// If the residual of the recursion has reached its tolerance but the true residual
// has not, CG restarts from the solution so far, as long as that helps. After
// ErrNotConverged dst holds the last iterates, which are the closest of all to the
// solution in the norm of A + diag(noise). After other errors the contents of dst are
// undefined, and there are no residuals. Four blocks of the size of B are used,
// five with a preconditioner that is not diagonal, of half that size with
// Options.Single; their memory is kept for the next solve.
func CG(ctx context.Context, dst *mat.Dense, a Operator, noise []float64, b *mat.Dense, opts Options) (Stats, error) {
	c, err := newConjugate(ctx, dst, a, noise, b, opts)
	if err != nil {
		return Stats{}, fmt.Errorf("conjugate gradients: %w", err)
	}
	err = c.run(ctx)
	if c.sums.err != nil {
		err = c.sums.err // and what follows from it
	}
	if err != nil {
		c.stats.Residuals = nil // dst is between two iterates
		return c.stats, fmt.Errorf("conjugate gradients: iteration %d: %w", c.stats.Iterations, err)
	}
	return c.end()
}

// end returns how a solve went, and an error if a residual is above its tolerance.
func (c *conjugate) end() (Stats, error) {
	opts := c.opts
	column, times := 0, 0.0 // the column that is farthest above its tolerance
	for j, r := range c.stats.Residuals {
		if t := r / opts.tol(j); !(t <= times) {
			column, times = j, t
		}
	}
	if c.stats.Converged = times <= 1; !c.stats.Converged {
		return c.stats, fmt.Errorf("%w: relative residual %.3g in column %d after %d iterations, wanted %.3g; allow more iterations, use a "+
			"stronger preconditioner or add noise",
			ErrNotConverged, c.stats.Residuals[column], column, c.stats.Iterations, opts.tol(column))
	}
	return c.stats, nil
}

// conjugate is the state of CG. Residuals are kept divided by ‖b‖, so that
// their norms are relative and neither huge nor tiny data leave the range of
// the numbers.
type conjugate struct {
	space  space
	double func() space // to go on with, where float32 does not do; nil: space is it
	sums   *summation
	x      *mat.Dense
	n, k   int
	opts   Options
	stats  Stats

	cold    bool   // X is zero
	stalled []bool // per column of B: a restart did not help

	// The columns in work: their numbers, whether they are done, and blocks with a
	// column for each. e is the change of X so far. With a diagonal preconditioner or
	// none, z is r.
	cols          []int
	done          []bool
	e, r, z, p, q block

	// Per column in work: rᵀM⁻¹r of this iteration and of the next, α, β; sum is rᵀr
	// after a step.
	rz, next, alpha, beta, sum []float64
}

func newConjugate(ctx context.Context, dst *mat.Dense, a Operator, noise []float64, b *mat.Dense, opts Options) (*conjugate, error) {
	if err := check(dst, a, noise, b, opts); err != nil {
		return nil, err
	}
	n, k := b.Dims()
	if opts.Inverse != nil && n > 0 && k > 0 {
		opts.Inverse.Apply(dst, b)
	}
	c := &conjugate{x: dst, n: n, k: k, opts: opts}
	c.stats.Residuals = make([]float64, k)
	s := &sides{n: n, a: a, noise: noise, b: b, x: dst, sums: newSummation(ctx, opts.Rows)}
	c.sums = s.sums
	c.cold = s.sums.allZero(dst)
	var err error
	if s.norm, err = s.sums.norms(b); err != nil {
		return nil, err
	}
	if opts.Single && n > 0 && k > 0 {
		if single := newSingle(s, opts.Precond); single != nil {
			c.space, c.double = single, func() space { return newDouble(s, opts.Precond) }
		}
	}
	if c.space == nil {
		c.space = newDouble(s, opts.Precond)
	}
	c.prepare()
	return c, nil
}

// prepare makes what there is for each column.
func (c *conjugate) prepare() {
	k := c.k
	c.stalled = make([]bool, k)
	c.cols = make([]int, 0, k)
	c.done = make([]bool, k)
	scalars := make([]float64, 5*k)
	c.rz, c.next, c.alpha, c.beta, c.sum = scalars[:k], scalars[k:2*k], scalars[2*k:3*k], scalars[3*k:4*k], scalars[4*k:]
}

// allZero reports whether a starting guess is zero. Other guesses are seldom zero in
// the first row.
func (s *summation) allZero(x *mat.Dense) bool {
	if s.alone() {
		return allZero(x)
	}
	some := []float64{0}
	if !allZero(x) {
		some[0] = 1
	}
	s.most(some)
	return some[0] == 0
}

func allZero(x *mat.Dense) bool {
	raw := x.RawMatrix()
	if raw.Rows == 0 || slices.ContainsFunc(row(raw, 0), func(v float64) bool { return v != 0 }) {
		return raw.Rows == 0
	}
	var some atomic.Bool
	parallel.Ranges(raw.Rows, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for _, v := range row(raw, i) {
				if v != 0 {
					some.Store(true)
					return
				}
			}
		}
	})
	return !some.Load()
}

// norms returns the Euclidean norms of right-hand sides, which must be finite.
func (s *summation) norms(b *mat.Dense) ([]float64, error) {
	norm, ok := s.columnNorms(b)
	if !ok {
		return nil, notFinite("right-hand side", b)
	}
	for j, v := range norm {
		if math.IsInf(v, 1) {
			return nil, fmt.Errorf("%w: right-hand side %d has no finite norm; scale it", ErrArgument, j)
		}
	}
	return norm, nil
}

// notFinite returns an error about the first number that is not finite.
func notFinite(what string, x *mat.Dense) error {
	raw := x.RawMatrix()
	for i := range raw.Rows {
		for j, v := range row(raw, i) {
			if !finite(v) {
				return fmt.Errorf("%w: %s (%d, %d) is %g", ErrArgument, what, i, j, v)
			}
		}
	}
	return nil
}

// run restarts and descends until there is nothing left to do.
func (c *conjugate) run(ctx context.Context) error {
	defer c.release()
	for {
		if err := c.restart(ctx); err != nil {
			return err
		}
		if len(c.cols) == 0 {
			return nil
		}
		err := c.descend(ctx)
		if errors.Is(err, ErrNotPositiveDefinite) && c.double != nil {
			c.widen() // float32 may have failed where float64 does not
			continue
		}
		if err != nil {
			return err
		}
		if c.opts.Recursive {
			return nil
		}
	}
}

// widen goes on in float64.
func (c *conjugate) widen() {
	c.release()
	c.space, c.double = c.double(), nil
	clear(c.stalled)
	for j := range c.stats.Residuals {
		c.stats.Residuals[j] = math.Inf(1)
	}
}

// release returns the memory of the blocks.
func (c *conjugate) release() {
	if c.z == c.r {
		c.z = nil
	}
	for _, b := range []*block{&c.e, &c.r, &c.z, &c.p, &c.q} {
		if *b != nil {
			c.space.free(*b)
			*b = nil
		}
	}
}

// restart sets r and the residuals from their definition, and puts the columns
// to work that are to be improved: none when all has been done.
func (c *conjugate) restart(ctx context.Context) error {
	c.cols = c.cols[:0]
	if c.n == 0 || c.k == 0 {
		return nil
	}
	c.release()
	c.r = c.space.block(c.k)
	if !c.cold {
		c.stats.Products++
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.space.residual(ctx, c.sum[:c.k], c.r, c.cold); err != nil {
		return err
	}
	stalled := 0
	for j, rr := range c.sum[:c.k] {
		if !finite(rr) {
			if c.x != nil && c.stats.Iterations == 0 {
				if err := notFinite("starting guess", c.x); err != nil {
					return err
				}
			}
			return fmt.Errorf("residual of column %d is %g: %w", j, math.Sqrt(rr), ErrNotPositiveDefinite)
		}
		before, now := c.stats.Residuals[j], math.Sqrt(rr)
		c.stats.Residuals[j] = now
		if c.stats.Iterations > 0 && now > 0.9*before {
			c.stalled[j] = true
		}
		if now > c.opts.tol(j) && c.stats.Iterations < c.opts.MaxIter {
			if c.stalled[j] {
				stalled++
			} else {
				c.cols = append(c.cols, j)
			}
		}
	}
	c.cold = false
	if len(c.cols) == 0 && stalled > 0 && c.double != nil {
		c.widen()
		return c.restart(ctx)
	}
	if len(c.cols) == 0 {
		return nil
	}
	c.r = c.space.narrow(c.r, c.cols)
	keep(c.sum, c.cols)
	clear(c.done)
	k := len(c.cols)
	c.e, c.p, c.q = c.space.block(k), c.space.block(k), c.space.block(k)
	c.space.zero(c.e)
	c.view()
	return nil
}

// descend iterates until every column in work is done by the recursion, or the
// iterations are used up, and corrects X.
func (c *conjugate) descend(ctx context.Context) error {
	defer c.correct()
	for first := true; c.stats.Iterations < c.opts.MaxIter; first = false {
		k := len(c.cols)
		switch {
		case first:
			c.space.precondition(c.next[:k], c.p, c.r)
		case !c.space.diagonal():
			c.space.precondition(c.next[:k], c.z, c.r)
		}
		for t, rz := range c.next[:k] {
			if c.beta[t] = 0; c.done[t] {
				continue
			}
			if !(rz > 0) || math.IsInf(rz, 1) {
				return fmt.Errorf("preconditioner gives rᵀM⁻¹r = %g in column %d: %w", rz, c.cols[t], ErrNotPositiveDefinite)
			}
			if !first {
				c.beta[t] = rz / c.rz[t]
			}
			c.rz[t] = rz
		}
		if !first {
			c.space.turn(c.p, c.z, c.beta[:k])
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c.stats.Products++
		if err := c.space.product(ctx, c.q, c.p); err != nil {
			return err
		}
		c.stats.Iterations++
		c.space.curvature(c.sum[:k], c.p, c.q)
		for t, pq := range c.sum[:k] {
			if c.alpha[t] = 0; c.done[t] {
				continue
			}
			if !(pq > 0) || math.IsInf(pq, 1) {
				return fmt.Errorf("curvature pᵀHp = %g in column %d: %w", pq, c.cols[t], ErrNotPositiveDefinite)
			}
			c.alpha[t] = c.rz[t] / pq
		}
		c.space.step(c.sum[:k], c.next[:k], c.e, c.r, c.p, c.q, c.alpha[:k])
		left, err := c.assess()
		if err != nil || left == 0 {
			return err
		}
		if 4*worth(left) <= 3*worth(k) {
			c.drop()
		}
	}
	return nil
}

// assess notes which columns are done, by rᵀr in sum, and returns how many are not.
func (c *conjugate) assess() (left int, err error) {
	worst := 0.0
	for t, rr := range c.sum[:len(c.cols)] {
		res := math.Sqrt(rr)
		if !finite(res) {
			return 0, fmt.Errorf("residual of column %d is %g: %w", c.cols[t], res, ErrNotPositiveDefinite)
		}
		if c.opts.Recursive && !c.done[t] {
			c.stats.Residuals[c.cols[t]] = res
		}
		c.done[t] = c.done[t] || res <= c.opts.tol(c.cols[t])
		if !c.done[t] {
			left++
		}
		worst = max(worst, res)
	}
	if c.opts.Progress != nil {
		c.opts.Progress(c.stats.Iterations, worst)
	}
	return left, nil
}

// worth is what k columns cost beside each other: registers hold four or more.
func worth(k int) int {
	if k <= 2 {
		return k
	}
	return (k + 3) / 4 * 4
}

// correct adds what the iteration has found to X.
func (c *conjugate) correct() {
	all := make([]int, len(c.cols))
	for t := range all {
		all[t] = t
	}
	c.space.correct(c.e, c.cols, all)
}

// drop takes the columns that are done out of the blocks. Copying them costs
// less than one product; the caller waits until a quarter is done.
func (c *conjugate) drop() {
	k := len(c.cols)
	var ready, left []int
	for t, done := range c.done[:k] {
		if done {
			ready = append(ready, t)
		} else {
			left = append(left, t)
		}
	}
	c.space.correct(c.e, c.cols, ready)
	c.e, c.r, c.p = c.space.narrow(c.e, left), c.space.narrow(c.r, left), c.space.narrow(c.p, left)
	c.space.free(c.q)
	c.q = c.space.block(len(left))
	for _, x := range [][]float64{c.sum, c.next, c.rz} {
		keep(x, left)
	}
	for t, from := range left {
		c.cols[t], c.done[t] = c.cols[from], false
	}
	c.cols = c.cols[:len(left)]
	c.view()
}

// view fits z to the columns in work.
func (c *conjugate) view() {
	if c.space.diagonal() {
		c.z = c.r
		return
	}
	if c.z != nil {
		c.space.free(c.z)
	}
	c.z = c.space.block(len(c.cols))
}

// keep moves the given elements of x, in increasing order, to its front.
func keep(x []float64, which []int) {
	for t, j := range which {
		x[t] = x[j]
	}
}
