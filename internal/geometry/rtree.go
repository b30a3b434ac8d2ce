package geometry

import (
	"cmp"
	"math"
	"slices"
)

// box is a rectangle.
type box struct{ x0, y0, x1, y1 float64 }

func boxOf(a, b Point) box {
	return box{min(a.X, b.X), min(a.Y, b.Y), max(a.X, b.X), max(a.Y, b.Y)}
}

func (b box) join(c box) box {
	return box{min(b.x0, c.x0), min(b.y0, c.y0), max(b.x1, c.x1), max(b.y1, c.y1)}
}

func (b box) meets(c box) bool {
	return b.x0 <= c.x1 && c.x0 <= b.x1 && b.y0 <= c.y1 && c.y0 <= b.y1
}

// rtree finds the boxes that meet a box: a tree of boxes in which leaves hold neighbours,
// packed once (sort-tile-recursive).
type rtree struct {
	items  []int32
	levels [][]box // levels[0] are the boxes of items; a box of a level holds fanout of that below
}

const fanout = 8

func newRTree(boxes []box) *rtree {
	n := len(boxes)
	t := &rtree{items: make([]int32, n)}
	for i := range t.items {
		t.items[i] = int32(i)
	}
	byX := func(a, b int32) int {
		return cmp.Or(cmp.Compare(boxes[a].x0+boxes[a].x1, boxes[b].x0+boxes[b].x1), cmp.Compare(a, b))
	}
	byY := func(a, b int32) int {
		return cmp.Or(cmp.Compare(boxes[a].y0+boxes[a].y1, boxes[b].y0+boxes[b].y1), cmp.Compare(a, b))
	}
	slices.SortFunc(t.items, byX)
	slice := fanout * max(1, int(math.Ceil(math.Sqrt(float64(n)/fanout))))
	for tile := range slices.Chunk(t.items, slice) {
		slices.SortFunc(tile, byY)
	}
	level := make([]box, n)
	for k, i := range t.items {
		level[k] = boxes[i]
	}
	t.levels = append(t.levels, level)
	for len(level) > fanout {
		var up []box
		for group := range slices.Chunk(level, fanout) {
			all := group[0]
			for _, b := range group[1:] {
				all = all.join(b)
			}
			up = append(up, all)
		}
		level = up
		t.levels = append(t.levels, level)
	}
	return t
}

// search calls found for every item whose box meets b.
func (t *rtree) search(b box, found func(item int32)) {
	top := len(t.levels) - 1
	t.below(top, 0, len(t.levels[top]), b, found)
}

func (t *rtree) below(level, from, to int, b box, found func(int32)) {
	for k := from; k < to; k++ {
		switch {
		case !t.levels[level][k].meets(b):
		case level == 0:
			found(t.items[k])
		default:
			t.below(level-1, k*fanout, min((k+1)*fanout, len(t.levels[level-1])), b, found)
		}
	}
}
