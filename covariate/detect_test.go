package covariate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// repeat makes n cells of a pattern.
func repeat(n int, cell func(i int) string) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = cell(i)
	}
	return out
}

func TestDetect(t *testing.T) {
	t.Parallel()
	of := func(cells ...string) func(int) string { return func(i int) string { return cells[i%len(cells)] } }
	for _, c := range []struct {
		name  string
		cells []string
		kind  Kind
	}{
		{"length", repeat(100, func(i int) string { return fmt.Sprint(1.5 * float64(i)) }), Number},
		{"population", repeat(100, func(i int) string { return fmt.Sprint(1000 + i*i) }), Number},
		{"lanes", repeat(100, of("1", "2", "3")), Number},
		{"type", repeat(100, of("1", "2", "3")), Category},
		{"LinkType", repeat(100, of("1", "2", "3", "NA")), Category},
		{"type", repeat(20, of("1", "2", "3")), Number}, // fewer than ten of each
		{"mature", repeat(100, of("0", "1")), Category},
		{"flag", repeat(100, of("TRUE", "false", "")), Category},
		{"fips", repeat(100, of("01001", "01003", "36061")), Category},
		{"mostly", repeat(100, of(append(repeat(19, func(i int) string { return fmt.Sprint(i, ".5") }), "unknown")...)), Number},
		{"route", repeat(100, of("1", "2", "7A")), Category},
		{"row", repeat(100, func(i int) string { return fmt.Sprint(i + 1) }), Identifier},
		{"osmid", repeat(100, func(i int) string { return fmt.Sprint(4000000 + i*i) }), Identifier},
		{"name", repeat(100, func(i int) string { return fmt.Sprint("street", i) }), Identifier},
		{"city", repeat(100, of("New York", "San Jose", "Ulm")), Category},
		{"when", repeat(100, func(i int) string { return fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28) }), Date},
		{"stamp", repeat(100, func(i int) string { return fmt.Sprintf("2024-05-%02dT%02d:30:00Z", 1+i%28, i%24) }), Date},
		{"german", repeat(100, func(i int) string { return fmt.Sprintf("%02d.%02d.2024", 1+i%28, 1+i%12) }), Date},
		{"english", repeat(100, func(i int) string { return fmt.Sprintf("May %d, 2024", 1+i%28) }), Date},
		{"american", repeat(100, func(i int) string { return fmt.Sprintf("%02d/%02d/2024", 1+i%12, 1+i%28) }), Date},
		{"unclear", repeat(100, func(i int) string { return fmt.Sprintf("%02d/%02d/2024", 1+i%12, 1+i%11) }), Empty},
		{"survey date", repeat(100, func(i int) string { return fmt.Sprintf("202405%02d", 1+i%28) }), Date},
		{"tags", repeat(100, func(i int) string { return fmt.Sprintf("a%d;b%d", i%5, i%7) }), Words},
		{"tags", repeat(100, func(i int) string { return fmt.Sprintf("a%d|b%d", i%5, i%7) }), Words},
		{"text", repeat(100, func(i int) string { return fmt.Sprintf("a%d b%d c%d", i%5, i%7, i%11) }), Words},
		{"none", repeat(100, of("none", "some")), Category},
		{"empty", repeat(100, of("", "NA", "-")), Empty},
	} {
		got := Detect(c.name, c.cells)
		if got.Kind != c.kind {
			t.Errorf("%s, such as %q, is %v, want %v; notes %q", c.name, c.cells[:3], got.Kind, c.kind, got.Notes)
		}
		if err := got.Check(len(c.cells)); err != nil {
			t.Error(err)
		}
	}
}

