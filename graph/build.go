package graph

import (
	"fmt"
	"math"

	"grfgp/sparse"
)

// Edges is a list of edges: edge k joins nodes U[k] and V[k] with weight W[k]. A
// nil W means that all weights are 1.
type Edges struct {
	U, V []uint32
	W    []float64
}

// Parallel is the rule for several edges between the same two nodes.
type Parallel int

const (
	// ParallelAuto counts repeated unweighted edges once and adds the weights of
	// weighted ones, unless every edge is listed in both directions with equal
	// weight: then both directions are the same edge.
	ParallelAuto Parallel = iota
	// ParallelSum adds the weights.
	ParallelSum
	// ParallelOnce keeps the first edge.
	ParallelOnce
)

// BuildOptions are the options of FromEdges; the zero value is the default.
type BuildOptions struct {
	Parallel  Parallel // rule for parallel edges; zero: ParallelAuto
	KeepLoops bool     // keep self loops; the default drops them
}

// BuildCounts accounts for every edge given to FromEdges: Edges + Repeats + Loops
// + Zero is their number.
type BuildCounts struct {
	Edges      int  // edges of the graph, kept self loops included
	Repeats    int  // edges merged into an earlier one
	Loops      int  // self loops dropped
	Zero       int  // other edges of weight zero, dropped
	KeptLoops  int  // self loops kept, included in Edges
	BothWays   bool // every edge was listed in both directions
	WeightsAdd bool // the weights of repeats were added
	Reversed   int  // pairs of nodes that are listed in both directions
}

// Given returns the number of edges that were given.
func (c BuildCounts) Given() int { return c.Edges + c.Repeats + c.Loops + c.Zero }

// FromEdges builds a graph from edges in any order. Parallel edges are merged by
// the rule in opts. Nodes are numbered as in ids; see Ordered.
func FromEdges(ids *IDs, e Edges, opts BuildOptions) (*Graph, BuildCounts, error) {
	n := ids.Len()
	if err := e.check(ids); err != nil {
		return nil, BuildCounts{}, err
	}
	if opts.Parallel < ParallelAuto || opts.Parallel > ParallelOnce {
		return nil, BuildCounts{}, fmt.Errorf("%w: no rule %d for parallel edges", ErrInvalid, opts.Parallel)
	}
	pairs, c := sortPairs(n, e, opts.KeepLoops)
	pairs.merge(opts.Parallel, &c)
	rowPtr, col, val := pairs.symmetric()
	if pairs.val != nil {
		if err := checkStrengths(rowPtr, val, ids); err != nil {
			return nil, BuildCounts{}, err
		}
	}
	return &Graph{adj: mustCSR(n, rowPtr, col, val), ids: ids}, c, nil
}

func checkNodes(n int) error {
	if n > sparse.MaxCols {
		return fmt.Errorf("%w: %d nodes, at most %d are possible", ErrInvalid, n, sparse.MaxCols)
	}
	return nil
}

// check says which edge cannot be part of any graph.
func (e Edges) check(ids *IDs) error {
	n := ids.Len()
	if err := checkNodes(n); err != nil {
		return err
	}
	if len(e.U) != len(e.V) || e.W != nil && len(e.W) != len(e.U) {
		return fmt.Errorf("%w: edge columns of different lengths %d, %d, %d", ErrInvalid, len(e.U), len(e.V), len(e.W))
	}
	for k, u := range e.U {
		if v := e.V[k]; int(u) >= n || int(v) >= n {
			return fmt.Errorf("%w: edge %d joins nodes %d and %d of %d", ErrInvalid, k, u, v, n)
		}
	}
	for k, w := range e.W {
		if !(w >= 0 && w <= math.MaxFloat64) {
			return fmt.Errorf("%w: weight %v between nodes %q and %q, want a finite number ≥ 0",
				ErrInvalid, w, ids.At(int(e.U[k])), ids.At(int(e.V[k])))
		}
	}
	return nil
}
