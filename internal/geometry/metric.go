package geometry

import "math"

// Metric measures distances in metres.
type Metric struct {
	// Unit is the number of metres of a unit of a plane; 0 means degrees of longitude and
	// latitude on the globe.
	Unit float64
}

// Globe measures great circles between longitudes and latitudes.
var Globe = Metric{}

const (
	earthRadius = 6371008.8 // mean radius in metres
	degree      = math.Pi / 180
)

// Distance returns the distance of two points in metres: by the haversine formula on the
// globe, along a straight line in a plane.
func (m Metric) Distance(a, b Point) float64 {
	if m.Unit > 0 {
		return m.Unit * math.Hypot(b.X-a.X, b.Y-a.Y)
	}
	sinY, sinX := math.Sin((b.Y-a.Y)*degree/2), math.Sin((b.X-a.X)*degree/2)
	h := sinY*sinY + math.Cos(a.Y*degree)*math.Cos(b.Y*degree)*sinX*sinX
	return 2 * earthRadius * math.Asin(min(1, math.Sqrt(h)))
}

// scale returns the metres of a unit of X and of Y near a point.
func (m Metric) scale(p Point) (x, y float64) {
	if m.Unit > 0 {
		return m.Unit, m.Unit
	}
	return earthRadius * degree * math.Max(1e-9, math.Cos(p.Y*degree)), earthRadius * degree
}

// box returns half the width and height of a box around p with all points within the
// distance, in units of X and Y.
func (m Metric) box(p Point, metres float64) (dx, dy float64) {
	_, y := m.scale(p)
	dy = metres / y
	if m.Unit > 0 {
		return dy, dy
	}
	far, _ := m.scale(Point{p.X, math.Min(90, math.Abs(p.Y)+dy)})
	return math.Min(360, 1.001*metres/far), 1.001 * dy
}

// toSegment returns the distance of p from the segment from a to b, which is straight in
// longitude and latitude, and the place of the nearest point: 0 at a, 1 at b. It is exact
// where p is near the segment.
func (m Metric) toSegment(p, a, b Point) (metres, t float64) {
	sx, sy := m.scale(p)
	ax, ay := (a.X-p.X)*sx, (a.Y-p.Y)*sy
	dx, dy := (b.X-a.X)*sx, (b.Y-a.Y)*sy
	if square := dx*dx + dy*dy; square > 0 {
		t = min(1, max(0, -(ax*dx+ay*dy)/square))
	}
	return math.Hypot(ax+t*dx, ay+t*dy), t
}
