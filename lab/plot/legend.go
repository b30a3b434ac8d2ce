package plot

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// key is an entry of a legend: a name with its lines.
type key struct {
	name  string
	lines []Line
	x     vg.Length
	row   int
}

const (
	keyDash = 22 // points, of a line in the legend
	keyRow  = 13
)

func keyStyle() text.Style {
	style := letters(lowText, ink, false)
	style.YAlign = text.YCenter
	return style
}

// keys arranges the names in rows of the given width, and returns their height.
func (c Chart) keys(room vg.Length) (keys []key, height vg.Length) {
	if c.Bare {
		return nil, 0
	}
	const gap = 14
	style := keyStyle()
	x, row := margin, 0
	for _, l := range c.Lines {
		if points, _, _ := c.points(l); l.Name == "" || len(points) == 0 {
			continue
		}
		if k := slices.IndexFunc(keys, func(k key) bool { return k.name == l.Name }); k >= 0 {
			if !slices.ContainsFunc(keys[k].lines, func(m Line) bool { return m.Dash == l.Dash && m.Wide == l.Wide && c.dots(m) == c.dots(l) }) {
				keys[k].lines = append(keys[k].lines, l)
			}
			continue
		}
		wide := keyDash + 4 + style.Width(clean(l.Name)) + gap
		if x > margin && x+wide > room {
			x, row = margin, row+1
		}
		keys = append(keys, key{l.Name, []Line{l}, x, row})
		x += wide
	}
	if len(keys) == 0 {
		return nil, 0
	}
	return keys, keyRow*vg.Length(row+1) + 2
}

// drawKeys draws a legend of the given height at the bottom of the canvas.
func (c Chart) drawKeys(canvas draw.Canvas, keys []key, height vg.Length, colors map[string]color.NRGBA) {
	for _, k := range keys {
		x, y := canvas.Min.X+k.x, canvas.Min.Y+margin/2+height-2-keyRow*vg.Length(k.row)-keyRow/2
		for _, l := range k.lines {
			if c.dots(l) {
				canvas.DrawGlyph(dot(colors[l.Name]), vg.Point{X: x + keyDash/2, Y: y})
			} else {
				canvas.StrokeLine2(l.style(colors), x, y, x+keyDash, y)
			}
		}
		canvas.FillText(keyStyle(), vg.Point{X: x + keyDash + 4, Y: y}, clean(k.name))
	}
}
