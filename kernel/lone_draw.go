package kernel

import (
	"context"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// draw begins draws of the nodes from lo to hi: those of K without the lone nodes, and of
// these by themselves.
func (c *loneCovariance) draw(ctx context.Context, draws int, seed uint64, x []int, begin beginDraw, lo, hi int) (Draw, error) {
	d := &loneDraw{x: slices.Clone(x), places: c.at(x), variance: c.variance, lo: lo}
	var others []int
	for a, i := range x {
		if !c.is[i] {
			others, d.others = append(others, i), append(d.others, a)
		}
	}
	var err error
	if d.below, err = begin(ctx, draws, seed, others); err != nil {
		return nil, err
	}
	all, own, err := c.drawn(ctx, draws, seed)
	if err != nil {
		return nil, err
	}
	d.at = d.below.At()
	if len(d.places) > 0 {
		d.at = mat.NewDense(len(x), draws, nil)
		for k, a := range d.others {
			copy(d.at.RawRowView(a), d.below.At().RawRowView(k))
		}
		for _, a := range d.places {
			k, _ := slices.BinarySearch(all, x[a])
			copy(d.at.RawRowView(a), own.RawRowView(k))
		}
	}
	for k, i := range all {
		if i >= lo && i < hi {
			d.nodes, d.own = append(d.nodes, i), append(d.own, own.RawRowView(k))
		}
	}
	return d, nil
}

// loneDraw is a draw with lone nodes.
type loneDraw struct {
	below    Draw
	x        []int
	places   []int // of lone nodes in x,
	others   []int // and of the others
	variance *loneVariance
	at       *mat.Dense
	lo       int         // first node of the rows
	nodes    []int       // lone nodes of the rows,
	own      [][]float64 // and their draws
}

func (d *loneDraw) At() *mat.Dense { return d.at }

func (d *loneDraw) Update(ctx context.Context, dst, u *mat.Dense) error {
	weights := u
	if len(d.places) > 0 {
		weights = pickRows(u, d.others)
	}
	if err := d.below.Update(ctx, dst, weights); err != nil {
		return err
	}
	left := make([]int, len(d.nodes))
	rows, _ := dst.Dims()
	for k, i := range d.nodes {
		left[k] = i - d.lo
		copy(dst.RawRowView(left[k]), d.own[k])
	}
	return addLone(ctx, dst, u, d.variance, fromTo(d.lo, d.lo+rows), left, d.x, d.places)
}

// pickRows returns some rows of x.
func pickRows(x *mat.Dense, rows []int) *mat.Dense {
	_, columns := x.Dims()
	if len(rows) == 0 {
		return &mat.Dense{}
	}
	some := mat.NewDense(len(rows), columns, nil)
	for k, a := range rows {
		copy(some.RawRowView(k), x.RawRowView(a))
	}
	return some
}

// window is that of the covariance, with its lone nodes.
func (c *loneCovariance) window(nodes, lo, hi int) Window {
	w, ok := c.raw.(windowed)
	if !ok {
		return nil
	}
	raw := w.window(nodes, lo, hi)
	if raw == nil {
		return nil
	}
	return &loneWindow{c, raw, lo, hi}
}

// loneWindow is the rows lo to hi of a covariance with lone nodes.
type loneWindow struct {
	cov    *loneCovariance
	raw    Window
	lo, hi int
}

func (w *loneWindow) Cross(cols []int) solve.Operator {
	raw, rows := w.raw.Cross(cols), fromTo(w.lo, w.hi)
	left, right := w.cov.at(rows), w.cov.at(cols)
	if len(left) == 0 && len(right) == 0 {
		return raw
	}
	return &loneCross{raw, w.cov.variance, rows, cols, left, right}
}

func (w *loneWindow) Diag(ctx context.Context, dst []float64) error {
	if err := w.raw.Diag(ctx, dst); err != nil {
		return err
	}
	return w.cov.fixDiag(ctx, dst, w.cov.at(fromTo(w.lo, w.hi)))
}

func (w *loneWindow) Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error) {
	return w.cov.draw(ctx, draws, seed, x, w.raw.Draw, w.lo, w.hi)
}
