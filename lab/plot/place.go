package plot

import (
	"cmp"
	"math"
	"strconv"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// moveApart separates overlapping nodes. It compares all pairs, so it takes quadratic
// time.
func (v *view) moveApart() {
	const rounds, most = 200, 1000
	if len(v.shown) > most {
		return
	}
	least := 2*v.markRadius() + 1
	places := make([]vg.Point, len(v.shown))
	for k, i := range v.shown {
		places[k] = v.at(i)
	}
	for moving, round := true, 0; moving && round < rounds; round++ {
		moving = false
		for a := range places {
			for b := range a {
				away := places[a].Sub(places[b])
				far := vg.Length(math.Hypot(float64(away.X), float64(away.Y)))
				if far >= least-0.05 {
					continue
				}
				if far < 0.05 { // at one place: side by side
					away, far = vg.Point{X: 0.05}, 0.05
				}
				step := away.Scale((least - far) / 2 / far)
				places[a], places[b], moving = places[a].Add(step), places[b].Sub(step), true
			}
		}
	}
	v.moved = map[int]vg.Point{}
	for k, i := range v.shown {
		v.moved[i] = places[k]
	}
}

// drawFrame outlines the area that another map shows.
func (v *view) drawFrame(c draw.Canvas) {
	if v.Frame == nil {
		return
	}
	at := func(x, y float64) vg.Point { // not beyond the map
		within := func(u float64, most vg.Length) vg.Length { return max(0, min(most, vg.Length(u*v.perUnit))) }
		return vg.Point{X: v.left + within(x-v.x0, v.width), Y: v.bottom + within(y-v.y0, v.height)}
	}
	f := *v.Frame
	low, high := at(f.Left, f.Low), at(f.Right, f.High)
	c.StrokeLines(draw.LineStyle{Color: ink, Width: 1.1}, []vg.Point{low, {X: high.X, Y: low.Y}, high, {X: low.X, Y: high.Y}, low})
	style := letters(lowText, ink, false)
	c.FillText(style, vg.Point{X: high.X + 4, Y: low.Y + 2}, clean(f.Name))
}

// drawLength draws a scale bar of a round length at the lower right.
func (v *view) drawLength(c draw.Canvas) {
	if v.Length == "" {
		return
	}
	perLength := v.perUnit / cmp.Or(v.Lengths, 1) // points
	length := roundBelow(float64(v.width) / 4 / perLength)
	right, y := v.left+v.width, vg.Length(12)
	left := right - vg.Length(length*perLength)
	for _, x := range []vg.Length{left, right} {
		c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, x, y-2.5, x, y+2.5)
	}
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1}, left, y, right, y)
	style := letters(lowText, ink, false)
	style.YAlign, style.XAlign = text.YCenter, text.XRight
	c.FillText(style, vg.Point{X: left - 5, Y: y}, strconv.FormatFloat(length, 'f', -1, 64)+" "+clean(v.Length))
}

// roundBelow returns the largest number of the form 1, 2 or 5 times a power of ten that is
// at most v.
func roundBelow(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{5, 2} {
		if m*power <= v {
			return m * power
		}
	}
	return power
}
