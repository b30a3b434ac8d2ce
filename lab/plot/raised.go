package plot

import (
	"math"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// raised draws text in ^{…} as superscripts, which the font lacks as characters.
type raised struct{ text.Handler }

// part is a piece of a line of text.
type part struct {
	text string
	up   bool
}

// partsOf splits a line.
func partsOf(line string) (parts []part) {
	for line != "" {
		before, rest, found := strings.Cut(line, "^{")
		up, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			return append(parts, part{line, false})
		}
		parts = append(parts, part{before, false}, part{up, true})
		line = after
	}
	return parts
}

// font returns the font of a part.
func (p part) font(f font.Font) font.Font {
	if p.up {
		f.Size *= 0.75
	}
	return f
}

// rise is the height of a part above the base line.
func (p part) rise(f font.Font) vg.Length {
	if p.up {
		return 0.38 * f.Size
	}
	return 0
}

// Box returns width, height and depth of a line.
func (r raised) Box(line string, f font.Font) (width, height, depth vg.Length) {
	_, height, depth = r.Handler.Box("", f)
	for _, p := range partsOf(line) {
		w, h, d := r.Handler.Box(p.text, p.font(f))
		width, height, depth = width+w, max(height, p.rise(f)+h), max(depth, d)
	}
	return width, height, depth
}

// Draw draws a line of text.
func (r raised) Draw(c vg.Canvas, line string, s text.Style, at vg.Point) {
	parts := partsOf(line)
	if len(parts) < 2 {
		r.Handler.Draw(c, line, s, at)
		return
	}
	c.SetColor(s.Color)
	if s.Rotation != 0 {
		c.Push()
		defer c.Pop()
		c.Rotate(s.Rotation)
		sin, cos := math.Sincos(s.Rotation)
		at = vg.Point{X: at.Y*vg.Length(sin) + at.X*vg.Length(cos), Y: at.Y*vg.Length(cos) - at.X*vg.Length(sin)}
	}
	width, height, depth := r.Box(line, s.Font)
	at.X += width * vg.Length(s.XAlign)
	at.Y += (height+depth)*vg.Length(s.YAlign) - r.Extents(s.Font).Ascent + s.Font.Size // where plain text has its base
	for _, p := range parts {
		f := p.font(s.Font)
		face := r.Cache().Lookup(f, f.Size)
		c.FillString(face, at.Add(vg.Point{Y: p.rise(s.Font)}), p.text)
		at.X += face.Width(p.text)
	}
}
