package plot

import (
	"image"
	"image/color"
	"math"
	"testing"
)

// has reports whether a column of an image has a colour in it.
func has(img image.Image, x int, c color.NRGBA) bool {
	for y := range img.Bounds().Dy() {
		if color.NRGBAModel.Convert(img.At(x, y)) == c {
			return true
		}
	}
	return false
}

// Neighbouring colours differ in lightness or hue for a reader who sees no red and
// green: by at least 40 of 255 in what is left to him.
func TestCurveColorsStayApart(t *testing.T) {
	seen := func(c color.NRGBA) (light, blue float64) {
		return 0.2126*float64(c.R) + 0.7152*float64(c.G) + 0.0722*float64(c.B), float64(c.B)
	}
	for k, c := range curveColors {
		for _, d := range curveColors[k+1:] {
			l, b := seen(c)
			m, e := seen(d)
			if math.Hypot(l-m, b-e) < 40 {
				t.Errorf("%v and %v look alike", c, d)
			}
		}
	}
}
