package graphio

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Every error about a file is an *Error and wraps one of these two.
var (
	// ErrUsage: the file is not there, or it can be read in more than one way
	// and an option must say which.
	ErrUsage = errors.New("graphio: usage")
	// ErrData: the file holds something that cannot be used.
	ErrData = errors.New("graphio: bad data")
)

// ErrEmpty is the cause of an error about a file with nothing in it but, perhaps,
// a header.
var ErrEmpty = errors.New("graphio: nothing in it")

// Error tells the owner of a file what is wrong, where, and what to do next.
type Error struct {
	Kind   error // ErrUsage or ErrData
	File   string
	Line   int64 // from 1; 0 when it is about the file as a whole
	Column int   // in characters from 1; 0 when it is about the whole line
	What   string
	Next   string
	Err    error // the cause, if another error is
}

// Error returns "file:line:column: what; next".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
		if e.Column > 0 {
			fmt.Fprintf(&b, ":%d", e.Column)
		}
	}
	b.WriteString(": ")
	b.WriteString(e.What)
	if e.Next != "" {
		b.WriteString("; ")
		b.WriteString(e.Next)
	}
	return b.String()
}

// Unwrap returns the kind and the cause.
func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{e.Kind}
	}
	return []error{e.Kind, e.Err}
}

// quote shows a piece of a file: short, in one line, whatever is in it.
func quote(text []byte) string {
	const most = 40
	if len(text) <= most {
		return fmt.Sprintf("%q", text)
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%q…", text[:cut])
}

// list joins words as in "a, b or c".
func list(words []string, last string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " " + last + " " + words[len(words)-1]
}

// counted returns "1 row" or "3 rows".
func counted[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
