package plot

import (
	"fmt"
	"grfgp/internal/binomial"
	"image/color"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const square = 330 // points, of the plots about trust

// HeldOut is a held-out measurement with its prediction.
type HeldOut struct{ Measured, Predicted, SD float64 }

// MaxHeldOut is the largest number of measurements that Residuals draws.
const MaxHeldOut = 2000

// Residuals draws held-out predictions against measurements, with 95 % intervals.
func Residuals(title, unit string, all []HeldOut) *Picture {
	var points plotter.XYs
	var bars plotter.YErrors
	every := (len(all) + MaxHeldOut - 1) / MaxHeldOut
	lo, hi := math.Inf(1), math.Inf(-1)
	for k, l := range all {
		if !finite(l.Measured, l.Predicted, l.SD) || k%every != 0 {
			continue
		}
		points = append(points, plotter.XY{X: l.Measured, Y: l.Predicted})
		half := distuv.UnitNormal.Quantile(0.975) * l.SD
		bars = append(bars, struct{ Low, High float64 }{half, half})
		lo, hi = min(lo, l.Measured, l.Predicted-half), max(hi, l.Measured, l.Predicted+half)
	}
	s := scale{lo, hi}
	if len(points) == 0 || lo == hi {
		s = scaleOf([]float64{lo, hi})
	}
	axis := func(what string) string {
		if unit = clean(unit); unit != "" {
			return what + ", " + unit
		}
		return what
	}
	p := frame(title, axis("measured"), axis("predicted"), s.lo, s.hi)
	p.Add(line(dashed, plotter.XY{X: s.lo, Y: s.lo}, plotter.XY{X: s.hi, Y: s.hi}))
	dot := draw.GlyphStyle{Color: color.NRGBA{accent.R, accent.G, accent.B, 0xd0}, Radius: 2.2, Shape: draw.CircleGlyph{}}
	if len(points) > 0 {
		p.Add(&plotter.YErrorBars{XYs: points, YErrors: bars, LineStyle: draw.LineStyle{Color: muted, Width: 0.6}},
			&plotter.Scatter{XYs: points, GlyphStyle: dot})
	}
	pic := picture(p, square, square)
	if every > 1 {
		pic.note = fmt.Sprintf("of %d measurements, one in %d is drawn", len(all), every)
	}
	return pic
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v - v) {
			return false
		}
	}
	return true
}

func line(style draw.LineStyle, points ...plotter.XY) *plotter.Line {
	return &plotter.Line{XYs: points, LineStyle: style}
}

// Calibration draws the coverage of central intervals against their level. The pits
// (probability integral transforms) are the predicted probabilities of values below the
// measurements: uniform if the model is correct. The band is the random variation of
// correct models.
func Calibration(title string, pits []float64) *Picture {
	p := frame(title, "level of the interval", "coverage", 0, 1)
	p.X.Tick.Marker, p.Y.Tick.Marker = percent{}, percent{}
	n := len(pits)
	if n > 0 {
		var low, high, curve plotter.XYs
		for k := range 101 {
			level := float64(k) / 100
			lo, hi := binomial.Interval(n, level)
			low = append(low, plotter.XY{X: level, Y: float64(lo) / float64(n)})
			high = append(high, plotter.XY{X: level, Y: float64(hi) / float64(n)})
			curve = append(curve, plotter.XY{X: level, Y: coverage(pits, level)})
		}
		for k := range high {
			low = append(low, high[len(high)-1-k])
		}
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{low}, Color: band},
			line(dashed, plotter.XY{}, plotter.XY{X: 1, Y: 1}),
			line(draw.LineStyle{Color: accent, Width: 1.8}, curve...))
		for _, level := range []float64{0.5, 0.8, 0.95} {
			p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: level, Y: coverage(pits, level)}},
				GlyphStyle: draw.GlyphStyle{Color: accent, Radius: 3.2, Shape: draw.CircleGlyph{}}})
		}
	}
	return picture(p, square, square)
}

func coverage(pits []float64, level float64) float64 {
	inside := 0
	for _, u := range pits {
		if math.Abs(u-0.5) <= level/2 {
			inside++
		}
	}
	return float64(inside) / float64(len(pits))
}

// percent places ticks at every fifth of the unit interval.
type percent struct{}

func (percent) Ticks(_, _ float64) []gonum.Tick {
	var ticks []gonum.Tick
	for k := 0; k <= 100; k += 20 {
		ticks = append(ticks, gonum.Tick{Value: float64(k) / 100, Label: fmt.Sprintf("%d %%", k)})
	}
	return ticks
}

