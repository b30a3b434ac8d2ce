// Package printable escapes what a terminal or a table must not get as it is: control
// characters, which move the cursor or forge lines, and characters that change the order of
// the text around them.
package printable

import (
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Odd reports whether a character is escaped.
func Odd(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029'
}

// Line returns the text for one line: odd characters are written as in \n, \x1b or \u202e.
func Line(text string) string { return escape(text, "") }

// Text returns the text with line breaks and tabs as they are.
func Text(text string) string { return escape(text, "\n\t") }

// escape escapes all odd characters but those of keep, and bytes that are not UTF-8.
func escape(text, keep string) string {
	if fine(text, keep) {
		return text
	}
	var b strings.Builder
	for rest := text; rest != ""; {
		r, size := utf8.DecodeRuneInString(rest)
		switch {
		case r == utf8.RuneError && size == 1, r < utf8.RuneSelf && Odd(r) && !strings.ContainsRune("\n\r\t", r):
			fmt.Fprintf(&b, `\x%02x`, rest[0])
		case !Odd(r), strings.ContainsRune(keep, r):
			b.WriteString(rest[:size])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		rest = rest[size:]
	}
	return b.String()
}

func fine(text, keep string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return Odd(r) && !strings.ContainsRune(keep, r) })
}

// Writer passes text on as Text returns it.
func Writer(w io.Writer) io.Writer { return &writer{w: w} }

type writer struct {
	w    io.Writer
	rest []byte // begins a character whose end is yet to come
}

func (w *writer) Write(p []byte) (int, error) {
	all := append(w.rest, p...)
	cut := len(all)
	for k := 1; k < utf8.UTFMax && k <= len(all); k++ { // the last character may be incomplete
		if c := all[len(all)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(all[len(all)-k:]) {
				cut = len(all) - k
			}
			break
		}
	}
	w.rest = append([]byte(nil), all[cut:]...)
	if _, err := io.WriteString(w.w, Text(string(all[:cut]))); err != nil {
		return 0, err
	}
	return len(p), nil
}
