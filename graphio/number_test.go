package graphio

import (
	"math"
	"strconv"
	"testing"
)

func TestParseNumber(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		comma bool
		want  float64
		state numberState
	}{
		{"1", false, 1, numberOK},
		{"-2.5", false, -2.5, numberOK},
		{"+.5", false, 0.5, numberOK},
		{"5.", false, 5, numberOK},
		{"1e3", false, 1000, numberOK},
		{"1E-3", false, 0.001, numberOK},
		{"1,5", true, 1.5, numberOK},
		{"-1,5e2", true, -150, numberOK},
		{"1e-999", false, 0, numberOK},
		{"1,5", false, 0, numberDecimal},
		{"1.5", true, 0, numberDecimal},
		{"", false, 0, numberMissing},
		{"NA", false, 0, numberMissing},
		{"N/A", false, 0, numberMissing},
		{"#N/A", false, 0, numberMissing},
		{"NaN", false, 0, numberMissing},
		{"nan", false, 0, numberMissing},
		{"NULL", false, 0, numberMissing},
		{"None", false, 0, numberMissing},
		{"-", false, 0, numberMissing},
		{"inf", false, 0, numberInfinite},
		{"-Infinity", false, 0, numberInfinite},
		{"+INF", false, 0, numberInfinite},
		{"1e999", false, 0, numberInfinite},
		{"0x1p4", false, 0, numberNone},
		{"1_000", false, 0, numberNone},
		{"1.2.3", false, 0, numberNone},
		{"1.234,5", true, 0, numberNone},
		{"1e", false, 0, numberNone},
		{"1e+", false, 0, numberNone},
		{"e5", false, 0, numberNone},
		{".", false, 0, numberNone},
		{"+", false, 0, numberNone},
		{"--1", false, 0, numberNone},
		{"-NaN", false, 0, numberNone},
		{"45%", false, 0, numberNone},
		{"1 000", false, 0, numberNone},
		{"\u22125", false, 0, numberNone}, // a minus sign that is not ASCII's
		{"١", false, 0, numberNone},
	} {
		got, state := parseNumber([]byte(c.text), c.comma)
		if got != c.want || state != c.state {
			t.Errorf("parseNumber(%q, comma %v) = %v, state %d, want %v, state %d", c.text, c.comma, got, state, c.want, c.state)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, text := range []string{"1", "-1.5e3", "nan", "0x1p4", "1_000", "1,5", "inf", "1e309", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, state := parseNumber([]byte(text), false)
		if state != numberOK {
			return
		}
		want, err := strconv.ParseFloat(text, 64)
		if err != nil || got != want || math.IsInf(got, 0) || math.IsNaN(got) {
			t.Errorf("%q is %v, but strconv says %v, %v", text, got, want, err)
		}
	})
}

func TestSmallInteger(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want uint32
		ok   bool
	}{
		{"0", 0, true}, {"7", 7, true}, {"999999999", 999999999, true},
		{"", 0, false}, {"00", 0, false}, {"07", 0, false}, {"+1", 0, false}, {"-1", 0, false},
		{"1000000000", 0, false}, {"1a", 0, false}, {"1.0", 0, false},
	} {
		if got, ok := smallInteger([]byte(c.text)); got != c.want || ok != c.ok {
			t.Errorf("smallInteger(%q) = %d, %v", c.text, got, ok)
		}
	}
}

func TestNumbersDoNotAllocate(t *testing.T) {
	text, comma := []byte("-123.456e-7"), []byte("123,456")
	if n := testing.AllocsPerRun(100, func() {
		parseNumber(text, false)
		parseNumber(comma, true)
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}
