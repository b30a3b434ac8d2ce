package graph

import (
	"context"
	"math"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// point is a numbered place.
type point struct {
	at [3]float64
	id uint32
}

// distance returns the squared distance of two places that differ by d. Bounds
// are computed by it too: rounded alike, they are never above what they bound.
func distance(d [3]float64) float64 { return d[0]*d[0] + d[1]*d[1] + d[2]*d[2] }

// kdTree is a balanced k-d tree without pointers. Node k of level l, both from
// 0, holds the points n·k/2^l to n·(k+1)/2^l; its halves are nodes 2k and 2k+1 of
// the next level. The nodes of the last level are the leaves.
type kdTree struct {
	points []point
	levels int
	cuts   []cut // of node k of level l at 2^l + k
}

// cut is the plane between the halves of a node.
type cut struct {
	axis  int
	value float64
}

const leafSize = 16

// newKDTree takes the points over and reorders them.
func newKDTree(points []point) *kdTree {
	t := &kdTree{points: points}
	for len(points)>>t.levels > leafSize {
		t.levels++
	}
	t.cuts = make([]cut, 1<<t.levels)
	pivots := rng.Derive(0, "k-d tree")
	for level := range t.levels {
		parallel.Ranges(1<<level, max(1, 1<<level/64), func(lo, hi int) {
			for k := lo; k < hi; k++ {
				node := 1<<level + k
				draw := pivots.At(uint64(node))
				t.cuts[node] = t.divide(level, k, &draw)
			}
		})
	}
	return t
}

// span returns the points of node k of a level.
func (t *kdTree) span(level, k int) (lo, hi int) {
	n := len(t.points)
	return n * k >> level, n * (k + 1) >> level
}

// divide moves the lower half of a node's points, along the axis on which they
// spread most, in front of the upper half.
func (t *kdTree) divide(level, k int, draw *rng.Stream) cut {
	lo, hi := t.span(level, k)
	_, mid := t.span(level+1, 2*k)
	p := t.points[lo:hi]
	least, most := p[0].at, p[0].at
	for i := range p {
		for a, x := range p[i].at {
			least[a], most[a] = min(least[a], x), max(most[a], x)
		}
	}
	axis := 0
	for a := range least {
		if most[a]-least[a] > most[axis]-least[axis] {
			axis = a
		}
	}
	partition(p, mid-lo, axis, draw)
	return cut{axis, p[mid-lo].at[axis]}
}

// partition puts the m-th point along an axis, and by number, in place m, those
// before it to the left and those after it to the right (quickselect).
func partition(p []point, m, axis int, draw *rng.Stream) {
	for lo, hi := 0, len(p)-1; lo < hi; {
		// The pivot is between i and j whenever they stop.
		pivot := p[lo+int(draw.Uint64()%uint64(hi-lo+1))]
		x, id := pivot.at[axis], pivot.id
		i, j := lo, hi
		for i <= j {
			for p[i].at[axis] < x || p[i].at[axis] == x && p[i].id < id {
				i++
			}
			for p[j].at[axis] > x || p[j].at[axis] == x && p[j].id > id {
				j--
			}
			if i <= j {
				p[i], p[j] = p[j], p[i]
				i++
				j--
			}
		}
		switch {
		case m <= j:
			hi = j
		case m >= i:
			lo = i
		default:
			return
		}
	}
}

// neighbours writes an edge from every point to each of its k nearest others,
// k < n: n·k edges.
func (t *kdTree) neighbours(k int, from, to []uint32) {
	leaves := 1 << t.levels
	queries := make([]query, parallel.Workers(leaves))
	_ = parallel.Blocks(context.Background(), leaves, func(worker, leaf int) error {
		q := &queries[worker]
		q.tree = t
		lo, hi := t.span(t.levels, leaf)
		for p := lo; p < hi; p++ {
			q.run(&t.points[p], k)
			for r, near := range q.nearest {
				from[p*k+r], to[p*k+r] = q.id, near.id
			}
		}
		return nil
	})
}

// query is the search for the points nearest to one.
type query struct {
	point
	tree    *kdTree
	k       int
	away    [3]float64 // how far the node at hand is from the point on each axis, at least
	limit   float64    // the distance beyond which no point is of interest
	nearest []candidate
}

type candidate struct {
	distance float64
	id       uint32
}

// before orders candidates by distance, then by number.
func (c candidate) before(d candidate) bool {
	return c.distance < d.distance || c.distance == d.distance && c.id < d.id
}

func (q *query) run(p *point, k int) {
	q.point, q.k, q.nearest = *p, k, q.nearest[:0]
	q.away, q.limit = [3]float64{}, math.Inf(1)
	q.visit(0, 0)
}

// visit searches node k of a level, the nearer half first.
func (q *query) visit(level, k int) {
	if level == q.tree.levels {
		q.scan(k)
		return
	}
	c := q.tree.cuts[1<<level+k]
	d := q.at[c.axis] - c.value
	near, far := 2*k, 2*k+1
	if d > 0 {
		near, far = far, near
	}
	q.visit(level+1, near)
	old := q.away[c.axis]
	q.away[c.axis] = d
	if distance(q.away) <= q.limit {
		q.visit(level+1, far)
	}
	q.away[c.axis] = old
}

// scan offers the points of a leaf.
func (q *query) scan(leaf int) {
	lo, hi := q.tree.span(q.tree.levels, leaf)
	points := q.tree.points[lo:hi]
	for i := range points {
		p := &points[i]
		d := distance([3]float64{q.at[0] - p.at[0], q.at[1] - p.at[1], q.at[2] - p.at[2]})
		if d <= q.limit && p.id != q.id {
			q.offer(candidate{d, p.id})
		}
	}
}

// offer keeps c if it is among the k nearest so far: a heap, the worst on top.
func (q *query) offer(c candidate) {
	h, i := q.nearest, 0
	switch {
	case len(h) < q.k:
		h = append(h, c)
		q.nearest = h
		for i = len(h) - 1; i > 0 && h[(i-1)/2].before(c); i = (i - 1) / 2 {
			h[i] = h[(i-1)/2]
		}
	case c.before(h[0]):
		for child := 1; child < len(h); child = 2*i + 1 {
			if child+1 < len(h) && h[child].before(h[child+1]) {
				child++
			}
			if h[child].before(c) {
				break
			}
			h[i] = h[child]
			i = child
		}
	default:
		return
	}
	h[i] = c
	if len(h) == q.k {
		q.limit = h[0].distance
	}
}
