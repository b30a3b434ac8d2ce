package chol

// A level of a multilevel bisection is a graph and the cell of each of its nodes in the next, coarser graph.
type level struct {
	adjacency
	cell []int32
}

const (
	coarsest = 128  // nodes of the coarsest graph
	shrink   = 0.92 // a coarser graph with a larger share of the nodes is not worth having
)

// levels returns coarser and coarser graphs, from g itself on.
func levels(g adjacency, mem *arena) []level {
	out := []level{{adjacency: g}}
	for {
		fine := &out[len(out)-1]
		if fine.len() <= coarsest {
			return out
		}
		mate, cell, count := fine.match(mem)
		if float64(count) > shrink*float64(fine.len()) {
			return out
		}
		fine.cell = cell
		out = append(out, level{adjacency: fine.contract(mate, cell, count, mem)})
	}
}

// match joins pairs of neighbours, the heaviest edges first as far as one pass over the nodes sees them, and of equal
// edges those to the lightest nodes: cells stay of one size. Nodes that find all neighbours taken join another such node
// around the same neighbour: round a hub there would be one pair only. It returns the mate and the cell of every node.
func (g *adjacency) match(mem *arena) (mate, cell []int32, count int) {
	n := g.len()
	cell = mem.take(n)
	mate = mem.take(n)
	waiting := mem.take(n)
	for v := range mate {
		mate[v], waiting[v] = -1, -1
	}
	most := max(2, 3*g.total/(2*coarsest)) // the heaviest cell
	for v := range int32(n) {
		if mate[v] >= 0 {
			continue
		}
		mate[v] = v
		if u := g.partner(v, mate, most-g.node[v]); u >= 0 {
			mate[v], mate[u] = u, v
		} else if hub := g.lonely(v); hub >= 0 {
			if w := waiting[hub]; w >= 0 && mate[w] == w && g.node[v]+g.node[w] <= most {
				mate[v], mate[w] = w, v
				waiting[hub] = -1
			} else {
				waiting[hub] = v
			}
		}
	}
	next := int32(0)
	for v, u := range mate {
		if int32(v) <= u {
			cell[v], cell[u] = next, next
			next++
		}
	}
	return mate, cell, int(next)
}

// partner returns the free neighbour of v that is joined most strongly, −1 if there is none of at most the given weight.
func (g *adjacency) partner(v int32, mate []int32, most int32) int32 {
	best, heaviest, lightest := int32(-1), int32(0), int32(0)
	lo, hi := g.ptr[v], g.ptr[v+1]
	for p, u := range g.adj[lo:hi] {
		if mate[u] >= 0 || g.node[u] > most {
			continue
		}
		w := int32(1)
		if g.edge != nil {
			w = g.edge[int(lo)+p]
		}
		if w > heaviest || w == heaviest && g.node[u] < lightest {
			best, heaviest, lightest = u, w, g.node[u]
		}
	}
	return best
}

// lonely returns the neighbour round which v waits for another: that of most edges; −1 for a lone node.
func (g *adjacency) lonely(v int32) int32 {
	hub, most := int32(-1), int32(0)
	for _, u := range g.around(v) {
		if d := g.ptr[u+1] - g.ptr[u]; d > most {
			hub, most = u, d
		}
	}
	return hub
}

// contract returns the graph of the cells.
func (g *adjacency) contract(mate, cell []int32, count int, mem *arena) adjacency {
	c := adjacency{ptr: mem.take(count + 1), node: mem.take(count), total: g.total, most: g.most}
	c.adj, c.edge = mem.take(len(g.adj)), mem.take(len(g.adj))
	place := mem.take(count) // of an edge to each cell, in the row under way or before it
	for i := range place {
		place[i] = -1
	}
	at := int32(0)
	for v, u := range mate {
		if int32(v) > u {
			continue
		}
		own, begin := cell[v], at
		c.ptr[own] = begin
		c.node[own] = g.node[v]
		at = g.gather(int32(v), cell, &c, place, begin, at)
		if int(u) != v {
			c.node[own] += g.node[u]
			at = g.gather(u, cell, &c, place, begin, at)
		}
	}
	c.ptr[count] = at
	c.adj, c.edge = c.adj[:at], c.edge[:at]
	return c
}

// gather adds the edges of node v to the row of its cell, which begins at begin, and returns where the row ends.
func (g *adjacency) gather(v int32, cell []int32, c *adjacency, place []int32, begin, at int32) int32 {
	own := cell[v]
	lo, hi := g.ptr[v], g.ptr[v+1]
	for p, u := range g.adj[lo:hi] {
		to, w := cell[u], int32(1)
		if to == own {
			continue
		}
		if g.edge != nil {
			w = g.edge[int(lo)+p]
		}
		if q := place[to]; q >= begin {
			c.edge[q] += w
		} else {
			place[to] = at
			c.adj[at], c.edge[at] = to, w
			at++
		}
	}
	return at
}
