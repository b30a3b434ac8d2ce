package graph

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// ErrInvalid is wrapped by every error that rejects a graph; the message states the
// violated rule and the place.
var ErrInvalid = errors.New("not a valid graph")

// Graph is an immutable weighted undirected graph: a symmetric adjacency matrix
// of positive weights with columns in increasing order, and an id per node. It is
// safe for concurrent use.
//
// New, FromEdges and the generators number nodes as they are given; Ordered numbers
// them by locality. Call Ordered once, before modelling: products over a large graph
// are several times faster in that order, and the patches of gp.Fit assume that nodes
// with close numbers are close in the graph. Readers of package graphio return ordered
// graphs.
type Graph struct {
	adj     *sparse.CSR
	ids     *IDs
	ordered bool               // numbered by Order
	from    []uint32           // from[k] is the node that was node k before Ordered; nil if all kept their number
	hash    *[sha256.Size]byte // if it is known already
	levels  *[]Level           // likewise
}

// New returns the graph of an adjacency matrix. It checks that adj is square, sorted
// and symmetric, that stored entries are positive (a CSR is finite) and that row sums
// are finite. Nil ids name the nodes "0", "1", …. Nodes keep the numbers of their rows; see Ordered.
func New(adj *sparse.CSR, ids *IDs) (*Graph, error) {
	n, cols := adj.Dims()
	if n != cols {
		return nil, fmt.Errorf("%w: adjacency is %d×%d, not square", ErrInvalid, n, cols)
	}
	if ids == nil {
		ids = NumberIDs(n)
	}
	if ids.Len() != n {
		return nil, fmt.Errorf("%w: %d ids for %d nodes", ErrInvalid, ids.Len(), n)
	}
	// Row by row in increasing order, the entries (j, i) of later rows are met
	// in order too: one cursor per row checks symmetry in a single pass.
	rowPtr, colIdx, val := adj.Raw()
	cursor := slices.Clone(rowPtr[:n])
	for i := range n {
		cols, vals := adj.Row(i)
		for p, j := range cols {
			if p > 0 && cols[p-1] >= j {
				return nil, fmt.Errorf("%w: columns of row %d do not increase at %d", ErrInvalid, i, j)
			}
			if vals[p] <= 0 {
				return nil, fmt.Errorf("%w: weight %v between nodes %q and %q, want a number > 0; leave out what is no edge",
					ErrInvalid, vals[p], ids.At(i), ids.At(int(j)))
			}
			q := cursor[j]
			cursor[j]++
			if q >= rowPtr[j+1] || int(colIdx[q]) != i || val[q] != vals[p] {
				return nil, fmt.Errorf("%w: not symmetric between nodes %q and %q", ErrInvalid, ids.At(i), ids.At(int(j)))
			}
		}
	}
	if err := checkStrengths(rowPtr, val, ids); err != nil {
		return nil, err
	}
	return &Graph{adj: adj, ids: ids}, nil
}

// Len returns the number of nodes.
func (g *Graph) Len() int {
	n, _ := g.adj.Dims()
	return n
}

// Nodes returns all nodes: 0, 1, …, Len() − 1.
func (g *Graph) Nodes() []int {
	nodes := make([]int, g.Len())
	parallel.Ranges(len(nodes), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			nodes[i] = i
		}
	})
	return nodes
}

// Adjacency returns the matrix of weights.
func (g *Graph) Adjacency() *sparse.CSR { return g.adj }

// IDs returns the ids of the nodes.
func (g *Graph) IDs() *IDs { return g.ids }

// Edges returns the number of edges; a self loop counts as one.
func (g *Graph) Edges() int {
	var found atomic.Int64
	parallel.Ranges(g.Len(), rowBlock, func(lo, hi int) {
		loops := 0
		for i := lo; i < hi; i++ {
			if g.loop(i) != 0 {
				loops++
			}
		}
		found.Add(int64(loops))
	})
	loops := int(found.Load())
	return (g.adj.NNZ()-loops)/2 + loops
}

// loop returns the weight of the self loop of node i, 0 if it has none.
func (g *Graph) loop(i int) float64 {
	cols, vals := g.adj.Row(i)
	if p, found := slices.BinarySearch(cols, uint32(i)); found {
		return vals[p]
	}
	return 0
}

// Degrees returns the number of neighbours of every node; a self loop makes a
// node its own neighbour, once.
func (g *Graph) Degrees() []int {
	rowPtr, _, _ := g.adj.Raw()
	degrees := make([]int, g.Len())
	parallel.Ranges(len(degrees), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			degrees[i] = rowPtr[i+1] - rowPtr[i]
		}
	})
	return degrees
}

// Lone returns the nodes without neighbours other than themselves, in increasing order.
func (g *Graph) Lone() (nodes []int) {
	rowPtr, col, _ := g.adj.Raw()
	found := make([][]int, (g.Len()+rowBlock-1)/rowBlock)
	parallel.Ranges(g.Len(), rowBlock, func(lo, hi int) {
		var own []int
		for i := lo; i < hi; i++ {
			if row := col[rowPtr[i]:rowPtr[i+1]]; len(row) == 0 || len(row) == 1 && int(row[0]) == i {
				own = append(own, i)
			}
		}
		found[lo/rowBlock] = own
	})
	return slices.Concat(found...)
}

// Strengths returns the weighted degrees D_i = Σ_j A_ij.
func (g *Graph) Strengths() []float64 {
	rowPtr, _, val := g.adj.Raw()
	strengths := make([]float64, g.Len())
	parallel.Ranges(len(strengths), rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			strengths[i] = sum(val[rowPtr[i]:rowPtr[i+1]])
		}
	})
	return strengths
}
