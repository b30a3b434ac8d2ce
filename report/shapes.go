package report

import (
	"encoding/json"
	"fmt"
	"math"

	"grfgp/internal/chart"
)

// geometry is a GeoJSON geometry (RFC 7946, section 3.1).
type geometry struct {
	Type        string          `json:"type"`
	Coordinates json.RawMessage `json:"coordinates"`
	Geometries  []geometry      `json:"geometries"`
}

// parseShape returns the rings and lines of a GeoJSON geometry. Outer rings run counter-clockwise
// and holes clockwise, whatever the text has, and rings are open: their last point is not the
// first again. Points have no outline.
func parseShape(text string) ([]chart.Outline, error) {
	var g geometry
	if err := json.Unmarshal([]byte(text), &g); err != nil {
		return nil, fmt.Errorf("no GeoJSON geometry: %w", err)
	}
	return g.outlines()
}

func (g geometry) outlines() (all []chart.Outline, err error) {
	var lines [][][]float64
	var polygons [][][][]float64
	switch g.Type {
	case "Point", "MultiPoint":
	case "LineString":
		lines = make([][][]float64, 1)
		err = json.Unmarshal(g.Coordinates, &lines[0])
	case "MultiLineString":
		err = json.Unmarshal(g.Coordinates, &lines)
	case "Polygon":
		polygons = make([][][][]float64, 1)
		err = json.Unmarshal(g.Coordinates, &polygons[0])
	case "MultiPolygon":
		err = json.Unmarshal(g.Coordinates, &polygons)
	case "GeometryCollection":
		for _, part := range g.Geometries {
			more, err := part.outlines()
			if err != nil {
				return nil, err
			}
			all = append(all, more...)
		}
	default:
		err = fmt.Errorf("unknown type %q of a geometry", g.Type)
	}
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		if all, err = appendOutline(all, line, 0); err != nil {
			return nil, err
		}
	}
	for _, rings := range polygons {
		for k, ring := range rings {
			turn := 1 // outer rings
			if k > 0 {
				turn = -1
			}
			if all, err = appendOutline(all, ring, turn); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// appendOutline appends a line, or a ring that turns counter-clockwise (1) or clockwise (-1). What
// has too few points is left out.
func appendOutline(all []chart.Outline, points [][]float64, turn int) ([]chart.Outline, error) {
	o := chart.Outline{Closed: turn != 0}
	for _, p := range points {
		if len(p) < 2 {
			return nil, fmt.Errorf("a position of a geometry has %d coordinates, want 2", len(p))
		}
		o.X, o.Y = append(o.X, p[0]), append(o.Y, p[1])
	}
	if n := len(o.X); o.Closed && n > 1 && o.X[0] == o.X[n-1] && o.Y[0] == o.Y[n-1] {
		o.X, o.Y = o.X[:n-1], o.Y[:n-1]
	}
	if len(o.X) < 2 || o.Closed && len(o.X) < 3 {
		return all, nil
	}
	if o.Closed && area(o)*float64(turn) < 0 {
		for a, b := 0, len(o.X)-1; a < b; a, b = a+1, b-1 {
			o.X[a], o.X[b], o.Y[a], o.Y[b] = o.X[b], o.X[a], o.Y[b], o.Y[a]
		}
	}
	return append(all, o), nil
}

// area returns the signed area of a ring, positive if it runs counter-clockwise.
func area(o chart.Outline) float64 {
	sum := 0.0
	for k, l := 0, len(o.X)-1; k < len(o.X); l, k = k, k+1 {
		sum += (o.X[l]-o.X[0])*(o.Y[k]-o.Y[0]) - (o.X[k]-o.X[0])*(o.Y[l]-o.Y[0])
	}
	return sum / 2
}

// middle returns the centre of the box around the largest outline.
func middle(all []chart.Outline) (x, y float64) {
	widest := -1.0
	for _, o := range all {
		x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for k := range o.X {
			x0, x1, y0, y1 = min(x0, o.X[k]), max(x1, o.X[k]), min(y0, o.Y[k]), max(y1, o.Y[k])
		}
		if size := math.Hypot(x1-x0, y1-y0); size > widest {
			widest, x, y = size, (x0+x1)/2, (y0+y1)/2
		}
	}
	return x, y
}

// mostPoints is the number of points of areas that a page holds at most: about 1 MB.
const mostPoints = 300_000

// onGrid moves points to a grid of whole numbers, and drops those that repeat the one before or lie
// between their neighbours on a line. Points that two areas share stay together, so that no gaps
// open between them. The grid is the finest one with at most mostPoints points.
func onGrid(areas [][]chart.Outline) (moved [][]chart.Outline, grid int) {
	for grid = 1 << 15; ; grid /= 2 {
		points := 0
		moved = make([][]chart.Outline, len(areas))
		for i, parts := range areas {
			for _, o := range parts {
				if small := snap(o, float64(grid)); len(small.X) > 1 {
					moved[i] = append(moved[i], small)
					points += len(small.X)
				}
			}
		}
		if points <= mostPoints || grid <= 1<<9 {
			return moved, grid
		}
	}
}

// snap rounds an outline with coordinates from 0 to 1 to whole numbers up to the grid.
func snap(o chart.Outline, grid float64) chart.Outline {
	small := chart.Outline{Closed: o.Closed}
	for k := range o.X {
		x, y := math.Round(o.X[k]*grid), math.Round(o.Y[k]*grid)
		n := len(small.X)
		if n > 0 && small.X[n-1] == x && small.Y[n-1] == y {
			continue
		}
		if n > 1 && between(small.X[n-2], small.Y[n-2], small.X[n-1], small.Y[n-1], x, y) {
			small.X, small.Y = small.X[:n-1], small.Y[:n-1]
		}
		small.X, small.Y = append(small.X, x), append(small.Y, y)
	}
	return small
}

// between reports whether b is on the line from a to c.
func between(ax, ay, bx, by, cx, cy float64) bool {
	return (bx-ax)*(cy-ay) == (cx-ax)*(by-ay) && (bx-ax)*(cx-bx)+(by-ay)*(cy-by) > 0
}
