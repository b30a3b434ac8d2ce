// Package layout places the nodes of a graph in the plane: by their coordinates, or, if
// there are none, such that neighbours are near each other.
package layout

import (
	"cmp"
	"math"
	"slices"

	"grfgp/graph"
)

// Points are coordinates in equal units, one per node.
type Points struct{ X, Y []float64 }

// Geographic projects longitudes and latitudes by the equirectangular projection with the
// cosine of the middle latitude, which is conformal in the middle of the map. Units are
// degrees of latitude; NaN stay NaN.
func Geographic(lat, lon []float64) Points {
	meridian, shrink := Projection(lat, lon)
	p := Points{make([]float64, len(lat)), make([]float64, len(lat))}
	for i := range lat {
		p.X[i] = math.Remainder(lon[i]-meridian, 360) * shrink
		p.Y[i] = lat[i]
	}
	return p
}

// Projection returns the numbers behind Geographic: x is shrink times the degrees east of the
// meridian, y the latitude.
func Projection(lat, lon []float64) (meridian, shrink float64) {
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
	return math.Atan2(north, east) * 180 / math.Pi, math.Cos((low + high) / 2 * math.Pi / 180)
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

// pack arranges boxes on shelves of equal width. They come in the order of their heights; a shelf is
// as high as its first box, and lower boxes stand on it in columns on top of each other, so that
// many small components fill the room beside a large one and leave it most of the picture.
func pack(boxes []box) {
	order := make([]int, len(boxes))
	area, widest := 0.0, 0.0
	for k, b := range boxes {
		order[k] = k
		area += b.w * b.h
		widest = max(widest, b.w)
	}
	slices.SortStableFunc(order, func(k, l int) int { return cmp.Compare(boxes[l].h, boxes[k].h) })
	width := max(widest, math.Sqrt(1.4*area))
	shelf := struct{ top, high, x float64 }{}             // x: where the next column begins
	column := struct{ x, wide, filled float64 }{wide: -1} // filled: height of its boxes
	for _, k := range order {
		b := &boxes[k]
		if b.w <= column.wide && column.filled+b.h <= shelf.high {
			b.x, b.y = column.x, shelf.top-column.filled-b.h
			column.filled += b.h
			continue
		}
		if shelf.x+b.w > width || shelf.high == 0 {
			shelf.top, shelf.high, shelf.x = shelf.top-shelf.high, b.h, 0
		}
		b.x, b.y = shelf.x, shelf.top-b.h
		column.x, column.wide, column.filled = shelf.x, b.w, b.h
		shelf.x += b.w
	}
}
