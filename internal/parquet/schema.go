// Package parquet reads and writes Parquet files whose tables are flat: columns with at most
// one value in each row.
//
// A file has groups of rows. In a group each column is a chunk of its own, and a chunk is a
// sequence of pages that are compressed one by one: perhaps a page of distinct values (the
// dictionary) first, then pages of data. A page of data has a level for each row, 0 for a missing value
// and 1 for one that is there, and then the values that are there in one of several encodings. The
// description of columns, groups and chunks is at the end of the file, so that a file
// can be written in one go.
//
// Read are all encodings of the format, compressed by Snappy, gzip, zstd or LZ4, or not at all. Nothing
// that a file says of its own sizes is believed before as many bytes have been seen. Written are plain
// values, compressed by zstd; the same rows give the same bytes.
package parquet

import (
	"errors"
	"fmt"
)

// Type is how values are stored.
type Type int64

// The types, with the numbers of the format.
const (
	Boolean Type = iota
	Int32
	Int64
	Int96
	Float
	Double
	ByteArray
	FixedBytes
	types // how many there are
)

// Meaning is what stored values stand for.
type Meaning int

// The meanings. Plain values have none but their type's.
const (
	Plain Meaning = iota
	String
	Decimal // a whole number over 10^Scale
	Date    // days since 1970-01-01
	Time    // since midnight
	Timestamp
	Unsigned
	UUID
	Other // none of these
)

// Column describes a column.
type Column struct {
	Name    string
	Type    Type
	Meaning Meaning
	Scale   int   // of a Decimal
	PerSec  int64 // units in a second, of Time and Timestamp
	Nested  bool  // it has lists or groups of values, and cannot be read
	bytes   int   // of a FixedBytes
	needed  bool  // values are never missing
	leaf    int   // its number among the chunks of a group
}

// Unsupported says that a file uses a part of the format that is not read.
type Unsupported struct{ What string }

func (u *Unsupported) Error() string { return u.What }

// chunk is where the values of a column in a group of rows are.
type chunk struct {
	kind   Type
	codec  int64
	values int64
	size   int64 // compressed
	data   int64 // offset of the first page of data
	words  int64 // offset of the dictionary; 0: none
}

func (c chunk) start() int64 {
	if c.words > 0 && c.words < c.data {
		return c.words
	}
	return c.data
}

// group is a group of rows.
type group struct {
	rows   int64
	chunks []chunk
}

// element is an entry of the schema: the root, a group of columns or a column.
type element struct {
	column     Column
	kind       Type
	repetition int64
	children   int64
}

// description reads what stands at the end of a file.
func description(d *decoder) (schema []element, groups []group) {
	d.structure(func(id int64, kind byte) bool {
		switch {
		case id == 2 && kind == thriftList:
			d.list(func(byte) { schema = append(schema, schemaElement(d)) })
		case id == 4 && kind == thriftList:
			d.list(func(byte) { groups = append(groups, rowGroup(d)) })
		default:
			return false
		}
		return true
	})
	return schema, groups
}

func isWhole(kind byte) bool { return kind >= 4 && kind <= 6 }

func schemaElement(d *decoder) element {
	e := element{kind: -1}
	converted, logical := int64(-1), false
	d.structure(func(id int64, kind byte) bool {
		switch {
		case id == 10 && kind == thriftStruct:
			logical = true
			meaning(d, &e.column)
			return true
		case id == 4 && kind == thriftBinary:
			e.column.Name = string(d.binary())
			return true
		case !isWhole(kind):
			return false
		}
		v := d.whole()
		switch id {
		case 1:
			e.kind = Type(v)
		case 2:
			e.column.bytes = int(v)
		case 3:
			e.repetition = v
		case 5:
			e.children = v
		case 6:
			converted = v
		case 7:
			e.column.Scale = int(v)
		}
		return true
	})
	if !logical {
		convertedMeaning(converted, &e.column)
	}
	return e
}

// meaning reads a logical type.
func meaning(d *decoder, c *Column) {
	d.structure(func(id int64, kind byte) bool {
		m, known := map[int64]Meaning{1: String, 4: String, 5: Decimal, 6: Date, 7: Time, 8: Timestamp, 10: Plain, 12: String, 14: UUID}[id]
		if !known {
			m = Other
		}
		c.Meaning = m
		if kind != thriftStruct {
			return false
		}
		d.structure(func(field int64, kind byte) bool {
			switch {
			case id == 5 && field == 1 && isWhole(kind):
				c.Scale = int(d.whole())
			case (id == 7 || id == 8) && field == 2 && kind == thriftStruct:
				d.structure(func(unit int64, _ byte) bool {
					c.PerSec = map[int64]int64{1: 1e3, 2: 1e6}[unit]
					return false
				})
			case id == 10 && field == 2 && kind == thriftFalse:
				c.Meaning = Unsigned
				return false
			default:
				return false
			}
			return true
		})
		if c.PerSec == 0 {
			c.PerSec = 1e9
		}
		return true
	})
}

// convertedMeaning is what older files say instead of a logical type.
func convertedMeaning(v int64, c *Column) {
	switch v {
	case 0, 4, 19:
		c.Meaning = String
	case 5:
		c.Meaning = Decimal
	case 6:
		c.Meaning = Date
	case 7, 8:
		c.Meaning = Time
	case 9, 10:
		c.Meaning = Timestamp
	case 11, 12, 13, 14:
		c.Meaning = Unsigned
	case -1, 15, 16, 17, 18:
		c.Meaning = Plain
	default:
		c.Meaning = Other
	}
	c.PerSec = 1e6
	if v == 7 || v == 9 {
		c.PerSec = 1e3
	}
}

func rowGroup(d *decoder) (g group) {
	d.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && kind == thriftList:
			d.list(func(byte) { g.chunks = append(g.chunks, columnChunk(d)) })
		case id == 3 && isWhole(kind):
			g.rows = d.whole()
		default:
			return false
		}
		return true
	})
	return g
}

func columnChunk(d *decoder) (c chunk) {
	d.structure(func(id int64, kind byte) bool {
		if id != 3 || kind != thriftStruct {
			return false
		}
		d.structure(func(id int64, kind byte) bool {
			if !isWhole(kind) {
				return false
			}
			v := d.whole()
			switch id {
			case 1:
				c.kind = Type(v)
			case 4:
				c.codec = v
			case 5:
				c.values = v
			case 7:
				c.size = v
			case 9:
				c.data = v
			case 11:
				c.words = v
			}
			return true
		})
		return true
	})
	return c
}

// columns returns the columns at the top of a schema. Those below a group are one nested column.
func columns(schema []element) ([]Column, error) {
	if len(schema) == 0 {
		return nil, errors.New("it has no schema")
	}
	var out []Column
	leaf := 0
	for at := 1; at < len(schema); {
		e := schema[at]
		end := at + 1
		for open := e.children; open > 0; open-- { // of e, and of its groups
			if end >= len(schema) {
				return nil, errors.New("its schema is incomplete")
			}
			open += max(0, schema[end].children)
			end++
		}
		c := e.column
		c.Type, c.leaf, c.needed = e.kind, leaf, e.repetition == 0
		c.Nested = e.children > 0 || e.repetition > 1
		if !c.Nested && (c.Type < 0 || c.Type >= types || c.Type == FixedBytes && c.bytes <= 0) {
			return nil, fmt.Errorf("column %s has no type", c.Name)
		}
		out = append(out, c)
		for _, e := range schema[at:end] {
			if e.children <= 0 {
				leaf++
			}
		}
		at = end
	}
	return out, nil
}
