package geometry

import (
	"cmp"
	"slices"
)

// Border is a common border of two areas.
type Border struct {
	A, B   int32 // numbers of areas, A < B
	Length float64
}

// Borders finds the common borders of areas, sorted: stretches whose ends are vertices of
// both within the tolerance in metres, or lie within it on the other's outline. Areas that
// only meet in corners have no common border; touching is their number of pairs.
func Borders(areas [][]Polygon, m Metric, tolerance float64) (borders []Border, touching int) {
	var points []Point
	for _, area := range areas {
		eachRing(area, func(ring []Point) { points = append(points, ring...) })
	}
	v := merge(points, m, tolerance)
	var sides []side
	for k, area := range areas {
		eachRing(area, func(ring []Point) {
			for i := 1; i < len(ring); i++ {
				if a, b := v.of[ring[i-1]], v.of[ring[i]]; a != b {
					sides = append(sides, side{min(a, b), max(a, b), int32(k)})
				}
			}
		})
	}
	sides = cutSides(unique(sides), v.at, m, tolerance)
	borders = common(sides, v.at, m)
	return borders, corners(sides, borders)
}

func eachRing(area []Polygon, use func(ring []Point)) {
	for _, polygon := range area {
		for _, ring := range polygon {
			use(ring)
		}
	}
}

// side is a stretch of the outline of an area between two vertices, u < v.
type side struct{ u, v, area int32 }

func unique(sides []side) []side {
	slices.SortFunc(sides, func(a, b side) int {
		return cmp.Or(cmp.Compare(a.u, b.u), cmp.Compare(a.v, b.v), cmp.Compare(a.area, b.area))
	})
	return slices.Compact(sides)
}

// cutSides cuts sides at vertices that lie on them: outlines of neighbours need not have
// the same vertices.
func cutSides(sides []side, at []Point, m Metric, tolerance float64) []side {
	if len(sides) == 0 {
		return nil
	}
	boxes := make([]box, len(sides))
	for k, s := range sides {
		boxes[k] = boxOf(at[s.u], at[s.v])
	}
	tree := newRTree(boxes)
	cuts := map[int32][]cut{}
	for i, p := range at {
		dx, dy := m.box(p, tolerance)
		tree.search(box{p.X - dx, p.Y - dy, p.X + dx, p.Y + dy}, func(k int32) {
			s := sides[k]
			if s.u == int32(i) || s.v == int32(i) {
				return
			}
			if d, t := m.toSegment(p, at[s.u], at[s.v]); d <= tolerance && t > 0 && t < 1 {
				cuts[k] = append(cuts[k], cut{t, int32(i)})
			}
		})
	}
	var out []side
	for k, s := range sides {
		c := cuts[int32(k)]
		slices.SortFunc(c, func(a, b cut) int { return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.vertex, b.vertex)) })
		from := s.u
		for _, c := range append(c, cut{1, s.v}) {
			out = append(out, side{min(from, c.vertex), max(from, c.vertex), s.area})
			from = c.vertex
		}
	}
	return unique(out)
}

// common adds up the lengths of the sides that two areas have in common.
func common(sides []side, at []Point, m Metric) []Border {
	lengths := map[[2]int32]float64{}
	for from := 0; from < len(sides); {
		to := from + 1
		for to < len(sides) && sides[to].u == sides[from].u && sides[to].v == sides[from].v {
			to++
		}
		if to > from+1 {
			d := m.Distance(at[sides[from].u], at[sides[from].v])
			for i := from; i < to; i++ {
				for k := i + 1; k < to; k++ {
					lengths[[2]int32{sides[i].area, sides[k].area}] += d
				}
			}
		}
		from = to
	}
	var out []Border
	for pair, d := range lengths {
		out = append(out, Border{pair[0], pair[1], d})
	}
	slices.SortFunc(out, func(a, b Border) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
	return out
}

// corners counts the pairs of areas that share a vertex and no border.
func corners(sides []side, borders []Border) int {
	type corner struct{ vertex, area int32 }
	var all []corner
	for _, s := range sides {
		all = append(all, corner{s.u, s.area}, corner{s.v, s.area})
	}
	slices.SortFunc(all, func(a, b corner) int { return cmp.Or(cmp.Compare(a.vertex, b.vertex), cmp.Compare(a.area, b.area)) })
	all = slices.Compact(all)
	joined := map[[2]int32]bool{}
	for _, b := range borders {
		joined[[2]int32{b.A, b.B}] = true
	}
	pairs := map[[2]int32]bool{}
	for from := 0; from < len(all); {
		to := from + 1
		for to < len(all) && all[to].vertex == all[from].vertex {
			to++
		}
		for i := from; i < to; i++ {
			for k := i + 1; k < to; k++ {
				if pair := [2]int32{all[i].area, all[k].area}; !joined[pair] {
					pairs[pair] = true
				}
			}
		}
		from = to
	}
	return len(pairs)
}
