package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shared puts charts side by side, so many in a row, with one legend for all: a
// name has the same colour in each.
func Shared(title string, columns int, charts ...Chart) *Picture {
	var all Chart // a line of every name
	seen := map[string]bool{}
	for _, c := range charts {
		for _, l := range c.Lines {
			if !seen[l.Name] {
				seen[l.Name] = true
				all.Lines = append(all.Lines, Line{Name: l.Name, Reference: l.Reference, Dashed: l.Dashed, Dots: l.Dots})
			}
		}
	}
	pictures := make([]*Picture, len(charts))
	for k, c := range charts {
		var lines []Line
		for _, like := range all.Lines {
			lines = append(lines, like)
			for _, l := range c.Lines {
				if l.Name == like.Name {
					lines = append(lines, l)
				}
			}
		}
		c.Lines, c.Bare = lines, true
		pictures[k] = c.Picture()
	}
	grid := Panels(title, columns, pictures...)
	const foot = 30 // points
	return &Picture{title: grid.title, width: grid.width, height: grid.height + foot, draw: func(c draw.Canvas) {
		all.legend(draw.Crop(c, 0, 0, 0, -grid.height), all.colors())
		c.Push()
		c.Translate(vg.Point{Y: foot})
		grid.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: grid.width, Y: grid.height}}})
		c.Pop()
	}}
}
