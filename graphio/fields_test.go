package graphio

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strings"
	"testing"
)

func texts(line string, fields []field) []string {
	var out []string
	var scratch []byte
	for _, f := range fields {
		out = append(out, string(f.text([]byte(line), &scratch)))
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		delim Delimiter
		line  string
		want  []string
		bad   reasonCode
	}{
		{Comma, "a,b", []string{"a", "b"}, noFault},
		{Comma, " a , b c ,", []string{"a", "b c", ""}, noFault},
		{Comma, `"a,b",c`, []string{"a,b", "c"}, noFault},
		{Comma, ` "a" , "" ,`, []string{"a", "", ""}, noFault},
		{Comma, `"say ""hi""",b`, []string{`say "hi"`, "b"}, noFault},
		{Comma, `"""",b`, []string{`"`, "b"}, noFault},
		{Comma, `" a "`, []string{" a "}, noFault},
		{Comma, `5" pipe,b`, []string{`5" pipe`, "b"}, noFault},
		{Comma, `"a`, nil, openQuote},
		{Comma, `"a"b,c`, nil, strayQuote},
		{Comma, `"a""`, nil, openQuote},
		{Tab, "a\t\tb", []string{"a", "", "b"}, noFault},
		{Tab, "\"a\tb\"\t \"c\" \td", []string{"a\tb", "c", "d"}, noFault},
		{Blanks, "  a \t b ", []string{"a", "b"}, noFault},
		{Blanks, ` "a b"  c `, []string{"a b", "c"}, noFault},
		{Blanks, `"a"b`, nil, strayQuote},
		{Pipe, "a|b c|", []string{"a", "b c", ""}, noFault},
	} {
		fields, bad := c.delim.split([]byte(c.line), nil)
		if bad.reason != c.bad || c.bad == noFault && !slices.Equal(texts(c.line, fields), c.want) {
			t.Errorf("%v %q: %q, fault %d, want %q, fault %d", c.delim, c.line, texts(c.line, fields), bad.reason, c.want, c.bad)
		}
	}
}

// The fast splitters agree with the careful one, and that one with the standard
// library's wherever both accept a line.
func FuzzSplit(f *testing.F) {
	f.Add("a,b", byte(',')) // the byte chooses the delimiter
	f.Add(` "a ""b""" ;c`, byte(';'))
	f.Add("a \t b", byte(' '))
	f.Fuzz(func(t *testing.T, line string, choice byte) {
		line, _, _ = strings.Cut(line, "\n")
		line = strings.ReplaceAll(line, "\r", "")
		all := []Delimiter{Comma, Semicolon, Tab, Pipe, Blanks}
		d := all[int(choice)%len(all)]
		slow, bad := d.splitQuoted([]byte(line), nil)
		if !strings.Contains(line, `"`) {
			fast, _ := d.split([]byte(line), nil)
			if bad.reason != noFault || !slices.Equal(fast, slow) {
				t.Errorf("%v %q: fast %v, slow %v", d, line, fast, slow)
			}
		}
		if d == Blanks || bad.reason != noFault || line == "" || strings.ContainsAny(line, " \t\u0085\u00a0") {
			return
		}
		r := csv.NewReader(strings.NewReader(line))
		r.Comma = rune(d)
		want, err := r.Read()
		if err == nil && !slices.Equal(texts(line, slow), want) {
			t.Errorf("%v %q: %q, encoding/csv %q", d, line, texts(line, slow), want)
		}
	})
}

func TestSplitDoesNotAllocate(t *testing.T) {
	line, quoted := []byte("12345,67890,0.5"), []byte(`"a b",c`)
	fields := make([]field, 0, 8)
	if n := testing.AllocsPerRun(100, func() {
		fields, _ = Comma.split(line, fields)
		fields, _ = Comma.split(quoted, fields)
		fields, _ = Blanks.split(bytes.TrimSpace(line), fields)
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

func TestDelimiterNames(t *testing.T) {
	for d, name := range delimiterNames {
		var got Delimiter
		if err := got.UnmarshalText([]byte(name)); err != nil || got != d {
			t.Errorf("%q is %v, %v", name, got, err)
		}
		if err := got.UnmarshalText([]byte{byte(d)}); d != DelimiterAuto && (err != nil || got != d) {
			t.Errorf("%q is %v, %v", byte(d), got, err)
		}
	}
	var d Delimiter
	if err := d.UnmarshalText([]byte("x")); err == nil {
		t.Error("x was taken for a delimiter")
	}
}
