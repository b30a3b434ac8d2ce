package layout

import (
	"math"

	"grfgp/internal/parallel"
)

const (
	rounds = 60
	reach  = 2.5 // how far nodes push each other, in lengths of an edge
)

// relax refines a layout by forces: edges attract like springs, near nodes repel each
// other (Fruchterman and Reingold, "Graph drawing by force-directed placement", 1991, with
// their grid). All nodes move simultaneously, so the result does not depend on the number
// of threads.
func (p *part) relax() {
	n := p.len()
	dx, dy := make([]float64, n), make([]float64, n)
	var cells grid
	for round := range rounds {
		cells.fill(p.x, p.y)
		parallel.Ranges(n, 256, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				dx[i], dy[i] = p.force(i, &cells)
			}
		})
		// Steps grow shorter, so that it comes to rest.
		longest := 0.5 * (1 - float64(round)/rounds)
		for i := range n {
			length := math.Hypot(dx[i], dy[i])
			if length > 0 {
				step := min(length, longest) / length
				p.x[i] += dx[i] * step
				p.y[i] += dy[i] * step
			}
		}
	}
}

func (p *part) force(i int, cells *grid) (fx, fy float64) {
	for _, j := range p.neighbours(i) {
		dx, dy := p.x[j]-p.x[i], p.y[j]-p.y[i]
		// Hubs would otherwise fold up what hangs on them.
		pull := math.Hypot(dx, dy) / math.Sqrt(float64(len(p.neighbours(i))))
		fx += dx * pull
		fy += dy * pull
	}
	for _, row := range cells.around(p.x[i], p.y[i]) {
		for _, j := range row {
			dx, dy := p.x[i]-p.x[j], p.y[i]-p.y[j]
			if d2 := dx*dx + dy*dy; d2 > 0 && d2 <= reach*reach {
				push := 1 / max(d2, 0.01)
				fx += dx * push
				fy += dy * push
			}
		}
	}
	return fx, fy
}

// grid indexes nodes by cells of the plane.
type grid struct {
	x0, y0     float64
	cols, rows int
	start      []int32 // of each cell in nodes
	nodes      []int32
	cell       []int32 // of each node
}

func (g *grid) fill(x, y []float64) {
	lowX, highX, lowY, highY := bounds(x, y)
	// A long way between nodes must not take a grid beyond their number.
	const most = 1 << 10
	g.x0, g.y0 = lowX, lowY
	g.cols, g.rows = int(min(most, (highX-lowX)/reach))+1, int(min(most, (highY-lowY)/reach))+1
	g.start = append(g.start[:0], make([]int32, g.cols*g.rows+1)...)
	if len(g.cell) != len(x) {
		g.cell, g.nodes = make([]int32, len(x)), make([]int32, len(x))
	}
	for i := range x {
		col, row := g.at(x[i], y[i])
		g.cell[i] = int32(row*g.cols + col)
		g.start[g.cell[i]+1]++
	}
	for c := range g.cols * g.rows {
		g.start[c+1] += g.start[c]
	}
	next := append([]int32(nil), g.start...)
	for i, c := range g.cell {
		g.nodes[next[c]] = int32(i)
		next[c]++
	}
}

func (g *grid) at(x, y float64) (col, row int) {
	return min(g.cols-1, int((x-g.x0)/reach)), min(g.rows-1, int((y-g.y0)/reach))
}

// around returns the nodes in the cell of a point and its eight neighbours, row by row.
func (g *grid) around(x, y float64) (rows [3][]int32) {
	col, row := g.at(x, y)
	lo, hi := max(0, col-1), min(g.cols-1, col+1)
	for r := max(0, row-1); r <= min(g.rows-1, row+1); r++ {
		rows[r-row+1] = g.nodes[g.start[r*g.cols+lo]:g.start[r*g.cols+hi+1]]
	}
	return rows
}