// PIT draws a histogram of probability integral transforms in tenths: flat if the model is
// correct, up to random variation within the band.
func PIT(title string, pits []float64) *Picture {
	bins := 10
	if len(pits) < 50 {
		bins = 5
	}
	counts := make([]float64, bins)
	most := 1.0
	for _, u := range pits {
		if b := int(u * float64(bins)); u >= 0 && u <= 1 {
			b = min(b, bins-1)
			counts[b]++
			most = max(most, counts[b])
		}
	}
	lo, hi := binomial.Interval(len(pits), 1/float64(bins))
	p := frame(title, "predicted probability of lower values", "measurements", 0, 1)
	p.X.Tick.Marker = percent{}
	p.Y.Max = 1.1 * max(most, float64(hi))
	p.Y.Padding = 0
	for b, n := range counts {
		left, right := (float64(b)+0.04)/float64(bins), (float64(b)+0.96)/float64(bins)
		p.Add(rectangle(left, 0, right, n, color.NRGBA{accent.R, accent.G, accent.B, 0xc0}))
	}
	expected := float64(len(pits)) / float64(bins)
	p.Add(rectangle(0, float64(lo), 1, float64(hi), color.NRGBA{soft.R, soft.G, soft.B, 0x40}),
		line(dashed, plotter.XY{X: 0, Y: expected}, plotter.XY{X: 1, Y: expected}))
	return picture(p, square, square)
}

func rectangle(x0, y0, x1, y1 float64, fill color.Color) *plotter.Polygon {
	return &plotter.Polygon{XYs: []plotter.XYs{{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}}, Color: fill}
}

// Bar is a number with a name; SE is its standard error, 0 if there is none.
type Bar struct {
	Name      string
	Value, SE float64
}

// Bars draws a bar chart of numbers ≥ 0. The first is highlighted; the others are for
// comparison.
func Bars(title, unit string, bars []Bar) *Picture {
	const row, thick, barsWidth = 26, 15, 560
	const slack = 1.2 // a browser's font may be wider than the one that is measured here
	p := &Picture{title: clean(title), width: barsWidth, height: vg.Length(len(bars)*row) + headRoom + 12}
	p.draw = func(c draw.Canvas) {
		c.FillText(letters(bigText, ink, true), vg.Point{X: margin, Y: c.Max.Y - 20}, p.title)
		name, number := letters(midText, ink, false), letters(midText, ink, true)
		name.YAlign, number.YAlign = text.YCenter, text.YCenter // names begin at the left: of a wide font, those that end at the bars would run into them
		zero, most := vg.Length(0), 0.0
		label := func(b Bar) string {
			s := fmt.Sprintf("%.4g", b.Value)
			if b.SE > 0 {
				s += fmt.Sprintf(" ± %.2g", b.SE)
			}
			return s
		}
		room := vg.Length(0)
		for _, b := range bars {
			zero = max(zero, slack*name.Width(clean(b.Name)))
			room = max(room, slack*number.Width(label(b)))
			if finite(b.Value) {
				most = max(most, b.Value+b.SE)
			}
		}
		zero += margin + 8
		unitPart := vg.Length(0)
		if unit = clean(unit); unit != "" {
			unitPart = slack*letters(lowText, soft, false).Width(unit) + 6
		}
		per := (c.Max.X - margin - room - 12 - unitPart - zero) / vg.Length(max(most, 1/farthest))
		for k, b := range bars {
			y := c.Max.Y - headRoom - vg.Length(k*row) - row/2
			c.FillText(name, vg.Point{X: margin, Y: y}, clean(b.Name))
			if !finite(b.Value) {
				continue
			}
			fill := muted
			if k == 0 {
				fill = accent
			}
			end := zero + vg.Length(b.Value)*per
			c.FillPolygon(fill, []vg.Point{{X: zero, Y: y - thick/2}, {X: end, Y: y - thick/2}, {X: end, Y: y + thick/2}, {X: zero, Y: y + thick/2}})
			if b.SE > 0 {
				reach := vg.Length(b.SE) * per
				c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.1}, end-reach, y, end+reach, y)
				end += reach
			}
			c.FillText(number, vg.Point{X: end + 7, Y: y}, label(b))
			if k == 0 && unit != "" {
				style := letters(lowText, soft, false)
				style.YAlign = text.YCenter
				c.FillText(style, vg.Point{X: end + 12 + slack*number.Width(label(b)), Y: y}, unit)
			}
		}
		c.StrokeLine2(draw.LineStyle{Color: soft, Width: 0.7}, zero, c.Max.Y-headRoom, zero, c.Max.Y-headRoom-vg.Length(len(bars)*row))
	}
	return p
}
