package graphio

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// rowLayout describes how lines become rows of fields.
type rowLayout struct {
	delim      separator
	comma      bool // numbers have decimal commas
	columns    int
	needed     int    // how many columns a row must have at least
	headerLine int64  // 0 without a header
	header     []byte // that line; further copies of it are bad rows
	bannerLine int64  // the line of a matrix that comes before its header; 0 elsewhere
	firstRow   int64
	unit       string // of rows; "" for lines of text
	strip      string // unit of values, weights and distances, which is taken off; "": none
	missing    missingCodes
}

func (s *sheet) layout(used ...int) rowLayout {
	l := rowLayout{delim: s.delim, comma: s.comma, columns: s.columns, headerLine: s.headerLine, header: s.header, firstRow: s.firstRow,
		unit: s.in.unit, strip: s.strip, missing: s.missing}
	for _, j := range used {
		l.needed = max(l.needed, j+1)
	}
	return l
}

// each counts the lines of a block by kind in its tally and calls row for those that
// are rows; the row is bad if that returns a fault.
func (l *rowLayout) each(b *block, row func(line []byte, fields []field, at int64) fault) {
	if b.cells != nil {
		l.eachRow(b, row)
		return
	}
	quotes := bytes.IndexByte(b.text, '"') >= 0
	odd := bytes.IndexByte(b.text, '\r') >= 0 || bytes.IndexByte(b.text, 0) >= 0
	foreign := !utf8.Valid(b.text)
	var fields []field
	rest := b.text
	for at := b.first; len(rest) > 0; at++ {
		var raw, line []byte
		raw, line, rest = cutLine(rest)
		if foreign && !utf8.Valid(line) {
			b.foreign++
		}
		if at == l.headerLine || at == l.bannerLine {
			b.header++
			continue
		}
		switch l.delim.classify(line) {
		case blankLine:
			b.blank++
			continue
		case commentLine:
			b.comments++
			if at > l.firstRow && l.columns > 1 {
				if fields, _ = l.delim.split(line, fields); len(fields) == l.columns {
					b.hidden++
					if b.hidden == 1 {
						b.hiddenLine = at
					}
				}
			}
			continue
		}
		var bad fault
		switch {
		case l.header != nil && sameHeader(line, l.header):
			bad = fault{reason: repeatedHeader, count: int(l.headerLine)}
		case odd:
			bad = oddByte(line)
		}
		if bad.reason == noFault {
			switch {
			case quotes:
				fields, bad = l.delim.split(line, fields)
			case l.delim == byBlanks:
				fields = splitBlanks(line, fields[:0])
			default:
				fields = l.delim.splitPlain(line, fields[:0])
			}
		}
		short := len(fields) < l.columns
		if bad.reason == noFault && len(fields) != l.columns {
			bad = l.count(line, fields)
		}
		if bad.reason == noFault {
			bad = row(line, fields, at)
		}
		if bad.reason != noFault {
			b.bad = append(b.bad, badRow{fault: bad, at: at, raw: raw})
			continue
		}
		b.rows++
		if short {
			b.short++
		}
	}
}

// oddByte finds a NUL byte or a carriage return within a line.
func oddByte(line []byte) fault {
	if i := bytes.IndexByte(line, 0); i >= 0 {
		return fault{reason: nulByte, start: i, end: i + 1}
	}
	if i := bytes.IndexByte(line, '\r'); i >= 0 {
		return fault{reason: loneReturn, start: i, end: i + 1}
	}
	return fault{}
}

// count checks a row whose number of fields differs from that of columns. Fields that
// are not needed may be absent; additional ones must be empty.
func (l *rowLayout) count(line []byte, fields []field) fault {
	if len(fields) < l.needed {
		return fault{reason: tooFewFields, start: len(line), end: len(line), count: len(fields)}
	}
	for _, f := range fields[min(l.columns, len(fields)):] {
		if f.start != f.end {
			return fault{reason: tooManyFields, start: f.start, end: f.end, count: len(fields)}
		}
	}
	return fault{}
}

// number reads a field as a number. Missing is no fault: it returns false.
func (l *rowLayout) number(line []byte, f field, role Role, scratch *[]byte) (float64, bool, fault) {
	bad := fault{role: role, start: f.start, end: f.end}
	text := f.text(line, scratch)
	if role.hasUnit() && l.strip != "" && !l.missing.word(text) {
		var ok bool
		if text, ok = withoutUnit(text, l.strip); !ok {
			bad.reason = noUnit
			return 0, false, bad
		}
	}
	v, state := l.missing.parse(text, l.comma)
	switch state {
	case numberOK:
		return v, true, fault{}
	case numberMissing:
		return 0, false, fault{}
	case numberInfinite:
		bad.reason = infinite
	case numberDecimal:
		bad.reason = otherDecimal
	default:
		bad.reason = notNumber
	}
	return 0, false, bad
}

// gather adds the counts of a block.
func (t *tally) gather(b *block) {
	if t.hidden == 0 {
		t.hiddenLine = b.hiddenLine
	}
	t.rows += b.rows
	t.short += b.short
	t.foreign += b.foreign
	t.hidden += b.hidden
}

// tellLines warns of short rows, of text that is not UTF-8 and of comments that look
// like rows.
func (r *Report) tellLines(t *tally) {
	if t.short > 0 {
		r.warn("rows with fewer fields than there are columns: %d (all fields in use are present)", t.short)
	}
	if t.foreign > 0 {
		r.warn("lines that are not UTF-8: %d; ids are compared byte by byte, but to show them right convert the file: iconv -f LATIN1 -t "+
			"UTF-8 FILE > NEW", t.foreign)
	}
	if t.hidden > 0 {
		r.warn("%s", t.unhide())
	}
}

// unhide says how to make rows of comments that look like rows.
func (t *tally) unhide() string {
	return fmt.Sprintf("comments among the rows that look like rows: %d, first on line %d; put quotes around ids that begin with # or %%",
		t.hidden, t.hiddenLine)
}
