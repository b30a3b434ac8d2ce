package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"grfgp/internal/parquet"
)

// parquetFormat is a table of columns, as pandas, R, DuckDB and Spark write it. Columns that
// hold lists or groups, and binary data, are left out with a note.
var parquetFormat = &Format{
	Name:   "Parquet",
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) },
	Read:   readParquet,
	ByPath: true,
}

func readParquet(ctx context.Context, in Input, _ Options) (*File, error) {
	var data io.ReaderAt = bytes.NewReader(in.Data)
	size := int64(len(in.Data))
	if in.Path != "" {
		file, err := os.Open(in.Path)
		if err != nil {
			return nil, parquetError(err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return nil, parquetError(err)
		}
		data, size = file, info.Size()
	}
	file, err := parquet.Open(data, size)
	if err != nil {
		return nil, parquetError(err)
	}
	r := &parquetReader{ctx: ctx, file: file, table: Table{Unit: "row"}}
	r.choose()
	for k, rows := range file.Groups() {
		// A page may say that one value is repeated very often: bound what a small file can claim.
		if most := 1<<20 + size*(1<<13); rows < 0 || rows > most {
			return nil, tooLarge(fmt.Sprintf("it says that it has %d rows in %d bytes", rows, size))
		}
		if err := r.group(k, rows); err != nil {
			return nil, err
		}
	}
	notes := leftOut(r.nested, "lists or groups")
	return &File{Rows: &r.table, Notes: append(notes, r.table.without(r.binary, "binary data")...)}, nil
}

type parquetReader struct {
	ctx     context.Context
	file    *parquet.File
	columns []int // of the file, that are read
	text    []func(parquet.Value) (text string, ok bool)
	table   Table
	nested  []string
	binary  []bool // columns with values that are no text
	budget  budget
}

// choose takes the columns with one value in each row.
func (r *parquetReader) choose() {
	for k, c := range r.file.Columns {
		if c.Nested {
			r.nested = append(r.nested, c.Name)
			continue
		}
		r.columns = append(r.columns, k)
		r.text = append(r.text, parquetText(c))
		r.table.Names = append(r.table.Names, c.Name)
	}
	r.binary = make([]bool, len(r.columns))
}

// group reads the rows of a group, column by column.
func (r *parquetReader) group(k int, rows int64) error {
	first := len(r.table.Rows)
	for j, c := range r.columns {
		n := 0
		name := r.table.Names[j]
		put := func(v parquet.Value) error {
			if int64(n) == rows {
				return parquetError(fmt.Errorf("column %s has more values than there are rows", name))
			}
			text := ""
			if v.Known {
				var ok bool
				if text, ok = r.text[j](v); !ok {
					r.binary[j] = true
				}
			}
			if j == 0 {
				r.table.Rows = append(r.table.Rows, make([]string, len(r.columns)))
			}
			row := r.table.Rows[first+n]
			row[j] = text
			n++
			if j == 0 {
				return r.budget.take(row)
			}
			return r.budget.add(len(text))
		}
		if err := r.file.Read(r.ctx, k, c, put); err != nil {
			return parquetError(err)
		}
		if int64(n) != rows {
			return parquetError(fmt.Errorf("column %s has %d values in %d rows", name, n, rows))
		}
	}
	return nil
}

// parquetText returns how values of a column are written; false for binary data.
func parquetText(c parquet.Column) func(parquet.Value) (string, bool) {
	is := func(text func(parquet.Value) string) func(parquet.Value) (string, bool) {
		return func(v parquet.Value) (string, bool) { return text(v), true }
	}
	switch c.Type {
	case parquet.Boolean:
		return is(func(v parquet.Value) string { return strconv.FormatBool(v.Bits == 1) })
	case parquet.Float:
		return is(func(v parquet.Value) string { return shortest(float64(v.Float32()), 32) })
	case parquet.Double:
		return is(func(v parquet.Value) string { return shortest(v.Float(), 64) })
	case parquet.Int96: // nanoseconds of a day and the Julian day: times as Spark wrote them
		return is(func(v parquet.Value) string {
			nanos, day := binary.LittleEndian.Uint64(v.Bytes), binary.LittleEndian.Uint32(v.Bytes[8:])
			const epoch = 2440588 // Julian day of 1970-01-01
			return instant(time.Unix((int64(day)-epoch)*86400, int64(nanos)).UTC(), false)
		})
	case parquet.Int32, parquet.Int64:
		return is(wholeText(c))
	}
	switch c.Meaning {
	case parquet.Decimal:
		return is(func(v parquet.Value) string { return decimal(signed(v.Bytes), c.Scale) })
	case parquet.UUID:
		return func(v parquet.Value) (string, bool) {
			b := v.Bytes
			if len(b) != 16 {
				return "", false
			}
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
		}
	case parquet.String, parquet.Plain:
		return func(v parquet.Value) (string, bool) {
			return string(v.Bytes), c.Meaning == parquet.String || utf8.Valid(v.Bytes) && bytes.IndexByte(v.Bytes, 0) < 0
		}
	}
	return func(parquet.Value) (string, bool) { return "", false }
}

// wholeText writes values that are stored as whole numbers.
func wholeText(c parquet.Column) func(parquet.Value) string {
	switch c.Meaning {
	case parquet.Date:
		return func(v parquet.Value) string { return time.Unix(86400*v.Whole(), 0).UTC().Format(time.DateOnly) }
	case parquet.Timestamp:
		return func(v parquet.Value) string {
			seconds := floorDiv(v.Whole(), c.PerSec)
			return instant(time.Unix(seconds, (v.Whole()-seconds*c.PerSec)*(1e9/c.PerSec)).UTC(), false)
		}
	case parquet.Time:
		return func(v parquet.Value) string {
			return time.Unix(0, 0).UTC().Add(time.Duration(v.Whole() * (1e9 / c.PerSec))).Format("15:04:05.999999999")
		}
	case parquet.Decimal:
		return func(v parquet.Value) string { return decimal(big.NewInt(v.Whole()), c.Scale) }
	case parquet.Unsigned:
		if c.Type == parquet.Int32 {
			return func(v parquet.Value) string { return strconv.FormatUint(uint64(uint32(v.Bits)), 10) }
		}
		return func(v parquet.Value) string { return strconv.FormatUint(v.Bits, 10) }
	}
	return func(v parquet.Value) string { return strconv.FormatInt(v.Whole(), 10) }
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// signed reads a big-endian number in two's complement.
func signed(b []byte) *big.Int {
	v := new(big.Int).SetBytes(b)
	if len(b) > 0 && b[0]&0x80 != 0 {
		v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
	}
	return v
}

// decimal writes v / 10^scale with all its digits.
func decimal(v *big.Int, scale int) string {
	text := v.String()
	if scale <= 0 || scale > 1000 {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if short := scale + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	point := len(text) - scale
	return sign + text[:point] + "." + text[point:]
}

// parquetError is a fault of the file, said in words; other errors are passed on.
func parquetError(err error) error {
	var said *Error
	var unsupported *parquet.Unsupported
	switch {
	case errors.As(err, &said), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.As(err, &unsupported):
		return fail(Unsupported, "is a Parquet file that cannot be read: "+unsupported.What,
			"write it with other options, in pandas df.to_parquet('FILE', compression='zstd')", "write it as CSV")
	}
	return &Error{Kind: Damaged, What: fmt.Sprintf("the Parquet file is cut short or damaged (%v)", err),
		Remedies: []Remedy{{Do: "fetch it again"}, {Do: "write it as CSV"}}, Err: err}
}
