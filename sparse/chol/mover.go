package chol

// mover improves bisections as Fiduccia and Mattheyses do: it moves the node of the separator that shrinks it most, or
// swells it least, to a side, whose other neighbours on the far side join the separator; every node once in a pass; and
// goes back to the best bisection on the way. Its cost is that of the separator's neighbourhood alone.
type mover struct {
	out   [2][]int32 // weight of the neighbours of a node of the separator on either side
	queue [2]moves   // nodes of the separator by what moving them to a side gains
	moved []int32    // the pass in which a node last left the separator
	pass  int32
	log   []int32 // moves: the nodes that joined the separator, the node that left it, its side, how many joined
	nodes []int32
}

// reset makes f ready for graphs of at most n nodes.
func (f *mover) reset(n int, mem *arena) {
	f.moved, f.pass = mem.take(n), 0
	clear(f.moved)
	for s := range f.out {
		f.out[s] = mem.take(n)
		at := mem.take(n)
		for v := range at {
			at[v] = none
		}
		f.queue[s].at = at
	}
}

// refine makes passes as long as they help.
func (f *mover) refine(b *bisection) {
	for range passes {
		if !f.improve(b) {
			return
		}
	}
}

// improve makes a pass, and reports whether it helped.
func (f *mover) improve(b *bisection) bool {
	f.pass++
	f.log = f.log[:0]
	for _, v := range b.nodes {
		f.enter(b, v)
	}
	cost, uneven := b.cost(), b.uneven()
	best, patience := 0, 100+len(b.nodes)
	for idle := 0; idle < patience; idle++ {
		v, s := f.choose(b)
		if v < 0 {
			break
		}
		f.move(b, v, s)
		if b.better(cost, uneven) {
			cost, uneven, best, idle = b.cost(), b.uneven(), len(f.log), 0
		}
	}
	f.nodes = append(f.nodes[:0], b.nodes...)
	f.undo(b, best)
	for s := range f.queue {
		f.queue[s].clear()
	}
	b.nodes = b.nodes[:0]
	for _, v := range f.nodes {
		if b.side[v] == separator && f.moved[v] != -f.pass {
			f.moved[v] = -f.pass // is in the list now
			b.nodes = append(b.nodes, v)
		}
	}
	return best > 0
}

// enter makes a node of the separator ready to move.
func (f *mover) enter(b *bisection, v int32) {
	var out [2]int32
	for _, u := range b.g.around(v) {
		if s := b.side[u]; s != separator {
			out[s] += b.g.node[u]
		}
	}
	f.out[0][v], f.out[1][v] = out[0], out[1]
	if f.moved[v] != f.pass {
		f.queue[0].push(v, b.g.node[v]-out[1])
		f.queue[1].push(v, b.g.node[v]-out[0])
	}
}

// choose returns the move that gains most and leaves no side too heavy; of equal ones that to the same side all through a
// pass, so that the separator wanders where it may shrink after a while.
func (f *mover) choose(b *bisection) (v, to int32) {
	to = f.pass % 2
	v, gain := f.queue[to].top()
	u, other := f.queue[1-to].top()
	if v < 0 {
		return v, to
	}
	fits := b.weight[to]+b.g.node[v] <= b.g.most
	if otherFits := b.weight[1-to]+b.g.node[u] <= b.g.most; otherFits && (other > gain || !fits) {
		return u, 1 - to
	} else if fits || otherFits {
		return v, to
	}
	if b.weight[1-to] < b.weight[to] {
		return u, 1 - to
	}
	return v, to
}

