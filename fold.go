package grfgp

import (
	"math/rand/v2"
	"slices"

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

// folds assigns every measurement, at nodes[r] that of row r, to one of k folds. All
// measurements of a node are in the same fold, and the order of rows does not matter.
func (t *Trainer) folds(nodes []int, k int, scheme Scheme, seed uint64) []int {
	random := rand.New(rng.New(seed, "folds"))
	unique := slices.Compact(slices.Sorted(slices.Values(nodes)))
	random.Shuffle(len(unique), func(a, b int) { unique[a], unique[b] = unique[b], unique[a] })
	of := make([]int, t.graph.Len()) // by node
	if scheme == Neighbourhoods {
		of = regions(t.graph, unique[:min(k, len(unique))])
	} else {
		for r, i := range unique {
			of[i] = r % k
		}
	}
	fold := make([]int, len(nodes))
	for r, i := range nodes {
		fold[r] = of[i]
	}
	return fold
}

// regions grows a region from each of some nodes, a hop at a time, over the whole
// graph. Components without such a node are dealt out.
func regions(g *graph.Graph, seeds []int) []int {
	region := make([]int, g.Len())
	for i := range region {
		region[i] = -1
	}
	for r, i := range seeds {
		region[i] = r
	}
	for i := range graph.NewSearch(g).From(seeds...) {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if region[j] < 0 {
				region[j] = region[i]
			}
		}
	}
	comp, _ := g.Components()
	for i := range region {
		if region[i] < 0 {
			region[i] = int(comp[i]) % len(seeds)
		}
	}
	return region
}
