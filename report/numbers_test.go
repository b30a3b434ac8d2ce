package report

import (
	"math"
	"testing"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name        string
		values, sds []float64
		v           float64
		want        string
	}{
		{"speeds", []float64{14, 76}, []float64{1, 3, 4}, 54.234, "54.2"},
		{"shares of a margin", []float64{-0.3, 0.4}, []float64{0.03}, -0.006736, "−0.007"},
		{"a small negative number is not −0", []float64{-40, 40}, []float64{5}, -0.01, "0.0"},
		{"populations", []float64{1e3, 3e6}, []float64{2e4}, 2345678.9, "2,345,679"},
		{"money", []float64{1e9, 3e9}, []float64{1e8}, 2e9, "2,000,000,000"},
		{"no uncertainty", []float64{0, 2}, []float64{0}, 1.23456, "1.235"},
		{"all the same", []float64{7, 7}, []float64{0}, 7, "7.000"},
		{"all zero", []float64{0, 0}, []float64{0}, 0, "0"},
		{"huge", []float64{1e20, 3e20}, []float64{1e18}, -2e20, "−2.000 × 10^20"},
		{"tiny", []float64{1e-9, 3e-9}, []float64{1e-10}, 2e-9, "2.000 × 10^−9"},
		{"none", nil, nil, math.NaN(), "–"},
		{"infinite ones do not count", []float64{1, 2, math.Inf(1)}, []float64{0.1, 0.1, math.Inf(1)}, 1.5, "1.50"},
	} {
		if got := numbersFor(c.values, c.sds).text(c.v); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCountsAndPercents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{count(1, "nodes"), "1 node"}, {count(1234567, "nodes"), "1,234,567 nodes"}, {count(100, "edges"), "100 edges"},
		{percent(0.947), "95 %"}, {percent(0.999), "more than 99 %"}, {percent(1), "100 %"}, {percent(0.001), "less than 1 %"},
		{percent(0), "0 %"},
	} {
		if c.got != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}
