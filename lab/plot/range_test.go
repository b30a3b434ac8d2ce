package plot

import (
	"strings"
	"testing"
)

// A map says that values lie beyond its colours, at both ends.
func TestMapNamesWhatIsBeyond(t *testing.T) {
	m := lattice(5)
	m.Range = &Range{Low: 2, High: 9, Below: 1, Above: 2}
	svg := string(Map(m).SVG())
	for _, want := range []string{">≤ 2<", ">≥ 9<"} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %s", want)
		}
	}
}

// Areas are filled in place of dots, and maps side by side have the same frame.
func TestMapOfAreas(t *testing.T) {
	square := Outline{true, []float64{0, 1, 1, 0}, []float64{0, 0, 1, 1}}
	m := MapData{X: []float64{0.5, 3}, Y: []float64{0.5, 0.5}, Values: []float64{1, 2}, Areas: [][]Outline{{square}, nil}}
	v := newView(m)
	if !v.hasArea(0) || v.hasArea(1) {
		t.Error("areas are confused")
	}
	if low := v.point(0, 0); low.X < v.left || low.Y < v.bottom {
		t.Errorf("the corner of an area is outside of the map, at %v", low)
	}
	classes, beside := m, m
	classes.Classes, beside.Beside = []string{"a", "b", "c"}, []string{"a", "b", "c"}
	if a, b := newView(classes), newView(beside); a.width != b.width || a.height != b.height || a.x0 != b.x0 || a.perUnit != b.perUnit {
		t.Errorf("%v and %v", a, b)
	}
}
