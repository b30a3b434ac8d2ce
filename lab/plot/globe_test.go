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
	for _, behind := range []bool{false, true} {
		h := hemisphere{vg.Point{X: 100, Y: 200}, behind}
		for _, p := range [][2]float64{{0, 0}, {0.3, -0.5}, {-0.7, 0.6}, {0.1, 0.95}} {
			at, ok := h.place(h.point(p[0], p[1]))
			if !ok || math.Abs(float64(at.X-100)/globeRadius-p[0]) > 1e-9 || math.Abs(float64(at.Y-200)/globeRadius-p[1]) > 1e-9 {
				t.Errorf("behind %v: %v is drawn at %v, %v", behind, p, at, ok)
			}
		}
		wantLat, wantLon := float64(globeTilt), 0.0
		if behind {
			wantLat, wantLon = -globeTilt, 180
		}
		if lat, lon := h.point(0, 0); math.Abs(lat-wantLat) > 1e-9 || math.Abs(lon-wantLon) > 1e-9 {
			t.Errorf("behind %v: the middle is at %v, %v", behind, lat, lon)
		}
	}
}

// Every node is in one of the halves, and in one alone.
func TestEveryNodeIsSeenOnce(t *testing.T) {
	g := GlobeData{Rows: 73, Cols: 144}
	for i := range g.Rows * g.Cols {
		_, front := hemisphere{}.place(g.node(i))
		_, back := hemisphere{behind: true}.place(g.node(i))
		if front == back {
			lat, lon := g.node(i)
			t.Fatalf("the node at %v, %v is seen in front: %v, from behind: %v", lat, lon, front, back)
		}
	}
}

// One spot does not take all colours for itself where a limit is given, and the
// bar says so.
func TestGlobeClips(t *testing.T) {
	g := GlobeData{Rows: 3, Cols: 4, Values: []float64{-1, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 100}, Most: 4}
	if svg := string(Globe(g).SVG()); !strings.Contains(svg, ">≥ 4<") || strings.Contains(svg, ">100<") {
		t.Error("the colours go beyond the limit, or do not say that there is one")
	}
	g.Most = 0
	if svg := string(Globe(g).SVG()); strings.Contains(svg, "≥") || !strings.Contains(svg, ">100<") {
		t.Error("a limit where none was asked for")
	}
}

func TestGlobeInterpolates(t *testing.T) {
	g := GlobeData{Rows: 3, Cols: 4, Values: []float64{9, 9, 9, 9, 0, 1, 2, 3, -9, -9, -9, -9}}
	for _, c := range []struct{ lat, lon, want float64 }{
		{90, 10, 9}, {-90, 300, -9}, {0, 90, 1}, {0, 135, 1.5}, {0, 315, 1.5}, {45, 0, 4.5}, {0, 359.9999999, 0}} {
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
			return Shared("s", 2, Chart{Lines: []Line{{Name: "one", X: []float64{1, 2}, Y: []float64{1, 2}}}},
				Chart{Lines: []Line{{Name: "two"}, {Name: "one"}}}, Chart{})
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
