package graph

import (
	"cmp"
	"math"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// ordering is an order of nodes that does not depend on their numbers, and breadth-first
// search in that order. Nodes at the same distance from the root are worked on side by
// side where there are many; the result is that of a search node by node.
type ordering struct {
	g    *Graph
	key  []uint64 // degree and colour
	mark []uint32 // what the searches of a component know about each of its nodes
	wide int      // see wideLevel

	before func(i, j uint32) int // compare
	team   *parallel.Team        // shares levels
	found  [][]uint32            // scratch: the children of every block of a level
}

const (
	levelBlock = 512  // nodes at the same distance that are worked on as one, at most
	wideLevel  = 1024 // nodes at the same distance that are worth several threads

	// Marks below met are the number of the search that met a node last. In the last
	// search of a component a node has the mark met if it is the root, and met + 1 + k if its parent
	// is the k-th node of the search.
	met = 8
)

func newOrdering(g *Graph) *ordering {
	s := &ordering{g: g, key: g.keys(), mark: make([]uint32, g.Len()), wide: wideLevel}
	if parallel.Workers(math.MaxInt) == 1 {
		s.wide = math.MaxInt
	}
	s.before = s.compare
	return s
}

// block returns how many nodes of a level are worked on as one.
func (s *ordering) block(nodes int) int {
	return max(64, min(levelBlock, nodes/(2*parallel.Workers(nodes))))
}

// keys returns numbers that put nodes in order by degree, then by colour. Colours
// that agree in 40 bits count as the same, and so do degrees of 2²⁴ and more.
func (g *Graph) keys() []uint64 {
	key := g.colours()
	rowPtr, _, _ := g.adj.Raw()
	parallel.Ranges(len(key), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			degree := uint64(min(rowPtr[i+1]-rowPtr[i], 1<<24-1))
			key[i] = degree<<40 | key[i]>>24
		}
	})
	return key
}

// compare puts nodes in order by degree, then by colour, then by id.
func (s *ordering) compare(i, j uint32) int {
	if a, b := s.key[i], s.key[j]; a != b {
		return cmp.Compare(a, b)
	}
	return s.g.ids.compare(int(i), int(j))
}

// first returns the first node by compare of every component.
func (s *ordering) first(comp []int32, components int) []uint32 {
	const none = math.MaxUint32
	first := make([]uint32, components)
	for c := range first {
		first[c] = none
	}
	offer := func(c int32, i uint32) {
		for {
			old := atomic.LoadUint32(&first[c])
			if old != none && s.compare(old, i) <= 0 || atomic.CompareAndSwapUint32(&first[c], old, i) {
				return
			}
		}
	}
	parallel.Ranges(len(comp), rowBlock, func(lo, hi int) {
		best := uint32(lo) // of the nodes since the component changed
		for i := lo + 1; i < hi; i++ {
			switch {
			case comp[i] != comp[best]:
				offer(comp[best], best)
				best = uint32(i)
			case s.compare(uint32(i), best) < 0:
				best = uint32(i)
			}
		}
		offer(comp[best], best)
	})
	return first
}

// component puts the nodes of the component of root into order, by reverse
// Cuthill–McKee from one end of it. Levels of at least wide nodes are
// worked on by several threads.
func (s *ordering) component(root int, order []uint32, wide int) {
	if len(order) > 2 {
		root = s.peripheral(root, order, wide)
	}
	s.cuthillMcKee(root, order, wide)
	slices.Reverse(order)
}

// peripheral returns a node at one end of the component of root: it moves to a
// farthest node as long as that sees farther (George and Liu), a few times.
func (s *ordering) peripheral(root int, queue []uint32, wide int) int {
	depth, last := s.levels(root, 1, queue, wide)
	for round := range uint32(4) {
		d, l := s.levels(last, 2+round, queue, wide)
		if d <= depth {
			break
		}
		depth, last = d, l
	}
	return last
}

// levels searches from root and returns how far away the farthest nodes are, and
// which of them is the first by compare. Round is a mark below met that no earlier
// search of the component had; queue has room for all of its nodes.
func (s *ordering) levels(root int, round uint32, queue []uint32, wide int) (depth, last int) {
	s.mark[root], queue[0] = round, uint32(root)
	head, end := 0, 1
	for {
		next := s.meet(queue, head, end, round, wide)
		if next == end {
			break
		}
		head, end = end, next
		depth++
	}
	return depth, int(slices.MinFunc(queue[head:end], s.before))
}

// meet appends the neighbours of queue[head:end] that this round has not met, in any
// order, and returns where they end.
func (s *ordering) meet(queue []uint32, head, end int, round uint32, wide int) int {
	if end-head < wide {
		for _, i := range queue[head:end] {
			cols, _ := s.g.adj.Row(int(i))
			for _, j := range cols {
				if s.mark[j] != round {
					s.mark[j] = round
					queue[end] = j
					end++
				}
			}
		}
		return end
	}
	var tail atomic.Int64
	tail.Store(int64(end))
	s.team.Ranges(end-head, s.block(end-head), func(lo, hi int) {
		var room [4 * levelBlock]uint32 // enough on most graphs
		found := room[:0]
		for _, i := range queue[head+lo : head+hi] {
			cols, _ := s.g.adj.Row(int(i))
			for _, j := range cols {
				if old := atomic.LoadUint32(&s.mark[j]); old != round && atomic.CompareAndSwapUint32(&s.mark[j], old, round) {
					found = append(found, j)
				}
			}
		}
		to := int(tail.Add(int64(len(found))))
		copy(queue[to-len(found):to], found)
	})
	return int(tail.Load())
}

