package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is curves over axes that span what there is to show.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool // numbers that are not positive are left out
	Zero        bool // the y axis begins at 0
	Small       bool // a panel among others
	Bare        bool // no legend
	Lines       []Line
}

// Line is a curve of a Chart. Lines that have the same Name have one colour and
// one place in the legend.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // a band around it, unless nil
	Dots      bool      // dots without a line between them
	Dashed    bool
	Reference bool // grey: what the others are compared with
}

// Picture draws the chart with its legend below.
func (c Chart) Picture() *Picture {
	p := frame(clean(c.Title), clean(c.X), clean(c.Y), 0, 1)
	if c.Small {
		p.Title.TextStyle.Font.Size = midText
	}
	colors := c.colors()
	var bands, lines []gonum.Plotter
	xs, ys := scale{math.Inf(1), math.Inf(-1)}, scale{math.Inf(1), math.Inf(-1)}
	for _, l := range c.Lines {
		points, low, high := c.points(l)
		for k, q := range points {
			xs, ys = scale{min(xs.lo, q.X), max(xs.hi, q.X)}, scale{min(ys.lo, q.Y), max(ys.hi, q.Y)}
			if low != nil {
				ys = scale{min(ys.lo, low[k].Y), max(ys.hi, high[k].Y)}
			}
		}
		if len(points) == 0 {
			continue
		}
		if low != nil {
			slices.Reverse(high)
			fill := colors[l.Name]
			fill.A = 0x2e
			bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{append(low, high...)}, Color: fill})
		}
		if l.Dots {
			lines = append(lines, &plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: colors[l.Name], Radius: 2.4, Shape: draw.CircleGlyph{}}})
		} else {
			lines = append(lines, line(c.style(l, colors), points...))
		}
	}
	slices.Reverse(lines) // the first on top
	p.Add(append(bands, lines...)...)
	c.axis(&p.X, xs, c.LogX, false)
	c.axis(&p.Y, ys, c.LogY, c.Zero)
	width, height := vg.Length(curvesWidth), vg.Length(curvesHeight)
	if c.Small {
		width, height = 330, 270
	}
	return &Picture{title: p.Title.Text, width: width, height: height, draw: func(canvas draw.Canvas) {
		room := c.legend(canvas, colors)
		p.Draw(draw.Crop(canvas, margin, -margin-vg.Points(4), margin+room, -margin))
	}}
}

// points returns what can be drawn of a line, and of its band.
func (c Chart) points(l Line) (points, low, high plotter.XYs) {
	shown := func(v float64, log bool) bool { return finite(v) && (!log || v > 0) }
	for k, x := range l.X {
		if !shown(x, c.LogX) || !shown(l.Y[k], c.LogY) {
			continue
		}
		points = append(points, plotter.XY{X: x, Y: l.Y[k]})
		if l.Low != nil {
			lo, hi := l.Low[k], l.High[k]
			if !shown(lo, c.LogY) || !shown(hi, c.LogY) {
				lo, hi = l.Y[k], l.Y[k]
			}
			low, high = append(low, plotter.XY{X: x, Y: lo}), append(high, plotter.XY{X: x, Y: hi})
		}
	}
	return points, low, high
}

// colors gives each name its colour.
func (c Chart) colors() map[string]color.NRGBA {
	colors, next := map[string]color.NRGBA{}, 0
	for _, l := range c.Lines {
		if _, ok := colors[l.Name]; ok {
			continue
		}
		if l.Reference {
			colors[l.Name] = soft
			continue
		}
		colors[l.Name] = curveColors[next%len(curveColors)]
		next++
	}
	return colors
}

func (c Chart) style(l Line, colors map[string]color.NRGBA) draw.LineStyle {
	s := draw.LineStyle{Color: colors[l.Name], Width: 1.5}
	if l.Dashed || l.Reference {
		s.Width, s.Dashes = 1.1, []vg.Length{4, 3}
	}
	return s
}

