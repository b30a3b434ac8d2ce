package chart

import (
	"fmt"
	"math"
	"strings"

	"grfgp/internal/binomial"
	"grfgp/internal/plural"
)

const (
	square   = 300.0 // pixels, of charts three in a row
	halfWide = 400.0 // of charts two in a row, and of maps
)

// HeldOut is a held-out measurement with its prediction.
type HeldOut struct{ Measured, Predicted, SD float64 }

// mostHeldOut is the largest number of measurements that Residuals draws.
const mostHeldOut = 2000

// Residuals draws held-out predictions against measurements, with 95 % intervals.
func Residuals(title, unit string, all []HeldOut) *Picture {
	const sds = 1.959964 // of a 95 % interval
	every := max(1, (len(all)+mostHeldOut-1)/mostHeldOut)
	both := empty
	var xs, ys, halves []float64
	for k, l := range all {
		if half := sds * l.SD; k%every == 0 && finite(l.Measured, l.Predicted-half, l.Predicted+half) {
			xs, ys, halves = append(xs, l.Measured), append(ys, l.Predicted), append(halves, half)
			both = both.with(l.Measured).with(l.Predicted - half).with(l.Predicted + half)
		}
	}
	both = both.widened()
	named := func(what string) axis {
		if unit != "" {
			what += ", " + unit
		}
		return axis{what, both, roundTicks(both)}
	}
	a := newAxes(named("measured"), named("predicted"), square, square, 0, 0)
	a.add(`<path d="%v" `+dashes+`/>`, a.trace([]float64{both.lo, both.hi}, []float64{both.lo, both.hi}))
	var bars strings.Builder
	for k, half := range halves {
		u, low := a.at(xs[k], ys[k]-half)
		_, high := a.at(xs[k], ys[k]+half)
		bars.WriteString("M" + number(u) + " " + number(low) + "V" + number(high))
	}
	a.add(`<path d="%v" stroke="`+muted+`" stroke-width=".7"/>`, bars.String())
	a.add(`<path d="%v" `+roundEnds+` stroke="`+accent+`" stroke-opacity=".85" stroke-width="4"/>`, a.dots(xs, ys))
	note := ""
	if every > 1 {
		note = fmt.Sprintf("of %d measurements, one in %d is drawn", len(all), every)
	}
	return a.picture(title, fmt.Sprintf("%d held-out predictions with 95 %% intervals, each against its measurement.", len(xs)), note)
}

