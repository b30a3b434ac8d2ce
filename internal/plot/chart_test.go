package plot

import (
	"bytes"
	"image/png"
	"math"
	"strings"
	"testing"
)

func TestChartsAndMeshesAreWholeAndAlwaysTheSame(t *testing.T) {
	some := Line{Name: "a", X: []float64{1, 10, 100}, Y: []float64{3, 2, 1}, Low: []float64{2, -1, math.NaN()}, High: []float64{4, 3, 2}}
	odd := Line{Name: "<odd>\x00", X: []float64{-1, 0, math.NaN(), 7}, Y: []float64{1, math.Inf(1), 3, 0}}
	values := make([]float64, 12)
	values[3], values[7] = math.NaN(), 2
	draw := map[string]func() *Picture{
		"log": func() *Picture { return Chart{LogX: true, LogY: true, Lines: []Line{some, odd}}.Picture() },
		"plain": func() *Picture {
			return Chart{Zero: true, Small: true, Lines: []Line{some, odd, {Name: "a", Dots: true, X: []float64{5}, Y: []float64{5}}}}.Picture()
		},
		"none": func() *Picture { return Chart{Title: "nothing"}.Picture() },
		"mesh": func() *Picture {
			return Mesh(MeshData{Rows: 3, Cols: 4, Values: values, Marked: []int{0, 11}, Mark: "m"})
		},
		"panels": func() *Picture {
			return Panels("all", 2, Chart{Lines: []Line{some}}.Picture(), Map(lattice(3)), Mesh(MeshData{Rows: 3, Cols: 4, Values: values}))
		},
	}
	for name, picture := range draw {
		svg := picture().SVG()
		if err := parseXML(svg); err != nil {
			t.Errorf("%s: no XML: %v", name, err)
		}
		if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("Inf")) || bytes.Contains(svg, []byte("<odd>")) {
			t.Errorf("%s: odd numbers or names got through", name)
		}
		if !bytes.Equal(svg, picture().SVG()) {
			t.Errorf("%s was drawn in two ways", name)
		}
		if img, err := png.Decode(bytes.NewReader(picture().PNG(50))); err != nil || img.Bounds().Empty() {
			t.Errorf("%s is no PNG: %v", name, err)
		}
	}
}

func TestDecades(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		want   string
	}{
		{1, 1000, "1 10 100 1000"},
		{32, 1 << 20, "100 1000 10⁴ 10⁵ 10⁶"},
		{0.9, 9, "1 2 5"},
		{2e-5, 3e-4, "2e−5 5e−5 1e−4 2e−4"},
		{1e3, 1e14, "10⁴ 10⁶ 10⁸ 1e10 10¹² 10¹⁴"},
		{1e-12, 1e9, "1e−12 1e−9 1e−6 0.001 1 1000 10⁶ 10⁹"},
	} {
		var got []string
		for _, tick := range (decades{}).Ticks(c.lo, c.hi) {
			if tick.Label != "" {
				got = append(got, tick.Label)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("ticks of %v to %v: %v, want %s", c.lo, c.hi, got, c.want)
		}
	}
}
