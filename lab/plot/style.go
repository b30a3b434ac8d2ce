package plot

import (
	"fmt"
	"image/color"
	"math"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	gonum "gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// The style of all figures: one sans-serif font, dark grey ink, thin lines, and colours that
// are distinguishable with colour blindness and in print.
var (
	ink     = color.NRGBA{0x26, 0x2b, 0x33, 0xff}
	soft    = color.NRGBA{0x6b, 0x72, 0x7d, 0xff} // second to ink
	paper   = color.NRGBA{0xff, 0xff, 0xff, 0xff}
	faint   = color.NRGBA{0xb9, 0xbe, 0xc6, 0xff}
	band    = color.NRGBA{0xd9, 0xdd, 0xe3, 0xff}
	accent  = color.NRGBA{0x2f, 0x5f, 0x8f, 0xff}
	margin  = vg.Points(10)
	hairs   = draw.LineStyle{Color: color.NRGBA{0x9a, 0xa1, 0xab, 0xff}, Width: vg.Points(0.6)}
	dashed  = draw.LineStyle{Color: soft, Width: vg.Points(0.9), Dashes: []vg.Length{vg.Points(4), vg.Points(3)}}
	bigText = vg.Points(12)
	midText = vg.Points(10)
	lowText = vg.Points(9)
)

// letters returns a text style, aligned to its left end and base line.
func letters(size vg.Length, c color.Color, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Font: f, Color: c, Handler: raised{gonum.DefaultTextHandler}}
}

// frame returns an empty plot over [lo, hi]².
func frame(title, x, y string, lo, hi float64) *gonum.Plot {
	p := gonum.New()
	p.BackgroundColor = nil
	p.Title.Text = title
	p.Title.Padding = vg.Points(8)
	p.Title.TextStyle.Font = letters(bigText, ink, true).Font
	p.Title.TextStyle.Color = ink
	for _, a := range []*gonum.Axis{&p.X, &p.Y} {
		a.Min, a.Max, a.Padding = lo, hi, vg.Points(3)
		a.LineStyle.Color, a.LineStyle.Width = soft, vg.Points(0.7)
		a.Tick.LineStyle.Color, a.Tick.LineStyle.Width, a.Tick.Length = soft, vg.Points(0.7), vg.Points(4)
		low := letters(lowText, ink, false)
		a.Tick.Label.Font, a.Tick.Label.Color, a.Tick.Label.Handler = low.Font, ink, low.Handler
		a.Tick.Marker = roundTicks{}
		a.Label.TextStyle.Font, a.Label.TextStyle.Color = letters(midText, ink, false).Font, ink
		a.Label.Padding = vg.Points(4)
	}
	p.X.Label.Text, p.Y.Label.Text = x, y
	return p
}

// picture returns a plot with a margin around it.
func picture(p *gonum.Plot, width, height vg.Length) *Picture {
	return &Picture{title: p.Title.Text, width: width, height: height, draw: func(c draw.Canvas) {
		p.Draw(draw.Crop(c, margin, -margin-vg.Points(4), margin, -margin))
	}}
}

// roundTicks places about five ticks at round numbers.
type roundTicks struct{}

func (roundTicks) Ticks(lo, hi float64) []gonum.Tick {
	span := hi - lo
	if !(span > 0) || math.IsInf(span, 0) {
		return []gonum.Tick{{Value: lo, Label: strconv.FormatFloat(lo, 'g', 4, 64)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/3)))
	for _, factor := range []float64{5, 2} {
		if span/(step*factor) >= 3 {
			step *= factor
			break
		}
	}
	most := max(math.Abs(lo), math.Abs(hi))
	powers := most >= 1e6 || most < 1e-4 // one way to write all of them
	var ticks []gonum.Tick
	// Adding zero makes 0 of −0.
	for k := math.Ceil(lo/step) + 0; k*step <= hi && len(ticks) < 12; k++ {
		label := power(k * step)
		if !powers {
			label = tickLabel(k*step, step)
		}
		ticks = append(ticks, gonum.Tick{Value: k * step, Label: label})
	}
	return ticks
}

// tickLabel formats v with the digits that the step needs.
func tickLabel(v, step float64) string {
	label := strconv.FormatFloat(v, 'f', max(0, int(-math.Floor(math.Log10(step*1.001)))), 64)
	return strings.Replace(label, "-", "−", 1)
}

// power formats a number as m·10^e.
func power(v float64) string {
	if v == 0 {
		return "0"
	}
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 3, 64), "e")
	mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".") + "·"
	if mantissa == "1·" {
		mantissa = ""
	}
	e, err := strconv.Atoi(exponent)
	if err != nil {
		return strconv.FormatFloat(v, 'g', 4, 64) // no finite number
	}
	return strings.ReplaceAll(fmt.Sprintf("%s10^{%d}", mantissa, e), "-", "−")
}

// scale is a colour scale from dark to bright, perceptually uniform and readable with
// red-green blindness.
type scale struct{ lo, hi float64 }

var viridis = [...]color.NRGBA{
	{0x44, 0x2a, 0x74, 0xff}, {0x41, 0x44, 0x87, 0xff}, {0x34, 0x60, 0x8d, 0xff}, {0x2a, 0x78, 0x8e, 0xff},
	{0x21, 0x91, 0x8c, 0xff}, {0x28, 0xae, 0x80, 0xff}, {0x5e, 0xc9, 0x62, 0xff}, {0xad, 0xdc, 0x30, 0xff}, {0xf5, 0xe0, 0x26, 0xff},
}

// shades is the number of colours of a scale.
const shades = 64

// scaleOf returns a scale over the finite values.
func scaleOf(values []float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, v := range values {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			s.lo, s.hi = min(s.lo, v), max(s.hi, v)
		}
	}
	switch {
	case s.lo > s.hi:
		return scale{0, 1}
	case s.lo == s.hi: // a range of its own, for the ticks
		d := max(math.Abs(s.lo)/10, 1e-9)
		return scale{s.lo - d, s.hi + d}
	}
	return s
}

// shade returns the index of the colour of v, -1 for NaN.
func (s scale) shade(v float64) int {
	if math.IsNaN(v) {
		return -1
	}
	t := (v/2 - s.lo/2) / (s.hi/2 - s.lo/2) // halves: the range itself may overflow
	return int(min(shades-1, max(0, t*shades)))
}
