// Package table writes rows of named and typed columns as CSV, GeoJSON or Parquet. Rows
// are written one after another, or in blocks, so that memory does not grow with their number, and the
// same rows give the same bytes.
package table

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Kind is what the cells of a column are.
type Kind int

// The kinds of columns.
const (
	Text Kind = iota
	Number
	Whole // whole numbers
	Truth // true or false
)

// Column is the head of a column.
type Column struct {
	Name   string
	Kind   Kind
	Digits int // significant digits of a Number in text; 0: as many as it takes to read the same number again
}

// Cell is a value of a row. The zero value is a missing one.
type Cell struct {
	text   string
	number float64 // of all kinds but Text
	known  bool
}

// TextCell is a text.
func TextCell(text string) Cell { return Cell{text: text, known: true} }

// NumberCell is a number; one that is not finite is missing.
func NumberCell(v float64) Cell {
	return Cell{number: v, known: !math.IsNaN(v) && !math.IsInf(v, 0)}
}

// NumberAt is a number, missing if v is nil.
func NumberAt(v *float64) Cell {
	if v == nil {
		return Cell{}
	}
	return NumberCell(*v)
}

// WholeCell is a whole number.
func WholeCell(v int) Cell { return Cell{number: float64(v), known: true} }

// WholeAt is a whole number, missing if v is nil.
func WholeAt(v *int) Cell {
	if v == nil {
		return Cell{}
	}
	return WholeCell(*v)
}

// TruthCell is true or false.
func TruthCell(yes bool) Cell {
	c := Cell{known: true}
	if yes {
		c.number = 1
	}
	return c
}

// Row is a row of a table.
type Row struct {
	Cells    []Cell // one per column
	Geometry string // GeoJSON of its place; "": unknown
}

// Writer writes rows. The slices of a row may be used again after Write. Close writes what
// belongs at the end; it does not close what it writes to.
//
// Rows may also be made ready in blocks, by several goroutines at once, and then be written block by block: the bytes
// are those of Write in the same order.
type Writer interface {
	Write(row Row) error
	NewBlock() Block // safe for concurrent use
	WriteBlock(b Block) error
	Close() error
}

// Block is some rows in the form in which its Writer writes them. One goroutine uses a Block.
type Block interface {
	Add(row Row) error // the slices of the row may be used again
	Reset()            // leaves no row in it
}

// Format is a file format.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	GeoJSON Format = "geojson"
	Parquet Format = "parquet"
)

// FormatOf returns the format of a file by its Extension: "" if it is none of the formats.
func FormatOf(path string) Format {
	f := Format(strings.TrimPrefix(Extension(path), "."))
	if !slices.Contains([]Format{CSV, GeoJSON, Parquet}, f) {
		return ""
	}
	return f
}

// New returns a Writer of a format.
func New(w io.Writer, f Format, columns []Column) (Writer, error) {
	for k, c := range columns {
		if slices.ContainsFunc(columns[:k], func(o Column) bool { return o.Name == c.Name }) {
			return nil, fmt.Errorf("two columns have the name %q; rename one of them", c.Name)
		}
	}
	switch f {
	case CSV:
		return newCSV(w, columns)
	case GeoJSON:
		return newGeoJSON(w, columns)
	case Parquet:
		return newParquet(w, columns)
	}
	return nil, fmt.Errorf("there is no format %q; there are csv, geojson and parquet", f)
}
