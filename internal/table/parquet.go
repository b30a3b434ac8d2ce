package table

import (
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetRows is the number of rows that are held in memory until they are written
// together: a row group.
const parquetRows = 1 << 16

// parquetWriter writes a Parquet file, compressed by zstd. All columns are optional.
type parquetWriter struct {
	out     *parquet.GenericWriter[any]
	columns []Column
	row     parquet.Row
}

// ordered is a group of columns in their own order; a parquet.Group sorts them by name.
type ordered struct {
	parquet.Group
	fields []parquet.Field
}

func (o ordered) Fields() []parquet.Field { return o.fields }

func newParquet(w io.Writer, columns []Column) (Writer, error) {
	group := parquet.Group{}
	for _, c := range columns {
		node := parquet.String()
		switch c.Kind {
		case Number:
			node = parquet.Leaf(parquet.DoubleType)
		case Whole:
			node = parquet.Int(64)
		case Truth:
			node = parquet.Leaf(parquet.BooleanType)
		}
		group[c.Name] = parquet.Optional(node)
	}
	byName := map[string]parquet.Field{}
	for _, f := range group.Fields() {
		byName[f.Name()] = f
	}
	root := ordered{Group: group}
	for _, c := range columns {
		root.fields = append(root.fields, byName[c.Name])
	}
	out := parquet.NewGenericWriter[any](w, parquet.NewSchema("table", root), parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(parquetRows))
	return &parquetWriter{out: out, columns: columns}, nil
}

func (p *parquetWriter) Write(row Row) error {
	p.row = p.row[:0]
	for k, column := range p.columns {
		c := row.Cells[k]
		if !c.known {
			p.row = append(p.row, parquet.NullValue().Level(0, 0, k))
			continue
		}
		v := parquet.ByteArrayValue([]byte(c.text))
		switch column.Kind {
		case Number:
			v = parquet.DoubleValue(c.number)
		case Whole:
			v = parquet.Int64Value(int64(c.number))
		case Truth:
			v = parquet.BooleanValue(c.number != 0)
		}
		p.row = append(p.row, v.Level(0, 1, k))
	}
	_, err := p.out.WriteRows([]parquet.Row{p.row})
	return err
}

func (p *parquetWriter) Close() error { return p.out.Close() }
