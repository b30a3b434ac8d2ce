package kernel

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Window is the rows of a covariance at some consecutive nodes, for one of several processes
// that share all nodes of a large graph. Its results are the bits that those of all nodes
// have in these rows. It takes memory for these rows alone, and for the columns that their
// features have entries in.
type Window interface {
	// Cross returns the rows of Cross of all nodes with cols.
	Cross(cols []int) solve.Operator
	// Diag sets dst to the part of the diagonal, as Diag of all nodes returns it.
	Diag(ctx context.Context, dst []float64) error
	// Draw is Abilities.Draw; its Update sets the rows of the window.
	Draw(ctx context.Context, draws int, seed uint64, x []int) (Draw, error)
}

// windowed is a covariance that may have windows. The result is nil if it has none, or if
// its nodes are not as many.
type windowed interface {
	window(nodes, lo, hi int) Window
}

// WindowOf returns the rows of a covariance at the places [lo, hi) of a list. It returns
// nil unless the list is all nodes in order, with more than this window, and where the rows
// cannot be computed for less than those of all nodes: the graph is small, or the kernel
// needs all of it.
func WindowOf(c Covariance, list []int, lo, hi int) Window {
	if w, ok := c.(windowed); ok && lo < hi && hi-lo < len(list) && increasing(list) {
		return w.window(len(list), lo, hi)
	}
	return nil
}

// CrossPart returns the rows [lo, hi) of K[rows, cols]·x, to the same bits as the product
// has for all rows; it computes these alone if they are a window.
func CrossPart(ctx context.Context, c Covariance, rows []int, lo, hi int, cols []int, x *mat.Dense) (*mat.Dense, error) {
	_, columns := x.Dims()
	if w := WindowOf(c, rows, lo, hi); w != nil {
		own := mat.NewDense(hi-lo, columns, nil)
		return own, w.Cross(cols).Apply(ctx, own, x)
	}
	all := mat.NewDense(len(rows), columns, nil)
	err := c.Cross(rows, cols).Apply(ctx, all, x)
	return all.Slice(lo, hi, 0, columns).(*mat.Dense), err
}
