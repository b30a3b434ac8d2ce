package grfgp

import (
	"context"

	"grfgp/graph"
	"grfgp/walk"
)

// Memory is an estimate of the memory that Fit and Predict at all nodes take, beyond the
// graph itself. It holds for graphs of more than 32,768 nodes with random features; all
// other models are small, and have an estimate of 0.
type Memory struct {
	Bytes   int64   // at the peak
	Hops    int     // longest walk on the graph
	Entries float64 // of a row of features, on average
	OneTerm int64   // the same with walks of one hop and one scale: the least that a model of this graph takes
}

// Bytes per node of large graphs, by what they are for.
const (
	listBytes       = 48  // lists of nodes, strengths, steps of walks, degrees
	predictionBytes = 32  // means, variances and what they are added up in
	prolongBytes    = 110 // interpolation from the first coarser graph
	drawBytes       = 128 // a group of posterior draws
	coarseShare     = 1. / 8
	entryBytes      = 7 // of Φ: 6 in locality order, 8 elsewhere
	spareShare      = 1.1
	spareBytes      = 128 << 20 // garbage and scratch of the threads
)

// EstimateMemory estimates the memory of a model of the given number of measurements,
// before it is fitted. It samples walks from a few hundred nodes.
func EstimateMemory(ctx context.Context, g *graph.Graph, spec Spec, measurements int) (Memory, error) {
	if err := spec.Check(); err != nil {
		return Memory{}, err
	}
	if g.Len() <= lazyNodes {
		return Memory{}, nil
	}
	w := g.Normalized(graph.NormalizedAdjacency)
	t := &Trainer{spec: spec, graph: g, w: w, matrices: map[string]*matrix{}}
	method, hops, _ := t.decide(measurements, spec.Variance == "unit")
	if method != "grf" {
		return Memory{}, nil
	}
	scale := g.WalkScale(graph.NormalizedAdjacency)
	entries := func(hops, walks int, hubWalks float64) (float64, error) {
		f, err := t.sample(ctx, w, scale, hops, walks, hubWalks, true)
		if err != nil {
			return 0, err
		}
		return f.EntriesPerRow(), ctx.Err()
	}
	defaults := walk.Default()
	fine, err := entries(hops, defaults.Walks, defaults.HubWalks)
	if err != nil {
		return Memory{}, err
	}
	near, err := entries(1, defaults.Walks, defaults.HubWalks)
	if err != nil {
		return Memory{}, err
	}
	n := float64(g.Len())
	m := Memory{Hops: hops, Entries: fine}
	base := listBytes + predictionBytes + drawBytes + 8*float64(w.NNZ())/n
	least := spareShare*n*(base+entryBytes*near) + spareBytes
	perNode := base + entryBytes*fine
	lists := 40 * fine // per measurement: features, pattern and Φ, and its transpose
	if spec.Scales != "one" {
		coarse, err := entries(coarseHops, coarseWalks, 0)
		if err != nil {
			return Memory{}, err
		}
		// Features of the coarser graph, its draws, and the graph.
		perNode += prolongBytes + coarseShare*(entryBytes*coarse+4*drawBytes+200)
		lists += 8 * 40 * coarse
	}
	exact := 0.0 // matrices of the exact solver, and those that kernels are compared with
	if t := float64(measurements); measurements <= exactMost {
		exact = 4*8*t*t + 20*8*min(t, sketchSample)*min(t, sketchSample)
	}
	m.Bytes = int64(spareShare*n*perNode + min(float64(measurements), n)*lists + exact + spareBytes)
	m.OneTerm = min(m.Bytes, int64(least))
	return m, nil
}
