package graph

import "iter"

// Search is breadth-first search on a graph. It can be used again and again, which
// spares clearing a number per node each time, but not by several goroutines at once.
type Search struct {
	g     *Graph
	round int32
	seen  []int32  // the last round that met a node
	queue []uint32 // the nodes of this round in the order in which they were met
}

// NewSearch returns a Search on g.
func NewSearch(g *Graph) *Search {
	return &Search{g: g, seen: make([]int32, g.Len())}
}

// From yields the nodes that can be reached from some, nearest first, with their
// distance in hops to the nearest of these. Nodes at the same distance come in the
// order in which they are met: the given ones as given, neighbours by number.
func (s *Search) From(nodes ...int) iter.Seq2[int, int] {
	return func(yield func(node, hops int) bool) {
		s.begin(nodes...)
		for head, hops := 0, 0; head < len(s.queue); hops++ {
			for end := len(s.queue); head < end; head++ {
				i := s.queue[head]
				if !yield(int(i), hops) {
					return
				}
				cols, _ := s.g.adj.Row(int(i))
				for _, j := range cols {
					s.meet(j)
				}
			}
		}
	}
}

// begin starts a round from some nodes.
func (s *Search) begin(nodes ...int) {
	s.round++
	s.queue = s.queue[:0]
	for _, i := range nodes {
		s.meet(uint32(i))
	}
}

// meet puts a node into the queue if this round has not met it.
func (s *Search) meet(i uint32) {
	if s.seen[i] != s.round {
		s.seen[i] = s.round
		s.queue = append(s.queue, i)
	}
}

// Hops returns the distance in hops of every node to the nearest of some, −1 where
// no path leads to one.
func (g *Graph) Hops(from []int) []int {
	hops := make([]int, g.Len())
	for i := range hops {
		hops[i] = -1
	}
	for i, h := range NewSearch(g).From(from...) {
		hops[i] = h
	}
	return hops
}

// Unreached returns which nodes are in a component without any of the given ones, and
// the sizes of these components from the largest down.
func (g *Graph) Unreached(from []int) (nodes []bool, sizes []int) {
	component, all := g.Components()
	reached := make([]bool, len(all))
	for _, i := range from {
		reached[component[i]] = true
	}
	for c, size := range all {
		if !reached[c] {
			sizes = append(sizes, size)
		}
	}
	nodes = make([]bool, len(component))
	for i, c := range component {
		nodes[i] = !reached[c]
	}
	return nodes, sizes
}
