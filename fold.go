package grfgp

import (
	"math/rand/v2"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
)

// Scheme says which measurements are left out together.
type Scheme string

const (
	// Scattered folds are random: how well is a node known between others?
	Scattered Scheme = "scattered"
	// Neighbourhoods are connected parts of the graph: how well is a place known
	// where nothing was measured nearby?
	Neighbourhoods Scheme = "neighbourhoods"
)

// folds assigns every measurement to one of k folds. All measurements of a node
// are in the same fold.
func folds(g *graph.Graph, d gp.Data, k int, scheme Scheme, seed uint64) []int {
	random := rand.New(rng.New(seed, "folds"))
	of := make([]int, g.Len()) // by node
	if scheme == Neighbourhoods {
		of = regions(g, d, k, random)
	} else {
		var nodes []int
		seen := make([]bool, g.Len())
		for _, i := range d.Nodes {
			if !seen[i] {
				seen[i] = true
				nodes = append(nodes, i)
			}
		}
		random.Shuffle(len(nodes), func(a, b int) { nodes[a], nodes[b] = nodes[b], nodes[a] })
		for r, i := range nodes {
			of[i] = r % k
		}
	}
	fold := make([]int, d.Len())
	for r, i := range d.Nodes {
		fold[r] = of[i]
	}
	return fold
}

// regions grows k regions from random measured nodes, a hop at a time, over the
// whole graph. What no region reaches is dealt out by component.
func regions(g *graph.Graph, d gp.Data, k int, random *rand.Rand) []int {
	region := make([]int, g.Len())
	for i := range region {
		region[i] = -1
	}
	var front []int
	for _, r := range random.Perm(d.Len()) {
		if i := d.Nodes[r]; region[i] < 0 && len(front) < k {
			region[i] = len(front)
			front = append(front, i)
		}
	}
	for len(front) > 0 {
		var next []int
		for _, i := range front {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				if region[j] < 0 {
					region[j] = region[i]
					next = append(next, int(j))
				}
			}
		}
		front = next
	}
	comp, _ := g.Components()
	for i := range region {
		if region[i] < 0 {
			region[i] = int(comp[i]) % k
		}
	}
	return region
}
