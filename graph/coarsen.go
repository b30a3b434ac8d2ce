package graph

import (
	"cmp"
	"math"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/sparse"
)

// Level is a coarser graph. Its nodes are cells, disjoint sets of nodes of the graph
// below.
type Level struct {
	Graph   *Graph      // of cells; weights between two cells are summed, those inside a cell dropped
	Cell    []uint32    // the cell of every node of the graph below
	Mass    []float64   // nodes of the finest graph in each cell
	Prolong *sparse.CSR // from cells to the nodes below: smooth, positive, rows sum to 1
}

const (
	widestReach = 3    // hops round a seed without another
	mostPerCell = 32   // nodes in a cell, on average over the cells; with more, seeds move together
	mostAround  = 128  // nodes in the cell of a node, on average over the nodes; likewise
	leastShrink = 0.2  // of the nodes beyond one per component: what makes a level worth having
	strong      = 0.25 // of the heaviest edge at one of its ends: what makes a neighbour
)

// Coarsen returns coarser and coarser graphs, from fine to coarse, down to one of at
// most the given number of nodes; none if g is no larger. Cells are connected and never
// join two components. The last level is larger than asked for if a further level would
// hardly be smaller. If the graph has that many components or more, the last level has
// one cell per component and at most the given number of further cells. Time and memory
// are linear in nodes and edges, and the numbering of nodes hardly matters.
//
// Weights whose sum would overflow are scaled down first, all by the same power of two.
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
		t := below.tile(parts)
		if float64(t.cells-parts) > (1-leastShrink)*float64(below.Len()-parts) {
			break
		}
		coarse := make([]float64, t.cells)
		for i, c := range t.cell {
			coarse[c] += mass[i]
		}
		l := Level{Graph: below.aggregate(t.cell, t.cells), Cell: t.cell, Mass: coarse, Prolong: t.prolong()}
		levels = append(levels, l)
		below, mass = l.Graph, coarse
	}
	return levels
}

// Quality measures how even the cells of a level are, and how much weight is inside
// them.
type Quality struct {
	Cells                 int
	MeanSize, LargestSize float64 // nodes of the graph below in a cell
	MeanMass, LargestMass float64 // nodes of the finest graph in a cell
	Inside                float64 // share of the weight of edges below that lies inside cells
}

// Quality measures the level; below is the graph whose nodes are in its cells.
func (l Level) Quality(below *Graph) Quality {
	q := Quality{Cells: l.Graph.Len()}
	size := make([]float64, q.Cells)
	total, inside := 0.0, 0.0
	for i, c := range l.Cell {
		size[c]++
		cols, vals := below.adj.Row(i)
		for p, j := range cols {
			if int(j) < i {
				w := vals[p] * 0x1p-40 // sums stay finite
				total += w
				if l.Cell[j] == c {
					inside += w
				}
			}
		}
	}
	q.MeanSize, q.LargestSize = sum(size)/float64(q.Cells), slices.Max(size)
	q.MeanMass, q.LargestMass = sum(l.Mass)/float64(q.Cells), slices.Max(l.Mass)
	if total > 0 {
		q.Inside = inside / total
	}
	return q
}

// aggregate returns the graph of the cells.
func (g *Graph) aggregate(cell []uint32, cells int) *Graph {
	_, _, val := g.adj.Raw()
	scale := 1.0
	if math.IsInf(sum(val), 1) {
		scale = 0x1p-40 // there are fewer entries than that
	}
	e := newEdges(len(val) / 2)
	e.W = make([]float64, 0, len(val)/2)
	for i := range g.Len() {
		cols, vals := g.adj.Row(i)
		for p, j := range cols {
			if int(j) < i && cell[j] != cell[i] {
				e.add(int(cell[i]), int(cell[j]))
				e.W = append(e.W, max(vals[p]*scale, math.SmallestNonzeroFloat64))
			}
		}
	}
	coarse, _, err := FromEdges(NumberIDs(cells), e, BuildOptions{Parallel: ParallelSum})
	if err != nil {
		panic("graph: cells of a valid graph: " + err.Error())
	}
	return coarse
}

