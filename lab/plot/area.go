package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Outline is a part of the area of a node: a ring, or a line. Rings around an area run
// counter-clockwise, and those around holes clockwise.
type Outline struct {
	Closed bool
	X, Y   []float64
}

// hasArea reports whether node i is drawn as an area or a line.
func (v *view) hasArea(i int) bool { return v.Areas != nil && len(v.Areas[i]) > 0 }

// drawAreas fills the areas of nodes, one path per colour, and draws thin borders.
func (v *view) drawAreas(c draw.Canvas) {
	var fills, lines [shades + 1]vg.Path
	for _, i := range v.shown {
		if !v.hasArea(i) {
			continue
		}
		k := v.shade(i) + 1
		for _, part := range v.Areas[i] {
			if part.Closed {
				fills[k] = v.trace(fills[k], part)
			} else {
				lines[k] = v.trace(lines[k], part)
			}
		}
	}
	for k, path := range fills {
		if len(path) > 0 {
			c.SetColor(v.color(k - 1))
			c.Fill(path)
		}
	}
	for _, path := range fills {
		if len(path) > 0 {
			c.SetLineStyle(draw.LineStyle{Color: paper, Width: 0.3})
			c.Stroke(path)
		}
	}
	for k, path := range lines {
		if len(path) > 0 {
			c.SetLineStyle(draw.LineStyle{Color: v.color(k - 1), Width: max(1.2, v.radius/2)})
			c.Stroke(path)
		}
	}
}

// trace appends a ring or a line, without points that are less than half a point from the last.
func (v *view) trace(path vg.Path, part Outline) vg.Path {
	const near = 0.5
	var last vg.Point
	for k := range part.X {
		at := v.point(part.X[k], part.Y[k])
		switch {
		case k == 0:
			path.Move(at)
		case k < len(part.X)-1 && math.Hypot(float64(at.X-last.X), float64(at.Y-last.Y)) < near:
			continue
		default:
			path.Line(at)
		}
		last = at
	}
	if part.Closed {
		path.Close()
	}
	return path
}
