package chart

import (
	"math"
	"strconv"
	"strings"
)

// span is what an axis or a colour scale shows.
type span struct{ lo, hi float64 }

// empty is a span that holds nothing yet.
var empty = span{math.Inf(1), math.Inf(-1)}

func (s span) with(v float64) span { return span{min(s.lo, v), max(s.hi, v)} }

// widened gives a span that holds nothing, or one number only, a width.
func (s span) widened() span {
	switch {
	case s.lo > s.hi:
		return span{0, 1}
	case s.lo == s.hi:
		d := max(math.Abs(s.lo)/10, 1e-9)
		return span{s.lo - d, s.hi + d}
	}
	return s
}

// share says how far v is from lo to hi. Halves: the difference itself may overflow.
func (s span) share(v float64) float64 { return (v/2 - s.lo/2) / (s.hi/2 - s.lo/2) }

// tick is a number on an axis.
type tick struct {
	at    float64
	label string
}

// roundTicks places about five ticks at round numbers.
func roundTicks(s span) []tick {
	wide := s.hi - s.lo
	if !(wide > 0) || math.IsInf(wide, 0) {
		return []tick{{s.lo, power(s.lo)}, {s.hi, power(s.hi)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(wide/3)))
	for _, factor := range []float64{5, 2} {
		if wide/(step*factor) >= 3 {
			step *= factor
			break
		}
	}
	write := writer(max(math.Abs(s.lo), math.Abs(s.hi)), step)
	var ticks []tick
	for k := math.Ceil(s.lo / step); k*step <= s.hi && len(ticks) < 12; k++ {
		ticks = append(ticks, tick{k * step, write(k * step)})
	}
	return ticks
}

// writer returns how numbers up to a size are written that differ by a step: all of them in one way.
func writer(size, step float64) func(float64) string {
	if size >= 1e6 || size < 1e-4 {
		return power
	}
	decimals := max(0, int(-math.Floor(math.Log10(step*1.001))))
	return func(v float64) string {
		text := strconv.FormatFloat(v, 'f', decimals, 64)
		if strings.Trim(text, "-0.") == "" {
			text = strings.TrimPrefix(text, "-")
		}
		return strings.Replace(text, "-", "−", 1)
	}
}

var raised = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴", "5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸",
	"9", "⁹")

// power writes a number as m·10ᵉ.
func power(v float64) string {
	if v == 0 {
		return "0"
	}
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', 3, 64), "e")
	digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".") + "·"
	if digits == "1·" {
		digits = ""
	}
	sign := strings.Trim(exponent[:1], "+")
	return strings.Replace(digits, "-", "−", 1) + "10" + raised.Replace(sign+strings.TrimLeft(exponent[1:], "0"))
}

// percents places ticks at every fifth of the unit interval.
func percents() []tick {
	var ticks []tick
	for k := 0; k <= 100; k += 20 {
		ticks = append(ticks, tick{float64(k) / 100, strconv.Itoa(k) + " %"})
	}
	return ticks
}

// axis is one side of a chart.
type axis struct {
	name string
	span
	ticks []tick
}

// axes are a sheet with two axes.
type axes struct {
	*sheet
	x, y                     axis
	left, top, right, bottom float64 // where the ends of the axes are
}

// newAxes draws axes on a sheet that leaves some room at the right and above.
func newAxes(x, y axis, wide, high, right, above float64) *axes {
	labels := 0.0
	for _, t := range y.ticks {
		labels = max(labels, width(t.label, letters))
	}
	if n := len(x.ticks); n > 0 { // the last may be at the end
		right = max(right, width(x.ticks[n-1].label, letters)/2-margin/2)
	}
	a := &axes{sheet: &sheet{width: wide, height: high}, x: x, y: y,
		left: margin + 18 + labels, top: headRoom + above, right: wide - margin - right, bottom: high - 44}
	const label = `<text x="%v" y="%v" text-anchor="%v" ` + middle + `>%v</text>`
	for _, t := range y.ticks {
		_, v := a.at(x.lo, t.at)
		a.add(`<path d="M%v %vH%v" stroke="`+grid+`"/>`, a.left, v, a.right)
		a.add(label, a.left-6, v, "end", t.label)
	}
	for _, t := range x.ticks {
		u, _ := a.at(t.at, y.lo)
		a.add(`<path d="M%v %vV%v" stroke="`+grid+`"/>`, u, a.top, a.bottom)
		a.add(label, u, a.bottom+12, "middle", t.label)
	}
	a.add(`<path d="M%v %vV%vH%v" fill="none" stroke="`+soft+`"/>`, a.left, a.top, a.bottom, a.right)
	a.add(label, (a.left+a.right)/2, a.bottom+30, "middle", fitted(x.name, letters, a.right-a.left))
	a.add(`<text transform="translate(%v %v)rotate(-90)" text-anchor="middle">%v</text>`, margin+6, (a.top+a.bottom)/2,
		fitted(y.name, letters, a.bottom-a.top))
	return a
}

// at returns the place of a point.
func (a *axes) at(x, y float64) (u, v float64) {
	return a.left + a.x.share(x)*(a.right-a.left), a.bottom - a.y.share(y)*(a.bottom-a.top)
}

// trace returns a path through points.
func (a *axes) trace(xs, ys []float64) string {
	var path strings.Builder
	step := "M"
	for k := range xs {
		u, v := a.at(xs[k], ys[k])
		path.WriteString(step + number(u) + " " + number(v))
		step = "L"
	}
	return path.String()
}

// dots returns a path that is drawn as dots: lines of no length, with round ends.
func (a *axes) dots(xs, ys []float64) string {
	var path strings.Builder
	for k := range xs {
		u, v := a.at(xs[k], ys[k])
		path.WriteString("M" + number(u) + " " + number(v) + "h0")
	}
	return path.String()
}

// box draws a rectangle of the given style between two corners.
func (a *axes) box(x0, y0, x1, y1 float64, style string) {
	u0, v0 := a.at(x0, y0)
	u1, v1 := a.at(x1, y1)
	a.add(`<path d="M%v %vH%vV%vH%vz" `+style+`/>`, u0, v0, u1, v1, u0)
}
