package table

import (
	"io"
	"math"

	"grfgp/internal/parquet"
)

// parquetWriter writes a Parquet file. All columns may have missing values.
type parquetWriter struct {
	out     *parquet.Writer
	columns []Column
}

func newParquet(w io.Writer, columns []Column) (Writer, error) {
	heads := make([]parquet.Column, len(columns))
	for k, c := range columns {
		heads[k] = parquet.Column{Name: c.Name, Type: parquet.ByteArray, Meaning: parquet.String}
		switch c.Kind {
		case Number:
			heads[k] = parquet.Column{Name: c.Name, Type: parquet.Double}
		case Whole:
			heads[k] = parquet.Column{Name: c.Name, Type: parquet.Int64}
		case Truth:
			heads[k] = parquet.Column{Name: c.Name, Type: parquet.Boolean}
		}
	}
	out, err := parquet.NewWriter(w, heads)
	return &parquetWriter{out: out, columns: columns}, err
}

// parquetBlock is the cells of some rows, row after row.
type parquetBlock struct{ cells []Cell }

func (b *parquetBlock) Reset() { b.cells = b.cells[:0] }

func (b *parquetBlock) Add(row Row) error {
	b.cells = append(b.cells, row.Cells...)
	return nil
}

func (p *parquetWriter) NewBlock() Block { return &parquetBlock{} }

func (p *parquetWriter) WriteBlock(b Block) error {
	for cells, n := b.(*parquetBlock).cells, len(p.columns); len(cells) > 0; cells = cells[n:] {
		if err := p.Write(Row{Cells: cells[:n]}); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetWriter) Write(row Row) error {
	for k, column := range p.columns {
		c := row.Cells[k]
		v := parquet.Value{Known: c.known}
		switch column.Kind {
		case Text:
			v.Bytes = []byte(c.text)
		case Number:
			v.Bits = math.Float64bits(c.number)
		case Whole, Truth:
			v.Bits = uint64(int64(c.number))
		}
		p.out.Set(k, v)
	}
	return p.out.EndRow()
}

func (p *parquetWriter) Close() error { return p.out.Close() }
