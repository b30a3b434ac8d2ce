package chart

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Range says how numbers become colours: Low and below is the first colour, High and above
// the last.
type Range struct {
	Low, High    float64
	Min, Max     float64 // of all values
	Below, Above int     // values outside of Low and High
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
	s := span{r.Low, r.High}.widened()
	r.Low, r.High = s.lo, s.hi
	return r.counted(sorted)
}

// finiteSorted returns the finite values in increasing order.
func finiteSorted(values []float64) []float64 {
	all := slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return !finite(v) })
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
	r.Low, r.High = centre-half, centre+half
	if r.Low <= r.Min {
		r.Below = 0
	}
	if r.High >= r.Max {
		r.Above = 0
	}
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

// Ramp is a colour scale: its stops, as #rrggbb, which are blended.
type Ramp []string

// Colour scales that people with red-green blindness can read.
var (
	// Values grows evenly lighter, from violet to yellow.
	Values = Ramp{"#442a74", "#414487", "#34608d", "#2a788e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#f5e026"}
	// Uncertainty is bright where little is known.
	Uncertainty = Ramp{"#3a447c", "#55418c", "#753f91", "#983f8b", "#ba487c", "#d95a68", "#ee7853", "#f99f4c", "#fdd174"}
	// Diverging is grey at its centre, blue below and red above.
	Diverging = Ramp{"#1b4f91", "#3b84bb", "#86b8d8", "#d2d2d0", "#f0a482", "#d05c4a", "#9c162a"}
	// Classes are the colours of classes, not blended: the palette of Okabe and Ito with lighter and
	// darker ones. All classes after them share the last, grey.
	Classes = Ramp{"#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#5b3a86", "#8c510a",
		"#7f9f3a", "#262b33", faint}
)

// shades is the number of colours into which a ramp is cut.
const shades = 64

// cut returns the shades, and grey for nodes without a value.
func (r Ramp) cut() []string {
	all := make([]string, shades, shades+1)
	for k := range all {
		t := float64(k) / (shades - 1) * float64(len(r)-1)
		i := min(int(t), len(r)-2)
		all[k] = blend(r[i], r[i+1], t-float64(i))
	}
	return append(all, faint)
}

// blend returns the colour that is a share of the way from a to b.
func blend(a, b string, share float64) string {
	part := func(colour string, k int) float64 {
		v, err := strconv.ParseUint(colour[1+2*k:3+2*k], 16, 8)
		if err != nil {
			panic(fmt.Sprintf("chart: colour %s: %v", colour, err)) // colours are those above
		}
		return float64(v)
	}
	mixed := "#"
	for k := range 3 {
		mixed += fmt.Sprintf("%02x", int(math.Round(part(a, k)+share*(part(b, k)-part(a, k)))))
	}
	return mixed
}
