package plot

import (
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Shared arranges charts in rows of the given length, with a common legend: a name has the
// same colour in each. Charts without points are omitted; if none has points, it returns
// nil.
func Shared(title string, columns int, charts ...Chart) *Picture {
	var all Chart    // every line that has points
	var blank []Line // one of every name without points, for its colour and place
	var drawn []Chart
	for _, c := range charts {
		some := false
		for _, l := range c.Lines {
			if !slices.ContainsFunc(blank, func(b Line) bool { return b.Name == l.Name }) {
				blank = append(blank, Line{Name: l.Name, Like: l.Like, Reference: l.Reference})
			}
			if points, _, _ := c.points(l); len(points) > 0 {
				some, all.Lines = true, append(all.Lines, l)
			}
		}
		if some {
			drawn = append(drawn, c)
		}
	}
	if drawn == nil {
		return nil
	}
	all.Lines = inOrder(blank, all.Lines)
	pictures := make([]*Picture, len(drawn))
	for k, c := range drawn {
		c.Lines, c.Bare = inOrder(blank, c.Lines), true
		pictures[k] = c.Picture()
	}
	grid := Panels(title, columns, pictures...)
	keys, height := all.keys(grid.width)
	foot := height + margin/2
	return &Picture{title: grid.title, width: grid.width, height: grid.height + foot, draw: func(c draw.Canvas) {
		all.drawKeys(c, keys, height, all.colors())
		c.Push()
		c.Translate(vg.Point{Y: foot})
		grid.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: grid.width, Y: grid.height}}})
		c.Pop()
	}}
}

// inOrder returns the lines without data, each followed by those of the same name.
func inOrder(blank, lines []Line) (all []Line) {
	for _, b := range blank {
		all = append(all, b)
		for _, l := range lines {
			if l.Name == b.Name {
				all = append(all, l)
			}
		}
	}
	return all
}
