package graphio

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"strings"
	"unicode/utf8"

	"grfgp/formats"
)

// lay describes a table of text, as inspect describes a file of delimited text, and lets
// the cutter hand out its rows. The first columns may have a fixed role: two ends of an
// edge, or the id of a node.
func (c *cutter) lay(t *formats.Table, fixed int, kind tableKind, opts Options) (*sheet, error) {
	c.grid, c.end = t, true
	c.in.unit = cmp.Or(t.Unit, "row")
	s := &sheet{in: c.in, table: kind, fixed: fixed, keyed: t.Names != nil, firstRow: 1, strip: opts.Unit,
		missing: newMissingCodes(opts.Missing)}
	if s.keyed {
		s.names, s.columns = t.Names, len(t.Names)
		s.settle(cellsOf(t.Rows[:min(len(t.Rows), sampleRows)]))
		return s, nil
	}
	var rows []numbered
	var cells [][]string
	for i, row := range t.Rows {
		if len(rows) > sampleRows {
			break
		}
		if row = trimEmpty(trimCells(row)); len(row) > 0 {
			line, _ := joinCells(row, len(row), nil, nil)
			rows, cells = append(rows, numbered{line, int64(i + 1)}), append(cells, row)
		}
	}
	if len(rows) == 0 {
		return nil, c.in.fail(CodeEmpty, fmt.Sprintf("it contains no %ss", c.in.table.row()), otherFile)
	}
	return s, s.arrange(rows, cells, nil, opts)
}

// holdsShapes reports whether the cells of a column are GeoJSON objects.
func (s *sheet) holdsShapes(column int) bool {
	some := false
	for _, row := range s.sample {
		if column < len(row) && row[column] != "" {
			if !strings.HasPrefix(row[column], "{") || !strings.Contains(row[column], `"type"`) {
				return false
			}
			some = true
		}
	}
	return some
}

func cellsOf(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, row := range rows {
		out[i] = trimCells(row)
	}
	return out
}

func trimCells(row []string) []string {
	out := make([]string, len(row))
	for j, cell := range row {
		out[j] = strings.TrimSpace(cell)
	}
	return out
}

// joinCells makes a line of the cells of a row, without blanks around them, and its fields:
// at least so many.
func joinCells(row []string, columns int, line []byte, fields []field) ([]byte, []field) {
	line, fields = line[:0], fields[:0]
	for _, cell := range row {
		start := len(line)
		line = append(line, strings.TrimSpace(cell)...)
		fields = append(fields, field{start: start, end: len(line)})
		line = append(line, '\t')
	}
	for len(fields) < columns {
		fields = append(fields, field{start: len(line), end: len(line)})
	}
	return line, fields
}

// nextRows is next for a table of text.
func (c *cutter) nextRows(b *block) bool {
	const typical = 64 // bytes of a row
	rest := c.grid.Rows[c.line:]
	b.text, b.cells = b.text[:0], rest[:min(len(rest), 1+c.size/typical)]
	b.first, b.lines = c.line+1, int64(len(b.cells))
	c.line += b.lines
	return b.lines > 0
}

// eachRow is each for the rows of a table of text. A row without any text is blank.
func (l *rowLayout) eachRow(b *block, row func(line []byte, fields []field, at int64) fault) {
	var line []byte
	var fields []field
	for i, cells := range b.cells {
		at := b.first + int64(i)
		line, fields = joinCells(cells, l.columns, line, fields)
		if !utf8.Valid(line) {
			b.foreign++
		}
		if at == l.headerLine {
			b.header++
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			b.blank++
			continue
		}
		bad := fault{}
		if l.header != nil && bytes.Equal(bytes.TrimRight(line, "\t"), bytes.TrimRight(l.header, "\t")) {
			bad = fault{reason: repeatedHeader, count: int(l.headerLine)}
		}
		if bad.reason == noFault && len(fields) > l.columns {
			bad = l.count(line, fields)
		}
		if bad.reason == noFault {
			bad = row(line, fields, at)
		}
		if bad.reason != noFault {
			b.bad = append(b.bad, badRow{fault: bad, at: at, raw: bytes.Clone(line), cells: cells})
			continue
		}
		b.rows++
	}
}

// asCSV returns a row as a line of CSV.
func asCSV(cells []string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(cells) // to memory
	w.Flush()
	return b.Bytes()
}
