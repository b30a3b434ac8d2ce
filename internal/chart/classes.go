package chart

import (
	"fmt"
	"math"
	"strconv"

	"grfgp/internal/binomial"
)

// Bin is a group of predictions of similar confidence.
type Bin struct {
	Count      int
	Confidence float64 // mean of the largest probability
	Accuracy   float64 // share of them that are right
}

// Reliability draws a reliability diagram: accuracy against confidence, for bins of equal width.
// Calibrated probabilities lie on the diagonal, up to random variation within the grey bars. Larger
// dots have more predictions; their numbers are above.
func Reliability(title string, bins []Bin) *Picture {
	unit := span{0, 1}
	a := newAxes(axis{"probability of the predicted class", unit, percents()}, axis{"accuracy", unit, percents()},
		halfWide, 0.85*halfWide, 0, 12)
	shown := func(b Bin) bool { return b.Count > 0 && finite(b.Confidence, b.Accuracy) }
	total, wide := 0, 1/float64(max(1, len(bins)))
	for k, b := range bins {
		if !shown(b) {
			continue
		}
		total += b.Count
		lo, hi := binomial.Interval(b.Count, b.Confidence)
		n := float64(b.Count)
		a.box(max(0, b.Confidence-0.4*wide), float64(lo)/n, min(1, b.Confidence+0.4*wide), float64(hi)/n, `fill="`+band+`"`)
		u, v := a.at((float64(k)+0.5)*wide, 1)
		a.add(`<text x="%v" y="%v" font-size="8" text-anchor="middle" fill="`+soft+`">%v</text>`, u, v-8, brief(b.Count))
	}
	a.add(`<text x="%v" y="%v" font-size="8" text-anchor="end" fill="`+soft+`">labels</text>`, a.left-6, a.top-8)
	a.add(`<path d="%v" `+dashes+`/>`, a.trace([]float64{0, 1}, []float64{0, 1}))
	for _, b := range bins {
		if shown(b) {
			a.add(`<path d="%v" `+roundEnds+` stroke="`+accent+`" stroke-width="%v"/>`, a.dots([]float64{b.Confidence}, []float64{b.Accuracy}),
				4+12*math.Sqrt(float64(b.Count)/float64(total)))
		}
	}
	return a.picture(title, fmt.Sprintf("Accuracy against confidence of %d held-out labels.", total), "")
}

// brief writes a count in four characters.
func brief(n int) string {
	switch {
	case n >= 999_500:
		return strconv.Itoa((n+5e5)/1e6) + "M"
	case n >= 10_000:
		return strconv.Itoa((n+500)/1e3) + "k"
	}
	return strconv.Itoa(n)
}

// mostConfusion is the largest number of classes that Confusion draws.
const mostConfusion = 20

// Confusion draws a confusion matrix: true classes by row, predicted classes by column.
// Cells are shaded by their share of the row.
func Confusion(title string, names []string, counts [][]int) *Picture {
	const cell, longest = 30.0, 120.0
	n, note := min(len(names), mostConfusion), ""
	if len(names) > n {
		note = fmt.Sprintf("of %d classes, the first %d are drawn", len(names), n)
	}
	short, widest := make([]string, n), 0.0
	for k := range short {
		short[k] = fitted(names[k], letters, longest)
		widest = max(widest, width(short[k], letters))
	}
	left, top, side := margin+8+widest, headRoom+10+0.75*widest, cell*float64(n)
	s := &sheet{width: max(halfWide, left+side+0.75*widest+margin), height: top + side + 30}
	move := (s.width - left - side - 0.5*widest) / 2 // the middle of a wider sheet
	left += max(0, move-margin)
	right, wrong := 0, 0
	for r, name := range short {
		y := top + cell*(float64(r)+0.5)
		s.add(`<text x="%v" y="%v" text-anchor="end" `+middle+`>%v</text>`, left-6, y, name)
		s.add(`<text transform="translate(%v %v)rotate(-45)">%v</text>`, left+cell*(float64(r)+0.5)+3, top-6, name)
		sum := 0
		for _, v := range counts[r] {
			sum += v
		}
		right, wrong = right+counts[r][r], wrong+sum-counts[r][r]
		for q, v := range counts[r][:n] {
			share, x, fill := float64(v)/float64(max(1, sum)), left+cell*float64(q), ink
			switch {
			case v == 0:
				fill = faint
			case share > 0.5:
				fill = "#ffffff"
			}
			s.add(`<path d="M%v %vh%vv%vh-%vz" fill="%v"/>`, x, y-cell/2, cell-1, cell-1, cell-1, blend("#f4f5f6", accent, share))
			s.add(`<text x="%v" y="%v" text-anchor="middle" fill="%v" `+middle+`>%v</text>`, x+(cell-1)/2, y, fill, brief(v))
		}
	}
	s.add(`<text x="%v" y="%v" fill="`+soft+`">rows: given, columns: predicted</text>`, left, top+side+18)
	about := fmt.Sprintf("A table of given against predicted classes: %d labels are predicted correctly and %d wrongly.", right, wrong)
	return s.picture(title, about, note)
}
