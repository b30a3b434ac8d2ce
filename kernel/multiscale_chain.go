package kernel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// chain restricts the prolongations to a list of nodes: for every coarser scale, the
// nodes that interpolate to the list, and the prolongations between them. It does
// not depend on θ.
type chain struct {
	nodes [][]int       // nodes[0] is the list, nodes[k] are nodes of the k-th scale above it
	up    []*sparse.CSR // up[k] leads from nodes[k+1] to nodes[k]; nil if ranks share nodes[k+1]

	// Of a list that ranks share; nil otherwise. Of nodes[k] this rank has parts[k], and
	// links[k] stands for up[k], unless it is nil.
	parts []portion
	links []*link
	err   error // of making it

	mu    sync.Mutex
	past  []*sparse.CSR // past[k] leads from nodes[k+2] to nodes[0], computed when first used; nil: not yet
	top   *chain        // of nodes[k], for the k used last
	cells *sparse.CSR   // see ontoCells
}

// chain returns the chain of a list, or of this rank's part of it.
func (m *Multiscale) chain(rows []int) *chain {
	if m.over != nil {
		return m.over.chain(m.scales, rows)
	}
	return m.ownChain(rows)
}

// ownChain returns the chain of a list that is all here.
func (m *Multiscale) ownChain(rows []int) *chain {
	if m.over == nil && len(rows) == m.Nodes() && increasing(rows) {
		return m.whole()
	}
	return m.chains.Get(rows, func(rows []int) *chain {
		if last, others, ok := m.chains.Near(rows); ok && last.parts == nil && last.err == nil {
			return grownChain(rows, m.scales, last, others)
		}
		return newChain(rows, m.scales)
	})
}

func newChain(rows []int, scales []scale) *chain {
	c := &chain{nodes: [][]int{rows}}
	for _, s := range scales {
		up, nodes := selected(s.prolong, c.nodes[len(c.nodes)-1])
		c.up, c.nodes = append(c.up, up), append(c.nodes, nodes)
	}
	return c
}

// link returns how ranks share up[k]; nil if this rank has all of it.
func (c *chain) link(k int) *link {
	if c.links == nil {
		return nil
	}
	return c.links[k]
}

// descend sets dst, at nodes[k+1], to the transposed interpolation of x, at nodes[k].
func (c *chain) descend(ctx context.Context, k int, dst, x *mat.Dense) error {
	if c.err != nil {
		return c.err
	}
	if l := c.link(k); l != nil {
		return l.descend(ctx, dst, x)
	}
	c.up[k].T().Mul(dst, x)
	return ctx.Err()
}

// descendSingle is descend for float32.
func (c *chain) descendSingle(ctx context.Context, k int, dst, x blas32.General) error {
	if c.err != nil {
		return c.err
	}
	if l := c.link(k); l != nil {
		return l.descendSingle(ctx, dst, x)
	}
	c.up[k].T().Single().Mul(dst, x)
	return ctx.Err()
}

// rise adds the interpolation of x, at nodes[k+1], to dst, at nodes[k].
func (c *chain) rise(ctx context.Context, k int, dst, x *mat.Dense) error {
	if c.err != nil {
		return c.err
	}
	if l := c.link(k); l != nil {
		return l.rise(ctx, dst, x)
	}
	c.up[k].MulAdd(dst, x, 0)
	return ctx.Err()
}

// riseSingle is rise for float32.
func (c *chain) riseSingle(ctx context.Context, k int, dst, x blas32.General) error {
	if c.err != nil {
		return c.err
	}
	if l := c.link(k); l != nil {
		return l.riseSingle(ctx, dst, x)
	}
	c.up[k].Single().MulAdd(dst, x)
	return ctx.Err()
}

// part returns which of nodes[k] this rank has.
func (c *chain) part(k int) portion {
	if c.parts == nil {
		return portion{}
	}
	return c.parts[k]
}

// count returns how many nodes[k] all ranks have.
func (c *chain) count(k int) int {
	if p := c.part(k); p.group != nil {
		return p.all.Rows()
	}
	return len(c.nodes[k])
}

// selected returns the given rows of q without empty columns, and which columns
// are left.
func selected(q *sparse.CSR, rows []int) (part *sparse.CSR, columns []int) {
	n, width := q.Dims()
	label := make([]uint32, width) // 1 if touched, then label + 1
	ptr := make([]int, len(rows)+1)
	eachPlace(len(rows), func(a int) {
		cols, _ := q.Row(rows[a])
		for _, j := range cols {
			if atomic.LoadUint32(&label[j]) == 0 {
				atomic.StoreUint32(&label[j], 1)
			}
		}
		ptr[a+1] = len(cols)
	})
	for a := range rows {
		ptr[a+1] += ptr[a]
	}
	for j, touched := range label {
		if touched != 0 {
			columns = append(columns, j)
			label[j] = uint32(len(columns))
		}
	}
	if len(columns) == width && len(rows) == n && increasing(rows) {
		return q, columns
	}
	col, val := make([]uint32, ptr[len(rows)]), make([]float64, ptr[len(rows)])
	parallel.Ranges(len(rows), 1024, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			cols, vals := q.Row(rows[a])
			copy(val[ptr[a]:], vals)
			for p, j := range cols {
				col[ptr[a]+p] = label[j] - 1
			}
		}
	})
	part, err := sparse.NewCSR(len(rows), len(columns), ptr, col, val)
	if err != nil {
		panic(err) // rows of a valid matrix are a valid matrix
	}
	return part, columns
}

// increasing reports whether rows are 0, 1, 2, …; long lists are looked through on all processors.
func increasing(rows []int) bool {
	const size = 1 << 15
	var differs atomic.Bool
	look := func(lo, hi int) {
		for a, i := range rows[lo:hi] {
			if lo+a != i {
				differs.Store(true)
				return
			}
		}
	}
	look(0, min(size, len(rows))) // where most lists differ
	if !differs.Load() && len(rows) > size {
		parallel.Ranges(len(rows)-size, size, func(lo, hi int) { look(size+lo, size+hi) })
	}
	return !differs.Load()
}

// whole returns the interpolation from nodes[k], k > 0, to nodes[0].
func (c *chain) whole(k int) (*sparse.CSR, error) {
	if k == 1 {
		return c.up[0], nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.past == nil {
		c.past = make([]*sparse.CSR, len(c.up)-1)
	}
	if c.past[k-2] != nil {
		return c.past[k-2], nil
	}
	known, last := 1, c.up[0]
	for j := k - 1; j > 1 && known == 1; j-- {
		if c.past[j-2] != nil {
			known, last = j, c.past[j-2]
		}
	}
	whole, err := last.Times(c.up[known], c.up[known+1:k]...)
	if err != nil {
		return nil, err
	}
	c.past[k-2] = whole
	return whole, nil
}

// above returns the chain of nodes[k].
func (c *chain) above(k int, scales []scale) *chain {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.top == nil || !slices.Equal(c.top.nodes[0], c.nodes[k]) {
		c.top = newChain(c.nodes[k], scales[k:])
	}
	return c.top
}
