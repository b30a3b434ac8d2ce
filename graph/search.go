package graph

import "iter"

// Search is breadth-first search on a graph. One Search serves many searches, without
// clearing an array of all nodes each time. It is not safe for concurrent use.
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

// From yields the nodes that can be reached from the given nodes, nearest first,
// with the distance in hops to the nearest given node. Nodes at the same distance
// come in the order of discovery: the given nodes in their order, neighbours by
// number.
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

// Hops returns, for every node, the distance in hops to the nearest of the given
// nodes; −1 if no path leads to any of them.
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

// Unreached reports, for every node, whether its component has none of the given
// nodes, and returns the sizes of all such components, largest first.
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
