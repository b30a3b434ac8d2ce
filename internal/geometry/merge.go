package geometry

import (
	"cmp"
	"math"
	"slices"
	"sort"
)

// vertices numbers points: those within a tolerance of each other, directly or over others,
// are one vertex, which lies at the first of them by coordinates. Vertices are numbered by
// coordinates.
type vertices struct {
	at []Point
	of map[Point]int32
}

func merge(points []Point, m Metric, tolerance float64) vertices {
	unique := slices.Clone(points)
	slices.SortFunc(unique, comparePoints)
	unique = slices.Compact(unique)
	sets := newSets(len(unique))
	if tolerance > 0 {
		eachPair(unique, m, tolerance, sets.join)
	}
	v := vertices{of: make(map[Point]int32, len(unique))}
	number := make([]int32, len(unique))
	for i, p := range unique {
		root := sets.find(int32(i))
		if root == int32(i) {
			number[i] = int32(len(v.at))
			v.at = append(v.at, p)
		}
		v.of[p] = number[root]
	}
	return v
}

// eachPair calls near for all pairs of points within the distance. Points are sorted into
// rows as high as the distance, and by X within a row.
func eachPair(points []Point, m Metric, metres float64, near func(i, j int32)) {
	if len(points) == 0 {
		return
	}
	_, height := m.box(Point{}, metres)
	row := func(p Point) float64 { return math.Floor(p.Y / height) }
	order := make([]int32, len(points))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(row(points[i]), row(points[j])), cmp.Compare(points[i].X, points[j].X), cmp.Compare(i, j))
	})
	place := func(r, x float64) int {
		return sort.Search(len(order), func(k int) bool {
			p := points[order[k]]
			return cmp.Or(cmp.Compare(row(p), r), cmp.Compare(p.X, x)) >= 0
		})
	}
	for k, i := range order {
		p := points[i]
		r := row(p)
		width, _ := m.box(p, metres)
		scan := func(from int, r float64) {
			for _, j := range order[from:] {
				q := points[j]
				if row(q) != r || q.X > p.X+width {
					return
				}
				if m.Distance(p, q) <= metres {
					near(i, j)
				}
			}
		}
		scan(k+1, r)
		scan(place(r+1, p.X-width), r+1)
	}
}

// sets are disjoint sets of numbers; the smallest number of a set stands for it.
type sets []int32

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = int32(i)
	}
	return s
}

func (s sets) find(i int32) int32 {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(i, j int32) {
	a, b := s.find(i), s.find(j)
	s[max(a, b)] = min(a, b)
}
