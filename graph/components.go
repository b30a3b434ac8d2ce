package graph

import (
	"math"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// Components returns the connected component of every node and the size of every
// component. Components are numbered from the largest to the smallest, and those of
// equal size by their smallest node.
func (g *Graph) Components() (comp []int32, sizes []int) {
	root := g.roots()
	comp = make([]int32, len(root))
	count := 0
	for i, r := range root {
		if int(r) == i {
			comp[i] = int32(count) // of the component that has i as its smallest node
			count++
		}
	}
	sizes = make([]int, count)
	members := make([]atomic.Int64, count)
	parallel.Ranges(len(root), rowBlock, func(lo, hi int) {
		start := lo // of nodes of the same component
		for i := lo; i < hi; i++ {
			if i+1 == hi || root[i+1] != root[i] {
				members[comp[root[i]]].Add(int64(i + 1 - start))
				start = i + 1
			}
		}
	})
	for c := range sizes {
		sizes[c] = int(members[c].Load())
	}

	// Components were found by smallest node: a stable sort keeps that.
	bySize := make([]int, len(sizes))
	for c := range bySize {
		bySize[c] = c
	}
	slices.SortStableFunc(bySize, func(a, b int) int { return sizes[b] - sizes[a] })
	rank, sorted := make([]int32, len(sizes)), make([]int, len(sizes))
	for r, c := range bySize {
		rank[c], sorted[r] = int32(r), sizes[c]
	}
	// Smallest nodes come last: others look at them.
	parallel.Ranges(len(root), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if r := root[i]; int(r) != i {
				comp[i] = rank[comp[r]]
			}
		}
	})
	for i, r := range root {
		if int(r) == i {
			comp[i] = rank[comp[i]]
		}
	}
	return comp, sorted
}

// roots returns the smallest node of the component of every node.
//
// Every node points to a node of its component that is no larger, at first to itself;
// edges join the trees of their ends. Two neighbours of every node are enough to join most
// of a large component, so that only the nodes outside it need look at all of
// their neighbours (Sutton, Ben-Nun and Barak, 2018). Which thread joins what does not show:
// the smallest node of a tree is its root.
func (g *Graph) roots() []uint32 {
	const few = 2
	f := make(forest, g.Len())
	forNodes := func(do func(i uint32)) {
		parallel.Ranges(len(f), rowBlock, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				do(uint32(i))
			}
		})
	}
	forNodes(func(i uint32) { f[i] = i })
	forNodes(func(i uint32) {
		cols, _ := g.adj.Row(int(i))
		for _, j := range cols[:min(few, len(cols))] {
			f.join(i, j)
		}
	})
	forNodes(func(i uint32) { f.find(i) })
	large := f.common()
	forNodes(func(i uint32) {
		if cols, _ := g.adj.Row(int(i)); len(cols) > few && f.find(i) != f.find(large) {
			for _, j := range cols[few:] {
				f.join(i, j)
			}
		}
	})
	forNodes(func(i uint32) { f.find(i) })
	return f
}

// forest has, for every node, a node of its component that is no larger; roots have
// themselves. Threads may join trees at the same time.
type forest []uint32

// find returns the root of node i, and lets i point to it.
func (f forest) find(i uint32) uint32 {
	root := i
	for {
		up := atomic.LoadUint32(&f[root])
		if up == root {
			break
		}
		root = up
	}
	for i != root {
		up := atomic.LoadUint32(&f[i])
		if up <= root { // so does another thread, or better
			break
		}
		atomic.CompareAndSwapUint32(&f[i], up, root)
		i = up
	}
	return root
}

// join makes one tree of those of nodes i and j.
func (f forest) join(i, j uint32) {
	for {
		a, b := f.find(i), f.find(j)
		if a == b {
			return
		}
		if atomic.CompareAndSwapUint32(&f[max(a, b)], max(a, b), min(a, b)) {
			return
		}
	}
}

// common returns the root that most of some nodes at equal distances have.
func (f forest) common() uint32 {
	const some = 1024
	roots := make([]uint32, 0, some)
	for k := range min(some, len(f)) {
		roots = append(roots, f.find(uint32(k*len(f)/min(some, len(f)))))
	}
	slices.Sort(roots)
	best, most := uint32(math.MaxUint32), 0
	for k := 0; k < len(roots); {
		end := k
		for end < len(roots) && roots[end] == roots[k] {
			end++
		}
		if end-k > most {
			best, most = roots[k], end-k
		}
		k = end
	}
	return best
}

// LargestComponent returns the largest connected component as a graph, and the
// nodes of g that it consists of, in increasing order.
func (g *Graph) LargestComponent() (largest *Graph, nodes []int) {
	comp, sizes := g.Components()
	for i, c := range comp {
		if c == 0 {
			nodes = append(nodes, i)
		}
	}
	if len(sizes) <= 1 {
		return g, nodes
	}
	return pick(g, nodes), nodes
}
