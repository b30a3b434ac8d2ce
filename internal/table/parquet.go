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
	own     parquetBlock
	row     [1]parquet.Row
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
	out := parquet.NewGenericWriter[any](w, parquet.NewSchema("table", root), parquet.Compression(&parquet.Zstd),
		parquet.MaxRowsPerRowGroup(parquetRows))
	return &parquetWriter{out: out, columns: columns}, nil
}

// parquetBlock is the values of some rows.
type parquetBlock struct {
	columns []Column
	values  []parquet.Value // row after row
}

func (b *parquetBlock) Reset() { b.values = b.values[:0] }

func (b *parquetBlock) Add(row Row) error {
	for k, column := range b.columns {
		c := row.Cells[k]
		if !c.known {
			b.values = append(b.values, parquet.NullValue().Level(0, 0, k))
			continue
		}
		var v parquet.Value
		switch column.Kind {
		case Text:
			v = parquet.ByteArrayValue([]byte(c.text))
		case Number:
			v = parquet.DoubleValue(c.number)
		case Whole:
			v = parquet.Int64Value(int64(c.number))
		case Truth:
			v = parquet.BooleanValue(c.number != 0)
		}
		b.values = append(b.values, v.Level(0, 1, k))
	}
	return nil
}

func (p *parquetWriter) NewBlock() Block { return &parquetBlock{columns: p.columns} }

func (p *parquetWriter) Write(row Row) error {
	p.own.columns = p.columns
	p.own.Reset()
	if err := p.own.Add(row); err != nil {
		return err
	}
	return p.WriteBlock(&p.own)
}

// WriteBlock writes row by row: pages end where the bytes of rows so far say, and not where blocks do.
func (p *parquetWriter) WriteBlock(b Block) error {
	for values, n := b.(*parquetBlock).values, len(p.columns); len(values) > 0; values = values[n:] {
		p.row[0] = values[:n:n]
		if _, err := p.out.WriteRows(p.row[:]); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetWriter) Close() error { return p.out.Close() }
