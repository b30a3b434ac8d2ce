package report

import (
	"fmt"
	"math"

	"grfgp/graphio"
	"grfgp/internal/chart"
	"grfgp/internal/layout"
)

// places say where nodes are drawn: between 0 and 1 in the longer direction.
type places struct {
	layout.Points
	areas      [][]chart.Outline // of nodes; nil: none has any
	grid       int               // of the points of areas
	note       string            // why nodes are where they are
	kilometres float64           // of a unit; 0: not known
}

// kilometresPerDegree is that of latitude, on a sphere with the radius of the earth.
const kilometresPerDegree = 6371.0 * math.Pi / 180

// placesOf returns the places of nodes: those of the node table, or the middles of areas, or such
// that neighbours are near each other.
func placesOf(net *graphio.Network, seed uint64) (*places, error) {
	areas, err := areasOf(net)
	if err != nil {
		return nil, err
	}
	p := &places{areas: areas}
	lat, lon, x, y := coordinates(net, areas)
	switch {
	case lat != nil:
		p.Points, p.kilometres, p.note = layout.Geographic(lat, lon), kilometresPerDegree, "Nodes are at their lat and lon."
		meridian, shrink := layout.Projection(lat, lon)
		for _, parts := range areas {
			for _, o := range parts {
				first := math.Remainder(o.X[0]-meridian, 360)
				for k := range o.X { // an area is not torn at the antimeridian
					o.X[k] = (first + math.Remainder(o.X[k]-meridian-first, 360)) * shrink
				}
			}
		}
	case x != nil:
		p.Points, p.note = layout.Points{X: append([]float64{}, x...), Y: append([]float64{}, y...)}, "Nodes are at their x and y."
	default:
		p.Points, p.note = layout.Of(net.Graph, seed), "There are no coordinates: connected nodes are drawn close together. Up, down, left "+
			"and right have no meaning."
	}
	if areas != nil {
		p.note = "Nodes are drawn as their areas."
	}
	p.scale()
	return p, nil
}

// coordinates returns latitudes and longitudes, or else plane coordinates, of the node table or of
// the middles of areas; nil where at least half of the nodes have none.
func coordinates(net *graphio.Network, areas [][]chart.Outline) (lat, lon, x, y []float64) {
	if nodes := net.Nodes; nodes != nil {
		switch {
		case mostlyKnown(nodes.Lat, nodes.Lon):
			return nodes.Lat, nodes.Lon, nil, nil
		case mostlyKnown(nodes.X, nodes.Y):
			return nil, nil, nodes.X, nodes.Y
		}
	}
	if areas == nil {
		return nil, nil, nil, nil
	}
	x, y = make([]float64, len(areas)), make([]float64, len(areas))
	degrees := true
	for i, parts := range areas {
		x[i], y[i] = math.NaN(), math.NaN()
		if len(parts) == 0 {
			continue
		}
		x[i], y[i] = middle(parts)
		degrees = degrees && math.Abs(x[i]) <= 180 && math.Abs(y[i]) <= 90
	}
	switch {
	case !mostlyKnown(x, y):
		return nil, nil, nil, nil
	case degrees:
		return y, x, nil, nil
	}
	return nil, nil, x, y
}

// areasOf parses the shapes of nodes; nil if none has an outline.
func areasOf(net *graphio.Network) ([][]chart.Outline, error) {
	if net.Nodes == nil {
		return nil, nil
	}
	var areas [][]chart.Outline
	for i, text := range net.Nodes.Shapes {
		if text == "" {
			continue
		}
		parts, err := parseShape(text)
		if err != nil {
			return nil, fmt.Errorf("area of node %q: %w", net.Graph.IDs().At(i), err)
		}
		if len(parts) > 0 && areas == nil {
			areas = make([][]chart.Outline, len(net.Nodes.Shapes))
		}
		if len(parts) > 0 {
			areas[i] = parts
		}
	}
	return areas, nil
}

// mostlyKnown reports whether at least half of the nodes have both coordinates.
func mostlyKnown(a, b []float64) bool {
	if a == nil || b == nil {
		return false
	}
	known := 0
	for i := range a {
		if !math.IsNaN(a[i]) && !math.IsNaN(b[i]) {
			known++
		}
	}
	return 2*known >= len(a)
}

// farthest bounds coordinates, whose squares would overflow beyond.
const farthest = 1e150

// scale moves all places between 0 and 1 and simplifies areas.
func (p *places) scale() {
	x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	stretch := func(x, y float64) {
		if math.Abs(x) < farthest && math.Abs(y) < farthest {
			x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
		}
	}
	for i := range p.X {
		stretch(p.X[i], p.Y[i])
	}
	for _, parts := range p.areas {
		for _, o := range parts {
			for k := range o.X {
				stretch(o.X[k], o.Y[k])
			}
		}
	}
	size := max(x1-x0, y1-y0)
	if !(size > 1/farthest) { // all at one place, or none has any
		size = 1
	}
	move := func(xs, ys []float64) {
		for k := range xs {
			if math.Abs(xs[k]) < farthest && math.Abs(ys[k]) < farthest {
				xs[k], ys[k] = (xs[k]-x0)/size, (ys[k]-y0)/size
			} else {
				xs[k], ys[k] = math.NaN(), math.NaN()
			}
		}
	}
	move(p.X, p.Y)
	p.kilometres *= size
	if p.areas == nil {
		return
	}
	for _, parts := range p.areas {
		for _, o := range parts {
			move(o.X, o.Y)
		}
	}
	p.areas, p.grid = onGrid(p.areas)
	for _, parts := range p.areas {
		for _, o := range parts {
			for k := range o.X {
				o.X[k], o.Y[k] = o.X[k]/float64(p.grid), o.Y[k]/float64(p.grid)
			}
		}
	}
}
