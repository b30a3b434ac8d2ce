package solve

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
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
// undefined, and there are no residuals. Three blocks of the size of B are allocated,
// four with a preconditioner.
func CG(ctx context.Context, dst *mat.Dense, a Operator, noise []float64, b *mat.Dense, opts Options) (Stats, error) {
	c, err := newConjugate(dst, a, noise, b, opts)
	if err != nil {
		return Stats{}, fmt.Errorf("conjugate gradients: %w", err)
	}
	for {
		err := c.restart(ctx)
		if err == nil && len(c.cols) == 0 {
			break
		}
		if err == nil {
			err = c.descend(ctx)
		}
		if err != nil {
			c.stats.Residuals = nil // dst is between two iterates
			return c.stats, fmt.Errorf("conjugate gradients: iteration %d: %w", c.stats.Iterations, err)
		}
	}
	column, times := 0, 0.0 // the column that is farthest above its tolerance
	for j, r := range c.stats.Residuals {
		if t := r / opts.tol(j); !(t <= times) {
			column, times = j, t
		}
	}
	if c.stats.Converged = times <= 1; !c.stats.Converged {
		return c.stats, fmt.Errorf("%w: relative residual %.3g in column %d after %d iterations, wanted %.3g; allow more iterations, use a stronger preconditioner or add noise",
			ErrNotConverged, c.stats.Residuals[column], column, c.stats.Iterations, opts.tol(column))
	}
	return c.stats, nil
}

// conjugate is the state of CG. Residuals are kept divided by ‖b‖, so that
// their norms are relative and neither huge nor tiny data leave the range of
// float64.
type conjugate struct {
	a     Operator
	noise []float64
	x, b  *mat.Dense
	opts  Options
	stats Stats

	norm    []float64 // per column of b: ‖b‖
	cold    bool      // x is zero
	stalled []bool    // per column of b: a restart did not help

	// The columns in work: their numbers, whether they are done, and blocks
	// with a column for each. Without a preconditioner z is r.
	cols       []int
	done       []bool
	r, z, p, q *mat.Dense

	rz, alpha, beta, sum []float64 // per column in work; sum is rᵀr between iterations
	parts                []float64
	buf                  struct{ r, z, p, q []float64 }
}

func newConjugate(dst *mat.Dense, a Operator, noise []float64, b *mat.Dense, opts Options) (*conjugate, error) {
	if err := check(dst, a, noise, b, opts); err != nil {
		return nil, err
	}
	n, k := b.Dims()
	if opts.Inverse != nil && n > 0 && k > 0 {
		opts.Inverse.Apply(dst, b)
	}
	c := &conjugate{a: a, noise: noise, x: dst, b: b, opts: opts, cold: true}
	c.stats.Residuals = make([]float64, k)
	for i := range n {
		for j, v := range row(dst.RawMatrix(), i) {
			if !finite(v) {
				return nil, fmt.Errorf("%w: starting guess (%d, %d) is %g", ErrArgument, i, j, v)
			}
			c.cold = c.cold && v == 0
		}
	}
	var err error
	if c.norm, err = norms(b); err != nil {
		return nil, err
	}
	c.stalled = make([]bool, k)
	c.cols = make([]int, 0, k)
	c.done = make([]bool, k)
	scalars := make([]float64, 4*k)
	c.rz, c.alpha, c.beta, c.sum = scalars[:k], scalars[k:2*k], scalars[2*k:3*k], scalars[3*k:]
	c.parts = make([]float64, rowBlocks(n)*k)
	c.buf.r, c.buf.p, c.buf.q = make([]float64, n*k), make([]float64, n*k), make([]float64, n*k)
	if opts.Precond != nil {
		c.buf.z = make([]float64, n*k)
	}
	return c, nil
}

// norms returns the Euclidean norms of the columns of b, scaled against
// overflow and underflow.
func norms(b *mat.Dense) ([]float64, error) {
	n, k := b.Dims()
	top, norm := make([]float64, k), make([]float64, k)
	for i := range n {
		for j, v := range row(b.RawMatrix(), i) {
			if !finite(v) {
				return nil, fmt.Errorf("%w: right-hand side (%d, %d) is %g", ErrArgument, i, j, v)
			}
			top[j] = max(top[j], math.Abs(v))
		}
	}
	for i := range n {
		for j, v := range row(b.RawMatrix(), i) {
			if top[j] > 0 {
				v /= top[j]
				norm[j] += v * v
			}
		}
	}
	for j := range norm {
		if norm[j] = top[j] * math.Sqrt(norm[j]); math.IsInf(norm[j], 1) {
			return nil, fmt.Errorf("%w: right-hand side %d has no finite norm; scale it", ErrArgument, j)
		}
	}
	return norm, nil
}

