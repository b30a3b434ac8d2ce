package plot

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Panels arranges pictures in rows of the given length.
func Panels(title string, columns int, pictures ...*Picture) *Picture {
	title = clean(title)
	columns = max(1, min(columns, len(pictures)))
	widths := make([]vg.Length, columns)
	heights := make([]vg.Length, (len(pictures)+columns-1)/columns)
	whole := &Picture{title: title}
	for k, p := range pictures {
		widths[k%columns] = max(widths[k%columns], p.width)
		heights[k/columns] = max(heights[k/columns], p.height)
		if p.note != "" && whole.note == "" {
			whole.note = p.note
		}
	}
	head := vg.Length(0)
	if title != "" {
		head = bigText * 2
	}
	for _, w := range widths {
		whole.width += w
	}
	whole.height = head
	for _, h := range heights {
		whole.height += h
	}
	whole.draw = func(c draw.Canvas) {
		if title != "" {
			c.FillText(letters(bigText, ink, true), vg.Point{X: c.Min.X + margin, Y: c.Max.Y - bigText*1.5}, title)
		}
		y := c.Max.Y - head
		for r := range heights {
			x := c.Min.X
			for k := r * columns; k < min(len(pictures), (r+1)*columns); k++ {
				p := pictures[k]
				c.Push()
				c.Translate(vg.Point{X: x, Y: y - p.height})
				p.draw(draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Max: vg.Point{X: p.width, Y: p.height}}})
				c.Pop()
				x += widths[k%columns]
			}
			y -= heights[r]
		}
	}
	return whole
}
