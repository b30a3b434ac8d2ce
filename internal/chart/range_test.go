package chart

import (
	"math"
	"slices"
	"strconv"
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
	if r.Low != -5 || r.High != 5 {
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

// The colours of values grow lighter all the way up, for eyes that see no hues; numbers that are none are grey.
func TestShades(t *testing.T) {
	all := Values.cut()
	if len(all) != shades+1 || all[0] != Values[0] || all[shades-1] != Values[len(Values)-1] || all[shades] != faint {
		t.Errorf("shades: %v", all)
	}
	before := -1.0
	for k, c := range all[:shades] {
		light, _ := seen(t, c)
		if light <= before {
			t.Fatalf("shade %d is no lighter than the one before", k)
		}
		before = light
	}
	m := lattice(3)
	m.Range, m.Values = Range{Low: 2, High: 4}, []float64{2, 3, 4, -9, 9, math.Inf(1), math.Inf(-1), math.NaN(), 2}
	v := newView(m)
	for i, want := range []int{0, shades / 2, shades - 1, 0, shades - 1, shades - 1, 0, shades} {
		if got := v.color(i); got != want {
			t.Errorf("%v has shade %d, want %d", m.Values[i], got, want)
		}
	}
}

// seen returns what is left of a colour to a reader who sees no red and green.
func seen(t *testing.T, color string) (light, blue float64) {
	t.Helper()
	rgb, err := strconv.ParseUint(color[1:], 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	blue = float64(rgb & 255)
	return 0.2126*float64(rgb>>16) + 0.7152*float64(rgb>>8&255) + 0.0722*blue, blue
}

// Colours of curves differ by at least 40 of 255 in lightness or blue.
func TestCurveColorsStayApart(t *testing.T) {
	for k, c := range curveColors {
		for _, d := range curveColors[k+1:] {
			l, b := seen(t, c)
			m, e := seen(t, d)
			if math.Hypot(l-m, b-e) < 40 {
				t.Errorf("%v and %v look alike", c, d)
			}
		}
	}
}
