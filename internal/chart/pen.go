package chart

import (
	"math"
	"strconv"
)

// pen writes a path of whole numbers in few bytes: all steps are relative, and only where two
// numbers would run together is there a space.
type pen struct {
	path []byte
	x, y int
}

func (p *pen) move(x, y int) { p.step('m', x, y) }
func (p *pen) line(x, y int) { p.step('l', x, y) }

func (p *pen) step(letter byte, x, y int) {
	p.path = append(p.path, letter)
	p.number(x - p.x)
	p.number(y - p.y)
	p.x, p.y = x, y
}

func (p *pen) number(v int) {
	if last := p.path[len(p.path)-1]; v >= 0 && last >= '0' && last <= '9' {
		p.path = append(p.path, ' ')
	}
	p.path = strconv.AppendInt(p.path, int64(v), 10)
}

// dot is a line of no length, whose round ends are a disc. Another at the same place is left out.
func (p *pen) dot(x, y int) {
	if len(p.path) == 0 || x != p.x || y != p.y {
		p.move(x, y)
		p.path = append(p.path, "h0"...)
	}
}

// outline is a ring or a line, without points that are less than half a pixel from the last.
func (p *pen) outline(v *view, part Outline) {
	const near = perPixel / 2
	var x0, y0 int
	for k := range part.X {
		x, y := v.at(part.X[k], part.Y[k])
		switch {
		case k == 0:
			p.move(x, y)
			x0, y0 = x, y
		case k == len(part.X)-1 || math.Hypot(float64(x-p.x), float64(y-p.y)) >= near:
			p.line(x, y)
		}
	}
	if part.Closed {
		p.path = append(p.path, 'z')
		p.x, p.y = x0, y0
	}
}
