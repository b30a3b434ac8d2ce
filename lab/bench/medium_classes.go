package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/lab/dataset"
)

// mediumClasses are the cases of whole runs with classes.
func mediumClasses() []Medium {
	return []Medium{
		{"cora", "Cora, classes, 80 % labelled", 0, 1988, 0, coraClasses},
		{"facebook-types", "Facebook, page types", 0, 1000, 0, pageClasses},
		{"facebook-types-many", "Facebook, page types, many labels", 0, 13_000, 0, pageClasses},
		{"citations", "citations, 3 classes", 20_000, 1000, 1000, citationClasses},
	}
}

func coraClasses(ctx context.Context, s dataset.Store, _, labels int, seed uint64) (*mediumTask, error) {
	c, err := s.Cora(ctx)
	if err != nil {
		return nil, err
	}
	return &mediumTask{graph: c.Graph, class: c.Class, given: someNodes(c.Graph.Len(), labels, seed)}, nil
}

func pageClasses(ctx context.Context, s dataset.Store, _, labels int, seed uint64) (*mediumTask, error) {
	p, err := s.Pages(ctx)
	if err != nil {
		return nil, err
	}
	return &mediumTask{graph: p.Graph, class: p.Class, given: someNodes(p.Graph.Len(), labels, seed)}, nil
}

// citationClasses has groups of a hundred papers, three quarters of which are of the group's class. Each paper cites two
// or three others, seven in ten times of its own group and mostly one that is cited often: a network with hubs in
// which neighbours tend to share a class.
func citationClasses(_ context.Context, _ dataset.Store, nodes, labels int, seed uint64) (*mediumTask, error) {
	const size, classes = 100, 3
	random := rand.New(rng.New(seed, "citations"))
	groups := nodes / size
	nodes = groups * size
	of := make([]int, groups)
	for k := range of {
		of[k] = random.IntN(classes)
	}
	class, sum := make([]int, nodes), make([]float64, nodes+1)
	for i := range class {
		if class[i] = of[i/size]; random.Float64() < 0.25 {
			class[i] = random.IntN(classes)
		}
		sum[i+1] = sum[i] + min(80, math.Pow(random.Float64(), -1/1.5)) // how often it is cited
	}
	cited := func(lo, hi int) int {
		u := sum[lo] + random.Float64()*(sum[hi]-sum[lo])
		return min(hi-1, lo+sort.Search(hi-lo, func(k int) bool { return sum[lo+k+1] > u }))
	}
	var e graph.Edges
	for i := range nodes {
		for range 2 + random.IntN(2) {
			lo, hi := 0, nodes
			switch u := random.Float64(); {
			case u < 0.7:
				lo, hi = i/size*size, i/size*size+size
			case u < 0.85: // the next group
				lo = (i/size + 1) % groups * size
				hi = lo + size
			}
			if j := cited(lo, hi); j != i {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, uint32(j))
			}
		}
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(nodes), e, graph.BuildOptions{})
	if err != nil {
		return nil, err
	}
	return &mediumTask{graph: g, class: class, given: someNodes(nodes, labels, seed)}, nil
}
