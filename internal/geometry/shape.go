// Package geometry turns points, lines and areas on the globe or in a plane into graphs:
// lines into a network of junctions, areas into a graph of common borders. Results do not
// depend on the order of lines or areas.
package geometry

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Point is a place: degrees of longitude and latitude, or coordinates in a plane.
type Point struct{ X, Y float64 }

func comparePoints(a, b Point) int { return cmp.Or(cmp.Compare(a.X, b.X), cmp.Compare(a.Y, b.Y)) }

// Shape holds the parts of the geometry of a feature, by kind.
type Shape struct {
	Points []Point
	Lines  [][]Point
	Areas  []Polygon
}

// Polygon is an outer ring and the rings of its holes. The last point of a ring equals
// the first.
type Polygon [][]Point

// Empty reports whether the shape has no points at all.
func (s *Shape) Empty() bool { return len(s.Points) == 0 && len(s.Lines) == 0 && len(s.Areas) == 0 }

// All calls use for every point of the shape.
func (s *Shape) All(use func(Point)) {
	for _, p := range s.Points {
		use(p)
	}
	for _, line := range s.Lines {
		for _, p := range line {
			use(p)
		}
	}
	for _, polygon := range s.Areas {
		for _, ring := range polygon {
			for _, p := range ring {
				use(p)
			}
		}
	}
}

// Compare orders shapes by their coordinates.
func Compare(a, b *Shape) int {
	return cmp.Or(
		slices.CompareFunc(a.Points, b.Points, comparePoints),
		slices.CompareFunc(a.Lines, b.Lines, compareLines),
		slices.CompareFunc(a.Areas, b.Areas, func(p, q Polygon) int { return slices.CompareFunc(p, q, compareLines) }))
}

func compareLines(a, b []Point) int { return slices.CompareFunc(a, b, comparePoints) }

// AddPoint adds a point.
func (s *Shape) AddPoint(p Point) error {
	if err := finite(p); err != nil {
		return err
	}
	s.Points = append(s.Points, p)
	return nil
}

// AddLine adds a line of at least two points.
func (s *Shape) AddLine(points []Point) error {
	if len(points) < 2 {
		return fmt.Errorf("a line has %d points, not 2 or more", len(points))
	}
	if err := finite(points...); err != nil {
		return err
	}
	s.Lines = append(s.Lines, points)
	return nil
}

// AddPolygon adds an area. Each ring has at least four points, and the last equals the first.
func (s *Shape) AddPolygon(rings Polygon) error {
	if len(rings) == 0 {
		return fmt.Errorf("an area has no ring")
	}
	for _, ring := range rings {
		if err := finite(ring...); err != nil {
			return err
		}
		switch n := len(ring); {
		case n < 4:
			return fmt.Errorf("a ring has %d points, not 4 or more", n)
		case ring[0] != ring[n-1]:
			return fmt.Errorf("a ring is not closed: it begins at (%v, %v) and ends at (%v, %v)", ring[0].X, ring[0].Y, ring[n-1].X, ring[n-1].Y)
		}
	}
	s.Areas = append(s.Areas, rings)
	return nil
}

func finite(points ...Point) error {
	for _, p := range points {
		if math.IsNaN(p.X+p.Y) || math.IsInf(p.X, 0) || math.IsInf(p.Y, 0) {
			return fmt.Errorf("a coordinate is not a finite number: (%v, %v)", p.X, p.Y)
		}
	}
	return nil
}

// Center returns the centroid of the areas. Without areas, or if they are degenerate, it is
// the mean of all points, without the last of each ring, which repeats the first.
func (s *Shape) Center() Point {
	var x, y, total float64
	for _, polygon := range s.Areas {
		for k, ring := range polygon {
			c, area := ringCenter(ring)
			if k > 0 {
				area = -area
			}
			x, y, total = x+area*c.X, y+area*c.Y, total+area
		}
	}
	if total > 0 && !math.IsInf(x, 0) && !math.IsInf(y, 0) {
		return Point{x / total, y / total}
	}
	n := 0.0
	var sum Point
	add := func(p Point) { sum, n = Point{sum.X + p.X, sum.Y + p.Y}, n+1 }
	without := Shape{Points: s.Points, Lines: s.Lines}
	without.All(add)
	for _, polygon := range s.Areas {
		for _, ring := range polygon {
			for _, p := range ring[:max(0, len(ring)-1)] {
				add(p)
			}
		}
	}
	return Point{sum.X / n, sum.Y / n}
}

// ringCenter returns the centroid and the area, which is not negative, of a ring. Coordinates
// are relative to the first point, so that digits are not lost.
func ringCenter(ring []Point) (Point, float64) {
	var x, y, twice float64
	o := ring[0]
	for k := 1; k < len(ring); k++ {
		a, b := Point{ring[k-1].X - o.X, ring[k-1].Y - o.Y}, Point{ring[k].X - o.X, ring[k].Y - o.Y}
		cross := a.X*b.Y - b.X*a.Y
		x, y, twice = x+(a.X+b.X)*cross, y+(a.Y+b.Y)*cross, twice+cross
	}
	if twice == 0 {
		return o, 0
	}
	return Point{o.X + x/(3*twice), o.Y + y/(3*twice)}, math.Abs(twice) / 2
}

// inside reports whether a point lies within a ring, by the number of crossings of a ray.
func inside(p Point, ring []Point) bool {
	in := false
	for k := 1; k < len(ring); k++ {
		a, b := ring[k-1], ring[k]
		if (a.Y > p.Y) != (b.Y > p.Y) && p.X < a.X+(b.X-a.X)*(p.Y-a.Y)/(b.Y-a.Y) {
			in = !in
		}
	}
	return in
}

// Clockwise reports whether the points of a ring run clockwise.
func Clockwise(ring []Point) bool {
	twice := 0.0
	for k := 1; k < len(ring); k++ {
		twice += (ring[k].X - ring[0].X) * (ring[k-1].Y - ring[0].Y)
		twice -= (ring[k-1].X - ring[0].X) * (ring[k].Y - ring[0].Y)
	}
	return twice > 0
}

// Polygons sorts rings as shapefiles store them, outer rings clockwise and holes the other
// way, into polygons. A hole belongs to the last outer ring that contains it; a hole in no
// outer ring is taken as one, as other programs do.
func Polygons(rings [][]Point) []Polygon {
	var out []Polygon
	var holes [][]Point
	for _, ring := range rings {
		if Clockwise(ring) {
			out = append(out, Polygon{ring})
		} else {
			holes = append(holes, ring)
		}
	}
	outer := len(out)
	for _, hole := range holes {
		home := -1
		for k := range outer {
			if inside(hole[0], out[k][0]) || len(hole) > 1 && inside(hole[1], out[k][0]) {
				home = k
			}
		}
		if home < 0 {
			out = append(out, Polygon{hole})
			continue
		}
		out[home] = append(out[home], hole)
	}
	return out
}