// move moves v of the separator to side s.
func (f *mover) move(b *bisection, v, s int32) {
	f.moved[v] = f.pass
	f.queue[0].drop(v)
	f.queue[1].drop(v)
	b.side[v] = s
	b.weight[separator] -= b.g.node[v]
	b.weight[s] += b.g.node[v]
	begin, far := len(f.log), 1-s
	for _, u := range b.g.around(v) {
		switch b.side[u] {
		case separator:
			f.out[s][u] += b.g.node[v]
			f.queue[far].change(u, b.g.node[u]-f.out[s][u])
		case far:
			b.side[u] = separator
			b.weight[far] -= b.g.node[u]
			b.weight[separator] += b.g.node[u]
			f.log = append(f.log, u)
			for _, x := range b.g.around(u) {
				if b.side[x] == separator {
					f.out[far][x] -= b.g.node[u]
					f.queue[s].change(x, b.g.node[x]-f.out[far][x])
				}
			}
			f.enter(b, u)
		}
	}
	f.log = append(f.log, v, s, int32(len(f.log)-begin))
}

// undo takes the moves after the first end numbers of the log back, and adds all nodes that were ever in the separator
// to the list.
func (f *mover) undo(b *bisection, end int) {
	for at := len(f.log); at > 0; {
		v, s, joined := f.log[at-3], f.log[at-2], int(f.log[at-1])
		at -= 3
		if at+3 > end {
			for _, u := range f.log[at-joined : at] {
				b.side[u] = 1 - s
				b.weight[separator] -= b.g.node[u]
				b.weight[1-s] += b.g.node[u]
			}
			b.side[v] = separator
			b.weight[s] -= b.g.node[v]
			b.weight[separator] += b.g.node[v]
		} else {
			f.nodes = append(f.nodes, f.log[at-joined:at]...)
		}
		at -= joined
	}
}

// moves is a heap of nodes, the largest gain on top and, of equal ones, the node with the smallest number.
type moves struct {
	heap []gain
	at   []int32 // place of every node in the heap, −1 where it is not there
}

type gain struct{ node, by int32 }

func (g gain) before(h gain) bool { return g.by > h.by || g.by == h.by && g.node < h.node }

// top returns the best move; −1 if there is none.
func (m *moves) top() (node, by int32) {
	if len(m.heap) == 0 {
		return -1, -1 << 31
	}
	return m.heap[0].node, m.heap[0].by
}

func (m *moves) push(v, by int32) {
	m.heap = append(m.heap, gain{v, by})
	m.up(len(m.heap)-1, gain{v, by})
}

// change sets the gain of a node, if it is in the heap.
func (m *moves) change(v, by int32) {
	k := int(m.at[v])
	if k < 0 {
		return
	}
	if by > m.heap[k].by {
		m.up(k, gain{v, by})
	} else {
		m.down(k, gain{v, by})
	}
}

// drop takes a node out, if it is in the heap.
func (m *moves) drop(v int32) {
	k := int(m.at[v])
	if k < 0 {
		return
	}
	m.at[v] = -1
	last := m.heap[len(m.heap)-1]
	m.heap = m.heap[:len(m.heap)-1]
	if k == len(m.heap) {
		return
	}
	if last.before(m.heap[k]) {
		m.up(k, last)
	} else {
		m.down(k, last)
	}
}

func (m *moves) clear() {
	for _, g := range m.heap {
		m.at[g.node] = -1
	}
	m.heap = m.heap[:0]
}

// up puts g where place k is or above it.
func (m *moves) up(k int, g gain) {
	for k > 0 {
		above := (k - 1) / 2
		if !g.before(m.heap[above]) {
			break
		}
		m.set(k, m.heap[above])
		k = above
	}
	m.set(k, g)
}

// down puts g where place k is or below it.
func (m *moves) down(k int, g gain) {
	for {
		below := 2*k + 1
		if below >= len(m.heap) {
			break
		}
		if below+1 < len(m.heap) && m.heap[below+1].before(m.heap[below]) {
			below++
		}
		if !m.heap[below].before(g) {
			break
		}
		m.set(k, m.heap[below])
		k = below
	}
	m.set(k, g)
}

func (m *moves) set(k int, g gain) {
	m.heap[k] = g
	m.at[g.node] = int32(k)
}
