package solve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/space"
)

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

// conjugate is the state of CG. Residuals are kept divided by ‖b‖, so that their norms are relative and neither huge nor
// tiny data leave the range of the numbers.
type conjugate struct {
	whole *System // of solutions and right-hand sides,
	inner *System // and of iterations
	x, b  space.Block
	norm  []float64 // of the columns of b
	n, k  int
	opts  Options
	stats Stats

	cold    bool   // X is zero
	stalled []bool // per column of B: a restart did not help

	// The columns in work: their numbers, whether they are done, and blocks with a
	// column for each. e is the change of X so far. With a diagonal preconditioner or
	// none, z is r.
	cols          []int
	done          []bool
	e, r, z, p, q space.Block
	scale         space.Block // of a diagonal preconditioner; nil: the identity

	// Per column in work: rᵀM⁻¹r of this iteration and of the next, α, β; sum is rᵀr
	// after a step.
	rz, next, alpha, beta, sum []float64
}

// prepare makes what there is for each column.
func (c *conjugate) prepare() {
	k := c.k
	c.stats.Residuals = make([]float64, k)
	c.stalled = make([]bool, k)
	c.cols = make([]int, 0, k)
	c.done = make([]bool, k)
	scalars := make([]float64, 5*k)
	c.rz, c.next, c.alpha, c.beta, c.sum = scalars[:k], scalars[k:2*k], scalars[2*k:3*k], scalars[3*k:4*k], scalars[4*k:]
	c.scale = diagonalOf(c.inner.Precond)
}

// diagonal reports that the preconditioner is diagonal, or that there is none: sweeps apply it on the way.
func (c *conjugate) diagonal() bool { return c.inner.Precond == nil || c.scale != nil }

func (c *conjugate) block(columns int) space.Block { return c.inner.Space.Block(c.inner.Axis, columns) }

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
		if errors.Is(err, ErrNotPositiveDefinite) && c.inner != c.whole {
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

// widen goes on in the precision of the whole system.
func (c *conjugate) widen() {
	c.release()
	c.inner = c.whole
	c.scale = diagonalOf(c.inner.Precond)
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
	for _, b := range []*space.Block{&c.e, &c.r, &c.z, &c.p, &c.q} {
		if *b != nil {
			(*b).Free()
			*b = nil
		}
	}
}

// restart sets r and the residuals from their definition, and puts the columns
// to work that are to be improved: none when all has been done.
func (c *conjugate) restart(ctx context.Context) error {
	c.cols = c.cols[:0]
	c.release()
	if !c.cold {
		c.stats.Products++
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.residual(ctx); err != nil {
		return err
	}
	stalled := 0
	for j, rr := range c.sum[:c.k] {
		if !finite(rr) {
			if c.stats.Iterations == 0 {
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
	if len(c.cols) == 0 && stalled > 0 && c.inner != c.whole {
		c.widen()
		return c.restart(ctx)
	}
	if len(c.cols) == 0 {
		return nil
	}
	c.r = c.r.Pick(c.cols)
	keep(c.sum, c.cols)
	clear(c.done)
	k := len(c.cols)
	c.e, c.p, c.q = c.block(k), c.block(k), c.block(k)
	c.e.Zero()
	c.view()
	return nil
}

// residual sets r = (B − H·X)/‖B‖ for all columns, and sum to rᵀr. It works at the precision of the whole system.
func (c *conjugate) residual(ctx context.Context) error {
	s := c.whole
	inverse, zeros := make([]float64, c.k), []int{}
	for j, v := range c.norm {
		if inverse[j] = 1 / v; v == 0 {
			inverse[j] = 0
			zeros = append(zeros, j)
		}
	}
	if len(zeros) > 0 && !c.cold { // the solution is zero
		to, factor := slices.Repeat([]int{-1}, c.k), make([]float64, c.k)
		for _, j := range zeros {
			to[j], factor[j] = j, -1
		}
		c.x.AddColumns(c.x, to, factor)
	}
	r := s.Space.Block(s.Axis, c.k)
	if c.cold {
		r.Rest(c.sum[:c.k], c.b, nil, nil, s.Noise, inverse)
	} else {
		q := s.Space.Block(s.Axis, c.k)
		defer q.Free()
		if err := s.Apply(ctx, q, c.x); err != nil {
			r.Free()
			return err
		}
		r.Rest(c.sum[:c.k], c.b, q, c.x, s.Noise, inverse)
	}
	if c.r = r; c.inner != s {
		c.r = c.block(c.k)
		space.Convert(c.r, r, false)
		r.Free()
	}
	return nil
}

// put adds ‖B_j‖·e_t to X_j for the columns t of e in the list, j = cols[t].
func (c *conjugate) put(list []int) {
	if len(list) == 0 {
		return
	}
	to, factor := slices.Repeat([]int{-1}, len(c.cols)), make([]float64, len(c.cols))
	for _, t := range list {
		to[t], factor[t] = c.cols[t], c.norm[c.cols[t]]
	}
	e := c.e
	if c.inner != c.whole {
		e = c.whole.Space.Block(c.whole.Axis, len(c.cols))
		defer e.Free()
		space.Convert(e, c.e, false)
	}
	c.x.AddColumns(e, to, factor)
}

// descend iterates until every column in work is done by the recursion, or the
// iterations are used up, and corrects X.
func (c *conjugate) descend(ctx context.Context) error {
	defer c.correct()
	for first := true; c.stats.Iterations < c.opts.MaxIter; first = false {
		k := len(c.cols)
		switch {
		case first:
			c.precondition(c.next[:k], c.p)
		case !c.diagonal():
			c.precondition(c.next[:k], c.z)
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
			c.p.Turn(c.z, c.scale, c.beta[:k])
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		c.stats.Products++
		if err := c.inner.Apply(ctx, c.q, c.p); err != nil {
			return err
		}
		c.stats.Iterations++
		c.p.Curvature(c.sum[:k], c.q, c.inner.Noise)
		for t, pq := range c.sum[:k] {
			if c.alpha[t] = 0; c.done[t] {
				continue
			}
			if !(pq > 0) || math.IsInf(pq, 1) {
				return fmt.Errorf("curvature pᵀHp = %g in column %d: %w", pq, c.cols[t], ErrNotPositiveDefinite)
			}
			c.alpha[t] = c.rz[t] / pq
		}
		c.e.Step(c.sum[:k], c.next[:k], c.r, c.p, c.q, c.inner.Noise, c.scale, c.alpha[:k])
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

// precondition sets z = P⁻¹·r, and rz to rᵀz.
func (c *conjugate) precondition(rz []float64, z space.Block) {
	if c.diagonal() {
		z.Begin(rz, c.r, c.scale)
		return
	}
	c.inner.Precond.Apply(z, c.r)
	copy(rz, c.r.Sums(z, nil))
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
	c.put(all)
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
	c.put(ready)
	c.e, c.r, c.p = c.e.Pick(left), c.r.Pick(left), c.p.Pick(left)
	c.q.Free()
	c.q = c.block(len(left))
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
	if c.diagonal() {
		c.z = c.r
		return
	}
	if c.z != nil {
		c.z.Free()
	}
	c.z = c.block(len(c.cols))
}

// keep moves the given elements of x, in increasing order, to its front.
func keep(x []float64, which []int) {
	for t, j := range which {
		x[t] = x[j]
	}
}
