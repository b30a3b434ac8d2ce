package graph

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Metric says what the columns of coordinates mean, and how distance is measured.
type Metric int

const (
	// Planar takes x, y or x, y, z in any unit: Euclidean distance.
	Planar Metric = iota
	// GreatCircle takes latitude and longitude in degrees: great-circle distance,
	// also across the date line and the poles.
	GreatCircle
)

// KNN joins every point, a row of coords, to its k nearest points by edges of
// weight 1. Of points at the same distance the lowest numbers come first. Two
// points are joined if one of them is among the k nearest of the other, so a node
// may have more than k neighbours. Points may coincide.
func KNN(coords *mat.Dense, k int, m Metric) (*Graph, error) {
	points, err := places(coords, m)
	if err != nil {
		return nil, err
	}
	n := len(points)
	if k < 1 {
		return nil, fmt.Errorf("%w: %d nearest neighbours, want 1 or more", ErrInvalid, k)
	}
	if k >= n {
		return nil, fmt.Errorf("%w: %d nearest neighbours among %d points, a point has only %d others", ErrInvalid, k, n, max(0, n-1))
	}
	if err := checkEdges(float64(n) * float64(k)); err != nil {
		return nil, err
	}
	e := Edges{U: make([]uint32, n*k), V: make([]uint32, n*k)}
	newKDTree(points).neighbours(k, e.U, e.V)
	return fromPattern(n, e)
}

// places returns the rows of coords as points in space. On the unit sphere the
// straight distance grows with the one along the surface.
func places(coords *mat.Dense, m Metric) ([]point, error) {
	n, cols := coords.Dims()
	switch {
	case m != Planar && m != GreatCircle:
		return nil, fmt.Errorf("%w: no metric %d", ErrInvalid, m)
	case m == Planar && cols != 2 && cols != 3:
		return nil, fmt.Errorf("%w: %d columns of coordinates, want x, y or x, y, z", ErrInvalid, cols)
	case m == GreatCircle && cols != 2:
		return nil, fmt.Errorf("%w: %d columns of coordinates, want latitude and longitude", ErrInvalid, cols)
	}
	points := make([]point, n)
	largest := 0.0
	for i := range points {
		row := coords.RawRowView(i)
		for c, x := range row {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return nil, fmt.Errorf("%w: coordinate %d of point %d is %v", ErrInvalid, c, i, x)
			}
			largest = max(largest, math.Abs(x))
		}
		points[i].id = uint32(i)
		if m == Planar {
			copy(points[i].at[:], row)
			continue
		}
		lat, lon := row[0], row[1]
		if math.Abs(lat) > 90 || math.Abs(lon) > 360 {
			return nil, fmt.Errorf("%w: point %d lies at latitude %v, longitude %v, want degrees within ±90 and ±360; are the columns swapped?",
				ErrInvalid, i, lat, lon)
		}
		sinLat, cosLat := sincosDegrees(lat)
		sinLon, cosLon := sincosDegrees(lon)
		points[i].at = [3]float64{cosLat * cosLon, cosLat * sinLon, sinLat}
	}
	if m == Planar && largest > 0 {
		// Squares of distances must neither overflow nor vanish. A power of two
		// changes nothing else.
		_, exp := math.Frexp(largest)
		for i := range points {
			for c, x := range points[i].at {
				points[i].at[c] = math.Ldexp(x, -exp)
			}
		}
	}
	return points, nil
}

// sincosDegrees is exact at multiples of 90°, so that all points of a pole, and
// longitudes 180 and −180, are the same place.
func sincosDegrees(x float64) (sin, cos float64) {
	r := math.Remainder(x, 90)
	sin, cos = math.Sincos(r * math.Pi / 180)
	switch quarter := int(math.Round((x - r) / 90)); (quarter%4 + 4) % 4 {
	case 1:
		return cos, -sin
	case 2:
		return -sin, -cos
	case 3:
		return -cos, sin
	}
	return sin, cos
}
