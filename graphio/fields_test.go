package graphio

import (
	"bytes"
	"encoding/csv"
	"errors"
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
	t.Parallel()
	for _, c := range []struct {
		delim separator
		line  string
		want  []string
		bad   reasonCode
	}{
		{byComma, "a,b", []string{"a", "b"}, noFault},
		{byComma, " a , b c ,", []string{"a", "b c", ""}, noFault},
		{byComma, `"a,b",c`, []string{"a,b", "c"}, noFault},
		{byComma, ` "a" , "" ,`, []string{"a", "", ""}, noFault},
		{byComma, `"say ""hi""",b`, []string{`say "hi"`, "b"}, noFault},
		{byComma, `"""",b`, []string{`"`, "b"}, noFault},
		{byComma, `" a "`, []string{" a "}, noFault},
		{byComma, `5" pipe,b`, []string{`5" pipe`, "b"}, noFault},
		{byComma, `"a`, nil, openQuote},
		{byComma, `"a"b,c`, nil, strayQuote},
		{byComma, `"a""`, nil, openQuote},
		{byTab, "a\t\tb", []string{"a", "", "b"}, noFault},
		{byTab, "\"a\tb\"\t \"c\" \td", []string{"a\tb", "c", "d"}, noFault},
		{byBlanks, "  a \t b ", []string{"a", "b"}, noFault},
		{byBlanks, ` "a b"  c `, []string{"a b", "c"}, noFault},
		{byBlanks, `"a"b`, nil, strayQuote},
		{byPipe, "a|b c|", []string{"a", "b c", ""}, noFault},
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
		all := []separator{byComma, bySemicolon, byTab, byPipe, byBlanks}
		d := all[int(choice)%len(all)]
		slow, bad := d.splitQuoted([]byte(line), nil)
		if !strings.Contains(line, `"`) {
			fast, _ := d.split([]byte(line), nil)
			if bad.reason != noFault || !slices.Equal(fast, slow) {
				t.Errorf("%v %q: fast %v, slow %v", d, line, fast, slow)
			}
		}
		if d == byBlanks || bad.reason != noFault || line == "" || strings.ContainsAny(line, " \t\u0085\u00a0") {
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
		fields, _ = byComma.split(line, fields)
		fields, _ = byComma.split(quoted, fields)
		fields, _ = byBlanks.split(bytes.TrimSpace(line), fields)
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
}

func TestDelimiterNames(t *testing.T) {
	t.Parallel()
	for name, text := range map[Delimiter]string{
		DelimiterComma: "a,b", DelimiterSemicolon: "a;b", DelimiterTab: "a\tb", DelimiterPipe: "a|b", DelimiterBlanks: "a  b",
	} {
		n, err := readText(text, Options{Delimiter: name})
		if err != nil || edgesOf(n) != "a-b" || n.Report.Delimiter != string(name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := readText("a,b", Options{Delimiter: "x"}); !errors.Is(err, ErrUsage) {
		t.Errorf("x was taken for a delimiter: %v", err)
	}
}
