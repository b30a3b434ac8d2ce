package graph

import (
	"bytes"
	"cmp"
	"math"
	"slices"

	"grfgp/internal/parallel"
)

// Ordered returns the graph with its nodes numbered by locality, see Order; nodes
// keep their ids, and InputOrder keeps the previous numbers. The result is the same
// for every numbering of the same graph. An ordered graph is returned unchanged.
func (g *Graph) Ordered() *Graph {
	if g.ordered {
		return g
	}
	order := g.Order()
	h := *g
	if !slices.IsSorted(order) { // not 0, 1, 2, …
		h = *g.pick(order)
		h.from = make([]uint32, len(order))
		for i, k := range order {
			h.from[k] = uint32(i)
		}
	}
	h.ordered = true
	return &h
}

// InputOrder returns the nodes in the order that they had before Ordered, which is
// that of the user's file in a graph read by package graphio: node InputOrder()[k]
// was node k. In a graph that was not reordered it is 0, 1, 2, ….
func (g *Graph) InputOrder() []int {
	nodes := g.Nodes()
	for k, i := range g.from {
		nodes[k] = int(i)
	}
	return nodes
}

// FromInput returns InputOrder()[k].
func (g *Graph) FromInput(k int) int {
	if g.from == nil {
		return k
	}
	return int(g.from[k])
}

// Order returns an order of the nodes, order[new] = old, in which neighbours are
// close to each other, so that products over the rows find the entries they need in
// the cache: reverse Cuthill–McKee, component by component from the largest to
// the isolated nodes. Ordered applies it.
//
// The order depends on the graph and on the ids of its nodes, not on their numbers: a
// file with its rows shuffled gives the same ordered graph. Ids decide only between
// nodes whose surroundings are the same within some hops.
func (g *Graph) Order() []int {
	s := newOrdering(g)
	comp, sizes := g.Components()
	starts := make([]int, len(sizes)) // the first node by compare
	for i := range starts {
		starts[i] = -1
	}
	for i, c := range comp {
		if r := starts[c]; r < 0 || s.compare(uint32(i), uint32(r)) < 0 {
			starts[c] = i
		}
	}
	bySize := make([]int, len(sizes))
	for c := range bySize {
		bySize[c] = c
	}
	slices.SortFunc(bySize, func(a, b int) int {
		if sizes[a] != sizes[b] {
			return sizes[b] - sizes[a]
		}
		return s.compare(uint32(starts[a]), uint32(starts[b]))
	})
	order := make([]int, 0, g.Len())
	for _, c := range bySize {
		start := starts[c]
		if sizes[c] > 2 {
			start = s.peripheral(start)
		}
		found := s.cuthillMcKee(start)
		for _, i := range slices.Backward(found) {
			order = append(order, int(i))
		}
	}
	return order
}

// colourRounds is how many hops around a node count for its colour: the fewer, the
// larger the graph.
func colourRounds(nodes int) int {
	const most, few, large = 16, 4, 200_000
	if nodes > large {
		return few
	}
	return most
}

// colours returns a number for every node that depends on the weighted graph
// within a few hops of it, whatever nodes are called (Weisfeiler and Leman,
// by hashes). Different surroundings have different numbers but for collisions of
// 64 bits, which do no harm.
func (g *Graph) colours() []uint64 {
	n := g.Len()
	colour, next := make([]uint64, n), make([]uint64, n)
	for range colourRounds(n) {
		parallel.Ranges(n, rowBlock, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				cols, vals := g.adj.Row(i)
				sum := uint64(len(cols))
				for p, j := range cols {
					sum += mix(colour[j] ^ mix(math.Float64bits(vals[p]))) // in any order
				}
				next[i] = mix(colour[i] + 0x9E3779B97F4A7C15*sum)
			}
		})
		colour, next = next, colour
	}
	return colour
}

// mix returns a number that looks random, another one for every x.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// compareIDs puts whole numbers first, by value, then other ids by their bytes.
func compareIDs(a, b []byte) int {
	whole := func(id []byte) bool {
		for _, c := range id {
			if c < '0' || c > '9' {
				return false
			}
		}
		return len(id) > 0 && (id[0] != '0' || len(id) == 1)
	}
	switch x, y := whole(a), whole(b); {
	case x && y:
		return cmp.Or(len(a)-len(b), bytes.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return bytes.Compare(a, b)
}

// ordering is breadth-first search with an order of nodes.
type ordering struct {
	*Search
	degree []int
	colour []uint64
}

func newOrdering(g *Graph) *ordering {
	return &ordering{Search: NewSearch(g), degree: g.Degrees(), colour: g.colours()}
}

// compare puts nodes in order by degree, then by colour, then by id.
func (s *ordering) compare(i, j uint32) int {
	switch {
	case s.degree[i] != s.degree[j]:
		return s.degree[i] - s.degree[j]
	case s.colour[i] != s.colour[j]:
		return cmp.Compare(s.colour[i], s.colour[j])
	}
	return compareIDs(s.g.ids.Bytes(int(i)), s.g.ids.Bytes(int(j)))
}

// levels searches from root and returns how far away the farthest nodes are, and
// which of them is the first by compare.
func (s *ordering) levels(root int) (depth, last int) {
	for i, hops := range s.From(root) {
		if hops > depth || i == root || s.compare(uint32(i), uint32(last)) < 0 {
			depth, last = hops, i
		}
	}
	return depth, last
}

// peripheral returns a node at one end of the component of root: it moves to a
// farthest node as long as that sees farther (George and Liu), a few times.
func (s *ordering) peripheral(root int) int {
	depth, last := s.levels(root)
	for range 4 {
		d, l := s.levels(last)
		if d <= depth {
			break
		}
		depth, last = d, l
	}
	return last
}

// cuthillMcKee returns the component of root as met by a search that takes the
// new neighbours of a node in the order of compare.
func (s *ordering) cuthillMcKee(root int) []uint32 {
	s.begin(root)
	for head := 0; head < len(s.queue); head++ {
		cols, _ := s.g.adj.Row(int(s.queue[head]))
		fresh := len(s.queue)
		for _, j := range cols {
			s.meet(j)
		}
		slices.SortFunc(s.queue[fresh:], s.compare)
	}
	return s.queue
}
