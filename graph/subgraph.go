package graph

import (
	"context"
	"fmt"

	"grfgp/internal/parallel"
)

// Subgraph returns the graph of the given nodes and the edges between them; node
// k of it is nodes[k] of g. It does not count as ordered, and its InputOrder is
// 0, 1, 2, ….
func (g *Graph) Subgraph(nodes []int) (*Graph, error) {
	seen := make([]bool, g.Len())
	for k, i := range nodes {
		if i < 0 || i >= len(seen) {
			return nil, fmt.Errorf("%w: node %d of the list is %d, the graph has nodes 0 to %d", ErrInvalid, k, i, len(seen)-1)
		}
		if seen[i] {
			return nil, fmt.Errorf("%w: node %d of the list is %q, which was there already", ErrInvalid, k, g.ids.At(i))
		}
		seen[i] = true
	}
	return pick(g, nodes), nil
}

// Permute returns the same graph with node order[k] as node k.
func (g *Graph) Permute(order []int) (*Graph, error) {
	if len(order) != g.Len() {
		return nil, fmt.Errorf("%w: an order of %d nodes for a graph of %d", ErrInvalid, len(order), g.Len())
	}
	return g.Subgraph(order)
}

// pick is Subgraph for nodes that are known to be in range and distinct.
func pick[T int | uint32](g *Graph, nodes []T) *Graph {
	number := make([]uint32, g.Len()) // in the new graph, plus 1; 0 if left out
	parallel.Ranges(len(nodes), rowBlock, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			number[nodes[k]] = uint32(k + 1)
		}
	})
	rowPtr := make([]int, len(nodes)+1)
	parallel.Ranges(len(nodes), rowBlock, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			cols, _ := g.adj.Row(int(nodes[k]))
			for _, j := range cols {
				if number[j] > 0 {
					rowPtr[k+1]++
				}
			}
		}
	})
	total := addUp(rowPtr)
	col, val := make([]uint32, total), make([]float64, total)
	blocks := (len(nodes) + rowBlock - 1) / rowBlock
	sorters := make([]rowSorter, parallel.Workers(blocks))
	_ = parallel.Blocks(context.Background(), blocks, func(worker, b int) error {
		for k := b * rowBlock; k < min(len(nodes), (b+1)*rowBlock); k++ {
			cols, vals := g.adj.Row(int(nodes[k]))
			q := rowPtr[k]
			for p, j := range cols {
				if number[j] > 0 {
					col[q], val[q] = number[j]-1, vals[p]
					q++
				}
			}
			sorters[worker].sort(col[rowPtr[k]:q], val[rowPtr[k]:q])
		}
		return nil
	})
	return &Graph{adj: mustCSR(len(nodes), rowPtr, col, val), ids: pickIDs(g.ids, nodes)}
}