// axis spans the numbers, with some room around them.
func (c Chart) axis(a *gonum.Axis, s scale, log, zero bool) {
	switch {
	case s.lo > s.hi:
		s = scale{1, 10}
	case log:
		room := math.Pow(s.hi/s.lo, 0.04)
		if s.lo == s.hi {
			room = 2
		}
		s = scale{s.lo / room, s.hi * room}
	default:
		if zero {
			s.lo = min(0, s.lo)
		}
		s = scaleOf([]float64{s.lo, s.hi})
		room := 0.04 * (s.hi - s.lo)
		if s.hi += room; !zero {
			s.lo -= room
		}
	}
	a.Min, a.Max = s.lo, s.hi
	if log {
		a.Scale, a.Tick.Marker = gonum.LogScale{}, decades{}
	}
}

// legend writes the names at the foot of the canvas, and returns its height.
func (c Chart) legend(canvas draw.Canvas, colors map[string]color.NRGBA) vg.Length {
	const dash, gap, row = 18, 14, 13
	style := letters(lowText, ink, false)
	style.YAlign = text.YCenter
	type entry struct {
		name string
		x    vg.Length
		row  int
	}
	var all []entry
	seen := map[string]bool{}
	x, rows := margin, 0
	for _, l := range c.Lines {
		if l.Name == "" || seen[l.Name] {
			continue
		}
		seen[l.Name] = true
		wide := dash + 4 + style.Width(clean(l.Name)) + gap
		if x > margin && canvas.Min.X+x+wide > canvas.Max.X {
			x, rows = margin, rows+1
		}
		all = append(all, entry{l.Name, x, rows})
		x += wide
	}
	if len(all) == 0 || c.Bare {
		return 0
	}
	for _, e := range all {
		at := vg.Point{X: canvas.Min.X + e.x, Y: canvas.Min.Y + margin/2 + row*vg.Length(rows-e.row) + row/2}
		var lines []Line
		for _, l := range c.Lines {
			if l.Name == e.name {
				lines = append(lines, l)
			}
		}
		for _, l := range lines {
			if l.Dots {
				canvas.DrawGlyph(draw.GlyphStyle{Color: colors[e.name], Radius: 2.4, Shape: draw.CircleGlyph{}}, vg.Point{X: at.X + dash/2, Y: at.Y})
			} else {
				canvas.StrokeLine2(c.style(l, colors), at.X, at.Y, at.X+dash, at.Y)
			}
		}
		canvas.FillText(style, vg.Point{X: at.X + dash + 4, Y: at.Y}, clean(e.name))
	}
	return row*vg.Length(rows+1) + 2
}

// decades are ticks at powers of ten; where these are few, at 2 and 5 times them
// as well.
type decades struct{}

func (decades) Ticks(lo, hi float64) []gonum.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	every := max(1, (last-first+6)/7)
	few := math.Log10(hi/lo) < 2
	var ticks []gonum.Tick
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, float64(e))
			if v < lo || v > hi || m > 1 && every > 1 {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || few {
				label = power(m, e)
			}
			ticks = append(ticks, gonum.Tick{Value: v, Label: label})
		}
	}
	return ticks
}

var superscripts = strings.NewReplacer("1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")

// power writes m·10^e, plainly where that is short.
func power(m float64, e int) string {
	if e >= -3 && e <= 3 {
		return strconv.FormatFloat(m*math.Pow(10, float64(e)), 'g', 4, 64)
	}
	switch { // the font has no raised minus and no raised zero
	case e < 0:
		return fmt.Sprintf("%ge−%d", m, -e)
	case e%10 == 0:
		return fmt.Sprintf("%ge%d", m, e)
	}
	text := "10" + superscripts.Replace(strconv.Itoa(e))
	if m > 1 {
		text = strconv.FormatFloat(m, 'g', 1, 64) + "·" + text
	}
	return text
}
