package plot

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestRobustRange(t *testing.T) {
	even := make([]float64, 101)
	for k := range even {
		even[k] = float64(k)
	}
	long := make([]float64, 1000) // like a lognormal quantity
	for k := range long {
		long[k] = math.Exp(float64(k)/1000*4 - 2)
	}
	for _, c := range []struct {
		name         string
		values       []float64
		low, high    float64
		below, above int
	}{
		{"even", even, 0, 100, 0, 0},
		{"one lone node", append(slices.Clone(even), 1e4), 0, 225 + 1, 0, 1},
		{"one far below", append(slices.Clone(even), -1e4), -126, 100, 1, 0},
		{"a long tail that is the quantity", long, long[0], long[999], 0, 0},
		{"all the same", []float64{5, 5, 5}, 4.5, 5.5, 0, 0},
		{"few", []float64{0, 1, 1000}, 0, 1000, 0, 0},
		{"none", []float64{math.NaN(), math.Inf(1)}, 0, 1, 0, 0},
	} {
		r := RobustRange(c.values, c.values)
		if math.Abs(r.Low-c.low) > 2 && c.low < 0 || math.Abs(r.High-c.high) > 2 || r.Below != c.below || r.Above != c.above || c.low >= 0 &&
			r.Low != c.low {
			t.Errorf("%s: %+v, want %v to %v with %d below and %d above", c.name, r, c.low, c.high, c.below, c.above)
		}
	}
	// Not far enough out to be worth it, and within what was measured.
	near := append(slices.Clone(even), 250)
	if r := RobustRange(near, near); r.Above != 0 {
		t.Errorf("clipped for little: %+v", r)
	}
	if r := RobustRange([]float64{0, 2500, 5000, 7500, 1e4}, append(slices.Clone(even), 1e4)); r.Above != 0 {
		t.Errorf("a measured peak is clipped: %+v", r)
	}
	// Most values are the same: no more than two percent are clipped at an end.
	steps := make([]float64, 1000)
	for k := range 400 {
		steps[k] = float64(k)
	}
	if r := RobustRange(steps, steps); r.Above > 20 {
		t.Errorf("%d of 1000 values are clipped", r.Above)
	}
}

func TestDivergingRange(t *testing.T) {
	r := RobustRange(nil, []float64{-3, -1, 0, 2, 5}).Around(0)
	if r.Low != -5 || r.High != 5 || *r.Centre != 0 {
		t.Errorf("%+v", r)
	}
	for _, c := range []struct {
		values []float64
		want   bool
	}{
		{[]float64{-3, -2, 1, 2}, true},
		{[]float64{1, 2, 3}, false},
		{append(make([]float64, 0), -0.1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14), false}, // one slightly below zero
		{nil, false},
	} {
		if got := BothSigns(c.values); got != c.want {
			t.Errorf("%v: %v", c.values, got)
		}
	}
}

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
