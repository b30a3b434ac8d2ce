package plot

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// classColors stay apart for the colour-blind, after Okabe and Ito and with
// lighter and darker ones of the same.
var classColors = [...]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0xf0, 0xe4, 0x42, 0xff}, {0x5b, 0x3a, 0x86, 0xff},
	{0x8c, 0x51, 0x0a, 0xff}, {0x7f, 0x9f, 0x3a, 0xff}, {0x26, 0x2b, 0x33, 0xff},
}

// classRow is the height of a class in the key of a map.
const classRow = 16

// MaxColors is how many classes have a colour of their own on a map; all others
// share a grey.
const MaxColors = len(classColors)

// shade returns the number of the colour of node i, -1 for what has none.
func (v *view) shade(i int) int {
	if v.Classes == nil {
		return v.colors.shade(v.Values[i])
	}
	if k := int(v.Values[i]); k >= 0 && k < MaxColors {
		return k
	}
	return -1
}

func (v *view) color(k int) color.NRGBA {
	if v.Classes == nil || k < 0 {
		return shadeColor(k)
	}
	return classColors[k]
}

// drawClasses draws the colours with the names of their classes.
func (v *view) drawClasses(c draw.Canvas) {
	left, y := c.Max.X-classRoom+8, c.Max.Y-headRoom-10
	style := letters(lowText, ink, false)
	style.YAlign = text.YCenter
	say := func(k int, name string) {
		c.SetColor(v.color(k))
		c.Fill(circle(nil, vg.Point{X: left + 5, Y: y}, 4.5))
		c.FillText(style, vg.Point{X: left + 14, Y: y}, fitted(style, name, classRoom-30))
		y -= classRow
	}
	for k, name := range v.Classes[:min(MaxColors, len(v.Classes))] {
		say(k, name)
	}
	if len(v.Classes) > MaxColors {
		say(-1, "others")
	}
}
