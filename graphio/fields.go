package graphio

import (
	"bytes"
	"unicode/utf8"
)

// separator is the byte between the fields of a row.
type separator byte

const (
	byComma     separator = ','
	bySemicolon separator = ';'
	byTab       separator = '\t'
	byPipe      separator = '|'
	byBlanks    separator = ' ' // any run of blanks and tabs
)

// separators are the bytes of the delimiters.
var separators = map[Delimiter]separator{
	DelimiterComma: byComma, DelimiterSemicolon: bySemicolon, DelimiterTab: byTab, DelimiterPipe: byPipe, DelimiterBlanks: byBlanks,
}

// delimiter returns the name of the separator.
func (d separator) delimiter() Delimiter {
	for name, known := range separators {
		if known == d {
			return name
		}
	}
	panic("graphio: a separator without a name")
}

// field is a piece of a line, without the quotes and the blanks around it.
type field struct {
	start, end int
	doubled    bool // holds "" for each quote, to be undone by text
}

// text returns the content of the field, in *scratch if quotes must be undone.
func (f field) text(line []byte, scratch *[]byte) []byte {
	if !f.doubled {
		return line[f.start:f.end]
	}
	*scratch = (*scratch)[:0]
	for i := f.start; i < f.end; i++ {
		*scratch = append(*scratch, line[i])
		if line[i] == '"' {
			i++ // its twin
		}
	}
	return *scratch
}

// split cuts a line into fields, appended to dst[:0]. The fault, if any, is
// about quotes.
func (d separator) split(line []byte, dst []field) ([]field, fault) {
	switch {
	case bytes.IndexByte(line, '"') >= 0:
		return d.splitQuoted(line, dst[:0])
	case d == byBlanks:
		return splitBlanks(line, dst[:0]), fault{}
	}
	return d.splitPlain(line, dst[:0]), fault{}
}

// splitPlain is split for a line without quotes.
func (d separator) splitPlain(line []byte, dst []field) []field {
	start := 0
	for i, c := range line {
		if c == byte(d) {
			dst = append(dst, trimmed(line, start, i))
			start = i + 1
		}
	}
	return append(dst, trimmed(line, start, len(line)))
}

func splitBlanks(line []byte, dst []field) []field {
	for i := 0; ; {
		for i < len(line) && isBlank(line[i]) {
			i++
		}
		if i == len(line) {
			return dst
		}
		start := i
		for i < len(line) && !isBlank(line[i]) {
			i++
		}
		dst = append(dst, field{start: start, end: i})
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func trimmed(line []byte, start, end int) field {
	for start < end && isBlank(line[start]) {
		start++
	}
	for start < end && isBlank(line[end-1]) {
		end--
	}
	return field{start: start, end: end}
}

// splitQuoted is split for any line. A quote opens a quoted field only where
// the field begins; elsewhere it is a character like any other.
func (d separator) splitQuoted(line []byte, dst []field) ([]field, fault) {
	i := 0
	for {
		for i < len(line) && d.skips(line[i]) {
			i++
		}
		if d == byBlanks && i == len(line) {
			return dst, fault{}
		}
		if i < len(line) && line[i] == '"' {
			f, next, ok := quotedField(line, i)
			if !ok {
				return dst, fault{reason: openQuote, start: i, end: len(line)}
			}
			dst = append(dst, f)
			i = next
			for d != byBlanks && i < len(line) && d.skips(line[i]) {
				i++
			}
			if i < len(line) && !d.at(line[i]) {
				return dst, fault{reason: strayQuote, start: i, end: len(line)}
			}
		} else {
			start := i
			for i < len(line) && !d.at(line[i]) {
				i++
			}
			dst = append(dst, trimmed(line, start, i))
		}
		if i == len(line) {
			return dst, fault{}
		}
		i++ // the delimiter
	}
}

// at reports whether c ends a field.
func (d separator) at(c byte) bool { return c == byte(d) || d == byBlanks && isBlank(c) }

// skips reports whether c is a blank before or after a field: a tab may be the
// delimiter itself.
func (d separator) skips(c byte) bool { return isBlank(c) && (d == byBlanks || c != byte(d)) }

// quotedField reads the field whose opening quote is at i and returns where it
// ends; false if it does not end on this line.
func quotedField(line []byte, i int) (f field, next int, ok bool) {
	f.start = i + 1
	for i++; i < len(line); i++ {
		if line[i] != '"' {
			continue
		}
		if i+1 < len(line) && line[i+1] == '"' {
			f.doubled = true
			i++
			continue
		}
		f.end = i
		return f, i + 1, true
	}
	return f, i, false
}

// lineClass is the kind of a line.
type lineClass uint8

const (
	dataLine lineClass = iota
	blankLine
	commentLine
)

// classify returns the kind of a line: a comment begins with # or %, and a blank line
// holds only blanks and delimiters.
func (d separator) classify(line []byte) lineClass {
	if len(line) > 0 && (line[0] == '#' || line[0] == '%') {
		return commentLine
	}
	for _, c := range line {
		if !isBlank(c) && c != byte(d) {
			return dataLine
		}
	}
	return blankLine
}

// cutLine takes the first line off text: with its line end, and without.
func cutLine(text []byte) (raw, line, rest []byte) {
	i := bytes.IndexByte(text, '\n')
	if i < 0 {
		raw = text
		line = text
	} else {
		raw, line, rest = text[:i+1], text[:i], text[i+1:]
	}
	return raw, bytes.TrimSuffix(line, []byte{'\r'}), rest
}

// character returns the number, from 1, of the character at byte i of a line.
func character(line []byte, i int) int { return utf8.RuneCount(line[:min(i, len(line))]) + 1 }
