package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
)

// What is drawn at a point of the disc is what is there on the globe.
func TestHemisphere(t *testing.T) {
	for _, meridian := range []float64{0, 180} {
		h := hemisphere{vg.Point{X: 100, Y: 200}, meridian}
		for _, p := range [][2]float64{{0, 0}, {0.3, -0.5}, {-0.7, 0.6}, {0.1, 0.95}} {
			at, ok := h.place(h.point(p[0], p[1]))
			if !ok || math.Abs(float64(at.X-100)/globeRadius-p[0]) > 1e-9 || math.Abs(float64(at.Y-200)/globeRadius-p[1]) > 1e-9 {
				t.Errorf("around %v: %v is drawn at %v, %v", meridian, p, at, ok)
			}
		}
		if _, ok := h.place(0, meridian+180); ok {
			t.Errorf("around %v: the antipode is seen", meridian)
		}
		if lat, lon := h.point(0, 0); math.Abs(lat-globeTilt) > 1e-9 || math.Abs(lon-meridian) > 1e-9 {
			t.Errorf("the middle is at %v, %v", lat, lon)
		}
	}
}

func TestGlobeInterpolates(t *testing.T) {
	g := GlobeData{Rows: 3, Cols: 4, Values: []float64{9, 9, 9, 9, 0, 1, 2, 3, -9, -9, -9, -9}}
	for _, c := range []struct{ lat, lon, want float64 }{{90, 10, 9}, {-90, 300, -9}, {0, 90, 1}, {0, 135, 1.5}, {0, 315, 1.5}, {45, 0, 4.5}, {0, 359.9999999, 0}} {
		if got := g.at(c.lat, c.lon); math.Abs(got-c.want) > 1e-6 {
			t.Errorf("at %v, %v: %v, want %v", c.lat, c.lon, got, c.want)
		}
	}
}

func TestGlobesAndSharedLegends(t *testing.T) {
	values := []float64{9, 9, 9, 9, 0, math.NaN(), 2, 3, -9, -9, -9, -9}
	draw := map[string]func() *Picture{
		"globe": func() *Picture {
			return Globe(GlobeData{Title: "g", Unit: "m/s", Rows: 3, Cols: 4, Values: values, Marked: []int{0, 5}, Mark: "m"})
		},
		"shared": func() *Picture {
			return Shared("s", 2, Chart{Lines: []Line{{Name: "one", X: []float64{1, 2}, Y: []float64{1, 2}}}}, Chart{Lines: []Line{{Name: "two"}, {Name: "one"}}}, Chart{})
		},
	}
	for name, picture := range draw {
		svg := picture().SVG()
		if err := parseXML(svg); err != nil || bytes.Contains(pixels.ReplaceAll(svg, nil), []byte("NaN")) {
			t.Errorf("%s: %v, or odd numbers got through", name, err)
		}
		if !bytes.Equal(svg, picture().SVG()) {
			t.Errorf("%s was drawn in two ways", name)
		}
		if name == "shared" && strings.Count(string(svg), ">one<") != 1 {
			t.Errorf("a name is %d times in the legend", strings.Count(string(svg), ">one<"))
		}
	}
}