// restart sets r and the residuals from their definition, and puts the columns
// to work that are to be improved: none when all has been done.
func (c *conjugate) restart(ctx context.Context) error {
	n, k := c.b.Dims()
	c.cols = c.cols[:0]
	if n == 0 || k == 0 {
		return nil
	}
	c.r, c.q = shaped(n, k, c.buf.r), shaped(n, k, c.buf.q)
	if c.cold {
		clear(c.buf.q)
	} else if err := c.apply(ctx, c.q, c.x); err != nil {
		return err
	}
	sweep(n, c.sum[:k], c.parts, c.residualRows)
	for j, rr := range c.sum[:k] {
		if !finite(rr) {
			return fmt.Errorf("residual of column %d is %g: %w", j, math.Sqrt(rr), ErrNotPositiveDefinite)
		}
		before, now := c.stats.Residuals[j], math.Sqrt(rr)
		c.stats.Residuals[j] = now
		if c.stats.Iterations > 0 && now > 0.9*before {
			c.stalled[j] = true
		}
		if now > c.opts.tol(j) && !c.stalled[j] && c.stats.Iterations < c.opts.MaxIter {
			c.cols = append(c.cols, j)
		}
	}
	narrow(c.buf.r, n, k, c.cols)
	narrow(c.sum, 1, k, c.cols)
	clear(c.buf.p)
	clear(c.done)
	c.cold = false
	c.view()
	return nil
}

// descend iterates until every column in work is done by the recursion, or the
// iterations are used up.
func (c *conjugate) descend(ctx context.Context) error {
	n, _ := c.b.Dims()
	dots, turn, curvature, step := c.dotRows, c.turnRows, c.curvatureRows, c.stepRows
	for first := true; c.stats.Iterations < c.opts.MaxIter; first = false {
		k := len(c.cols)
		if c.opts.Precond != nil { // otherwise sum is rᵀr, which is rᵀz
			c.opts.Precond.Apply(c.z, c.r)
			sweep(n, c.sum[:k], c.parts, dots)
		}
		for t, rz := range c.sum[:k] {
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
		sweep(n, nil, nil, turn) // p = z + βp
		if err := c.apply(ctx, c.q, c.p); err != nil {
			return err
		}
		c.stats.Iterations++
		sweep(n, c.sum[:k], c.parts, curvature) // q += diag(noise)·p, pᵀq
		for t, pq := range c.sum[:k] {
			if c.alpha[t] = 0; c.done[t] {
				continue
			}
			if !(pq > 0) || math.IsInf(pq, 1) {
				return fmt.Errorf("curvature pᵀHp = %g in column %d: %w", pq, c.cols[t], ErrNotPositiveDefinite)
			}
			c.alpha[t] = c.rz[t] / pq
		}
		sweep(n, c.sum[:k], c.parts, step) // x += αp, r −= αq, rᵀr
		left, worst := 0, 0.0
		for t, rr := range c.sum[:k] {
			res := math.Sqrt(rr)
			if !finite(res) {
				return fmt.Errorf("residual of column %d is %g: %w", c.cols[t], res, ErrNotPositiveDefinite)
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
		if left == 0 {
			return nil
		}
		if 4*left <= 3*k {
			c.drop()
		}
	}
	return nil
}

// apply is a product with A, counted.
func (c *conjugate) apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c.stats.Products++
	return c.a.Apply(ctx, dst, x)
}

// drop takes the columns that are done out of the blocks. Copying r and p costs
// less than one product; the caller waits until a quarter is done.
func (c *conjugate) drop() {
	n, _ := c.b.Dims()
	k := len(c.cols)
	keep := make([]int, 0, k)
	for t, done := range c.done[:k] {
		if !done {
			keep = append(keep, t)
		}
	}
	narrow(c.buf.r, n, k, keep)
	narrow(c.buf.p, n, k, keep)
	narrow(c.sum, 1, k, keep)
	narrow(c.rz, 1, k, keep)
	for t, from := range keep {
		c.cols[t], c.done[t] = c.cols[from], false
	}
	c.cols = c.cols[:len(keep)]
	c.view()
}

// view fits the blocks to the columns in work.
func (c *conjugate) view() {
	n, _ := c.b.Dims()
	k := len(c.cols)
	if k == 0 {
		return
	}
	c.r, c.p, c.q = shaped(n, k, c.buf.r), shaped(n, k, c.buf.p), shaped(n, k, c.buf.q)
	if c.z = c.r; c.opts.Precond != nil {
		c.z = shaped(n, k, c.buf.z)
	}
}

// narrow keeps the given columns, in increasing order, of an n×k matrix, and
// moves them together.
func narrow(data []float64, n, k int, keep []int) {
	if len(keep) == k {
		return
	}
	to := 0
	for i := range n {
		for _, j := range keep {
			data[to] = data[i*k+j]
			to++
		}
	}
}
