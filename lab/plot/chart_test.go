package plot

import (
	"bytes"
	"image/png"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/plotter"
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
		{32, 1 << 20, "10^{2} 10^{3} 10^{4} 10^{5} 10^{6}"},
		{0.9, 9, "1 2 5"},
		{2e-5, 3e-4, "2·10^{−5} 5·10^{−5} 10^{−4} 2·10^{−4}"},
		{1e3, 1e14, "10^{4} 10^{6} 10^{8} 10^{10} 10^{12} 10^{14}"},
		{1e-12, 1e9, "10^{−12} 10^{−9} 10^{−6} 10^{−3} 10^{0} 10^{3} 10^{6} 10^{9}"},
		{0.001, 11_000, "0.01 1 100 10000"},
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

// A line of one point is a dot, and one without points is not in the legend.
func TestLinesOfFewPoints(t *testing.T) {
	one := []Line{{Name: "one", X: []float64{3}, Y: []float64{5}}, {Name: "none"}, {Name: "negative", X: []float64{1, 2}, Y: []float64{-1, 0}}}
	for name, p := range map[string]*Picture{
		"alone":  Chart{LogY: true, Lines: one}.Picture(),
		"shared": Shared("", 2, Chart{LogY: true, Lines: one}, Chart{Lines: one[1:2]}),
	} {
		svg := string(p.SVG())
		if !strings.Contains(svg, ">one<") || strings.Contains(svg, ">none<") || strings.Contains(svg, ">negative<") {
			t.Errorf("%s: the legend is not of what is drawn", name)
		}
	}
	img, err := png.Decode(bytes.NewReader(Chart{LogY: true, Bare: true, Lines: one}.Picture().PNG(100)))
	if err != nil {
		t.Fatal(err)
	}
	seen := false
	for x := range img.Bounds().Dx() {
		seen = seen || has(img, x, curveColors[0])
	}
	if !seen {
		t.Error("the point is not seen")
	}
}

// What has nothing to show is not drawn, and leaves no empty axes among others.
func TestSharedLeavesOutWhatIsEmpty(t *testing.T) {
	some := Line{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}}
	if Shared("", 2, Chart{Lines: []Line{{Name: "a"}}}, Chart{}) != nil || Shared("", 1) != nil {
		t.Error("a picture of nothing")
	}
	p := Shared("", 2, Chart{Title: "full", Small: true, Lines: []Line{some}}, Chart{Title: "void", Small: true, Lines: []Line{{Name: "b"}}})
	if svg := string(p.SVG()); !strings.Contains(svg, ">full<") || strings.Contains(svg, ">void<") || p.width != 330 {
		t.Errorf("an empty chart is drawn: %v points wide", p.width)
	}
}

// A level goes from one end of the chart to the other, whatever the other lines span.
func TestLevels(t *testing.T) {
	c := Chart{LogX: true, Bare: true, Lines: []Line{{Name: "a", X: []float64{1, 10}, Y: []float64{1, 1}},
		{Name: "level", Level: true, Y: []float64{2}}, {Name: "void", Level: true}}}
	img, err := png.Decode(bytes.NewReader(c.Picture().PNG(100)))
	if err != nil {
		t.Fatal(err)
	}
	reach := func(k int) (first, last int) {
		first = -1
		for x := range img.Bounds().Dx() {
			if has(img, x, curveColors[k]) {
				if last = x; first < 0 {
					first = x
				}
			}
		}
		return first, last
	}
	from, to := reach(0)
	if lo, hi := reach(1); from < 0 || lo >= from || hi <= to {
		t.Errorf("the level spans %d to %d of the line's %d to %d", lo, hi, from, to)
	}
}

func TestColorsOfLines(t *testing.T) {
	c := Chart{Lines: []Line{{Name: "paper's", Like: "ours"}, {Name: "other"}, {Name: "ours"}, {Name: "grey", Reference: true},
		{Name: "last"}}}
	colors := c.colors()
	for name, want := range map[string]any{"ours": curveColors[0], "paper's": curveColors[0], "other": curveColors[1], "grey": soft,
		"last": curveColors[2]} {
		if colors[name] != want {
			t.Errorf("%s has %v, want %v", name, colors[name], want)
		}
	}
}

func TestSteps(t *testing.T) {
	got := steps(plotter.XYs{{X: 0, Y: 3}, {X: 1, Y: 3}, {X: 2, Y: 1}})
	want := plotter.XYs{{X: 0, Y: 3}, {X: 1, Y: 3}, {X: 1, Y: 3}, {X: 2, Y: 3}, {X: 2, Y: 1}}
	if !slices.Equal(got, want) || steps(nil) != nil {
		t.Errorf("%v, want %v", got, want)
	}
}

// Notes stand above all that is drawn, in as many rows as there are.
func TestNotes(t *testing.T) {
	c := Chart{LogY: true, Lines: []Line{{Name: "a", X: []float64{1, 2}, Y: []float64{1, 100}, Note: "N^{1.04 ± 0.08}"},
		{Name: "b", Note: "void"}}}
	svg := string(c.Picture().SVG())
	if !strings.Contains(svg, ">N<") || !strings.Contains(svg, ">1.04 ± 0.08<") || strings.Contains(svg, "void") {
		t.Error("the note is not as it should be")
	}
	if _, ys, notes := c.spans(); len(notes) != 1 || ys != (scale{1, 100}) {
		t.Errorf("%d notes above %v", len(notes), ys)
	}
}

func TestRaised(t *testing.T) {
	for line, want := range map[string][]part{
		"":               nil,
		"10":             {{"10", false}},
		"10^{−4} s":      {{"10", false}, {"−4", true}, {" s", false}},
		"x^2, ^{ and }^": {{"x^2, ", false}, {" and ", true}, {"^", false}},
		"open^{":         {{"open^{", false}},
	} {
		if got := partsOf(line); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", line, got, want)
		}
	}
	style := letters(10, ink, false)
	if plain, up := style.Width("102"), style.Width("10^{2}"); up >= plain || up <= style.Width("10") {
		t.Errorf("10² takes %v, 102 takes %v", up, plain)
	}
}
