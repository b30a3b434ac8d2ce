package kernel

import (
	"context"

	"grfgp/solve"
	"grfgp/sparse"
)

// window returns some nodes of a large graph. Of each scale it takes the cells that
// interpolate to these nodes: as a window too if the scale is large.
func (c *multiscaleCovariance) window(nodes, lo, hi int) Window {
	inner, ok := c.fine.(windowed)
	if !ok || c.over != nil || !c.filled() {
		return nil
	}
	fine := inner.window(nodes, lo, hi)
	if fine == nil {
		return nil
	}
	rows := c.chain(fromTo(lo, hi))
	w := &multiscaleWindow{c, fine, rows, make([]*grfWindow, len(c.parts))}
	for k, u := range c.parts {
		if u.raw.large {
			w.scales[k] = &grfWindow{u.raw, rows.nodes[k+1]}
		}
	}
	return w
}

// hasEmptyColumn reports whether a column of q has no entry.
func hasEmptyColumn(q *sparse.CSR) bool {
	rows, cols := q.Dims()
	seen, left := make([]bool, cols), cols
	for i := range rows {
		own, _ := q.Row(i)
		for _, j := range own {
			if !seen[j] {
				seen[j] = true
				left--
			}
		}
	}
	return left > 0
}

// multiscaleWindow is the rows of K at some nodes.
type multiscaleWindow struct {
	cov    *multiscaleCovariance
	fine   Window
	rows   *chain
	scales []*grfWindow // nil: the scale is small
}

func (w *multiscaleWindow) Cross(cols []int) solve.Operator {
	o := &multiscaleCross{cov: w.cov, fine: w.fine.Cross(cols), rows: w.rows, cols: w.cov.chain(cols)}
	for k, u := range w.cov.parts {
		left, right := w.rows.nodes[k+1], o.cols.nodes[k+1]
		if w.scales[k] == nil {
			o.parts = append(o.parts, u.cross(left, right))
			continue
		}
		inverses, err := w.scales[k].inverses(context.Background())
		if err != nil {
			return failed{err, len(w.rows.nodes[0]), len(cols)}
		}
		o.parts = append(o.parts, unitCross{w.scales[k].Cross(right), inverses, u.inverses(right), u.variance})
	}
	return o
}

func (w *multiscaleWindow) Diag(ctx context.Context, dst []float64) error {
	if err := w.fine.Diag(ctx, dst); err != nil {
		return err
	}
	return w.cov.addDiag(ctx, dst, w.rows.nodes[0])
}

func (w *multiscaleWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return w.cov.drawOn(ctx, draws, seed, x, w.rows, w.fine.Draw, w.scales)
}