// tile cuts the graph, which has the given number of components, into balls
// round seeds.
//
// Three hops round a seed without another make distances grow by 3 to 4 on rings
// and grids alike. Among hubs they hold almost all there is: there seeds move
// together, and at last a hub shares its neighbours, but for those who have no
// other.
func (g *Graph) tile(parts int) *tiling {
	t := newTiling(g)
	nodes := g.Len() - parts // components of one node count for nothing
	for reach := uint8(widestReach); reach > 1; reach-- {
		t.seed(reach)
		if (len(t.seeds)-parts)*mostPerCell >= nodes && t.fill() <= mostAround {
			return t
		}
	}
	t.seed(1)
	t.fill()
	return t
}

// tiling is a cut into cells on its way. Distances are hops along edges that are
// strong at one of their ends, so that what is tightly joined stays together.
type tiling struct {
	g       *Graph
	top     []float64 // the weight of the heaviest edge of every node
	sure    float64   // a weight that is strong anywhere, so that few look at top
	reach   uint8     // hops round a seed without another
	seeds   []uint32
	hops    []uint8  // from the nearest seed; more than the reach if none is near
	cell    []uint32 // of every node, once filled; a number below cells
	cells   int
	queue   []uint32 // nodes that a new seed is nearer to than all before
	waiting []uint32 // nodes that may become the next seeds
}

const (
	unseen = math.MaxUint8     // by any seed
	queued = math.MaxUint8 - 1 // just out of reach of one
)

func newTiling(g *Graph) *tiling {
	t := &tiling{g: g, top: make([]float64, g.Len()), hops: make([]uint8, g.Len()), cell: make([]uint32, g.Len())}
	sure := make([]float64, (g.Len()+rowBlock-1)/rowBlock)
	parallel.Ranges(g.Len(), rowBlock, func(lo, hi int) {
		most := 0.0
		for i := lo; i < hi; i++ {
			cols, vals := g.adj.Row(i)
			for p, j := range cols {
				if int(j) != i {
					t.top[i] = max(t.top[i], vals[p])
				}
			}
			most = max(most, strong*t.top[i])
		}
		sure[lo/rowBlock] = most
	})
	for _, v := range sure {
		t.sure = max(t.sure, v)
	}
	return t
}

// joins tells whether an edge counts for distances. Next to a hub all would be
// weak but those to the hub itself: balls of one hop take every edge.
func (t *tiling) joins(i, j uint32, w float64) bool {
	return w >= t.sure || w >= strong*min(t.top[i], t.top[j]) || t.reach == 1
}

// seed chooses nodes of which no two are within reach of each other, and every
// other node is within reach of one. Those just out of reach of earlier ones
// come first, so that balls are packed tightly whatever the numbers of nodes.
// A ball of one hop takes but so many neighbours; the others stay free.
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
			if t.reach == 1 && i == seed && len(t.queue) > mostPerCell {
				break
			}
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

// fill gives every node the cell of a neighbour nearer to a seed, the nearest
// nodes first. Nodes at the same distance take turns that look random: in the
// order of their numbers, cells would all lean to the same side. Seeds that are
// left to themselves join a neighbour. It returns how many nodes the cell of a
// node has on average, lone nodes apart.
func (t *tiling) fill() (around float64) {
	f := filling{tiling: t, size: make([]int, len(t.seeds)), weight: make([]float64, len(t.seeds))}
	for c, i := range t.seeds {
		t.cell[i], f.size[c] = uint32(c), 1
	}
	for hops := uint8(1); hops <= t.reach; hops++ {
		for _, i := range f.turns(hops) {
			if i&chosen == 0 {
				f.join(int(i), hops)
			} else {
				f.size[t.cell[i&^chosen]]++
			}
		}
	}
	for c, i := range t.seeds {
		if f.size[c] == 1 && t.top[i] > 0 {
			f.size[c] = 0
			f.join(int(i), unseen)
		}
	}
	t.number()
	nodes := 0
	for _, size := range f.size {
		if size > 1 {
			nodes += size
			around += float64(size) * float64(size)
		}
	}
	return around / max(1, float64(nodes))
}

