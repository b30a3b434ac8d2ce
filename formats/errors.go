package formats

import (
	"fmt"
	"unicode/utf8"
)

// Kind is the kind of an [Error].
type Kind string

// The kinds of errors.
const (
	Unsupported Kind = "format"    // the file, or a part of it, is in a form that is not read
	Damaged     Kind = "damaged"   // it is cut short or breaks the rules of its format
	Content     Kind = "content"   // it follows the rules, but holds nothing that can be used
	Ambiguous   Kind = "ambiguous" // an option must say what to take from it
	Unknown     Kind = "option"    // an option names something that is not there
)

// Error says what is wrong with a file, where, and what to do about it. It does not name
// the file.
type Error struct {
	Kind     Kind
	Line     int64  // from 1; 0 if it is about the whole file
	Column   int    // in characters from 1; 0 if it is about the whole line
	Unit     string // of Line, as in Table; "" for a line of text
	What     string
	Remedies []Remedy // alternatives, at least one
	Err      error    // the cause, if it is another error
}

// Remedy is one way to solve the problem: an action, with an option that carries it
// out, if any.
type Remedy struct {
	Do     string
	Option string // a field of [Options], or ""
	Value  string
}

// Error returns "line: what; what to do".
func (e *Error) Error() string {
	text := e.What
	for i, r := range e.Remedies {
		sep := ", or "
		if i == 0 {
			sep = "; "
		}
		text += sep + r.Do
	}
	switch {
	case e.Line > 0 && e.Unit != "":
		return fmt.Sprintf("%s %d: %s", e.Unit, e.Line, text)
	case e.Line > 0:
		return fmt.Sprintf("line %d: %s", e.Line, text)
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fail returns an error about a file as a whole.
func fail(kind Kind, what string, do ...string) *Error {
	e := &Error{Kind: kind, What: what}
	for _, text := range do {
		e.Remedies = append(e.Remedies, Remedy{Do: text})
	}
	return e
}

// failAt is fail about a line.
func failAt(line int64, kind Kind, what string, do ...string) *Error {
	e := fail(kind, what, do...)
	e.Line = line
	return e
}

// quote shows a piece of a file: short, in one line, whatever is in it.
func quote(text string) string {
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

// directed is the note about a graph with directions.
const directed = "the graph is directed; directions are dropped"
