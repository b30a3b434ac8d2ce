package kernel

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/space"
	"grfgp/sparse"
)

// chain restricts the prolongations to a list of nodes: for every coarser scale, the nodes that interpolate to the list, and the
// prolongations between them. It does not depend on θ.
type chain struct {
	nodes [][]int       // nodes[0] is the list, nodes[k] are nodes of the k-th scale above it
	up    []*sparse.CSR // up[k] leads from nodes[k+1] to nodes[k]

	mu   sync.Mutex
	past []*sparse.CSR // past[k] leads from nodes[k+2] to nodes[0], computed when first used; nil: not yet
}

// chain returns the chain of a list.
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
	label, columns := touched(q, rows, nil)
	if len(columns) == width && len(rows) == n && increasing(rows) {
		return q, columns
	}
	e := picked(q, rows, label)
	part, err := sparse.NewCSR(len(rows), len(columns), e.Ptr, e.Col, e.Val)
	if err != nil {
		panic(err) // rows of a valid matrix are a valid matrix
	}
	return part, columns
}

// touched returns the columns in which rows of q have entries, and the others that are given, and for each column its place
// among these plus one.
func touched(q *sparse.CSR, rows []int, others []uint32) (label []uint32, columns []int) {
	_, width := q.Dims()
	label = make([]uint32, width) // 1 if touched, then the place + 1
	eachPlace(len(rows), func(a int) {
		cols, _ := q.Row(rows[a])
		for _, j := range cols {
			if atomic.LoadUint32(&label[j]) == 0 {
				atomic.StoreUint32(&label[j], 1)
			}
		}
	})
	for _, j := range others {
		label[j] = 1
	}
	for j, met := range label {
		if met != 0 {
			columns = append(columns, j)
			label[j] = uint32(len(columns))
		}
	}
	return label, columns
}

// picked returns the entries of rows of q, with the columns that label counts from one.
func picked(q *sparse.CSR, rows []int, label []uint32) space.Entries {
	e := space.Entries{Ptr: make([]int, len(rows)+1)}
	for a, i := range rows {
		cols, _ := q.Row(i)
		e.Ptr[a+1] = e.Ptr[a] + len(cols)
	}
	e.Col, e.Val = make([]uint32, e.Ptr[len(rows)]), make([]float64, e.Ptr[len(rows)])
	eachPlace(len(rows), func(a int) {
		cols, vals := q.Row(rows[a])
		copy(e.Val[e.Ptr[a]:], vals)
		for p, j := range cols {
			e.Col[e.Ptr[a]+p] = label[j] - 1
		}
	})
	return e
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

// ladder is a chain in a space: what interpolates from scale to scale. Processes share a list and the large scales above it; of
// the small ones, each has all nodes.
type ladder struct {
	space space.Space
	local space.Space // of scales that are not shared
	axes  []space.Axis
	nodes [][]int        // as of a chain: those that this process has
	all   [][]int        // those of all processes
	ups   []space.Matrix // ups[k] leads from axis k+1 to axis k
}

// ladder returns the chain of a list in a space, of which this process has the given part; nil where the space has no place
// for it. Processes call it together.
func (m *Multiscale) ladder(ctx context.Context, s space.Space, rows []int) (*ladder, error) {
	first, err := s.Axis(ctx, len(rows))
	if err != nil {
		return nil, err
	}
	l := &ladder{space: s, local: space.Local(s), axes: []space.Axis{first}, nodes: [][]int{rows}, all: [][]int{rows}}
	if !first.Shared() {
		list := m.chain(rows)
		for k, up := range list.up {
			if err := l.climb(ctx, list.nodes[k+1], list.nodes[k+1], space.Rows(len(list.nodes[k+1])), space.Of(up)); err != nil {
				return nil, err
			}
		}
	} else {
		for k := range m.scales {
			if err := m.share(ctx, l, k); err != nil {
				return nil, err
			}
		}
	}
	if slices.Contains(l.ups, nil) {
		l.free()
		return nil, nil
	}
	return l, nil
}

// climb adds a scale.
func (l *ladder) climb(ctx context.Context, own, all []int, a space.Axis, up space.Entries) error {
	m, err := l.at(len(l.ups)).Sparse(ctx, l.axes[len(l.ups)], a, up)
	l.axes, l.nodes, l.all, l.ups = append(l.axes, a), append(l.nodes, own), append(l.all, all), append(l.ups, m)
	return err
}

// at returns the space of the nodes of scale k.
func (l *ladder) at(k int) space.Space {
	if l.axes[k].Shared() {
		return l.space
	}
	return l.local
}

func (l *ladder) free() {
	for _, up := range l.ups {
		if up != nil {
			up.Free()
		}
	}
}

// share adds scale k to a ladder of several processes.
func (m *Multiscale) share(ctx context.Context, l *ladder, k int) error {
	q, rows := m.scales[k].prolong, l.nodes[k]
	if !l.axes[k].Shared() {
		up, nodes := selected(q, rows)
		return l.climb(ctx, nodes, nodes, space.Rows(len(nodes)), space.Of(up))
	}
	_, own := touched(q, rows, nil)
	own32 := make([]uint32, len(own))
	for a, j := range own {
		own32[a] = uint32(j)
	}
	everyone, err := space.Gather(ctx, l.space, own32)
	if err != nil {
		return err
	}
	label, nodes := touched(q, rows, everyone)
	part, axis := nodes, space.Rows(len(nodes))
	// The preconditioner needs all of the small ones.
	if n := m.scales[k].grf.Nodes(); n >= m.sharedFrom*space.Processes(l.space) && n > coarseMost {
		axis = space.EvenAxis(l.space, len(nodes))
		_, lo := axis.All()
		part = nodes[lo : lo+axis.Own : lo+axis.Own]
	}
	return l.climb(ctx, part, nodes, axis, picked(q, rows, label))
}

// down returns x at the nodes of each coarser scale, by transposed interpolation, to be freed.
func (l *ladder) down(x space.Block) []space.Block {
	all := make([]space.Block, len(l.ups))
	for k, up := range l.ups {
		all[k] = l.at(k+1).Block(l.axes[k+1], x.Columns())
		up.MulT(all[k], x, 1, false)
		x = all[k]
	}
	return all
}

// climbTo returns Σ_j P_j f_j at the nodes of scale k, k > 0, to be freed, where f sets f_j.
func (l *ladder) climbTo(k, columns int, f func(j int, y space.Block) error) (space.Block, error) {
	var above space.Block
	for j := len(l.ups); j >= k; j-- {
		y := l.at(j).Block(l.axes[j], columns)
		if err := f(j-1, y); err != nil {
			return nil, err
		}
		if above != nil {
			l.ups[j].Mul(y, above, 0, 1, true)
			above.Free()
		}
		above = y
	}
	return above, nil
}