// Calibration draws the coverage of central intervals against their level. The pits
// (probability integral transforms) are the predicted probabilities of values below the
// measurements: uniform if the model is correct. The band is the random variation of
// correct models.
func Calibration(title string, pits []float64) *Picture {
	unit := span{0, 1}
	a := newAxes(axis{"level of the interval", unit, percents()}, axis{"coverage", unit, percents()}, square, square, 0, 0)
	const steps = 100
	var levels, low, high, covered []float64
	for k := 0; k <= steps && len(pits) > 0; k++ {
		level, n := float64(k)/steps, float64(len(pits))
		lo, hi := binomial.Interval(len(pits), level)
		levels, covered = append(levels, level), append(covered, coverage(pits, level))
		low, high = append(low, float64(lo)/n), append(high, float64(hi)/n)
	}
	a.band(levels, low, high, `fill="`+band+`"`)
	a.add(`<path d="%v" `+dashes+`/>`, a.trace([]float64{0, 1}, []float64{0, 1}))
	a.add(`<path d="%v" fill="none" stroke="`+accent+`" stroke-width="2"/>`, a.trace(levels, covered))
	about := "Coverage of intervals against their level."
	for _, level := range []float64{0.5, 0.8, 0.95} {
		if len(pits) > 0 {
			share := coverage(pits, level)
			a.add(`<path d="%v" `+roundEnds+` stroke="`+accent+`" stroke-width="7"/>`, a.dots([]float64{level}, []float64{share}))
			about += fmt.Sprintf(" %g %% intervals contain %.1f %%.", 100*level, 100*share)
		}
	}
	return a.picture(title, about, "")
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

// PIT draws a histogram of probability integral transforms in tenths, or fifths of a few: flat if
// the model is correct, up to random variation within the band.
func PIT(title string, pits []float64) *Picture {
	counts := make([]int, 10)
	if len(pits) < 50 {
		counts = counts[:5]
	}
	bins := float64(len(counts))
	for _, u := range pits {
		if u >= 0 && u <= 1 {
			counts[min(int(u*bins), len(counts)-1)]++
		}
	}
	lo, hi := binomial.Interval(len(pits), 1/bins)
	most := max(1, hi)
	for _, n := range counts {
		most = max(most, n)
	}
	ys := span{0, 1.1 * float64(most)}
	a := newAxes(axis{"predicted probability of lower values", span{0, 1}, percents()}, axis{"measurements", ys, roundTicks(ys)},
		square, square, 0, 0)
	for b, n := range counts {
		a.box((float64(b)+0.05)/bins, 0, (float64(b)+0.95)/bins, float64(n), `fill="`+accent+`" fill-opacity=".8"`)
	}
	a.box(0, float64(lo), 1, float64(hi), `fill="`+soft+`" fill-opacity=".22"`)
	expected := float64(len(pits)) / bins
	a.add(`<path d="%v" `+dashes+`/>`, a.trace([]float64{0, 1}, []float64{expected, expected}))
	return a.picture(title, fmt.Sprintf("Counts of %d bins: %d. A calibrated model has %d to %d in each.", len(counts), counts, lo, hi), "")
}

// Bar is a number with a name; SE is its standard error, 0 if there is none.
type Bar struct {
	Name      string
	Value, SE float64
}

// Bars draws a bar chart of numbers ≥ 0, with whiskers of a standard error. The first is
// highlighted; the others are for comparison.
func Bars(title, unit string, bars []Bar) *Picture {
	const row, thick, names = 26.0, 15.0, 190.0
	s := &sheet{width: 560, height: headRoom + row*float64(len(bars)) + margin}
	scale := empty.with(0)
	for _, b := range bars {
		if finite(b.Value + b.SE) {
			scale = scale.with(b.Value + b.SE)
		}
	}
	scale.hi = max(scale.hi, 1/farthest)
	write := writer(scale.hi, scale.hi/1000)
	label := func(b Bar) string {
		if b.SE > 0 {
			return write(b.Value) + " ± " + write(b.SE)
		}
		return write(b.Value)
	}
	zero, room := 0.0, 0.0
	for _, b := range bars {
		zero = max(zero, width(fitted(b.Name, letters, names), letters))
		if finite(b.Value + b.SE) {
			room = max(room, width(label(b), 1.1*letters))
		}
	}
	zero += margin + 8
	unit = fitted(unit, letters, names/2)
	right := s.width - margin - room - 14 - width(unit, letters)
	about := make([]string, len(bars))
	for k, b := range bars {
		y := headRoom + row*(float64(k)+0.5)
		s.add(`<text x="%v" y="%v" `+middle+`>%v</text>`, margin, y, fitted(b.Name, letters, names))
		about[k] = b.Name + " no number"
		if !finite(b.Value + b.SE) {
			continue
		}
		about[k] = b.Name + " " + label(b)
		fill, of := muted, ""
		if k == 0 {
			fill, of = accent, unit
		}
		at := func(v float64) float64 { return zero + (right-zero)*scale.share(max(0, v)) }
		s.add(`<path d="M%v %vH%vv%vH%vz" fill="%v"/>`, zero, y-thick/2, at(b.Value), thick, zero, fill)
		if b.SE > 0 {
			s.add(`<path d="M%v %vH%vM%v %vv8m%v 0v-8" stroke="`+ink+`"/>`, at(b.Value-b.SE), y, at(b.Value+b.SE),
				at(b.Value-b.SE), y-4, at(b.Value+b.SE)-at(b.Value-b.SE))
		}
		s.add(`<text x="%v" y="%v" font-weight="600" `+middle+`>%v<tspan dx="4" fill="`+soft+`" font-weight="400">%v</tspan></text>`,
			at(b.Value+b.SE)+7, y, label(b), of)
	}
	s.add(`<path d="M%v %vv%v" stroke="`+soft+`"/>`, zero, headRoom, row*float64(len(bars)))
	words := plural.Count(len(bars), "bars")
	if unit != "" {
		words += ", in " + unit
	}
	return s.picture(title, words+": "+strings.Join(about, "; ")+".", "")
}
