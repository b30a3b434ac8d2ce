package plot

import (
	"image"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MeshData is a value at each node of a grid, row by row from the top.
type MeshData struct {
	Title      string
	Unit       string // beside the colours; may be empty
	Rows, Cols int
	Values     []float64
	Like       []float64 // further values that the colours span
	Marked     []int     // nodes with a dot
	Mark       string    // what the dot says
}

// Mesh draws the nodes of a grid as squares coloured by their values.
func Mesh(m MeshData) *Picture {
	const room = 216 // points, for the squares
	side := vg.Length(room) / vg.Length(max(1, m.Rows, m.Cols))
	v := &view{
		MapData: MapData{Unit: m.Unit}, colors: scaleOf(slices.Concat(m.Values, m.Like)),
		left: margin, bottom: footRoom, height: side * vg.Length(m.Rows), side: barRoom,
	}
	p := &Picture{title: clean(m.Title), width: margin + side*vg.Length(m.Cols) + barRoom, height: v.height + headRoom + footRoom}
	corner := func(i int) vg.Point { // lower left
		return vg.Point{X: v.left + side*vg.Length(i%m.Cols), Y: v.bottom + side*vg.Length(m.Rows-1-i/m.Cols)}
	}
	p.draw = func(c draw.Canvas) {
		c.FillText(letters(midText, ink, true), vg.Point{X: margin, Y: c.Max.Y - 22}, p.title)
		low := vg.Point{X: v.left, Y: v.bottom}
		c.DrawImage(vg.Rectangle{Min: low, Max: low.Add(vg.Point{X: side * vg.Length(m.Cols), Y: v.height})}, m.image(v.colors))
		var dots vg.Path
		for _, i := range m.Marked {
			at := corner(i)
			dots = circle(dots, vg.Point{X: at.X + side/2, Y: at.Y + side/2}, min(1.8, side/4))
		}
		if len(dots) > 0 {
			c.SetColor(ink)
			c.Fill(dots)
			c.SetLineStyle(draw.LineStyle{Color: faint, Width: 0.4})
			c.Stroke(dots)
		}
		v.drawBar(c)
		if len(m.Marked) > 0 && m.Mark != "" {
			c.SetColor(ink)
			c.Fill(circle(nil, vg.Point{X: v.left + 4, Y: 12}, 1.8))
			c.FillText(letters(lowText, soft, false), vg.Point{X: v.left + 11, Y: 9}, clean(m.Mark))
		}
	}
	return p
}

// image draws each node as a square of many pixels, so that viewers do not blur it.
func (m MeshData) image(colors scale) image.Image {
	const pixels = 24
	img := image.NewNRGBA(image.Rect(0, 0, pixels*m.Cols, pixels*m.Rows))
	for y := range pixels * m.Rows {
		for x := range pixels * m.Cols {
			img.SetNRGBA(x, y, Values.shade(colors.shade(m.Values[y/pixels*m.Cols+x/pixels])))
		}
	}
	return img
}
