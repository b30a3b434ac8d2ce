package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
)

// Range says how numbers become colours: Low and below is the first colour, High and above
// the last.
type Range struct {
	Low, High    float64
	Min, Max     float64  // of all values
	Below, Above int      // values outside of Low and High
	Centre       *float64 // of a diverging scale, halfway between Low and High; nil: none
}

// RobustRange returns the range of the finite values without those that are far out: further than
// three interquartile ranges from the quartiles (Tukey, "Exploratory data analysis", 1977) and
// among the two percent at that end, as the values of judge have it. A single extreme value does not
// make all others the same colour. The range is cut only where that makes the rest at least half as
// wide again.
func RobustRange(judge []float64, lists ...[]float64) Range {
	sorted := finiteSorted(slices.Concat(lists...))
	if len(sorted) == 0 {
		return Range{Low: 0, High: 1, Min: 0, Max: 1}
	}
	r := Range{Low: sorted[0], High: sorted[len(sorted)-1]}
	r.Min, r.Max = r.Low, r.High
	const few = 5
	if judge = finiteSorted(judge); len(judge) >= few {
		last := len(judge) - 1
		at := func(share float64) float64 { return judge[int(share*float64(last))] }
		low, high := at(0.25), at(0.75)
		if reach := 3 * (high - low); reach > 0 && !math.IsInf(reach, 0) {
			low, high = min(low-reach, judge[last-int(0.98*float64(last))]), max(high+reach, at(0.98))
			const worth = 1.5
			if r.High-max(r.Low, low) > worth*(high-max(r.Low, low)) {
				r.High = max(high, r.Low)
			}
			if r.High-r.Low > worth*(r.High-low) {
				r.Low = min(low, r.High)
			}
		}
	}
	if r.Low == r.High { // a range of its own, for the ticks
		d := max(math.Abs(r.Low)/10, 1e-9)
		r.Low, r.High = r.Low-d, r.High+d
	}
	return r.counted(sorted)
}

// finiteSorted returns the finite values in increasing order.
func finiteSorted(values []float64) []float64 {
	all := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
	slices.Sort(all)
	return all
}

// counted counts the values that are outside.
func (r Range) counted(sorted []float64) Range {
	r.Below, _ = slices.BinarySearch(sorted, r.Low)
	above, _ := slices.BinarySearchFunc(sorted, r.High, func(v, high float64) int {
		if v <= high {
			return -1
		}
		return 1
	})
	r.Above = len(sorted) - above
	return r
}

// Around returns the range of a diverging scale: as far to both sides of the centre as the range
// reaches at most. Values outside the range keep their count.
func (r Range) Around(centre float64) Range {
	half := max(math.Abs(r.High-centre), math.Abs(centre-r.Low))
	low, high := centre-half, centre+half
	if low <= r.Min {
		r.Below = 0
	}
	if high >= r.Max {
		r.Above = 0
	}
	r.Low, r.High, r.Centre = low, high, &centre
	return r
}

// BothSigns reports whether zero is a natural centre of values: at least a tenth of them are below
// zero, and a tenth above.
func BothSigns(values []float64) bool {
	below, above := 0, 0
	for _, v := range values {
		if v < 0 {
			below++
		}
		if v > 0 {
			above++
		}
	}
	return 10*below >= len(values) && 10*above >= len(values) && len(values) > 0
}

// Ramp is a colour scale. Neighbouring stops are blended.
type Ramp []color.NRGBA

// Colour scales that people with red-green blindness can read.
var (
	// Values grows evenly lighter, from violet to yellow.
	Values = Ramp(viridis[:])
	// Uncertainty is bright where little is known.
	Uncertainty = Ramp{
		{0x3a, 0x44, 0x7c, 0xff}, {0x55, 0x41, 0x8c, 0xff}, {0x75, 0x3f, 0x91, 0xff}, {0x98, 0x3f, 0x8b, 0xff}, {0xba, 0x48, 0x7c, 0xff},
		{0xd9, 0x5a, 0x68, 0xff}, {0xee, 0x78, 0x53, 0xff}, {0xf9, 0x9f, 0x4c, 0xff}, {0xfd, 0xd1, 0x74, 0xff},
	}
	// Diverging is grey at its centre, blue below and red above.
	Diverging = Ramp{
		{0x1b, 0x4f, 0x91, 0xff}, {0x3b, 0x84, 0xbb, 0xff}, {0x86, 0xb8, 0xd8, 0xff}, {0xd2, 0xd2, 0xd0, 0xff},
		{0xf0, 0xa4, 0x82, 0xff}, {0xd0, 0x5c, 0x4a, 0xff}, {0x9c, 0x16, 0x2a, 0xff},
	}
)

// Hex returns the stops as #rrggbb.
func (r Ramp) Hex() []string {
	all := make([]string, len(r))
	for k, c := range r {
		all[k] = fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B)
	}
	return all
}

// ClassColors returns the colours of classes as #rrggbb; all classes after them share the last,
// grey.
func ClassColors() []string { return Ramp(append(slices.Clone(classColors[:]), faint)).Hex() }

// shade returns colour k of shades, grey for -1.
func (r Ramp) shade(k int) color.NRGBA {
	if k < 0 {
		return faint
	}
	t := float64(k) / (shades - 1) * float64(len(r)-1)
	i := min(int(t), len(r)-2)
	a, b, f := r[i], r[i+1], t-float64(i)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + f*(float64(y)-float64(x)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}
