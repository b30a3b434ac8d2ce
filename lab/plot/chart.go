package plot

import (
	"image/color"
	"math"
	"slices"

	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Chart is a line chart; its axes span all points.
type Chart struct {
	Title, X, Y string
	LogX, LogY  bool // numbers that are not positive are omitted
	Zero        bool // the y axis begins at 0
	Small       bool // a panel among others
	Bare        bool // no legend
	Lines       []Line
}

// Line is a curve of a Chart. Lines with the same Name share a colour and an entry in the
// legend; those without points have none.
type Line struct {
	Name      string
	Like      string // name of the lines whose colour it shares; "": its own colour
	X, Y      []float64
	Low, High []float64 // band around the line, unless nil
	Dots      bool      // dots without a line between them, as for a single point
	Level     bool      // across the whole chart at Y[0]; X is not used
	Steps     bool      // a step function: each value holds until the next
	Wide      bool      // wider, to be visible below others
	Dash      Dash
	Reference bool   // grey, and dashed by default: a reference for the others
	Note      string // in a corner of the chart, in the colour of the line
}

// Dash is a dash pattern.
type Dash int

// Dash patterns.
const (
	Solid Dash = iota
	Dashed
	Dotted
	Mixed // dashes and dots
)

var dashes = [...][]vg.Length{Solid: nil, Dashed: {4, 3}, Dotted: {1.2, 1.8}, Mixed: {6, 2, 1.2, 2}}

// Picture draws the chart with its legend below.
func (c Chart) Picture() *Picture {
	p := frame(clean(c.Title), clean(c.X), clean(c.Y), 0, 1)
	if c.Small {
		p.Title.TextStyle.Font.Size = midText
	}
	xs, ys, notes := c.spans()
	c.axis(&p.X, xs, c.LogX, false, 0)
	c.axis(&p.Y, ys, c.LogY, c.Zero, len(notes))
	colors := c.colors()
	var bands, below, lines []gonum.Plotter
	for _, l := range c.Lines {
		if l.Level && len(l.Y) > 0 {
			l = l.across(p.X.Min, p.X.Max)
		}
		points, low, high := c.points(l)
		if l.Steps {
			points, low, high = steps(points), steps(low), steps(high)
		}
		if low != nil {
			slices.Reverse(high)
			fill := colors[l.Name]
			fill.A = 0x26
			bands = append(bands, &plotter.Polygon{XYs: []plotter.XYs{append(low, high...)}, Color: fill})
		}
		switch {
		case len(points) == 0:
		case c.dots(l):
			lines = append(lines, &plotter.Scatter{XYs: points, GlyphStyle: dot(colors[l.Name])})
		case l.Wide:
			below = append(below, line(l.style(colors), points...))
		default:
			lines = append(lines, line(l.style(colors), points...))
		}
	}
	slices.Reverse(lines) // the first on top
	p.Add(slices.Concat(bands, below, lines)...)
	width, height := vg.Length(curvesWidth), vg.Length(curvesHeight)
	if c.Small {
		width, height = 330, 270
	}
	return &Picture{title: p.Title.Text, width: width, height: height, draw: func(canvas draw.Canvas) {
		keys, room := c.keys(canvas.Max.X - canvas.Min.X)
		c.drawKeys(canvas, keys, room, colors)
		whole := draw.Crop(canvas, margin, -margin-vg.Points(4), margin+room, -margin)
		p.Draw(whole)
		corner := p.DataCanvas(whole)
		for k, l := range notes {
			style := letters(lowText, colors[l.Name], false)
			style.YAlign = text.YTop
			corner.FillText(style, vg.Point{X: corner.Min.X + 6, Y: corner.Max.Y - noteRow*vg.Length(k)}, clean(l.Note))
		}
	}}
}

const noteRow = 13 // points

// spans returns the numbers along both axes, and the lines with a note.
func (c Chart) spans() (xs, ys scale, notes []Line) {
	xs, ys = scale{math.Inf(1), math.Inf(-1)}, scale{math.Inf(1), math.Inf(-1)}
	for _, l := range c.Lines {
		points, low, high := c.points(l)
		for k, q := range points {
			if !l.Level {
				xs = scale{min(xs.lo, q.X), max(xs.hi, q.X)}
			}
			ys = scale{min(ys.lo, q.Y), max(ys.hi, q.Y)}
			if low != nil {
				ys = scale{min(ys.lo, low[k].Y), max(ys.hi, high[k].Y)}
			}
		}
		if l.Note != "" && len(points) > 0 {
			notes = append(notes, l)
		}
	}
	return xs, ys, notes
}

// points returns the finite points of a line, and of its band.
func (c Chart) points(l Line) (points, low, high plotter.XYs) {
	if l.Level && l.X == nil && len(l.Y) > 0 {
		l = l.across(1, 1)
	}
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

// across returns a horizontal line over the whole chart.
func (l Line) across(from, to float64) Line {
	twice := func(v []float64) []float64 {
		if len(v) == 0 {
			return nil
		}
		return []float64{v[0], v[0]}
	}
	l.X, l.Y, l.Low, l.High = []float64{from, to}, twice(l.Y), twice(l.Low), twice(l.High)
	return l
}

// steps turns points into a step function.
func steps(points plotter.XYs) (stairs plotter.XYs) {
	for k, q := range points {
		if k > 0 {
			stairs = append(stairs, plotter.XY{X: q.X, Y: points[k-1].Y})
		}
		stairs = append(stairs, q)
	}
	return stairs
}

// dots reports whether a line is drawn as dots.
func (c Chart) dots(l Line) bool {
	points, _, _ := c.points(l)
	return l.Dots || len(points) == 1 && !l.Level
}

func dot(c color.Color) draw.GlyphStyle {
	return draw.GlyphStyle{Color: c, Radius: 2.4, Shape: draw.CircleGlyph{}}
}

// colors assigns a colour to each name.
func (c Chart) colors() map[string]color.NRGBA {
	colors, next := map[string]color.NRGBA{}, 0
	for _, l := range c.Lines {
		if l.Reference {
			colors[l.Name] = soft
			continue
		}
		name := l.Name
		if l.Like != "" {
			name = l.Like
		}
		if _, ok := colors[name]; !ok {
			colors[name] = curveColors[next%len(curveColors)]
			next++
		}
		colors[l.Name] = colors[name]
	}
	return colors
}

func (l Line) style(colors map[string]color.NRGBA) draw.LineStyle {
	s := draw.LineStyle{Color: colors[l.Name], Width: 1.5, Dashes: dashes[l.Dash]}
	if l.Reference && l.Dash == Solid {
		s.Dashes = dashes[Dashed]
	}
	if s.Dashes != nil {
		s.Width = 1.2
	}
	if l.Wide {
		s.Width = 4
	}
	return s
}

// axis returns the range of an axis: the numbers with a margin, and room for notes above.
func (c Chart) axis(a *gonum.Axis, s scale, log, zero bool, notes int) {
	above := 0.04 + 0.065*float64(notes) // of the span
	switch {
	case s.lo > s.hi:
		s = scale{1, 10}
	case log && s.lo == s.hi:
		s = scale{s.lo / 2, s.hi * 2}
	case log:
		s = scale{s.lo / math.Pow(s.hi/s.lo, 0.04), s.hi * math.Pow(s.hi/s.lo, above)}
	default:
		if zero {
			s.lo = min(0, s.lo)
		}
		s = scaleOf([]float64{s.lo, s.hi})
		span := s.hi - s.lo
		if s.hi += above * span; !zero {
			s.lo -= 0.04 * span
		}
	}
	a.Min, a.Max = s.lo, s.hi
	if log {
		a.Scale, a.Tick.Marker = gonum.LogScale{}, decades{}
	}
}