// cuthillMcKee fills queue with the component of root as met by a search that takes
// the new neighbours of a node in the order of compare.
func (s *ordering) cuthillMcKee(root int, queue []uint32, wide int) {
	s.mark[root], queue[0] = met, uint32(root)
	for head, end := 0, 1; head < end; {
		next := 0
		if end-head < wide {
			next = s.children(queue, head, end)
		} else {
			next = s.childrenSideBySide(queue, head, end)
		}
		head, end = end, next
	}
}

// children appends the new neighbours of queue[head:end], node by node, and
// returns where they end.
func (s *ordering) children(queue []uint32, head, end int) int {
	next := end
	for k := head; k < end; k++ {
		cols, _ := s.g.adj.Row(int(queue[k]))
		fresh := next
		for _, j := range cols {
			if s.mark[j] < met {
				s.mark[j] = met + 1 + uint32(k)
				queue[next] = j
				next++
			}
		}
		if next-fresh > 1 {
			sortNodes(queue[fresh:next], s.before)
		}
	}
	return next
}

// childrenSideBySide does the same by several threads. A new node belongs to the first
// of its neighbours in queue[head:end], as it does node by node: it gets the smallest
// of their marks. Then every node of the queue finds its children, and blocks of them
// are put one after the other.
func (s *ordering) childrenSideBySide(queue []uint32, head, end int) int {
	known := met + uint32(head) // marks from met to here are those of nodes met earlier
	size := s.block(end - head)
	blocks := (end - head + size - 1) / size
	s.team.Ranges(end-head, size, func(lo, hi int) {
		for k := head + lo; k < head+hi; k++ {
			mark := met + 1 + uint32(k)
			cols, _ := s.g.adj.Row(int(queue[k]))
			for _, j := range cols {
				for {
					old := atomic.LoadUint32(&s.mark[j])
					if old >= met && (old <= known || old <= mark) || atomic.CompareAndSwapUint32(&s.mark[j], old, mark) {
						break
					}
				}
			}
		}
	})
	if len(s.found) < blocks {
		s.found = append(s.found, make([][]uint32, blocks-len(s.found))...)
	}
	s.team.Ranges(end-head, size, func(lo, hi int) {
		found := s.found[lo/size][:0]
		for k := head + lo; k < head+hi; k++ {
			cols, _ := s.g.adj.Row(int(queue[k]))
			fresh := len(found)
			for _, j := range cols {
				if s.mark[j] == met+1+uint32(k) {
					found = append(found, j)
				}
			}
			if len(found)-fresh > 1 {
				sortNodes(found[fresh:], s.before)
			}
		}
		s.found[lo/size] = found
	})
	at := make([]int, blocks+1)
	at[0] = end
	for b, found := range s.found[:blocks] {
		at[b+1] = at[b] + len(found)
	}
	const copied = 1 << 16 // nodes that are worth several threads
	s.team.Ranges(blocks, max(1, blocks*copied/max(1, at[blocks]-end)), func(lo, hi int) {
		for b := lo; b < hi; b++ {
			copy(queue[at[b]:], s.found[b])
		}
	})
	return at[blocks]
}

// sortNodes sorts nodes by an order in which no two are equal, large lists by several
// threads: parts first, which are then merged two by two.
func sortNodes(nodes []uint32, compare func(i, j uint32) int) {
	const part = 1 << 15
	switch n := len(nodes); {
	case n < 2:
		return
	case n == 2:
		if compare(nodes[0], nodes[1]) > 0 {
			nodes[0], nodes[1] = nodes[1], nodes[0]
		}
		return
	case n <= part:
		slices.SortFunc(nodes, compare)
		return
	}
	parallel.Ranges(len(nodes), part, func(lo, hi int) { slices.SortFunc(nodes[lo:hi], compare) })
	from, to := nodes, make([]uint32, len(nodes))
	for size := part; size < len(nodes); size *= 2 {
		parallel.Ranges(len(nodes), 2*size, func(lo, hi int) {
			mid := min(hi, lo+size)
			merge(to[lo:hi], from[lo:mid], from[mid:hi], compare)
		})
		from, to = to, from
	}
	if &from[0] != &nodes[0] {
		copy(nodes, from)
	}
}

// merge fills to with two sorted lists.
func merge(to, a, b []uint32, compare func(i, j uint32) int) {
	for k := range to {
		if len(b) == 0 || len(a) > 0 && compare(a[0], b[0]) < 0 {
			to[k], a = a[0], a[1:]
		} else {
			to[k], b = b[0], b[1:]
		}
	}
}
