package graph

import "slices"

// Order returns an order of the nodes, order[new] = old, in which neighbours are
// close to each other, so that products over the rows find what they need in
// the cache: reverse Cuthill–McKee, component by component from the largest to
// the lone nodes. Permute applies it.
func (g *Graph) Order() []int {
	comp, sizes := g.Components()
	s := newSearch(g)
	starts := make([]int, len(sizes)) // the node of least degree, the first of them
	for i := range starts {
		starts[i] = -1
	}
	for i, c := range comp {
		if r := starts[c]; r < 0 || s.degree[i] < s.degree[r] {
			starts[c] = i
		}
	}
	order := make([]int, 0, g.Len())
	for c, start := range starts {
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

// search is breadth-first search from one node at a time.
type search struct {
	g      *Graph
	degree []int
	round  int32
	seen   []int32  // the last round that met a node
	queue  []uint32 // the nodes of this round in the order in which they were met
	keys   []uint64
}

func newSearch(g *Graph) *search {
	return &search{g: g, degree: g.Degrees(), seen: make([]int32, g.Len()), queue: make([]uint32, 0, g.Len())}
}

func (s *search) begin(root int) {
	s.round++
	s.seen[root] = s.round
	s.queue = append(s.queue[:0], uint32(root))
}

// levels searches from root and returns how far away the farthest nodes are, and
// which of them has the least degree.
func (s *search) levels(root int) (depth, last int) {
	s.begin(root)
	head := 0
	for {
		end := len(s.queue) // of the level that starts at head
		for _, i := range s.queue[head:end] {
			cols, _ := s.g.adj.Row(int(i))
			for _, j := range cols {
				if s.seen[j] != s.round {
					s.seen[j] = s.round
					s.queue = append(s.queue, j)
				}
			}
		}
		if end == len(s.queue) {
			break
		}
		head = end
		depth++
	}
	last = int(s.queue[head])
	for _, i := range s.queue[head:] {
		if s.degree[i] < s.degree[last] {
			last = int(i)
		}
	}
	return depth, last
}

// peripheral returns a node at one end of the component of root: it moves to a
// farthest node as long as that sees farther (George and Liu), a few times.
func (s *search) peripheral(root int) int {
	depth, last := s.levels(root)
	for range 4 {
		d, l := s.levels(last)
		if d <= depth {
			break
		}
		root, depth, last = last, d, l
	}
	return last
}

// cuthillMcKee returns the component of root as met by a search that takes the
// new neighbours of a node by increasing degree, then by number.
func (s *search) cuthillMcKee(root int) []uint32 {
	s.begin(root)
	for head := 0; head < len(s.queue); head++ {
		cols, _ := s.g.adj.Row(int(s.queue[head]))
		s.keys = s.keys[:0]
		for _, j := range cols {
			if s.seen[j] != s.round {
				s.seen[j] = s.round
				s.keys = append(s.keys, uint64(s.degree[j])<<32|uint64(j))
			}
		}
		slices.Sort(s.keys)
		for _, key := range s.keys {
			s.queue = append(s.queue, uint32(key))
		}
	}
	return s.queue
}
