package table

import (
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"
)

// newCSV writes a header and a line per row, as encoding/csv does. Missing cells are empty.
func newCSV(w io.Writer, columns []Column) (Writer, error) {
	var head []byte
	for k, c := range columns {
		if k > 0 {
			head = append(head, ',')
		}
		head = appendField(head, c.Name)
	}
	if _, err := w.Write(append(head, '\n')); err != nil {
		return nil, err
	}
	return &textWriter{out: w, add: func(to []byte, row Row) ([]byte, error) {
		for k, c := range row.Cells[:len(columns)] {
			if k > 0 {
				to = append(to, ',')
			}
			switch {
			case !c.known:
			case columns[k].Kind == Text:
				to = appendField(to, c.text)
			default:
				to = c.append(to, columns[k])
			}
		}
		return append(to, '\n'), nil
	}}, nil
}

// append appends a known cell that is not a text.
func (c Cell) append(to []byte, column Column) []byte {
	switch {
	case column.Kind == Whole:
		return strconv.AppendInt(to, int64(c.number), 10)
	case column.Kind == Truth:
		return strconv.AppendBool(to, c.number != 0)
	case column.Digits > 0:
		return strconv.AppendFloat(to, c.number, 'g', column.Digits, 64)
	}
	return strconv.AppendFloat(to, c.number, 'g', -1, 64)
}

// appendField appends a text, in quotes where a reader would take it for something else.
func appendField(to []byte, text string) []byte {
	if !needsQuotes(text) {
		return append(to, text...)
	}
	to = append(to, '"')
	for k := range len(text) {
		if text[k] == '"' {
			to = append(to, '"')
		}
		to = append(to, text[k])
	}
	return append(to, '"')
}

// needsQuotes is the rule of encoding/csv: quotes, commas, ends of lines, a space at the beginning, and what ends the
// data for PostgreSQL.
func needsQuotes(text string) bool {
	if text == "" {
		return false
	}
	if text == `\.` {
		return true
	}
	for k := range len(text) {
		switch text[k] {
		case '\n', '\r', '"', ',':
			return true
		}
	}
	first, _ := utf8.DecodeRuneInString(text)
	return unicode.IsSpace(first)
}
