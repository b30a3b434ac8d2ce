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

// entries sets dst = K[rows, cols].
func (c *multiscaleCovariance) entries(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	left, right := c.chain(rows), c.chain(cols)
	for _, nodes := range left.nodes[1:] {
		if len(nodes)*len(cols) > cellEntries {
			return byProducts(ctx, dst, c.Cross(rows, cols))
		}
	}
	if err := Entries(ctx, dst, c.fine, rows, cols); err != nil {
		return err
	}
	n, columns := dst.Dims()
	all, own := c.scales[0].grf.Nodes(), len(left.nodes[1])
	if !c.filled() {
		all = len(c.whole().nodes[1])
	}
	if n <= columns || 8*own < all || all*columns > keptEntries {
		above, err := c.ascend(ctx, left, right)
		if err == nil {
			left.up[0].MulAdd(dst, above, 0)
		}
		return err
	}
	above, err := c.kept.get(ctx, c, right, n)
	if err != nil {
		return err
	}
	up, err := renumbered(left.up[0], left.nodes[1], c.whole().nodes[1])
	if err != nil {
		return err
	}
	up.MulAdd(dst, above, 0)
	return ctx.Err()
}

// ascend returns Σ_k P_2⋯P_k C_k between the nodes of the first coarser scale above a list and the columns.
func (c *multiscaleCovariance) ascend(ctx context.Context, list, cols *chain) (*mat.Dense, error) {
	var above *mat.Dense
	for k := len(c.parts) - 1; k >= 0; k-- {
		y, err := c.cells(ctx, k, list, cols)
		if err != nil {
			return nil, err
		}
		if above != nil {
			list.up[k+1].MulAdd(y, above, 0)
		}
		above = y
	}
	return above, ctx.Err()
}

// cells returns s_k²·C_k between the nodes of scale k above a list, and P_k of the columns.
func (c *multiscaleCovariance) cells(ctx context.Context, k int, list, cols *chain) (*mat.Dense, error) {
	u := c.parts[k]
	var at onto
	if len(list.nodes[0]) > len(cols.nodes[0]) { // the columns are measurements, which come again with other rows
		at = c.onto(cols.nodes[0])[k]
	} else {
		at.phi, at.raw, at.err = u.onto(cols, k)
	}
	if at.err != nil {
		return nil, at.err
	}
	// Features of the cells in the columns of those of the measurements: others do not count.
	nodes := list.nodes[k+1]
	left := at.raw.beside(nodes)
	if left.err != nil {
		return nil, left.err
	}
	y := mat.NewDense(len(nodes), len(cols.nodes[0]), nil)
	if err := sparseTimes(ctx, y, left.phi, at.phi.T()); err != nil {
		return nil, err
	}
	scaleRows(y, u.inverses(nodes), u.variance)
	return y, nil
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
		above, err := c.ascend(ctx, c.whole(), cols)
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
