package graph

import (
	"math"

	"grfgp/sparse"
)

// Level is a coarser graph: its nodes are cells of nodes of the graph below.
type Level struct {
	Graph   *Graph      // of cells; weights between cells add up, what lies inside a cell is gone
	Cell    []uint32    // the cell of every node of the graph below
	Mass    []float64   // per cell: how many nodes of the finest graph it holds
	Prolong *sparse.CSR // from cells to the nodes below: smooth, positive, rows sum to 1
}

const (
	wideReach   = 3    // hops round a seed that hold no other: distances grow by 3 to 4
	narrowReach = 2    // the same where balls of the wide reach are too large
	mostPerCell = 32   // nodes of a mean cell that are too many
	strong      = 0.25 // of the heaviest edge at one of its ends: what makes a neighbour
	leastShrink = 0.2  // of the nodes that may go: what makes a level worth having
)

// Coarsen returns coarser and coarser graphs, from fine to coarse, down to one
// of at most the given number of nodes; none if g has no more than that. Cells
// are connected and never join two components. The last level is larger than
// wanted where cells no longer shrink, or where there are more components than
// that: then those with the most nodes to spare end at that many above the
// number of components. Time and memory grow with nodes and edges.
//
// Weights too large to be added up are scaled down first, all by the same power
// of two.
func (g *Graph) Coarsen(most int) []Level {
	most = max(1, most)
	if g.Len() <= most {
		return nil
	}
	_, sizes := g.Components()
	parts := len(sizes)
	if parts >= most {
		most += parts
	}
	mass := make([]float64, g.Len())
	for i := range mass {
		mass[i] = 1
	}
	var levels []Level
	for below := g; below.Len() > most; {
		cell, cells := below.cells()
		if float64(cells-parts) > (1-leastShrink)*float64(below.Len()-parts) {
			break
		}
		coarse := make([]float64, cells)
		for i, c := range cell {
			coarse[c] += mass[i]
		}
		l := Level{Graph: below.aggregate(cell, cells), Cell: cell, Mass: coarse, Prolong: below.prolong(cell, cells)}
		levels = append(levels, l)
		below, mass = l.Graph, coarse
	}
	return levels
}

// aggregate returns the graph of the cells.
func (g *Graph) aggregate(cell []uint32, cells int) *Graph {
	_, _, val := g.adj.Raw()
	scale := 1.0
	if math.IsInf(sum(val), 1) {
		scale = 0x1p-40 // there are fewer entries than that
	}
	var e Edges
	for i := range g.Len() {
		cols, vals := g.adj.Row(i)
		for p, j := range cols {
			if int(j) < i && cell[j] != cell[i] {
				e.add(int(cell[i]), int(cell[j]))
				e.W = append(e.W, max(vals[p]*scale, math.SmallestNonzeroFloat64))
			}
		}
	}
	coarse, _, err := FromEdges(NumberLabels(cells), e, BuildOptions{Parallel: ParallelSum})
	if err != nil {
		panic("graph: cells of a valid graph: " + err.Error())
	}
	return coarse
}

// cells cuts the graph into balls round seeds and returns the ball of every
// node, numbered by their first nodes, and how many there are.
func (g *Graph) cells() (cell []uint32, cells int) {
	t := newTiling(g)
	t.seed(wideReach)
	if len(t.seeds)*mostPerCell < g.Len() {
		t.seed(narrowReach)
	}
	t.fill()
	return t.cell, len(t.seeds)
}

// tiling is a cut into cells on its way. Distances are hops along edges that are
// strong at one of their ends, so that what is tightly joined stays together.
type tiling struct {
	g       *Graph
	top     []float64 // the weight of the heaviest edge of every node
	seeds   []uint32
	hops    []uint8 // from the nearest seed; more than the reach if none is near
	reach   uint8
	cell    []uint32
	queue   []uint32
	waiting []uint32
}

const (
	unseen = math.MaxUint8     // by any seed
	queued = math.MaxUint8 - 1 // just out of reach of one
)

func newTiling(g *Graph) *tiling {
	t := &tiling{g: g, top: make([]float64, g.Len()), hops: make([]uint8, g.Len()), cell: make([]uint32, g.Len())}
	for i := range t.top {
		cols, vals := g.adj.Row(i)
		for p, j := range cols {
			if int(j) != i {
				t.top[i] = max(t.top[i], vals[p])
			}
		}
	}
	return t
}

// joins tells whether an edge of node i counts for distances.
func (t *tiling) joins(i, j uint32, w float64) bool {
	return w >= strong*min(t.top[i], t.top[j])
}

// seed chooses nodes of which no two are within reach of each other, and every
// other node is within reach of one. Those just out of reach of earlier ones
// come first, so that balls are packed tightly whatever the numbers of nodes.
func (t *tiling) seed(reach uint8) {
	t.seeds, t.reach = t.seeds[:0], reach
	for i := range t.hops {
		t.hops[i] = unseen
	}
	for root := range t.hops {
		if t.hops[root] <= reach {
			continue
		}
		t.waiting = append(t.waiting[:0], uint32(root))
		for head := 0; head < len(t.waiting); head++ {
			if i := t.waiting[head]; t.hops[i] > reach {
				t.seeds = append(t.seeds, i)
				t.cover(i)
			}
		}
	}
}

// cover shortens the hops round a new seed. A node's hops shrink a few times at
// most, which bounds the time of all seeds together.
func (t *tiling) cover(seed uint32) {
	t.hops[seed] = 0
	t.queue = append(t.queue[:0], seed)
	for head := 0; head < len(t.queue); head++ {
		i := t.queue[head]
		next := t.hops[i] + 1
		cols, vals := t.g.adj.Row(int(i))
		for p, j := range cols {
			if t.hops[j] <= next || !t.joins(i, j, vals[p]) {
				continue
			}
			switch {
			case next <= t.reach:
				t.hops[j] = next
				t.queue = append(t.queue, j)
			case t.hops[j] == unseen:
				t.hops[j] = queued
				t.waiting = append(t.waiting, j)
			}
		}
	}
}

// fill gives every node the cell of a neighbour nearer to a seed: the cell that
// it has the heaviest edges to, of several the smallest, then the first.
func (t *tiling) fill() {
	size := make([]int, len(t.seeds))
	for c, i := range t.seeds {
		t.cell[i], size[c] = uint32(c), 1
	}
	weight := make([]float64, len(t.seeds))
	var near []uint32 // cells that have a weight
	for hops := uint8(1); hops <= t.reach; hops++ {
		for i, h := range t.hops {
			if h != hops {
				continue
			}
			cols, vals := t.g.adj.Row(i)
			near = near[:0]
			for p, j := range cols {
				if t.hops[j] < hops {
					c := t.cell[j]
					if weight[c] == 0 {
						near = append(near, c)
					}
					weight[c] += vals[p]
				}
			}
			best := near[0]
			for _, c := range near[1:] {
				switch w := weight[c]; {
				case w < weight[best]:
				case w > weight[best] || size[c] < size[best] || size[c] == size[best] && c < best:
					best = c
				}
			}
			for _, c := range near {
				weight[c] = 0
			}
			t.cell[i] = best
			size[best]++
		}
	}
	t.number()
}

// number renames the cells by their first nodes: neighbours in the order of the
// nodes stay so in that of the cells.
func (t *tiling) number() {
	const none = math.MaxUint32
	name := make([]uint32, len(t.seeds))
	for c := range name {
		name[c] = none
	}
	next := uint32(0)
	for i, c := range t.cell {
		if name[c] == none {
			name[c] = next
			next++
		}
		t.cell[i] = name[c]
	}
}
