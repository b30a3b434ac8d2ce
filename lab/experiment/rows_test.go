package experiment

import (
	"bytes"
	"math"
	"slices"
	"testing"
)

func TestRows(t *testing.T) {
	rows := Rows{{"arm": "a", "n": 1, "x": 1.0}, {"arm": "a", "n": 2.0, "x": 3.0}, {"arm": "b", "n": 2, "x": math.NaN()}, {"n": 2}}
	if got := rows.Where("arm", "a").Over("x"); got.Mean != 2 || got.N != 2 || math.Abs(got.SE()-1) > 1e-15 {
		t.Errorf("over a: %+v", got)
	}
	for name, c := range map[string]struct{ got, want int }{
		"number": {len(rows.Where("n", 2)), 3}, "as float": {len(rows.Where("n", 2.0)), 3},
		"both":    {len(rows.Where("arm", "b").Where("n", 2)), 1},
		"no such": {len(rows.Where("arm", "c")), 0}, "empty text": {len(rows.Where("arm", "")), 0}, "not finite": {len(rows.Nums("x")), 2},
	} {
		if c.got != c.want {
			t.Errorf("%s: %d rows, want %d", name, c.got, c.want)
		}
	}
	if x, y := rows.Along("n", "x"); !slices.Equal(x, []float64{1, 2}) || !slices.Equal(y, []float64{1, 3}) {
		t.Errorf("along n: %v, %v", x, y)
	}
	if got := rows.Distinct("n"); !slices.Equal(got, []float64{1, 2}) {
		t.Errorf("distinct %v", got)
	}
}

func TestSpreadInWords(t *testing.T) {
	for _, c := range []struct {
		s    Spread
		want string
	}{
		{SpreadOf(nil), "–"},
		{SpreadOf([]float64{0.123456}), "0.1235"},
		{Spread{14.166, 1.009, 5}, "14.2 ± 1.0"},
		{Spread{0.53491, 0.1012, 5}, "0.53 ± 0.10"},
		{Spread{-95.888, 7.9, 3}, "-95.9 ± 7.9"},
		{Spread{12345, 321, 3}, "1.234e+04 ± 3.2e+02"},
		{Spread{0.5, 0, 3}, "0.5 ± 0"},
		{Spread{1e-9, 1e-10, 3}, "1e-09 ± 1e-10"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("%+v is %q, want %q", c.s, got, c.want)
		}
	}
}

func TestSpreadFixed(t *testing.T) {
	for _, c := range []struct {
		s    Spread
		want string
	}{
		{SpreadOf(nil), "–"},
		{SpreadOf([]float64{-0.0001}), "0.000"},
		{Spread{-0.00001, 0.00025, 4}, "0.000 ± 0.000"},
		{Spread{-0.1, 0.02, 4}, "-0.100 ± 0.020"},
		{Spread{-0.1, 0.02, 4}.withSE(), "-0.100 ± 0.010"},
		{SpreadOf([]float64{2}).withSE(), "2.000"},
	} {
		if got := c.s.Fixed(3); got != c.want {
			t.Errorf("%+v is %q, want %q", c.s, got, c.want)
		}
	}
	if got := (Spread{-1e-5, 0.00025, 4}).String(); got != "-0.00001 ± 0.00025" {
		t.Errorf("%q has no digits left", got)
	}
}

func TestCompare(t *testing.T) {
	table := Compare("T", "a note", Comparison{What: "RMSE", Paper: "1", Clean: "2", Differs: "all"})
	var out bytes.Buffer
	if err := table.Fprint(&out); err != nil {
		t.Fatal(err)
	}
	const want = "      paper  ours, authors' protocol  ours, clean protocol  what differs\n" +
		"RMSE  1      –                        2                     all\na note\n"
	if out.String() != want {
		t.Errorf("%q", out.String())
	}
}
