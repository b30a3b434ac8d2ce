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

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFormat is a table of columns, as pandas, R, DuckDB and Spark write it. Columns that
// hold lists or groups, and binary data, are left out with a note.
var parquetFormat = &Format{
	Name:   "Parquet",
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("PAR1")) },
	Read:   readParquet,
	ByPath: true,
}

func readParquet(ctx context.Context, in Input, _ Options) (f *File, err error) {
	defer func() { // the library panics at some damage
		if p := recover(); p != nil {
			f, err = nil, parquetError(fmt.Errorf("%v", p))
		}
	}()
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
	if err := parquetFooter(data, size); err != nil {
		return nil, err
	}
	file, err := parquet.OpenFile(data, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, parquetError(err)
	}
	r := &parquetReader{ctx: ctx, size: size, table: Table{Unit: "row"}}
	r.choose(file.Root().Columns())
	for _, group := range file.RowGroups() {
		if err := r.group(group); err != nil {
			return nil, err
		}
	}
	notes := leftOut(r.nested, "lists or groups")
	return &File{Rows: &r.table, Notes: append(notes, r.table.without(r.binary, "binary data")...)}, nil
}

// parquetFooter checks the size of the description at the end, which is read as a whole.
func parquetFooter(data io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return parquetError(io.ErrUnexpectedEOF)
	}
	if _, err := data.ReadAt(tail[:], size-8); err != nil {
		return parquetError(err)
	}
	switch footer := int64(binary.LittleEndian.Uint32(tail[:4])); {
	case string(tail[4:]) == "PARE":
		return fail(Unsupported, "is an encrypted Parquet file", "write it without encryption")
	case string(tail[4:]) != "PAR1" || footer > size-12:
		return parquetError(errors.New("it does not end as such a file does"))
	}
	return nil
}

type parquetReader struct {
	ctx     context.Context
	size    int64 // of the file
	columns []*parquet.Column
	text    []func(parquet.Value) (text string, ok bool)
	table   Table
	nested  []string
	binary  []bool // columns with values that are no text
	budget  budget
}

// choose takes the columns with one value in each row.
func (r *parquetReader) choose(columns []*parquet.Column) {
	for _, c := range columns {
		if !c.Leaf() || c.Repeated() || c.MaxRepetitionLevel() > 0 {
			r.nested = append(r.nested, c.Name())
			continue
		}
		r.columns = append(r.columns, c)
		r.text = append(r.text, parquetText(c.Type()))
		r.table.Names = append(r.table.Names, c.Name())
	}
	r.binary = make([]bool, len(r.columns))
}

// group reads the rows of a group, column by column.
func (r *parquetReader) group(group parquet.RowGroup) error {
	rows := group.NumRows()
	// A page may say that one value is repeated very often: bound what a small file can claim.
	if most := 1<<20 + r.size*(1<<13); rows < 0 || rows > most {
		return tooLarge(fmt.Sprintf("it says that it has %d rows in %d bytes", rows, r.size))
	}
	first := len(r.table.Rows)
	chunks := group.ColumnChunks()
	for j, c := range r.columns {
		if c.Index() >= len(chunks) {
			return parquetError(fmt.Errorf("column %s is missing", c.Name()))
		}
		n := 0
		put := func(text string) error {
			if j == 0 {
				row := make([]string, len(r.columns))
				r.table.Rows = append(r.table.Rows, row)
				if err := r.budget.take(row); err != nil {
					return err
				}
			}
			if first+n >= len(r.table.Rows) {
				return parquetError(fmt.Errorf("column %s has more values than there are rows", c.Name()))
			}
			r.budget += budget(len(text))
			r.table.Rows[first+n][j] = text
			n++
			return nil
		}
		if err := r.chunk(j, chunks[c.Index()], put); err != nil {
			return err
		}
		if int64(n) != rows {
			return parquetError(fmt.Errorf("column %s has %d values in %d rows", c.Name(), n, rows))
		}
	}
	return nil
}

// chunk reads the values of a column in a group of rows.
func (r *parquetReader) chunk(j int, chunk parquet.ColumnChunk, put func(string) error) error {
	pages := chunk.Pages()
	defer pages.Close()
	values := make([]parquet.Value, 1024)
	for {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return parquetError(err)
		}
		for from := page.Values(); ; {
			n, err := from.ReadValues(values)
			for _, v := range values[:n] {
				text := ""
				if !v.IsNull() {
					var ok bool
					if text, ok = r.text[j](v); !ok {
						r.binary[j] = true
					}
				}
				if err := put(text); err != nil {
					return err
				}
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return parquetError(err)
			}
			if n == 0 {
				return parquetError(io.ErrNoProgress)
			}
		}
		parquet.Release(page)
	}
}

