package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// failed is an operator that could not be formed.
type failed struct {
	err        error
	rows, cols int
}

func (o failed) Dims() (r, c int) { return o.rows, o.cols }

func (o failed) Apply(context.Context, *mat.Dense, *mat.Dense) error { return o.err }

// window returns the sum of the windows of all terms, if they have them.
func (c *sumCovariance) window(nodes, lo, hi int) Window {
	w := &sumWindow{cov: c, of: make([]Window, len(c.terms))}
	for k, t := range c.terms {
		one, ok := t.Covariance.(windowed)
		if !ok {
			return nil
		}
		if w.of[k] = one.window(nodes, lo, hi); w.of[k] == nil {
			return nil
		}
	}
	return w
}

// sumWindow is a sum of windows.
type sumWindow struct {
	cov *sumCovariance
	of  []Window
}

func (w *sumWindow) Cross(cols []int) solve.Operator {
	o := make(sumOperator, len(w.of))
	for k, one := range w.of {
		o[k] = one.Cross(cols)
	}
	return o
}

func (w *sumWindow) Diag(ctx context.Context, dst []float64) error {
	if err := w.of[0].Diag(ctx, dst); err != nil {
		return err
	}
	one := make([]float64, len(dst))
	for _, term := range w.of[1:] {
		if err := term.Diag(ctx, one); err != nil {
			return err
		}
		for a, v := range one {
			dst[a] += v
		}
	}
	return nil
}

// Draw is nil in no term: kernels with windows draw in one pass, except for constants,
// which the sum draws itself.
func (w *sumWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return w.cov.drawBy(ctx, draws, seed, x, func(k int) beginDraw { return w.of[k].Draw })
}

// window of a linear kernel: its rows do not depend on each other.
func (c *linearCovariance) window(nodes, lo, hi int) Window {
	if nodes != c.x.nodes() {
		return nil
	}
	return &linearWindow{c, fromTo(lo, hi)}
}

// linearWindow is the rows of variance·XXᵀ at some nodes.
type linearWindow struct {
	cov  *linearCovariance
	rows []int
}

func (w *linearWindow) Cross(cols []int) solve.Operator { return w.cov.Cross(w.rows, cols) }

func (w *linearWindow) Diag(ctx context.Context, dst []float64) error {
	return w.cov.Diag(ctx, dst, w.rows)
}

func (w *linearWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return w.cov.drawAt(ctx, draws, seed, x, w.rows)
}

// window of a constant is as many equal rows.
func (c *constant) window(_, lo, hi int) Window { return &constantWindow{c, hi - lo} }

type constantWindow struct {
	cov  *constant
	rows int
}

func (w *constantWindow) Cross(cols []int) solve.Operator {
	return w.cov.Cross(make([]int, w.rows), cols)
}

func (w *constantWindow) Diag(ctx context.Context, dst []float64) error {
	return w.cov.Diag(ctx, dst, nil)
}

// Draw is not used: a sum draws its constants.
func (w *constantWindow) Draw(context.Context, int, uint64, []int) (Draw, error) {
	panic("kernel: a draw of a constant by itself")
}
