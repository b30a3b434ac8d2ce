// Package layout places the nodes of a graph in the plane: by their coordinates, or, if
// there are none, such that neighbours are near each other.
package layout

import (
	"math"

	"grfgp/graph"
)

// Points are coordinates in equal units, one per node.
type Points struct{ X, Y []float64 }

// Geographic projects longitudes and latitudes by the equirectangular projection with the
// cosine of the middle latitude, which is conformal in the middle of the map. Units are
// degrees of latitude; NaN stay NaN.
func Geographic(lat, lon []float64) Points {
	// Longitudes count from their mean direction: the antimeridian cuts no map.
	east, north, low, high := 0.0, 0.0, math.Inf(1), math.Inf(-1)
	for i := range lat {
		if math.IsNaN(lat[i]) || math.IsNaN(lon[i]) {
			continue
		}
		sin, cos := math.Sincos(lon[i] * math.Pi / 180)
		east, north = east+cos, north+sin
		low, high = min(low, lat[i]), max(high, lat[i])
	}
	middle := math.Atan2(north, east) * 180 / math.Pi
	shrink := math.Cos((low + high) / 2 * math.Pi / 180)
	p := Points{make([]float64, len(lat)), make([]float64, len(lat))}
	for i := range lat {
		p.X[i] = math.Remainder(lon[i]-middle, 360) * shrink
		p.Y[i] = lat[i]
	}
	return p
}

// Of places the nodes of a graph by its edges alone, in linear time and memory. Components
// are side by side, the largest first. The same graph and seed give the same layout.
func Of(g *graph.Graph, seed uint64) Points {
	n := g.Len()
	all := Points{make([]float64, n), make([]float64, n)}
	comp, sizes := g.Components()
	members := make([][]int32, len(sizes))
	for c, size := range sizes {
		members[c] = make([]int32, 0, size)
	}
	for i, c := range comp {
		members[c] = append(members[c], int32(i))
	}
	local := make([]int32, n) // a node's number within its component
	for _, nodes := range members {
		for k, i := range nodes {
			local[i] = int32(k)
		}
	}
	boxes := make([]box, len(members))
	for c, nodes := range members {
		p := newPart(g, nodes, local).place(seed)
		boxes[c] = p.fit()
		for k, i := range nodes {
			all.X[i], all.Y[i] = p.x[k], p.y[k]
		}
	}
	pack(boxes)
	for i, c := range comp {
		all.X[i] += boxes[c].x
		all.Y[i] += boxes[c].y
	}
	return all
}

// box is the bounding box of a component.
type box struct{ x, y, w, h float64 }

// pack arranges boxes in rows of equal width, in their order; tall ones come first because
// large components do.
func pack(boxes []box) {
	area, widest := 0.0, 0.0
	for _, b := range boxes {
		area += b.w * b.h
		widest = max(widest, b.w)
	}
	width := max(widest, 1.4*math.Sqrt(area))
	x, y, tall := 0.0, 0.0, 0.0
	for k := range boxes {
		b := &boxes[k]
		if x > 0 && x+b.w > width {
			x, y, tall = 0, y-tall, 0
		}
		b.x, b.y = x, y-b.h
		x += b.w
		tall = max(tall, b.h)
	}
}
