package geometry

// Index finds the place of a point among points or areas.
type Index struct {
	m      Metric
	points []Point
	areas  [][]Polygon
	tree   *rtree
}

// NewIndex returns an index of points.
func NewIndex(points []Point, m Metric) *Index {
	boxes := make([]box, len(points))
	for i, p := range points {
		boxes[i] = boxOf(p, p)
	}
	return &Index{m: m, points: points, tree: newRTree(boxes)}
}

// NewAreaIndex returns an index of areas.
func NewAreaIndex(areas [][]Polygon) *Index {
	boxes := make([]box, len(areas))
	for i, area := range areas {
		first := true
		eachRing(area, func(ring []Point) {
			for _, p := range ring {
				if first {
					boxes[i], first = boxOf(p, p), false
				}
				boxes[i] = boxes[i].join(boxOf(p, p))
			}
		})
	}
	return &Index{areas: areas, tree: newRTree(boxes)}
}

// Nearest returns the number of the point that is nearest to p, −1 if none lies within the
// distance, and how far away it is in metres. Of several, it is the first.
func (x *Index) Nearest(p Point, within float64) (number int, metres float64) {
	dx, dy := x.m.box(p, within)
	number, metres = -1, within
	x.tree.search(box{p.X - dx, p.Y - dy, p.X + dx, p.Y + dy}, func(i int32) {
		d := x.m.Distance(p, x.points[i])
		if d < metres || d == metres && (number < 0 || int(i) < number) {
			number, metres = int(i), d
		}
	})
	return number, metres
}

// Containing returns the number of the area that contains p, −1 if none does. Of several, it
// is the first.
func (x *Index) Containing(p Point) (number int) {
	number = -1
	x.tree.search(boxOf(p, p), func(i int32) {
		if number >= 0 && int(i) > number {
			return
		}
		in := false // a point in a hole is in two rings
		eachRing(x.areas[i], func(ring []Point) { in = in != inside(p, ring) })
		if in {
			number = int(i)
		}
	})
	return number
}
