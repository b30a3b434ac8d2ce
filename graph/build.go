package graph

import (
	"fmt"
	"math"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Edges is a list of edges as given: number k joins nodes U[k] and V[k] with
// weight W[k]. A nil W means that all weights are 1.
type Edges struct {
	U, V []uint32
	W    []float64
}

// Parallel says what several edges between the same two nodes mean.
type Parallel int

const (
	// ParallelAuto counts repeated unweighted edges once and adds up weighted
	// ones, unless every edge is listed in both directions with equal weight:
	// then each direction says the same thing and counts once.
	ParallelAuto Parallel = iota
	// ParallelSum adds the weights up.
	ParallelSum
	// ParallelOnce keeps the first of them.
	ParallelOnce
)

// BuildOptions say how a list of edges becomes a graph.
type BuildOptions struct {
	Parallel  Parallel
	KeepLoops bool // keep self loops; the default drops them
}

// BuildCounts says where every given edge went:
// given = Edges + Repeats + Loops (dropped ones) + Zero.
type BuildCounts struct {
	Edges      int  // edges of the graph, kept self loops included
	Repeats    int  // edges that fell on an earlier one
	Loops      int  // self loops given
	KeptLoops  int  // self loops in the graph
	Zero       int  // edges of weight zero, dropped
	BothWays   bool // every edge was listed in both directions
	WeightsAdd bool // weights of repeats were added up
}

const reversed = 1 << 31 // marks an edge that was given as (larger, smaller)

// FromEdges builds a graph. Its rows come out sorted and symmetric whatever the
// order of the edges, and parallel edges become one as opts say.
func FromEdges(labels *Labels, e Edges, opts BuildOptions) (*Graph, BuildCounts, error) {
	var c BuildCounts
	n := labels.Len()
	if n > sparse.MaxCols {
		return nil, c, fmt.Errorf("%w: %d nodes, at most %d are possible", ErrInvalid, n, sparse.MaxCols)
	}
	if len(e.U) != len(e.V) || e.W != nil && len(e.W) != len(e.U) {
		return nil, c, fmt.Errorf("%w: edge columns of different lengths %d, %d, %d", ErrInvalid, len(e.U), len(e.V), len(e.W))
	}
	for k := range e.U {
		if int(e.U[k]) >= n || int(e.V[k]) >= n {
			return nil, c, fmt.Errorf("%w: edge %d joins nodes %d and %d of %d", ErrInvalid, k, e.U[k], e.V[k], n)
		}
		if e.W != nil && (e.W[k] < 0 || math.IsNaN(e.W[k]) || math.IsInf(e.W[k], 0)) {
			return nil, c, fmt.Errorf("%w: weight %v between nodes %q and %q", ErrInvalid, e.W[k], labels.At(int(e.U[k])), labels.At(int(e.V[k])))
		}
	}
	up := upperRows(n, e, opts, &c)
	up.merge(opts.Parallel, &c)
	adj, err := up.symmetric(&c)
	if err != nil {
		return nil, c, fmt.Errorf("graph: joining edges: %w", err)
	}
	c.Edges = len(up.col)
	return &Graph{adj: adj, labels: labels}, c, nil
}

// upper is the upper triangle: row i holds the edges from i to nodes ≥ i.
type upper struct {
	rowPtr []int
	col    []uint32  // with the reversed mark until merge
	val    []float64 // nil: all 1
}

// upperRows sorts the given edges into rows by their smaller end.
func upperRows(n int, e Edges, opts BuildOptions, c *BuildCounts) *upper {
	drop := func(k int) bool {
		return e.U[k] == e.V[k] && !opts.KeepLoops || e.W != nil && e.W[k] == 0
	}
	rowPtr := make([]int, n+1)
	for k, u := range e.U {
		v := e.V[k]
		if u == v {
			c.Loops++
		} else if e.W != nil && e.W[k] == 0 {
			c.Zero++
		}
		if !drop(k) {
			rowPtr[min(u, v)+1]++
		}
	}
	for i := range n {
		rowPtr[i+1] += rowPtr[i]
	}
	next := slices.Clone(rowPtr[:n])
	up := &upper{rowPtr: rowPtr, col: make([]uint32, rowPtr[n])}
	if e.W != nil {
		up.val = make([]float64, rowPtr[n])
	}
	for k, u := range e.U {
		if drop(k) {
			continue
		}
		v, mark := e.V[k], uint32(0)
		if u > v {
			u, v, mark = v, u, reversed
		}
		q := next[u]
		next[u]++
		up.col[q] = v | mark
		if up.val != nil {
			up.val[q] = e.W[k]
		}
	}
	up.sortRows()
	return up
}

// sortRows orders every row by column, keeping the given order among repeats.
func (up *upper) sortRows() {
	n := len(up.rowPtr) - 1
	parallel.Ranges(n, 4096, func(lo, hi int) {
		var order []int
		for i := lo; i < hi; i++ {
			a, b := up.rowPtr[i], up.rowPtr[i+1]
			col := up.col[a:b]
			if slices.IsSortedFunc(col, compareColumns) {
				continue
			}
			if up.val == nil {
				slices.SortStableFunc(col, compareColumns)
				continue
			}
			val := up.val[a:b]
			order = order[:0]
			for p := range col {
				order = append(order, p)
			}
			slices.SortStableFunc(order, func(p, q int) int { return compareColumns(col[p], col[q]) })
			oldCol, oldVal := slices.Clone(col), slices.Clone(val)
			for p, q := range order {
				col[p], val[p] = oldCol[q], oldVal[q]
			}
		}
	})
}

func compareColumns(a, b uint32) int { return int(a&^reversed) - int(b&^reversed) }

// merge makes one edge of all edges between the same two nodes.
func (up *upper) merge(rule Parallel, c *BuildCounts) {
	c.BothWays = up.bothWays()
	once := rule == ParallelOnce || rule == ParallelAuto && up.val == nil
	forwardOnly := rule == ParallelAuto && up.val != nil && c.BothWays
	if rule == ParallelSum && up.val == nil {
		up.val = make([]float64, len(up.col))
		for p := range up.val {
			up.val[p] = 1
		}
	}
	out := 0
	for i := range len(up.rowPtr) - 1 {
		lo, hi := up.rowPtr[i], up.rowPtr[i+1]
		start := out
		for p := lo; p < hi; p++ {
			j, back := up.col[p]&^reversed, up.col[p]&reversed != 0
			if out > start && up.col[out-1] == j {
				c.Repeats++
				if !once && !(forwardOnly && back) {
					up.val[out-1] += up.val[p]
					c.WeightsAdd = true
				}
				continue
			}
			up.col[out] = j
			if up.val != nil {
				up.val[out] = up.val[p]
				if forwardOnly && back {
					up.val[out] = 0 // its forward twin follows and brings the weight
				}
			}
			out++
		}
		up.rowPtr[i] = start
	}
	up.rowPtr[len(up.rowPtr)-1] = out
	up.col = up.col[:out]
	if up.val != nil {
		up.val = up.val[:out]
	}
}

// bothWays reports whether each pair is listed equally often, and with the same
// total weight, in both directions.
func (up *upper) bothWays() bool {
	for i := range len(up.rowPtr) - 1 {
		lo, hi := up.rowPtr[i], up.rowPtr[i+1]
		for p := lo; p < hi; {
			j := up.col[p] &^ reversed
			count, sum, loop := 0, 0.0, int(j) == i
			for ; p < hi && up.col[p]&^reversed == j; p++ {
				sign, w := 1, 1.0
				if up.col[p]&reversed != 0 {
					sign = -1
				}
				if up.val != nil {
					w = up.val[p]
				}
				count += sign
				sum += float64(sign) * w
			}
			if !loop && (count != 0 || sum != 0) {
				return false
			}
		}
	}
	return len(up.col) > 0
}

// symmetric mirrors the upper triangle. Filling the lower part of all rows
// first, in order of increasing column, leaves every row sorted.
func (up *upper) symmetric(c *BuildCounts) (*sparse.CSR, error) {
	n := len(up.rowPtr) - 1
	rowPtr := make([]int, n+1)
	for i := range n {
		for _, j := range up.col[up.rowPtr[i]:up.rowPtr[i+1]] {
			rowPtr[i+1]++
			if int(j) == i {
				c.KeptLoops++
			} else {
				rowPtr[j+1]++
			}
		}
	}
	for i := range n {
		rowPtr[i+1] += rowPtr[i]
	}
	next := slices.Clone(rowPtr[:n])
	col, val := make([]uint32, rowPtr[n]), make([]float64, rowPtr[n])
	put := func(i int, j uint32, w float64) {
		q := next[i]
		next[i]++
		col[q], val[q] = j, w
	}
	weight := func(p int) float64 {
		if up.val == nil {
			return 1
		}
		return up.val[p]
	}
	for i := range n {
		for p := up.rowPtr[i]; p < up.rowPtr[i+1]; p++ {
			if j := int(up.col[p]); j != i {
				put(j, uint32(i), weight(p))
			}
		}
	}
	for i := range n {
		for p := up.rowPtr[i]; p < up.rowPtr[i+1]; p++ {
			put(i, up.col[p], weight(p))
		}
	}
	return sparse.NewCSR(n, n, rowPtr, col, val)
}
