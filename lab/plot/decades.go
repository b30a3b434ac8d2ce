package plot

import (
	"math"
	"strconv"

	gonum "gonum.org/v1/plot"
)

// decades places ticks at powers of ten, and if these are few, at 2 and 5 times them as
// well.
type decades struct{}

func (decades) Ticks(lo, hi float64) []gonum.Tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	every := max(1, (last-first+6)/7)
	few := math.Log10(hi/lo) < 2
	write := power
	if lo >= 1e-3 && hi < 2e4 { // short enough without powers, all along the axis
		write = func(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }
	}
	var ticks []gonum.Tick
	for e := first; e <= last; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := m * math.Pow(10, float64(e))
			if v < lo || v > hi || m > 1 && every > 1 {
				continue
			}
			label := ""
			if m == 1 && e%every == 0 || few {
				label = write(v)
			}
			ticks = append(ticks, gonum.Tick{Value: v, Label: label})
		}
	}
	return ticks
}
