package graph

import (
	"cmp"
	"context"
	"slices"

	"grfgp/internal/parallel"
)

// Triangles returns the number of triangles that every node belongs to; self loops
// and weights have no effect. Every edge points to the end with more neighbours, and
// the targets of both ends of an edge are intersected, which takes time in proportion
// to edges^1.5 at most.
//
// The number of comparisons is known beforehand. If it exceeds most, nothing is
// counted and ok is false; 10⁹ comparisons take a few seconds.
func (g *Graph) Triangles(most int) (counts []int, ok bool) {
	ptr, target := g.upwards()
	n := g.Len()
	work := 0
	for _, j := range target {
		work += ptr[j+1] - ptr[j]
	}
	if work > most {
		return nil, false
	}
	const size = 1024
	blocks := (n + size - 1) / size
	perWorker := make([][]int, parallel.Workers(blocks))
	marks := make([][]bool, len(perWorker))
	// Sums of integers do not depend on which worker counted what.
	_ = parallel.Blocks(context.Background(), blocks, func(worker, block int) error {
		if perWorker[worker] == nil {
			perWorker[worker], marks[worker] = make([]int, n), make([]bool, n)
		}
		count, marked := perWorker[worker], marks[worker]
		for i := block * size; i < min(n, (block+1)*size); i++ {
			mine := target[ptr[i]:ptr[i+1]]
			for _, j := range mine {
				marked[j] = true
			}
			for _, j := range mine {
				for _, k := range target[ptr[j]:ptr[j+1]] {
					if marked[k] {
						count[i]++
						count[j]++
						count[k]++
					}
				}
			}
			for _, j := range mine {
				marked[j] = false
			}
		}
		return nil
	})
	counts = make([]int, n)
	for _, count := range perWorker {
		for i, c := range count {
			counts[i] += c
		}
	}
	return counts, true
}

// upwards returns every edge once, as rows of targets: it points to the end with more
// neighbours, or to the larger number among equals. A node has at most √(2·edges)
// targets.
func (g *Graph) upwards() (ptr []int, target []uint32) {
	n := g.Len()
	degrees := g.Degrees()
	up := func(i int, j uint32) bool {
		return cmp.Or(cmp.Compare(degrees[i], degrees[j]), cmp.Compare(i, int(j))) < 0
	}
	ptr = make([]int, n+1)
	for i := range n {
		cols, _ := g.adj.Row(i)
		for _, j := range cols {
			if up(i, j) {
				target = append(target, j)
			}
		}
		ptr[i+1] = len(target)
	}
	return ptr, slices.Clip(target)
}
