package chol

import (
	"cmp"
	"math"
	"slices"

	"grfgp/internal/parallel"
)

// order returns an order of elimination that fills little, by nested dissection: nodes of one or two neighbours first, hubs
// last, and what is between cut in two by a separator, which follows both sides, and so on down to parts that minimum
// degree orders. The order is a function of the graph alone.
func order(g *adjacency) []int32 {
	out, core, names := reduce(g)
	d := dissection{g: &core, order: make([]int32, core.len())}
	d.run()
	for k, v := range d.order {
		if names != nil {
			d.order[k] = names[v]
		}
	}
	return append(out, d.order...)
}

// dissection is an order on its way.
type dissection struct {
	g     *adjacency
	order []int32
}

// part is nodes of the graph, where they begin in the order, and, of parts that are to be cut, the graph they induce.
type part struct {
	nodes []int32
	graph adjacency
	first int
}

// worker is the scratch of one goroutine.
type worker struct {
	elimination
	mover
	mem arena
}

// alone is how large a part is, relative to all, that a goroutine dissects to the end by itself.
const alone = 1.0 / 16

func (d *dissection) run() {
	n := d.g.len()
	if n == 0 {
		return
	}
	parts := d.begin()
	workers := make([]*worker, parallel.Workers(n))
	scratch := func(w int) *worker {
		if workers[w] == nil {
			workers[w] = newWorker(n)
		}
		return workers[w]
	}
	var small []part
	for len(parts) > 0 {
		var large []part
		for _, p := range parts {
			if len(p.nodes) <= max(leaf, int(alone*float64(n))) {
				small = append(small, p)
			} else {
				large = append(large, p)
			}
		}
		halves := make([][2]part, len(large))
		blocks(len(large), func(w, k int) { halves[k] = d.cut(large[k], scratch(w), &arena{}) })
		parts = parts[:0]
		for _, h := range halves {
			parts = append(parts, h[0], h[1])
		}
	}
	slices.SortStableFunc(small, func(p, q part) int { return cmp.Compare(len(q.nodes), len(p.nodes)) })
	blocks(len(small), func(w, k int) {
		s := scratch(w)
		s.mem.room(arenaFor(small[k]))
		d.dissect(small[k], s)
	})
}

func newWorker(n int) *worker {
	w := new(worker)
	w.local = make([]int32, n)
	for v := range w.local {
		w.local[v] = -1
	}
	return w
}

// begin puts hubs at the end of the order, and returns the components of the rest; small ones share parts.
func (d *dissection) begin() []part {
	n := d.g.len()
	hub := max(16, 10*math.Sqrt(float64(n)))
	var hubs, others []int32
	name := make([]int32, n)
	for v := range int32(n) {
		if float64(d.g.ptr[v+1]-d.g.ptr[v]) > hub {
			hubs = append(hubs, v)
			name[v] = -1
		} else {
			name[v] = int32(len(others))
			others = append(others, v)
		}
	}
	slices.SortStableFunc(hubs, func(u, v int32) int { return cmp.Compare(d.degree(u), d.degree(v)) })
	copy(d.order[len(others):], hubs)
	rest := d.g.induced(others, name, &arena{})
	var parts []part
	var batch []int32
	at := 0
	add := func(nodes []int32) {
		if len(nodes) > 0 {
			parts = append(parts, part{nodes: nodes, first: at})
			at += len(nodes)
		}
	}
	for _, nodes := range rest.components() {
		if len(nodes) > leaf {
			p := part{first: at}
			for i, v := range nodes {
				name[v] = int32(i)
			}
			p.graph = rest.induced(nodes, name, &arena{})
			for i, v := range nodes {
				nodes[i] = others[v]
			}
			p.nodes = nodes
			parts = append(parts, p)
			at += len(nodes)
			continue
		}
		if len(batch)+len(nodes) > leaf {
			add(batch)
			batch = nil
		}
		for _, v := range nodes {
			batch = append(batch, others[v])
		}
	}
	add(batch)
	return parts
}

func (d *dissection) degree(v int32) int32 { return d.g.ptr[v+1] - d.g.ptr[v] }

// dissect orders a part.
func (d *dissection) dissect(p part, w *worker) {
	if len(p.nodes) <= leaf {
		w.order(d.g, p.nodes, d.order[p.first:p.first])
		return
	}
	used := w.mem.used
	for _, half := range d.cut(p, w, &w.mem) {
		d.dissect(half, w)
	}
	w.mem.used = used
}

// cut writes the separator of a part into the order, and returns the two sides, whose graphs are in the given memory. Where
// no separator leaves two sides, as in a complete graph, nodes go by their degrees.
func (d *dissection) cut(p part, w *worker, mem *arena) (sides [2]part) {
	n, g := len(p.nodes), &p.graph
	w.mem.room(arenaFor(p))
	nodes, ptr, adj := mem.take(n), mem.take(n+2), mem.take(len(g.adj))
	defer func(used int) { w.mem.used = used }(w.mem.used)
	b := w.bisect(*g, &w.mem)
	var sizes [3]int
	name := w.mem.take(n)
	for v, s := range b.side {
		name[v] = int32(sizes[s])
		sizes[s]++
	}
	if sizes[0] == 0 || sizes[1] == 0 || 2*sizes[separator] > n {
		d.byDegree(p)
		return sides
	}
	last := d.order[p.first+sizes[0]+sizes[1]:]
	for s := range sides {
		sides[s].first = p.first + s*sizes[0]
		sides[s].nodes, nodes = nodes[:sizes[s]:sizes[s]], nodes[sizes[s]:]
		sides[s].graph.ptr, ptr = ptr[:sizes[s]+1:sizes[s]+1], ptr[sizes[s]+1:]
	}
	for s := range sides {
		adj = sides[s].fill(p, b.side, name, int32(s), adj)
	}
	for v, s := range b.side {
		if s == separator {
			last[name[v]] = p.nodes[v]
		}
	}
	return sides
}

// fill sets nodes and graph of one side of a part, and returns the room that is left.
func (q *part) fill(p part, side, name []int32, own int32, room []int32) []int32 {
	at, g := int32(0), &p.graph
	for v, s := range side {
		if s != own {
			continue
		}
		i := name[v]
		q.nodes[i], q.graph.ptr[i] = p.nodes[v], at
		for _, u := range g.adj[g.ptr[v]:g.ptr[v+1]] {
			if side[u] == own {
				room[at] = name[u]
				at++
			}
		}
	}
	q.graph.ptr[len(q.nodes)] = at
	q.graph.adj = room[:at:at]
	return room[at:]
}

// byDegree orders a part without a separator.
func (d *dissection) byDegree(p part) {
	nodes := d.order[p.first:][:len(p.nodes)]
	copy(nodes, p.nodes)
	slices.SortStableFunc(nodes, func(u, v int32) int { return cmp.Compare(d.degree(u), d.degree(v)) })
}

// arenaFor is how much memory it takes to dissect a part: the graphs of all sides, less than twice its own, and the coarser
// graphs of one bisection at a time.
func arenaFor(p part) int { return 20*len(p.nodes) + 6*len(p.graph.adj) + 1<<12 }
