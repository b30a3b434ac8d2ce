package graph

import (
	"fmt"
	"math/rand/v2"

	"grfgp/internal/rng"
)

const (
	roadTile    = 16   // side of a square without roads, such as a lake
	roadTiles   = 0.08 // share of the area that such squares take
	roadStreets = 0.7  // share of the edges of the grid that are streets
	roadLong    = 1e-3 // long edges per node, such as motorways
	roadLength  = 40   // of a long edge, in steps of the grid, at most
)

// Roads returns a graph like that of streets: a grid without some squares and without
// some edges, so that nodes have 2.7 neighbours on average, and with a few long edges along rows
// and columns. It is the largest component, of some 9 nodes in 10.
func Roads(rows, cols int, seed uint64) (*Graph, error) {
	if rows < 2 || cols < 2 || rows > 1<<31/cols {
		return nil, fmt.Errorf("%w: roads on a grid of %d × %d, want 2 × 2 up to 2³¹ nodes", ErrInvalid, rows, cols)
	}
	if err := checkSize(rows * cols); err != nil {
		return nil, err
	}
	across := (cols + roadTile - 1) / roadTile
	hole := make([]bool, (rows+roadTile-1)/roadTile*across)
	draw := rand.New(rng.New(seed, "roads"))
	for k := range hole {
		hole[k] = draw.Float64() < roadTiles
	}
	empty := func(r, c int) bool { return hole[r/roadTile*across+c/roadTile] }
	e := newEdges(2 * rows * cols)
	join := func(r, c, toRow, toCol int) {
		if toRow < rows && toCol < cols && !empty(r, c) && !empty(toRow, toCol) {
			e.add(r*cols+c, toRow*cols+toCol)
		}
	}
	for r := range rows {
		for c := range cols {
			x := draw.Uint64()
			street := func(bits uint64) bool { return float64(bits&0xffff) < roadStreets*0x1p16 }
			if street(x) {
				join(r, c, r, c+1)
			}
			if street(x >> 16) {
				join(r, c, r+1, c)
			}
			if float64(x>>32&0xffffff) < roadLong*0x1p24 {
				length := 2 + draw.IntN(roadLength-1)
				if draw.IntN(2) == 0 {
					join(r, c, r, c+length)
				} else {
					join(r, c, r+length, c)
				}
			}
		}
	}
	g, err := fromPattern(rows*cols, e)
	if err != nil {
		return nil, err
	}
	g, _ = g.LargestComponent()
	return &Graph{adj: g.adj, ids: NumberIDs(g.Len())}, nil
}
