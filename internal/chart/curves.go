package chart

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Curve is a number ≥ 0 over steps, with a band around it unless Low is nil.
type Curve struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Reference bool // drawn dashed and grey: what the others are compared with
}

// curveColors are distinguishable with colour blindness (Okabe and Ito, 2008), and mostly in
// grey; further lines are dashed.
var curveColors = []string{accent, "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", ink}

// Curves draws curves on an axis that starts at 0, each with its name at its end. The first lies
// above the others, and all above the bands. The ground is white, as for a file of its own.
func Curves(title, x, y string, curves []Curve) *Picture {
	const names = 200.0
	shown := make([]Curve, len(curves))
	xs, ys, room := empty, span{0, 0}, 0.0
	for k, c := range curves {
		shown[k] = c.shown()
		for j, x := range shown[k].X {
			xs, ys = xs.with(x), ys.with(shown[k].Y[j]).with(shown[k].High[j])
		}
		room = max(room, width(fitted(c.Name, letters, names), letters))
	}
	if xs = xs.widened(); ys.hi == 0 {
		ys.hi = 1
	}
	a := newAxes(axis{x, xs, wholeTicks(xs)}, axis{y, ys, roundTicks(ys)}, 640, 380, room+10, 0)
	var bands, lines []func()
	type end struct {
		name, color string
		y           float64
	}
	var ends []end
	colored := 0
	for _, c := range shown {
		color, dash := soft, ` stroke-dasharray="4 3"`
		if !c.Reference {
			color = curveColors[colored%len(curveColors)]
			if colored < len(curveColors) {
				dash = ""
			}
			colored++
		}
		if len(c.X) == 0 {
			continue
		}
		_, v := a.at(c.X[len(c.X)-1], c.Y[len(c.Y)-1])
		ends = append(ends, end{c.Name, color, v})
		bands = append(bands, func() { a.band(c.X, c.Low, c.High, `fill-opacity=".18" fill="`+color+`"`) })
		path, style := a.trace(c.X, c.Y), ` fill="none" stroke-width="1.8"`+dash
		if len(c.X) == 1 {
			path, style = a.dots(c.X, c.Y), ` stroke-width="6" `+roundEnds
		}
		lines = append(lines, func() { a.add(`<path d="%v" stroke="%v"`+style+`/>`, path, color) })
	}
	for _, layer := range [][]func(){bands, lines} {
		for _, draw := range slices.Backward(layer) {
			draw()
		}
	}
	// Names stand apart, in the order of the ends: down from the first, and up from the lower edge.
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	const apart = 1.25 * letters
	for k := 1; k < len(ends); k++ {
		ends[k].y = max(ends[k].y, ends[k-1].y+apart)
	}
	for k, lowest := len(ends)-1, a.bottom; k >= 0; k, lowest = k-1, lowest-apart {
		ends[k].y = min(ends[k].y, lowest)
	}
	about := make([]string, len(ends))
	for k, e := range ends {
		a.add(`<text x="%v" y="%v" fill="%v" `+middle+`>%v</text>`, a.right+8, e.y, e.color, fitted(e.name, letters, names))
		about[k] = clean(e.name)
	}
	p := a.picture(title, "Curves of "+y+" against "+x+", from the highest end: "+strings.Join(about, ", ")+".", "")
	p.SVG = strings.Replace(p.SVG, "</desc>", `</desc><path fill="#ffffff" d="M0 0h640v380h-640z"/>`, 1)
	return p
}

// shown returns the finite points of a curve. Where there is no band, it has the width 0.
func (c Curve) shown() Curve {
	s := Curve{Name: c.Name, Reference: c.Reference}
	for k, x := range c.X {
		y := c.Y[k]
		if !finite(x, y) {
			continue
		}
		low, high := y, y
		if c.Low != nil && finite(c.Low[k], c.High[k]) {
			low, high = max(0, c.Low[k]), c.High[k]
		}
		s.X, s.Y, s.Low, s.High = append(s.X, x), append(s.Y, y), append(s.Low, low), append(s.High, high)
	}
	return s
}

// wholeTicks are round ticks at whole numbers.
func wholeTicks(s span) []tick {
	ticks := slices.DeleteFunc(roundTicks(s), func(t tick) bool { return t.at != math.Trunc(t.at) })
	for k := range ticks {
		ticks[k].label, _, _ = strings.Cut(ticks[k].label, ".0")
	}
	return ticks
}

// band fills the room between two curves.
func (a *axes) band(xs, low, high []float64, style string) {
	if slices.Equal(low, high) {
		return
	}
	back, down := slices.Clone(xs), slices.Clone(high)
	slices.Reverse(back)
	slices.Reverse(down)
	a.add(`<path d="%vz" `+style+`/>`, a.trace(slices.Concat(xs, back), slices.Concat(low, down)))
}
