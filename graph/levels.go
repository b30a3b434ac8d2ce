package graph

import (
	"fmt"

	"grfgp/sparse"
)

// LevelRule is the number of the rule that Levels follows. Whoever changes what Levels
// computes, if only by a bit, raises it: levels that were stored under another number are not used.
const LevelRule = 1

const (
	levelLeast  = 16   // nodes that are always few enough for the coarsest graph,
	levelMost   = 150  // and the most
	levelInside = 0.05 // least share of the edge weight inside cells
)

// Levels returns the coarser graphs that kernels of many scales are made of, from fine to coarse: those
// that the graph came with, or else it computes them. It stops coarsening once less than 5 % of the
// edge weight lies inside cells: nodes of a cell are then no nearer to each other than to other nodes.
func (g *Graph) Levels() []Level {
	if g.levels != nil {
		return *g.levels
	}
	all := g.Coarsen(max(levelLeast, min(levelMost, g.Len()/8)))
	for k := 1; k < len(all); k++ {
		if all[k].Quality(all[k-1].Graph).Inside < levelInside {
			return all[:k]
		}
	}
	return all
}

// WithLevels returns the graph with its Levels, so that they need not be computed again.
func (g *Graph) WithLevels(levels []Level) *Graph {
	h := *g
	h.levels = &levels
	return &h
}

// StoredLevels returns the levels that the graph came with, and whether it did.
func (g *Graph) StoredLevels() (levels []Level, ok bool) {
	if g.levels == nil {
		return nil, false
	}
	return *g.levels, true
}

// LevelArrays are all that a level consists of, as plain arrays that can be written to a
// file and mapped into memory.
type LevelArrays struct {
	RowPtr  []int     // where the entries of each cell begin, and one more
	Col     []uint32  // per entry: the neighbour
	Val     []float64 // per entry: the weight
	Cell    []uint32  // of every node below
	Mass    []float64 // of every cell
	FromPtr []int     // of the rows of Prolong
	FromCol []uint32
	FromVal []float64
}

// Arrays returns the arrays of a level, to be read only.
func (l Level) Arrays() LevelArrays {
	a := LevelArrays{Cell: l.Cell, Mass: l.Mass}
	a.RowPtr, a.Col, a.Val = l.Graph.adj.Raw()
	a.FromPtr, a.FromCol, a.FromVal = l.Prolong.Raw()
	return a
}

// LevelFromArrays returns the level above a graph of so many nodes that consists of the arrays, without
// copying them: they must not change afterwards. It checks that no number leads outside an array, but takes symmetry
// and sums of rows as given.
func LevelFromArrays(below int, a LevelArrays) (Level, error) {
	cells := len(a.RowPtr) - 1
	if len(a.Mass) != cells || len(a.Cell) != below {
		return Level{}, fmt.Errorf("%w: a level with arrays of different lengths", ErrInvalid)
	}
	adj, err := sparse.NewCSR(cells, cells, a.RowPtr, a.Col, a.Val)
	if err != nil {
		return Level{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	if p := firstOf(len(a.Val), func(p int) bool { return !(a.Val[p] > 0) }); p >= 0 {
		return Level{}, fmt.Errorf("%w: entry %d of a level has the weight %v", ErrInvalid, p, a.Val[p])
	}
	if i := firstOf(len(a.Cell), func(i int) bool { return int(a.Cell[i]) >= cells }); i >= 0 {
		return Level{}, fmt.Errorf("%w: node %d is in cell %d of %d", ErrInvalid, i, a.Cell[i], cells)
	}
	prolong, err := sparse.NewCSR(below, cells, a.FromPtr, a.FromCol, a.FromVal)
	if err != nil {
		return Level{}, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return Level{Graph: &Graph{adj: adj, ids: NumberIDs(cells)}, Cell: a.Cell, Mass: a.Mass, Prolong: prolong}, nil
}
