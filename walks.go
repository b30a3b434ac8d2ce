package grfgp

import (
	"slices"
	"sync"
	"sync/atomic"

	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/sparse"
	"grfgp/walk"
)

// walks is a matrix of a graph as random walks take it, see graph.Graph.WalkMatrix.
type walks struct {
	w                *sparse.CSR
	scale, strengths []float64
	ground           *walk.Ground // which all lazy features on the matrix share
}

func newWalks(w *sparse.CSR, scale, strengths []float64) walks {
	x := walks{w: w, scale: scale, strengths: strengths}
	x.ground = walk.NewGround(w, x.on(walk.Options{}))
	return x
}

func walksOn(g *graph.Graph) walks {
	return newWalks(g.WalkMatrix(graph.NormalizedAdjacency))
}

// on returns the options for walks on the matrix.
func (x walks) on(opts walk.Options) walk.Options {
	opts.Scale, opts.Strengths, opts.Rooted = x.scale, x.strengths, x.strengths != nil
	return opts
}

// setMatrix sets what is known of the matrix of the normalised Laplacian. W itself is made when it is
// first used: features do without it, so that no copy of a large graph is held.
func (t *workshop) setMatrix(g *graph.Graph) {
	rowPtr, _, _ := g.Adjacency().Raw()
	t.entries = g.Adjacency().NNZ()
	isolated := false
	for i := range g.Len() {
		if rowPtr[i] == rowPtr[i+1] { // 1 on the diagonal
			t.entries++
			isolated = true
		}
	}
	t.w = sync.OnceValue(func() *sparse.CSR { return g.Normalized(graph.NormalizedAdjacency) })
	t.walks = sync.OnceValue(func() walks {
		if isolated { // walks need W
			return newWalks(t.w(), g.WalkScale(graph.NormalizedAdjacency), nil)
		}
		return walksOn(g)
	})
}

// tables is the memory of walks on the matrix, beyond lists with a number per node: a number per entry
// where steps have unequal odds, and one where W is a copy.
func (x walks) tables() float64 {
	_, _, val := x.w.Raw()
	bytes := 8 * float64(len(val))
	if x.strengths == nil {
		return 2 * bytes
	}
	var unequal atomic.Bool
	parallel.Ranges(len(val), 1<<16, func(lo, hi int) {
		if slices.ContainsFunc(val[lo:hi], func(v float64) bool { return v != val[0] }) {
			unequal.Store(true)
		}
	})
	if unequal.Load() {
		return bytes
	}
	return 8 * float64(len(x.strengths))
}