// parquetText returns how values of a type are written; false for binary data.
func parquetText(t parquet.Type) func(parquet.Value) (string, bool) {
	var logical format.LogicalTypeValue
	if l := t.LogicalType(); l != nil {
		logical = l.Value
	}
	is := func(text func(parquet.Value) string) func(parquet.Value) (string, bool) {
		return func(v parquet.Value) (string, bool) { return text(v), true }
	}
	switch kind := t.Kind(); kind {
	case parquet.Boolean:
		return is(func(v parquet.Value) string { return strconv.FormatBool(v.Boolean()) })
	case parquet.Float:
		return is(func(v parquet.Value) string { return shortest(float64(v.Float()), 32) })
	case parquet.Double:
		return is(func(v parquet.Value) string { return shortest(v.Double(), 64) })
	case parquet.Int96: // nanoseconds of a day and the Julian day: times as Spark wrote them
		return is(func(v parquet.Value) string {
			x := v.Int96()
			const epoch = 2440588 // Julian day of 1970-01-01
			return instant(time.Unix((int64(x[2])-epoch)*86400, int64(uint64(x[1])<<32|uint64(x[0]))).UTC(), false)
		})
	case parquet.Int32, parquet.Int64:
		whole := func(v parquet.Value) int64 {
			if kind == parquet.Int32 {
				return int64(v.Int32())
			}
			return v.Int64()
		}
		return is(wholeText(logical, whole, kind))
	}
	switch l := logical.(type) {
	case *format.DecimalType:
		return is(func(v parquet.Value) string { return decimal(signed(v.ByteArray()), l.Scale) })
	case *format.UUIDType:
		return func(v parquet.Value) (string, bool) {
			b := v.ByteArray()
			if len(b) != 16 {
				return "", false
			}
			return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), true
		}
	case *format.StringType, *format.EnumType, *format.JsonType, nil:
		return func(v parquet.Value) (string, bool) {
			b := v.ByteArray()
			return string(b), logical != nil || utf8.Valid(b) && bytes.IndexByte(b, 0) < 0
		}
	}
	return func(parquet.Value) (string, bool) { return "", false }
}

// wholeText writes values that are stored as whole numbers.
func wholeText(logical format.LogicalTypeValue, whole func(parquet.Value) int64, kind parquet.Kind) func(parquet.Value) string {
	switch l := logical.(type) {
	case *format.DateType:
		return func(v parquet.Value) string { return time.Unix(86400*whole(v), 0).UTC().Format(time.DateOnly) }
	case *format.TimestampType:
		per := perSecond(l.Unit)
		return func(v parquet.Value) string {
			seconds := floorDiv(whole(v), per)
			return instant(time.Unix(seconds, (whole(v)-seconds*per)*(1e9/per)).UTC(), false)
		}
	case *format.TimeType:
		per := perSecond(l.Unit)
		return func(v parquet.Value) string {
			return time.Unix(0, 0).UTC().Add(time.Duration(whole(v) * (1e9 / per))).Format("15:04:05.999999999")
		}
	case *format.DecimalType:
		return func(v parquet.Value) string { return decimal(big.NewInt(whole(v)), l.Scale) }
	case *format.IntType:
		if !l.IsSigned && kind == parquet.Int32 {
			return func(v parquet.Value) string { return strconv.FormatUint(uint64(v.Uint32()), 10) }
		}
		if !l.IsSigned {
			return func(v parquet.Value) string { return strconv.FormatUint(v.Uint64(), 10) }
		}
	}
	return func(v parquet.Value) string { return strconv.FormatInt(whole(v), 10) }
}

// perSecond is the number of units of time in a second.
func perSecond(u format.TimeUnit) int64 {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.MicroSeconds:
		return 1e6
	}
	return 1e9
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
func decimal(v *big.Int, scale int32) string {
	text := v.String()
	if scale <= 0 || scale > 1000 {
		return text
	}
	sign := ""
	if text[0] == '-' {
		sign, text = "-", text[1:]
	}
	if short := int(scale) + 1 - len(text); short > 0 {
		text = strings.Repeat("0", short) + text
	}
	point := len(text) - int(scale)
	return sign + text[:point] + "." + text[point:]
}

func parquetError(err error) *Error {
	return &Error{Kind: Damaged, What: fmt.Sprintf("the Parquet file is cut short or damaged (%v)", err),
		Remedies: []Remedy{{Do: "fetch it again"}, {Do: "write it as CSV"}}, Err: err}
}
