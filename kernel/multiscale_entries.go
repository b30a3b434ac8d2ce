package kernel

import (
	"context"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/sparse"
)

const (
	// cellEntries is the most covariances between cells and columns that are held at a time,
	cellEntries = 1 << 25
	// and keptEntries the most that are kept for further rows.
	keptEntries = 1 << 24
)

func (o *multiscaleCross) hasEntries() bool {
	_, cols := o.Dims()
	for _, nodes := range o.rows.nodes[1:] {
		if len(nodes)*cols > cellEntries {
			return false
		}
	}
	return true
}

// entries adds what the coarser scales have in common at rows and columns to the entries of the fine kernel.
func (o *multiscaleCross) entries(ctx context.Context, dst *mat.Dense) error {
	if err := Entries(ctx, dst, o.fine); err != nil {
		return err
	}
	rows, columns := dst.Dims()
	all, own := o.cov.scales[0].grf.Nodes(), len(o.rows.nodes[1])
	if !o.cov.filled() {
		all = len(o.cov.Multiscale.whole().nodes[1])
	}
	if rows <= columns || 8*own < all || all*columns > keptEntries {
		return o.cov.climb(ctx, o.rows, dst, o.cov.cells(ctx, o.rows, o.cols, func(k int) []float64 { return o.parts[k].left }))
	}
	above, err := o.cov.kept.get(ctx, o.cov, o.cols, rows)
	if err != nil {
		return err
	}
	up, err := renumbered(o.rows.up[0], o.rows.nodes[1], o.cov.Multiscale.whole().nodes[1])
	if err != nil {
		return err
	}
	up.MulAdd(dst, above, 0)
	return ctx.Err()
}

// cells returns a function that sets y to s_k²·C_k between the nodes of scale k above a list, with the given inverse norms, and
// P_k of the columns.
func (c *multiscaleCovariance) cells(ctx context.Context, list, cols *chain, inverses func(k int) []float64) func(k int,
	y *mat.Dense) error {
	return func(k int, y *mat.Dense) error {
		u := c.parts[k]
		var at onto
		if len(list.nodes[0]) > len(cols.nodes[0]) { // the columns are measurements, which come again with other rows
			at = c.onto(cols.nodes[0])[k]
		} else {
			at.phi, at.raw, at.err = u.onto(cols, k)
		}
		if at.err != nil {
			return at.err
		}
		// Features of the cells in the columns of those of the measurements: others do not count.
		nodes := list.nodes[k+1]
		left := at.raw.beside(nodes)
		if left.err != nil {
			return left.err
		}
		if err := sparseTimes(ctx, y, left.phi, at.phi.T()); err != nil {
			return err
		}
		scaleRows(y, inverses(k), u.variance)
		return nil
	}
}

// keptCells are the covariances between all cells of the first coarser scale and one list of columns, of all scales together:
// predictions take the rows some at a time, and many of them have cells in common. They are dropped when every node has been
// asked for. The zero value is ready for use.
type keptCells struct {
	mu    sync.Mutex
	cols  []int
	above *mat.Dense
	left  int // nodes that have not been asked for
}

// get returns the covariances for the next rows.
func (k *keptCells) get(ctx context.Context, c *multiscaleCovariance, cols *chain, rows int) (*mat.Dense, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.above == nil || !slices.Equal(k.cols, cols.nodes[0]) {
		list := c.Multiscale.whole()
		above, err := c.ascend(ctx, list, len(cols.nodes[0]),
			c.cells(ctx, list, cols, func(k int) []float64 { return c.parts[k].inverses(list.nodes[k+1]) }))
		if err != nil {
			return nil, err
		}
		k.cols, k.above, k.left = slices.Clone(cols.nodes[0]), above, c.Nodes()
	}
	above := k.above
	if k.left -= rows; k.left <= 0 {
		k.above = nil
	}
	return above, nil
}

// renumbered returns a, whose columns are the nodes of one list, with those of another that has them all; both increase.
func renumbered(a *sparse.CSR, nodes, among []int) (*sparse.CSR, error) {
	rows, _ := a.Dims()
	ptr, col, val := a.Raw()
	place, at := make([]uint32, len(nodes)), 0
	for j, node := range nodes {
		for among[at] != node {
			at++
		}
		place[j] = uint32(at)
	}
	to := make([]uint32, len(col))
	for q, j := range col {
		to[q] = place[j]
	}
	return sparse.NewCSR(rows, len(among), ptr, to, val)
}
