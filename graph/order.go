package graph

import (
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
	order := g.order()
	h := *g
	if !slices.IsSorted(order) { // not 0, 1, 2, …
		h = *pick(g, order)
		h.from = inverse(order)
	}
	h.ordered = true
	return &h
}

// inverse returns the place of every node in an order of all nodes.
func inverse(order []uint32) []uint32 {
	place := make([]uint32, len(order))
	parallel.Ranges(len(order), rowBlock, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			place[order[k]] = uint32(k)
		}
	})
	return place
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
	order := make([]int, g.Len())
	for k, i := range g.order() {
		order[k] = int(i)
	}
	return order
}

// order is Order in half the memory.
func (g *Graph) order() []uint32 {
	s := newOrdering(g)
	order := make([]uint32, g.Len())
	comp, sizes := g.Components()
	first := s.first(comp, len(sizes))
	for c := 0; c < len(sizes); { // components of equal size in the order of their first nodes
		end := c + 1
		for end < len(sizes) && sizes[end] == sizes[c] {
			end++
		}
		sortNodes(first[c:end], s.before)
		c = end
	}
	at := make([]int, len(sizes)+1)
	copy(at[1:], sizes)
	addUp(at)
	// Large components have many nodes at a distance; of small ones there are many.
	s.team = parallel.NewTeam()
	defer s.team.Close()
	large := 0
	for ; large < len(sizes) && sizes[large] > rowBlock; large++ {
		s.component(int(first[large]), order[at[large]:at[large+1]], s.wide)
	}
	parallel.Ranges(len(sizes)-large, 256, func(lo, hi int) {
		for c := large + lo; c < large+hi; c++ {
			s.component(int(first[c]), order[at[c]:at[c+1]], math.MaxInt)
		}
	})
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
