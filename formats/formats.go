package formats

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
)

// Head is the number of bytes from which a format is recognized. A shorter head is the
// whole file.
const Head = 64 << 10

// Input is a file, decompressed.
type Input struct {
	Name string // in messages
	Path string // of the file itself; "" for a stream and for a compressed file
	Data []byte // its content, without byte-order mark; nil if Path is set and the format is read ByPath
}

// Options say what to take from a file. The zero value takes all of a file that holds
// one graph or table, and asks where it holds several.
type Options struct {
	ID    string  // attribute that names the nodes, in place of the one that the format says
	Table string  // name of the table, sheet or layer
	Snap  float64 // metres: ends of lines and borders nearer than this meet; 0 means DefaultSnap, less than 0 that coordinates must be equal
}

// DefaultSnap is the tolerance for lines and areas in metres: more than rounding, less than
// a real gap.
const DefaultSnap = 0.1

// snap returns the tolerance in metres.
func (o Options) snap() float64 {
	if o.Snap == 0 {
		return DefaultSnap
	}
	return max(0, o.Snap)
}

// Table is a table of text: what its owner would have written as CSV. A cell is empty
// where the file says nothing; rows may end early.
type Table struct {
	// Names are those of the columns. If they are nil, the first row that is not empty may hold
	// them: whoever uses the table decides.
	Names []string
	Rows  [][]string
	// Unit is what a row is in the file, such as "edge", "feature" or "row": messages
	// name rows by it and their number from 1.
	Unit string

	gaps *Error // set if nearly all cells are empty, and too many
}

// File is what a file holds: edges and nodes, or a plain table of either, of
// measurements or of labels.
type File struct {
	Edges *Table // the first two columns are the ends: ids of nodes
	Nodes *Table // the first column is the id; a column "geometry" holds GeoJSON geometries as text
	Rows  *Table // whose columns have the meaning that their names say
	Notes []string

	// EdgeNotes are notes about the edges, which concern nobody who reads the nodes alone.
	EdgeNotes []string

	// What the weights of edges are unless options say otherwise, where the reader knows it.
	Distance string // column of Edges that holds real distances
	Equal    bool   // all edges are equal, whatever numbers they have
}

// Format is a format of files.
type Format struct {
	Name string // in messages: "GML"

	// Detect reports whether a file is of the format. It gets the name of the file in
	// lower case, without the ending of a compression, and the first bytes, up to Head.
	Detect func(name string, head []byte) bool

	// Read reads a file; its errors are of type *Error, or those of ctx. Programs call
	// Tables.
	Read func(ctx context.Context, in Input, opts Options) (*File, error)

	// ByPath says that Read opens Path itself, where there is one.
	ByPath bool
}

// Tables reads a file; its errors are of type *Error, or those of ctx.
func (f *Format) Tables(ctx context.Context, in Input, opts Options) (*File, error) {
	file, err := f.Read(ctx, in, opts)
	if err != nil {
		return nil, err
	}
	for _, t := range []*Table{file.Edges, file.Nodes, file.Rows} {
		if t != nil && t.gaps != nil {
			return nil, t.gaps
		}
	}
	return file, nil
}

// all are the formats, in the order in which they are tried: those whose first bytes
// are unmistakable come first. Whoever adds a format adds a line.
var all = []*Format{
	parquetFormat,
	arrowFormat,
	sqliteFormat,
	xlsxFormat,
	npyFormat,
	npzFormat,
	shapefileFormat,
	osmPBFFormat,
	zippedGTFSFormat,
	zippedShapefileFormat,
	gexfFormat,
	osmXMLFormat,
	gmlFormat,
	dotFormat,
	pajekFormat,
	dimacsFormat,
	geoJSONFormat,
	jsonFormat,
	wktFormat,
	multilineFormat,
	edgelistFormat,
	adjlistFormat,
	metisFormat,
}

// Detect returns the format of a file with the given name and first bytes, up to Head, or nil: then
// it is delimited text, or nothing that is known here.
func Detect(name string, head []byte) *Format {
	name = strings.ToLower(name)
	for _, packed := range []string{".gz", ".zst", ".gzip", ".zstd"} {
		name = strings.TrimSuffix(name, packed)
	}
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	for _, f := range all {
		if f.Detect(name, head) {
			return f
		}
	}
	return nil
}

// hasExtension reports whether a name ends in one of the extensions.
func hasExtension(name string, extensions ...string) bool {
	return slices.ContainsFunc(extensions, func(e string) bool { return strings.HasSuffix(name, e) })
}

// attributes collects rows of attributes: a column for every name, in the order in which
// the names are first seen.
type attributes struct {
	Table
	column        map[string]int
	cells, values int // of all rows: cells, and values in them
}

// newAttributes returns a table whose first columns are given.
func newAttributes(unit string, names ...string) *attributes {
	a := &attributes{Table: Table{Names: names, Unit: unit}, column: map[string]int{}}
	for j, name := range names {
		a.column[name] = j
	}
	return a
}

// reserve keeps the columns so far for what the format itself says: an attribute that
// has the name of one of them gets a column of its own.
func (a *attributes) reserve() *attributes {
	clear(a.column)
	return a
}

// get returns an attribute of a row, "" if it has none.
func (a *attributes) get(row []string, name string) string {
	if j, known := a.column[name]; known && j < len(row) {
		return row[j]
	}
	return ""
}

// set puts an attribute into a row, which grows as needed.
func (a *attributes) set(row []string, name, value string) []string {
	j, known := a.column[name]
	if !known {
		j = len(a.Names)
		a.Names = append(a.Names, name)
		a.column[name] = j
	}
	a.values++
	if j >= len(row) {
		const some, waste = 1 << 22, 50
		if a.cells += j + 1 - len(row); a.cells > some && a.cells > waste*a.values {
			a.gaps = fail(Content, fmt.Sprintf("there are %d different attributes, and each %s has few of them", len(a.Names), a.Unit),
				"is a value written as the name of an attribute? write the file again")
			return row
		}
		row = slices.Grow(row, max(len(a.Names), 2)-len(row))
		row = append(row, make([]string, j+1-len(row))...)
	}
	if row[j] != "" {
		value = row[j] + "|" + value // a list
	}
	row[j] = value
	return row
}
