package kernel

import (
	"slices"
	"sync"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// chain restricts the prolongations to a list of nodes: for every coarser scale, the
// nodes that interpolate to the list, and the prolongations between them. It does
// not depend on θ.
type chain struct {
	nodes [][]int       // nodes[0] is the list, nodes[k] are nodes of the k-th scale above it
	up    []*sparse.CSR // up[k] leads from nodes[k+1] to nodes[k]

	mu   sync.Mutex
	past []*sparse.CSR // past[k] leads from nodes[k+2] to nodes[0], computed when first used
	top  *chain        // of nodes[k], for the k used last
}

func (m *Multiscale) chain(rows []int) *chain {
	if len(rows) == m.Nodes() && increasing(rows) {
		return m.whole()
	}
	return m.chains.Get(rows, func(rows []int) *chain { return newChain(rows, m.scales) })
}

func newChain(rows []int, scales []scale) *chain {
	c := &chain{nodes: [][]int{rows}}
	for _, s := range scales {
		up, nodes := selected(s.prolong, c.nodes[len(c.nodes)-1])
		c.up, c.nodes = append(c.up, up), append(c.nodes, nodes)
	}
	return c
}

// selected returns the given rows of q without empty columns, and which columns
// are left.
func selected(q *sparse.CSR, rows []int) (part *sparse.CSR, columns []int) {
	n, width := q.Dims()
	label := make([]uint32, width) // 1 if touched, then label + 1
	ptr := make([]int, len(rows)+1)
	for a, i := range rows {
		cols, _ := q.Row(i)
		for _, j := range cols {
			label[j] = 1
		}
		ptr[a+1] = ptr[a] + len(cols)
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

func increasing(rows []int) bool {
	for a, i := range rows {
		if a != i {
			return false
		}
	}
	return true
}

// whole returns the interpolation from nodes[k], k > 0, to nodes[0].
func (c *chain) whole(k int) (*sparse.CSR, error) {
	if k == 1 {
		return c.up[0], nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.past) < k-1 {
		last := c.up[0]
		if n := len(c.past); n > 0 {
			last = c.past[n-1]
		}
		next, err := last.Times(c.up[len(c.past)+1])
		if err != nil {
			return nil, err
		}
		c.past = append(c.past, next)
	}
	return c.past[k-2], nil
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
