package plot

import (
	"grfgp/internal/binomial"
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
