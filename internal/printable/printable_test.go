package printable

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestLineAndText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, line, kept string }{
		{"", "", ""},
		{"j1 – Köln 日本 😀 é", "j1 – Köln 日本 😀 é", "j1 – Köln 日本 😀 é"},
		{"\x1b[2J\x1b]0;owned\x07", `\x1b[2J\x1b]0;owned\x07`, `\x1b[2J\x1b]0;owned\x07`},
		{"a\nb\tc\r", `a\nb\tc\r`, "a\nb\tc\\r"},
		{"\u009b31m\x7f", `\u009b31m\x7f`, `\u009b31m\x7f`},
		{"\x9b31m\xff", `\x9b31m\xff`, `\x9b31m\xff`},
		{"a\u202eb\u2066c\u2028d", `a\u202eb\u2066c\u2028d`, `a\u202eb\u2066c\u2028d`},
		{"\ufffd", "\ufffd", "\ufffd"}, // the character itself is text
	} {
		if got := Line(c.text); got != c.line {
			t.Errorf("Line(%q) is %q", c.text, got)
		}
		if got := Text(c.text); got != c.kept {
			t.Errorf("Text(%q) is %q", c.text, got)
		}
	}
}

// A text that is written in pieces, at any place, comes out as in one.
func TestWriter(t *testing.T) {
	t.Parallel()
	const text = "Köln 😀\x1b[2J 日本\xff\n\tend"
	for size := 1; size <= len(text); size++ {
		var b strings.Builder
		w := Writer(&b)
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			if m, err := w.Write([]byte(rest[:n])); m != n || err != nil {
				t.Fatal(m, err)
			}
			rest = rest[n:]
		}
		if b.String() != Text(text) {
			t.Errorf("in pieces of %d: %q", size, b.String())
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("a\x1b\xff\u202e")
	f.Fuzz(func(t *testing.T, text string) {
		got := Line(text)
		if !utf8.ValidString(got) || strings.ContainsFunc(got, Odd) {
			t.Errorf("%q", got)
		}
	})
}
