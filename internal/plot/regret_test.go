package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"testing"
)

// falling are n curves that fall at different speeds, with bands.
func falling(n int) []Curve {
	all := []Curve{{Name: "expected", Reference: true}}
	for k := range n {
		c := Curve{Name: string(rune('a' + k))}
		for x := range 30 {
			y := math.Exp(-float64(x*(k+1)) / 30)
			c.X, c.Y = append(c.X, float64(x)), append(c.Y, y)
			c.Low, c.High = append(c.Low, y-0.1), append(c.High, y+0.1)
		}
		all = append(all, c)
	}
	all[0].X, all[0].Y = all[1].X, all[1].Y
	return all
}

func TestCurvesAreWholeAndAlwaysTheSame(t *testing.T) {
	odd := []Curve{
		{Name: "<odd>\x00", X: []float64{1, 2, math.NaN(), 4}, Y: []float64{math.Inf(1), 2, 3, math.NaN()}},
		{Name: "empty"}, {Name: "point", X: []float64{3}, Y: []float64{0}, Low: []float64{math.NaN()}, High: []float64{1}},
	}
	for name, curves := range map[string][]Curve{"some": falling(4), "many": falling(12), "odd": odd, "none": nil} {
		p := Curves("Regret", "measurements", "regret", curves)
		svg := p.SVG()
		if err := parseXML(svg); err != nil {
			t.Errorf("%s: no XML: %v", name, err)
		}
		if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) || bytes.Contains(svg, []byte("<odd>")) {
			t.Errorf("%s: odd numbers or names got through", name)
		}
		if !bytes.Equal(svg, Curves("Regret", "measurements", "regret", curves).SVG()) {
			t.Errorf("%s was drawn in two ways", name)
		}
		if img, err := png.Decode(bytes.NewReader(p.PNG(50))); err != nil || img.Bounds().Empty() {
			t.Errorf("%s is no PNG: %v", name, err)
		}
	}
}

// The first curve lies above those that run along with it.
func TestFirstCurveOnTop(t *testing.T) {
	flat := func(name string) Curve { return Curve{Name: name, X: []float64{0, 1}, Y: []float64{1, 1}} }
	img, err := png.Decode(bytes.NewReader(Curves("", "x", "y", []Curve{flat("a"), flat("b"), flat("c")}).PNG(100)))
	if err != nil {
		t.Fatal(err)
	}
	x := img.Bounds().Dx() / 3 // left of all names
	for k, want := range []bool{true, false, false} {
		if has(img, x, curveColors[k]) != want {
			t.Errorf("curve %d is seen: %v", k, !want)
		}
	}
}

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
