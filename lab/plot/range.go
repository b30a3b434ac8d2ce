package plot

import (
	"image/color"
	"math"
)

// Range says how numbers become colours: Low and below is the first colour, High and above
// the last.
type Range struct {
	Low, High    float64
	Min, Max     float64  // of all values
	Below, Above int      // values outside of Low and High
	Centre       *float64 // of a diverging scale, halfway between Low and High; nil: none
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