type filling struct {
	*tiling
	size   []int     // nodes of every cell so far
	weight []float64 // zero but for the cells that are near
	near   []uint32
}

// chosen marks a node that has its cell already.
const chosen = 1 << 31

// turns returns the nodes of so many hops in the order of their turns. To those who have nearer neighbours in one cell
// only it gives that cell, and marks them: most have no choice, and need not wait for their turn.
func (f *filling) turns(hops uint8) []uint32 {
	const turns = 8
	n := len(f.hops)
	// Places are counted per block and turn, then given in the order of turns.
	places := make([][turns]int, (n+rowBlock-1)/rowBlock)
	each := func(do func(place *[turns]int, i int, turn uint32)) {
		parallel.Ranges(n, rowBlock, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				if f.hops[i] == hops {
					do(&places[lo/rowBlock], i, scramble(uint32(i))%turns)
				}
			}
		})
	}
	each(func(place *[turns]int, _ int, turn uint32) { place[turn]++ })
	sum := 0
	for turn := range turns {
		for b := range places {
			places[b][turn], sum = sum, sum+places[b][turn]
		}
	}
	order := make([]uint32, sum)
	each(func(place *[turns]int, i int, turn uint32) {
		node := uint32(i)
		if cell, only := f.only(i, hops); only {
			f.cell[i] = cell
			node |= chosen
		}
		order[place[turn]] = node
		place[turn]++
	})
	return order
}

// only returns the cell of the neighbours of node i of fewer hops than said, and whether there is but one.
func (f *filling) only(i int, hops uint8) (cell uint32, ok bool) {
	cols, _ := f.g.adj.Row(i)
	for _, j := range cols {
		if f.hops[j] < hops && int(j) != i {
			if ok && f.cell[j] != cell {
				return 0, false
			}
			cell, ok = f.cell[j], true
		}
	}
	return cell, ok
}

// join gives node i the cell of a neighbour of fewer hops than said: one that is
// not full if there is any, that with the heaviest edges to i, the smallest, or
// any.
func (f *filling) join(i int, hops uint8) {
	const full = 2 * mostPerCell
	f.near = f.near[:0]
	cols, vals := f.g.adj.Row(i)
	for p, j := range cols {
		if f.hops[j] < hops && int(j) != i {
			c := f.cell[j]
			if f.weight[c] == 0 {
				f.near = append(f.near, c)
			}
			f.weight[c] += vals[p]
		}
	}
	best := f.near[0]
	for _, c := range f.near[1:] {
		if cmp.Or(
			cmp.Compare(f.size[c]/full, f.size[best]/full),
			cmp.Compare(f.weight[best], f.weight[c]),
			cmp.Compare(f.size[c], f.size[best]),
			cmp.Compare(scramble(c), scramble(best))) < 0 {
			best = c
		}
	}
	for _, c := range f.near {
		f.weight[c] = 0
	}
	f.cell[i] = best
	f.size[best]++
}

// scramble returns a number that looks random, another one for every x.
func scramble(x uint32) uint32 {
	x = (x ^ x>>16) * 0x85EBCA6B
	x = (x ^ x>>13) * 0xC2B2AE35
	return x ^ x>>16
}

// number renames the cells by their first nodes: neighbours in the order of the
// nodes stay so in that of the cells.
func (t *tiling) number() {
	const none = math.MaxUint32
	name := make([]uint32, len(t.seeds))
	for c := range name {
		name[c] = none
	}
	t.cells = 0
	for i, c := range t.cell {
		if name[c] == none {
			name[c] = uint32(t.cells)
			t.cells++
		}
		t.cell[i] = name[c]
	}
}
