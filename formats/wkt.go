package formats

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"grfgp/internal/geometry"
)

// wktFormat is delimited text with a column of well-known text, as QGIS and PostGIS write it:
//
//	WKT,name
//	"LINESTRING (2.35 48.86,2.36 48.87)",Rue A
var wktFormat = &Format{
	Name: "CSV with well-known text",
	Detect: func(_ string, head []byte) bool {
		if !bytes.Contains(head, []byte("(")) {
			return false
		}
		_, column := wktColumn(head)
		return column >= 0
	},
	Read: readWKT,
}

// wktColumn returns the delimiter and the column whose first cells are well-known text; −1
// if there is none.
func wktColumn(head []byte) (delimiter rune, column int) {
	for _, delimiter := range []rune{',', ';', '\t', '|'} {
		r := wktCSV(head, delimiter)
		header, err := r.Read()
		if err != nil || slices.ContainsFunc(header, geometry.IsWKT) {
			continue
		}
		row, err := r.Read()
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			continue
		}
		if column := slices.IndexFunc(row, geometry.IsWKT); column >= 0 && column < len(header) && !namesEnds(header) {
			return delimiter, column
		}
	}
	return 0, -1
}

// namesEnds reports whether columns name the ends of edges, as in the tables of OSMnx: then
// geometries say nothing about which lines meet that the table does not say better.
func namesEnds(header []string) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(header, func(h string) bool { return strings.EqualFold(strings.TrimSpace(h), name) })
	}
	for _, pair := range [][2]string{{"u", "v"}, {"source", "target"}, {"src", "dst"}, {"from_node", "to_node"}, {"from_id", "to_id"},
		{"fnode", "tnode"}, {"node1", "node2"}} {
		if has(pair[0]) && has(pair[1]) {
			return true
		}
	}
	return false
}

func wktCSV(data []byte, delimiter rune) *csv.Reader {
	r := csv.NewReader(bytes.NewReader(data))
	r.Comma = delimiter
	return r
}

func readWKT(ctx context.Context, in Input, opts Options) (*File, error) {
	delimiter, column := wktColumn(in.Data[:min(len(in.Data), Head)])
	if column < 0 {
		return nil, fail(Content, "there is no column of well-known text", "name another file")
	}
	l := newLayer()
	r := wktCSV(in.Data, delimiter)
	header, err := r.Read()
	if err != nil {
		return nil, fail(Damaged, "there is no header", "write the file again")
	}
	for j, name := range header {
		header[j] = strings.TrimSpace(strings.TrimPrefix(name, "\ufeff"))
		if j != column {
			l.properties.declare(header[j])
		}
	}
	for n := 0; ; n++ {
		if n%1024 == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return l.file(opts)
		}
		var bad *csv.ParseError
		if errors.As(err, &bad) {
			return nil, failAt(int64(bad.Line), Damaged, "is not a row of delimited text ("+bad.Err.Error()+")", "correct the line")
		}
		if err != nil {
			return nil, err
		}
		line, _ := r.FieldPos(column)
		var f feature
		if text := strings.TrimSpace(row[column]); text != "" {
			if f.shape, err = geometry.ParseWKT(text); err != nil {
				return nil, failAt(int64(line), Content, fmt.Sprintf("column %s: %v", header[column], err), "correct or remove the line")
			}
		}
		for j, cell := range row {
			if j != column {
				f.row = l.properties.set(f.row, header[j], strings.TrimSpace(cell))
			}
		}
		l.add(f)
	}
}
