package graph

import "slices"

// Components returns the connected component of every node and the size of every
// component. Components are numbered from the largest to the smallest, and those of
// equal size by their smallest node.
func (g *Graph) Components() (comp []int32, sizes []int) {
	n := g.Len()
	comp = make([]int32, n)
	for i := range comp {
		comp[i] = -1
	}
	queue := make([]uint32, 0, n) // every node enters once
	for root := range comp {
		if comp[root] >= 0 {
			continue
		}
		c, start := int32(len(sizes)), len(queue)
		comp[root] = c
		queue = append(queue, uint32(root))
		for head := start; head < len(queue); head++ {
			cols, _ := g.adj.Row(int(queue[head]))
			for _, j := range cols {
				if comp[j] < 0 {
					comp[j] = c
					queue = append(queue, j)
				}
			}
		}
		sizes = append(sizes, len(queue)-start)
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
	for i, c := range comp {
		comp[i] = rank[c]
	}
	return comp, sorted
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
	return g.pick(nodes), nodes
}
