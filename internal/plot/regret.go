package plot

import (
	"cmp"
	"image/color"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curve is a number over steps, with a band around it unless Low is nil.
type Curve struct {
	Name      string
	X, Y      []float64
	Low, High []float64
	Reference bool // drawn dashed and grey: what the others are compared with
}

// curveColors are distinguishable with colour blindness (Okabe and Ito, 2008), and mostly in
// grey; further lines are dashed.
var curveColors = []color.NRGBA{
	accent, {0xd5, 0x5e, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x56, 0xb4, 0xe9, 0xff}, ink,
}

const curvesWidth, curvesHeight = 560, 340

// Curves draws curves on an axis that starts at 0, each with its name at its end.
func Curves(title, x, y string, curves []Curve) *Picture {
	p := frame(clean(title), clean(x), clean(y), 0, 1)
	p.X.Min, p.X.Max, p.Y.Max = math.Inf(1), math.Inf(-1), math.Inf(-1)
	styles := make([]draw.LineStyle, len(curves))
	var bands, lines []gonum.Plotter
	colored := 0
	for k, c := range curves {
		styles[k] = dashed
		if !c.Reference {
			styles[k] = draw.LineStyle{Color: curveColors[colored%len(curveColors)], Width: 1.6}
			if colored >= len(curveColors) {
				styles[k].Dashes = []vg.Length{5, 2}
			}
			colored++
		}
		b, l := c.plotters(p, styles[k])
		bands, lines = append(bands, b...), append(lines, l...)
	}
	// Lines lie above all bands, and the first curve above the others.
	slices.Reverse(bands)
	slices.Reverse(lines)
	p.Add(append(bands, lines...)...)
	if p.X.Min > p.X.Max {
		p.X.Min, p.X.Max = 0, 1
	}
	if p.X.Min == p.X.Max {
		p.X.Max++
	}
	if !(p.Y.Max > 0) {
		p.Y.Max = 1
	}
	p.Y.Max *= 1.03
	return &Picture{title: p.Title.Text, width: curvesWidth, height: curvesHeight, draw: func(c draw.Canvas) {
		room := vg.Length(0)
		for _, curve := range curves {
			room = max(room, letters(midText, ink, false).Width(clean(curve.Name)))
		}
		whole := draw.Crop(c, margin, -margin-room-8, margin, -margin)
		p.Draw(whole)
		label(p.DataCanvas(whole), p, curves, styles)
	}}
}

// plotters returns the band and the line of a curve, and widens the axes to contain them.
// NaN are omitted.
func (c Curve) plotters(p *gonum.Plot, style draw.LineStyle) (bands, lines []gonum.Plotter) {
	var points, low, high plotter.XYs
	for k, x := range c.X {
		if !finite(x, c.Y[k]) {
			continue
		}
		points = append(points, plotter.XY{X: x, Y: c.Y[k]})
		p.X.Min, p.X.Max, p.Y.Max = min(p.X.Min, x), max(p.X.Max, x), max(p.Y.Max, c.Y[k])
		if c.Low != nil && finite(c.Low[k], c.High[k]) {
			low = append(low, plotter.XY{X: x, Y: max(0, c.Low[k])})
			high = append(high, plotter.XY{X: x, Y: c.High[k]})
			p.Y.Max = max(p.Y.Max, c.High[k])
		}
	}
	if len(low) > 1 {
		slices.Reverse(high)
		r, g, b, _ := style.Color.RGBA()
		fill := color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 0x2e}
		bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{append(low, high...)}, Color: fill})
	}
	if len(points) > 0 {
		lines = append(lines, line(style, points...))
	}
	return bands, lines
}

// label writes names beside the ends of curves, moved apart if they would overlap.
func label(c draw.Canvas, p *gonum.Plot, curves []Curve, styles []draw.LineStyle) {
	type end struct {
		curve int
		y     vg.Length
	}
	toX, toY := p.Transforms(&c)
	var ends []end
	for k, curve := range curves {
		for at := len(curve.Y) - 1; at >= 0; at-- {
			if finite(curve.X[at], curve.Y[at]) {
				ends = append(ends, end{k, toY(curve.Y[at])})
				break
			}
		}
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.y, b.y) })
	apart := midText * 1.15
	for k := 1; k < len(ends); k++ {
		ends[k].y = max(ends[k].y, ends[k-1].y+apart)
	}
	for _, e := range ends {
		style := letters(midText, styles[e.curve].Color, false)
		style.YAlign = text.YCenter
		c.FillText(style, vg.Point{X: toX(p.X.Max) + 6, Y: e.y}, clean(curves[e.curve].Name))
	}
}