func TestDetectedValues(t *testing.T) {
	t.Parallel()
	c := Detect("mostly", append(repeat(39, func(i int) string { return fmt.Sprint(i, ".25") }), "broken"))
	if !math.IsNaN(c.Numbers[39]) || c.Numbers[3] != 3.25 ||
		!slices.Equal(c.Notes, []string{`mostly: 1 cell, such as "broken", taken as missing, because the others are numbers`}) {
		t.Errorf("%+v", c)
	}
	c = Detect("flag", []string{"T", "no", "", "Yes", "F"})
	if !slices.Equal(c.Levels, []string{"no", "yes"}) || !slices.Equal(c.Codes, []uint32{2, 1, 0, 2, 1}) {
		t.Errorf("%+v", c)
	}
	c = Detect("tags", []string{"b; a ;a", "", "a", "b;a"})
	if !slices.Equal(c.Levels, []string{"a", "b"}) || !slices.Equal(c.Start, []int{0, 2, 2, 3, 5}) ||
		!slices.Equal(c.Items, []uint32{0, 1, 0, 0, 1}) {
		t.Errorf("%+v", c)
	}
	want := float64(time.Date(2024, 5, 31, 18, 0, 0, 0, time.UTC).Unix()) / 86400
	for _, text := range []string{"2024-05-31 18:00", "2024-05-31T18:00:00", "2024-05-31T20:00:00+02:00", "31.05.2024 18:00:00.000",
		"31 May 2024 18:00", "2024/5/31 18:00"} {
		if c := Detect("t", []string{text, text, ""}); c.Kind != Date || c.Numbers[0] != want || !math.IsNaN(c.Numbers[2]) {
			t.Errorf("%s: %v %v, want %v", text, c.Kind, c.Numbers, want)
		}
	}
	c = Detect("date", []string{"20240531", "20240601"})
	if c.Kind != Date || c.Numbers[1]-c.Numbers[0] != 1 {
		t.Errorf("%+v", c)
	}
}

// The builder keeps the same column whether or not it goes over to numbers on the way.
func TestBuilderOfManyValues(t *testing.T) {
	t.Parallel()
	const n = 3 * firstCheck
	for _, c := range []struct {
		name string
		cell func(i int) string
		want Kind
	}{
		{"numbers", func(i int) string { return fmt.Sprint(float64(i) + 0.5) }, Number},
		{"few odd", func(i int) string {
			if i%100 == 99 {
				return "unknown"
			}
			return fmt.Sprint(float64(i) + 0.5)
		}, Number},
		{"late texts", func(i int) string {
			if i > 2*firstCheck {
				return fmt.Sprint("t", i)
			}
			return fmt.Sprint(float64(i) + 0.5)
		}, Identifier},
		{"late zeros", func(i int) string {
			if i > 2*firstCheck {
				return fmt.Sprintf("0%d", i%100)
			}
			return fmt.Sprint(i%5000 + 1)
		}, Category},
		{"texts", func(i int) string { return fmt.Sprintf("a%d b%d", i%91, i%97) }, Words},
	} {
		cells := repeat(n, c.cell)
		forward := Detect(c.name, cells)
		backward := NewBuilder(c.name, nil)
		for i := n - 1; i >= 0; i-- {
			backward.Add(i, []byte(cells[i]))
		}
		if forward.Kind != c.want {
			t.Errorf("%s: %v, want %v", c.name, forward.Kind, c.want)
		}
		if a, b := fmt.Sprintf("%+v", forward), fmt.Sprintf("%+v", backward.Column(n)); a != b {
			t.Errorf("%s: the order of the cells shows", c.name)
		}
	}
}

// Words that are numbers, on many rows per node, are words however many there are.
func TestLongBuilder(t *testing.T) {
	t.Parallel()
	b := NewBuilder("word", nil)
	for i := range 3000 {
		for k := range 5 {
			b.Add(i, []byte(fmt.Sprint((i*7+k*1013)%9000)))
		}
	}
	c := b.Column(3000)
	if c.Kind != Words || len(c.Items) != 15000 || c.Check(3000) != nil {
		t.Errorf("%v, %d items", c.Kind, len(c.Items))
	}
	// All nodes once, then again: numbers first, words after all.
	b = NewBuilder("word", nil)
	for k := range 2 {
		for i := range 2 * firstCheck {
			b.Add(i, []byte(fmt.Sprint(i/2+k*firstCheck/2)))
		}
	}
	if c := b.Column(2 * firstCheck); c.Kind != Words || len(c.Items) != 4*firstCheck {
		t.Errorf("%v, %d items", c.Kind, len(c.Items))
	}
}

func TestKindNames(t *testing.T) {
	t.Parallel()
	for k := Number; k <= Empty; k++ {
		text, err := k.MarshalText()
		var back Kind
		if err != nil || back.UnmarshalText(text) != nil || back != k {
			t.Errorf("%v: %s, %v", k, text, err)
		}
	}
	if got := Identifier.String(); !strings.EqualFold(got, "identifier") {
		t.Error(got)
	}
}
