package solve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/parallel"
)

// SingleSystem is (A + diag(Noise))·X = B in float32 throughout: for the many solves to
// a few digits that learning takes, whose right-hand sides and solutions then are half the
// memory to move as well.
type SingleSystem struct {
	// Apply sets dst = A·x; the two do not overlap.
	Apply func(ctx context.Context, dst, x blas32.General) error
	Noise []float32
	// Scale, if not nil, is the inverse of a diagonal preconditioner.
	Scale []float32
	// Rows says that several ranks share the rows; nil means one rank.
	Rows *Rows
}

// CG solves as the function CG does with Options.Recursive, from the starting guess in
// dst. Rows of dst and b must follow each other without gaps. Of the options it uses the
// tolerances, MaxIter and Progress. After ErrNotPositiveDefinite float64 may do better.
func (s SingleSystem) CG(ctx context.Context, dst, b blas32.General, opts Options) (Stats, error) {
	if err := s.check(dst, b, opts); err != nil {
		return Stats{}, fmt.Errorf("conjugate gradients: %w", err)
	}
	opts.Recursive = true
	c := &conjugate{n: b.Rows, k: b.Cols, opts: opts}
	c.stats.Residuals = make([]float64, b.Cols)
	c.prepare()
	h := &host[float32]{sides: &sides{n: b.Rows, sums: newSummation(ctx, s.Rows)}, noise: s.Noise, scale: s.Scale}
	h.apply = func(ctx context.Context, dst, x *vectors[float32]) error { return s.Apply(ctx, dst.single, x.single) }
	w := &wholeSingle{host: h, b: b.Data[:b.Rows*b.Cols], x: dst.Data[:b.Rows*b.Cols]}
	if all, _ := h.sums.total(b.Rows); all == 0 || b.Cols == 0 {
		return c.end()
	}
	if err := w.measure(b.Cols); err != nil {
		return Stats{}, fmt.Errorf("conjugate gradients: %w", err)
	}
	c.space, c.sums = w, h.sums
	err := c.run(ctx)
	if c.sums.err != nil {
		err = c.sums.err // and what follows from it
	}
	if err != nil {
		c.stats.Residuals = nil
		return c.stats, fmt.Errorf("conjugate gradients: iteration %d: %w", c.stats.Iterations, err)
	}
	return c.end()
}

func (s SingleSystem) check(dst, b blas32.General, opts Options) error {
	switch {
	case dst.Rows != b.Rows || dst.Cols != b.Cols:
		return fmt.Errorf("%w: %d×%d solutions for %d×%d right-hand sides", ErrArgument, dst.Rows, dst.Cols, b.Rows, b.Cols)
	case len(s.Noise) != b.Rows || s.Scale != nil && len(s.Scale) != b.Rows:
		return fmt.Errorf("%w: %d noise variances and %d factors for %d rows", ErrArgument, len(s.Noise), len(s.Scale), b.Rows)
	case b.Rows > 1 && (b.Stride != b.Cols || dst.Stride != dst.Cols):
		return fmt.Errorf("%w: rows of float32 with gaps", ErrArgument)
	}
	return opts.check(b.Cols)
}

// wholeSingle is a space whose right-hand sides and solutions are float32 too.
type wholeSingle struct {
	*host[float32]
	b, x []float32
}

// measure sets the norms of the right-hand sides, and solutions of zero ones to zero.
func (w *wholeSingle) measure(k int) error {
	w.norm = make([]float64, k)
	w.at = operands[float32]{columns: k, p: w.b, q: w.b}
	w.sweep(w.norm, multiplying)
	for j, v := range w.norm {
		if w.norm[j] = math.Sqrt(v); !finite(v) {
			return fmt.Errorf("%w: right-hand side %d has no finite norm", ErrArgument, j)
		}
	}
	if !slices.Contains(w.norm, 0) {
		return nil
	}
	parallel.Ranges(w.n, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			for j, v := range w.norm {
				if v == 0 {
					w.x[i*k+j] = 0
				}
			}
		}
	})
	return nil
}

func (w *wholeSingle) residual(ctx context.Context, rr []float64, r block, _ bool) error {
	k := r.columns()
	q, x := w.block(k).(*vectors[float32]), &vectors[float32]{rows: w.n, cols: k, data: w.x}
	x.single = blas32.General{Rows: w.n, Cols: k, Stride: k, Data: w.x}
	defer w.free(q)
	if err := w.apply(ctx, q, x); err != nil {
		return err
	}
	w.at = operands[float32]{columns: k, e: w.x, p: w.b, q: q.data, r: w.of(r), noise: w.noise, alpha: w.factor(0, inverses(w.norm))}
	w.sweep(rr, resting)
	return nil
}

func (w *wholeSingle) correct(e block, cols, list []int) {
	if len(list) == 0 {
		return
	}
	k, all := e.columns(), len(w.norm)
	if k == all && len(list) == all {
		w.at = operands[float32]{columns: k, e: w.x, p: w.of(e), alpha: w.factor(0, w.norm)}
		w.sweep(nil, adding)
		return
	}
	from := w.of(e)
	parallel.Ranges(w.n, blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			x, row := w.x[i*all:][:all], from[i*k:][:k]
			for _, t := range list {
				j := cols[t]
				x[j] += float32(float32(w.norm[j]) * row[t])
			}
		}
	})
}
