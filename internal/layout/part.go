package layout

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
)

// part is a connected component while it is placed.
type part struct {
	rowPtr []int
	col    []int32 // neighbours, by their number within the part; no self loops
	x, y   []float64
}

func newPart(g *graph.Graph, nodes, local []int32) *part {
	p := &part{rowPtr: make([]int, len(nodes)+1), x: make([]float64, len(nodes)), y: make([]float64, len(nodes))}
	for k, i := range nodes {
		cols, _ := g.Adjacency().Row(int(i))
		for _, j := range cols {
			if j != uint32(i) {
				p.col = append(p.col, local[j])
			}
		}
		p.rowPtr[k+1] = len(p.col)
	}
	return p
}

func (p *part) len() int                 { return len(p.x) }
func (p *part) neighbours(i int) []int32 { return p.col[p.rowPtr[i]:p.rowPtr[i+1]] }

// refined is the largest number of nodes whose layout is refined by forces.
const refined = 5000

// place sets x and y.
func (p *part) place(seed uint64) *part {
	switch n := p.len(); {
	case n == 1:
	case n == 2:
		p.x[1] = 1
	default:
		p.byDistances(seed)
		if n <= refined {
			p.relax()
		}
	}
	return p
}

// byDistances places nodes by classical scaling of hop distances to a few
// pivots (Brandes and Pich, "Eigensolver methods for progressive
// multidimensional scaling of large data", 2007). Each pivot is the node that is
// farthest from those before it.
func (p *part) byDistances(seed uint64) {
	n := p.len()
	pivots := min(n, 40)
	if n > 100_000 {
		pivots = 12
	}
	c := mat.NewDense(n, pivots, nil)
	nearest := make([]int32, n) // hops to the nearest pivot
	for i := range nearest {
		nearest[i] = math.MaxInt32
	}
	hops, queue := make([]int32, n), make([]int32, 0, n)
	pivot := p.rim(hops, queue)
	for k := range pivots {
		p.search(pivot, hops, queue)
		for i, h := range hops {
			c.Set(i, k, -float64(h)*float64(h)/2)
			nearest[i] = min(nearest[i], h)
		}
		for i, h := range nearest {
			if h > nearest[pivot] {
				pivot = i
			}
		}
	}
	centre(c)
	var gram mat.SymDense
	gram.SymOuterK(1, c.T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&gram, true) {
		panic("layout: eigenvalues of a Gram matrix did not converge")
	}
	var vectors, places mat.Dense
	eigen.VectorsTo(&vectors)
	places.Mul(c, vectors.Slice(0, pivots, max(0, pivots-2), pivots))
	// A little noise parts nodes that are alike to every pivot.
	noise := rng.New(seed, "layout", uint64(n))
	for i := range n {
		p.x[i], p.y[i] = places.At(i, 1), places.At(i, 0)
	}
	unit := min(p.edgeLength(), p.side()/math.Sqrt(float64(n)))
	if !(unit > 0) {
		unit = 1
	}
	for i := range n {
		p.x[i] = p.x[i]/unit + 0.2*(noise.Float64()-0.5)
		p.y[i] = p.y[i]/unit + 0.2*(noise.Float64()-0.5)
	}
}

// rim returns a peripheral node: one end of a long shortest path.
func (p *part) rim(hops, queue []int32) int {
	return p.search(p.search(0, hops, queue), hops, queue)
}

// search fills hops with distances from root and returns the last node reached.
func (p *part) search(root int, hops, queue []int32) int {
	for i := range hops {
		hops[i] = -1
	}
	hops[root] = 0
	queue = append(queue[:0], int32(root))
	for head := 0; head < len(queue); head++ {
		i := queue[head]
		for _, j := range p.neighbours(int(i)) {
			if hops[j] < 0 {
				hops[j] = hops[i] + 1
				queue = append(queue, j)
			}
		}
	}
	return int(queue[len(queue)-1])
}

// centre makes all rows and columns sum to zero.
func centre(c *mat.Dense) {
	n, k := c.Dims()
	columns, total := make([]float64, k), 0.0
	for i := range n {
		for j, v := range c.RawRowView(i) {
			columns[j] += v / float64(n)
		}
	}
	for _, v := range columns {
		total += v / float64(k)
	}
	for i := range n {
		row, mean := c.RawRowView(i), 0.0
		for _, v := range row {
			mean += v / float64(k)
		}
		for j := range row {
			row[j] += total - mean - columns[j]
		}
	}
}

// edgeLength returns the root mean square length of edges.
func (p *part) edgeLength() float64 {
	sum := 0.0
	for i := range p.len() {
		for _, j := range p.neighbours(i) {
			dx, dy := p.x[j]-p.x[i], p.y[j]-p.y[i]
			sum += dx*dx + dy*dy
		}
	}
	return math.Sqrt(sum / float64(len(p.col)))
}

// bounds returns the smallest and largest coordinates.
func bounds(x, y []float64) (lowX, highX, lowY, highY float64) {
	return slices.Min(x), slices.Max(x), slices.Min(y), slices.Max(y)
}

// side returns the side of a square with the area of the part, but at least half its
// length.
func (p *part) side() float64 {
	lowX, highX, lowY, highY := bounds(p.x, p.y)
	w, h := highX-lowX, highY-lowY
	return max(math.Sqrt(w*h), max(w, h)/2)
}

// tame draws in what lies far from the middle, so that a few nodes at the ends of long paths do not
// leave the others a small part of the picture: beyond the bulk, distances grow as their logarithm.
// Neighbours stay near each other, and order along each axis is kept.
func tame(v []float64) {
	const bulk = 0.95
	sorted := slices.Sorted(slices.Values(v))
	middle := sorted[len(sorted)/2]
	for k := range sorted {
		sorted[k] = math.Abs(v[k] - middle)
	}
	slices.Sort(sorted)
	reach := sorted[int(bulk*float64(len(sorted)-1))]
	if !(reach > 0) {
		return
	}
	for k := range v {
		if far := math.Abs(v[k]-middle) / reach; far > 1 {
			v[k] = middle + math.Copysign(reach*(1+math.Log(2*far-1)/2), v[k]-middle)
		}
	}
}

// fit moves the part to the origin, scales it to about a unit square per node, and returns
// its bounding box with a margin.
func (p *part) fit() box {
	if p.len() > refined {
		tame(p.x)
		tame(p.y)
	}
	lowX, highX, lowY, highY := bounds(p.x, p.y)
	w, h := highX-lowX, highY-lowY
	scale := 0.0
	if side := p.side(); side > 0 {
		scale = math.Sqrt(float64(p.len())) / side
	}
	if p.len() == 2 { // a line has no area: pairs, of which there may be many, would take much room
		scale = 1
	}
	margin := 0.5 + 0.03*scale*max(w, h)
	for i := range p.len() {
		p.x[i] = (p.x[i]-lowX)*scale + margin
		p.y[i] = (p.y[i]-lowY)*scale + margin
	}
	return box{w: w*scale + 2*margin, h: h*scale + 2*margin}
}
