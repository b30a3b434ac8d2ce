package plot

import (
	"fmt"
	"grfgp/internal/binomial"
	"image/color"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bin is a group of predictions of similar confidence.
type Bin struct {
	Count      int
	Confidence float64 // mean of the largest probability
	Accuracy   float64 // share of them that are right
}

// Reliability draws a reliability diagram: accuracy against confidence. Calibrated
// probabilities lie on the diagonal, up to random variation within the grey bars. Larger
// dots have more predictions.
func Reliability(title string, bins []Bin) *Picture {
	p := frame(title, "probability of the predicted class", "accuracy", 0, 1)
	p.X.Tick.Marker, p.Y.Tick.Marker = percent{}, percent{}
	total := 0
	for _, b := range bins {
		total += b.Count
	}
	half := 0.4 / float64(max(1, len(bins)))
	for _, b := range bins {
		if b.Count == 0 || !finite(b.Confidence, b.Accuracy) {
			continue
		}
		lo, hi := binomial.Interval(b.Count, b.Confidence)
		n := float64(b.Count)
		p.Add(rectangle(max(0, b.Confidence-half), float64(lo)/n, min(1, b.Confidence+half), float64(hi)/n, band))
	}
	p.Add(line(dashed, plotter.XY{}, plotter.XY{X: 1, Y: 1}))
	for _, b := range bins {
		if b.Count == 0 || !finite(b.Confidence, b.Accuracy) {
			continue
		}
		dot := draw.GlyphStyle{Color: accent, Radius: vg.Length(2 + 6*math.Sqrt(float64(b.Count)/float64(total))), Shape: draw.CircleGlyph{}}
		p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: b.Confidence, Y: b.Accuracy}}, GlyphStyle: dot})
	}
	return picture(p, square, square)
}

// MaxConfusion is the largest number of classes that Confusion draws.
const MaxConfusion = 20

// Confusion draws a confusion matrix: true classes by row, predicted classes by column.
// Cells are shaded by their share of the row.
func Confusion(title string, names []string, counts [][]int) *Picture {
	const cell, tallHead, longest = 30, 84, 110
	n := min(len(names), MaxConfusion)
	p := &Picture{title: clean(title), width: vg.Length(n*cell) + longest + 3*margin, height: vg.Length(n*cell) + tallHead + headRoom + 24}
	p.width = max(p.width, square)
	if len(names) > n {
		p.note = fmt.Sprintf("of %d classes, the first %d are drawn", len(names), n)
	}
	p.draw = func(c draw.Canvas) {
		c.FillText(letters(bigText, ink, true), vg.Point{X: margin, Y: c.Max.Y - 20}, p.title)
		left, top := margin+longest+8, c.Max.Y-headRoom-tallHead
		name := letters(lowText, ink, false)
		name.XAlign, name.YAlign = text.XRight, text.YCenter
		over := letters(lowText, ink, false)
		over.Rotation, over.YAlign = math.Pi/4, text.YCenter
		middle := letters(lowText, ink, false)
		middle.XAlign, middle.YAlign = text.XCenter, text.YCenter
		for k := range n {
			c.FillText(name, vg.Point{X: left - 6, Y: top - vg.Length(k*cell) - cell/2}, fitted(name, names[k], longest))
			c.FillText(over, vg.Point{X: left + vg.Length(k*cell) + cell/2, Y: top + 5}, fitted(over, names[k], longest))
		}
		for r := range n {
			sum := 0
			for _, v := range counts[r] {
				sum += v
			}
			for q := range n {
				share := float64(counts[r][q]) / float64(max(1, sum))
				x, y := left+vg.Length(q*cell), top-vg.Length(r*cell)
				c.FillPolygon(tint(share), []vg.Point{{X: x, Y: y}, {X: x + cell - 1, Y: y}, {X: x + cell - 1, Y: y - cell + 1}, {X: x, Y: y - cell + 1}})
				style := middle
				switch {
				case counts[r][q] == 0:
					style.Color = faint
				case share > 0.55:
					style.Color = color.White
				}
				c.FillText(style, vg.Point{X: x + (cell-1)/2, Y: y - (cell-1)/2}, fmt.Sprint(counts[r][q]))
			}
		}
		foot := letters(lowText, soft, false)
		c.FillText(foot, vg.Point{X: left, Y: 8}, "rows: given, columns: predicted")
	}
	return p
}

// fitted truncates a name to a width.
func fitted(style text.Style, name string, width vg.Length) string {
	name = clean(name)
	runes := []rune(name)
	for style.Width(name) > width && len(runes) > 1 {
		runes = runes[:len(runes)-1]
		name = string(runes) + "…"
	}
	return name
}

// tint blends the accent colour with white by a share.
func tint(share float64) color.NRGBA {
	mix := func(a uint8) uint8 { return uint8(math.Round(0xf4 + share*(float64(a)-0xf4))) }
	return color.NRGBA{mix(accent.R), mix(accent.G), mix(accent.B), 0xff}
}
