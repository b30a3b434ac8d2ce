package plot

import (
	"image/color"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// classColors are distinguishable with colour blindness: the palette of Okabe and Ito,
// with lighter and darker variants.
var classColors = [...]color.NRGBA{
	{0x00, 0x72, 0xb2, 0xff}, {0xe6, 0x9f, 0x00, 0xff}, {0x00, 0x9e, 0x73, 0xff}, {0xcc, 0x79, 0xa7, 0xff},
	{0x56, 0xb4, 0xe9, 0xff}, {0xd5, 0x5e, 0x00, 0xff}, {0xf0, 0xe4, 0x42, 0xff}, {0x5b, 0x3a, 0x86, 0xff},
	{0x8c, 0x51, 0x0a, 0xff}, {0x7f, 0x9f, 0x3a, 0xff}, {0x26, 0x2b, 0x33, 0xff},
}

// classRow is the height of a class in the key of a map.
const classRow = 16

// MaxColors is the number of classes with a colour of their own on a map; all others are
// grey.
const MaxColors = len(classColors)

// Look is a style for the nodes of a class.
type Look int

// Styles of classes.
const (
	Plain  Look = iota // in a colour of its own
	Strong             // large, in a colour that no other has
	Faded              // light
	Small              // small and grey
)

// lookColors and lookSizes are the colours and relative radii of Looks.
var (
	lookColors = [...]color.NRGBA{Strong: {0xb2, 0x18, 0x2b, 0xff}, Faded: {0x92, 0xc5, 0xde, 0xff}, Small: faint}
	lookSizes  = [...]vg.Length{Plain: 1, Strong: 1.8, Faded: 1.1, Small: 0.6}
)

// look returns the style of nodes of a colour.
func (v *view) look(k int) Look {
	if k < 0 || k >= len(v.Looks) {
		return Plain
	}
	return v.Looks[k]
}

// shade returns the index of the colour of node i, -1 if it has none.
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
		return v.ramp().shade(k)
	}
	if look := v.look(k); look != Plain {
		return lookColors[look]
	}
	return classColors[k]
}

// drawClasses draws the legend of classes.
func (v *view) drawClasses(c draw.Canvas) {
	left, y := c.Max.X-classRoom+8, c.Max.Y-headRoom-10
	style := letters(lowText, ink, false)
	style.YAlign = text.YCenter
	say := func(k int, name string) {
		c.SetColor(v.color(k))
		c.Fill(circle(nil, vg.Point{X: left + 5, Y: y}, min(5.5, 4.5*lookSizes[v.look(k)])))
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
