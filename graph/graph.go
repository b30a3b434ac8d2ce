// Package graph holds weighted undirected graphs with labelled nodes: how they
// are built, checked, cut, ordered and normalised, and where they come from
// when no file does (generators, nearest neighbours).
package graph

import (
	"errors"
	"fmt"
	"math"

	"grfgp/sparse"
)

// ErrInvalid is wrapped by every error that rejects a graph; the message says
// which rule broke and where.
var ErrInvalid = errors.New("graph: not a valid graph")

// Graph is an immutable weighted undirected graph: a symmetric, non-negative
// adjacency matrix with columns in increasing order, and a label per node.
type Graph struct {
	adj    *sparse.CSR
	labels *Labels
}

// New checks that adj is square, sorted, symmetric, finite and non-negative.
// Nil labels number the nodes "0", "1", ….
func New(adj *sparse.CSR, labels *Labels) (*Graph, error) {
	n, cols := adj.Dims()
	if n != cols {
		return nil, fmt.Errorf("%w: adjacency is %d×%d, not square", ErrInvalid, n, cols)
	}
	if labels == nil {
		labels = NumberLabels(n)
	}
	if labels.Len() != n {
		return nil, fmt.Errorf("%w: %d labels for %d nodes", ErrInvalid, labels.Len(), n)
	}
	// Row by row in increasing order, the entries (j, i) of later rows are met
	// in order too: one cursor per row checks symmetry in a single pass.
	rowPtr, _, _ := adj.Raw()
	cursor := append([]int(nil), rowPtr[:n]...)
	for i := range n {
		cols, vals := adj.Row(i)
		for p, j := range cols {
			if p > 0 && cols[p-1] >= j {
				return nil, fmt.Errorf("%w: columns of row %d do not increase at %d", ErrInvalid, i, j)
			}
			if v := vals[p]; v < 0 || math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("%w: weight %v between nodes %q and %q", ErrInvalid, v, labels.At(i), labels.At(int(j)))
			}
			q := cursor[j]
			cursor[j]++
			back, backVals := adj.Row(int(j))
			if q -= rowPtr[j]; q >= len(back) || int(back[q]) != i || backVals[q] != vals[p] {
				return nil, fmt.Errorf("%w: not symmetric between nodes %q and %q", ErrInvalid, labels.At(i), labels.At(int(j)))
			}
		}
	}
	return &Graph{adj: adj, labels: labels}, nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return g.labels.Len() }

// Adjacency returns the matrix of weights.
func (g *Graph) Adjacency() *sparse.CSR { return g.adj }

// Labels returns the ids of the nodes.
func (g *Graph) Labels() *Labels { return g.labels }

// Edges returns the number of edges; a self loop counts as one.
func (g *Graph) Edges() int {
	loops := 0
	for i := range g.Len() {
		if g.adj.At(i, i) != 0 {
			loops++
		}
	}
	return (g.adj.NNZ()-loops)/2 + loops
}
