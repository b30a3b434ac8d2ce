package parquet

import (
	"encoding/binary"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// GroupRows is the number of rows that are held in memory until they are written together.
const GroupRows = 1 << 16

const magic = "PAR1"

// Writer writes a file. Values of all columns may be missing.
type Writer struct {
	out     io.Writer
	zstd    *zstd.Encoder
	at      int64
	columns []Column
	pending []pending
	rows    int64 // of all groups
	groups  []group
	sizes   [][]int64 // bytes of each chunk before compression
	err     error
}

// pending is the values of a column in the group that is being filled.
type pending struct {
	known []bool
	data  []byte // plain encoding; a byte for each Boolean
}

// NewWriter returns a Writer of columns, of which Name, Type and Meaning count: Boolean, Int64, Double, and
// ByteArray with the meaning String.
func NewWriter(w io.Writer, columns []Column) (*Writer, error) {
	for _, c := range columns {
		switch {
		case c.Type == Boolean, c.Type == Int64, c.Type == Double, c.Type == ByteArray && c.Meaning == String:
		default:
			return nil, fmt.Errorf("column %s has type %d, which is not written", c.Name, c.Type)
		}
	}
	z, err := zstd.NewWriter(nil)
	if err != nil {
		return nil, err
	}
	p := &Writer{out: w, zstd: z, columns: columns, pending: make([]pending, len(columns))}
	p.write([]byte(magic))
	return p, p.err
}

// Set adds a value of a column to the current row. It is kept until the row's group is complete.
func (w *Writer) Set(column int, v Value) {
	p := &w.pending[column]
	p.known = append(p.known, v.Known)
	if !v.Known {
		return
	}
	switch w.columns[column].Type {
	case Boolean:
		p.data = append(p.data, byte(v.Bits&1))
	case ByteArray:
		p.data = binary.LittleEndian.AppendUint32(p.data, uint32(len(v.Bytes)))
		p.data = append(p.data, v.Bytes...)
	default:
		p.data = binary.LittleEndian.AppendUint64(p.data, v.Bits)
	}
}

// EndRow ends the current row, in which each column was Set once.
func (w *Writer) EndRow() error {
	if w.rows++; w.rows%GroupRows == 0 {
		w.group()
	}
	return w.err
}

func (w *Writer) write(b []byte) {
	if w.err != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at += int64(n)
	w.err = err
}

// group writes the pending rows, a page for each column; pages are compressed side by side.
func (w *Writer) group() {
	g := group{rows: (w.rows-1)%GroupRows + 1}
	sizes := make([]int64, len(w.columns))
	pages := make([][]byte, len(w.columns))
	var all sync.WaitGroup
	for k := range w.columns {
		all.Go(func() { pages[k], sizes[k] = w.pending[k].page(w.columns[k].Type, w.zstd) })
	}
	all.Wait()
	for k, page := range pages {
		g.chunks = append(g.chunks, chunk{kind: w.columns[k].Type, codec: 6, values: g.rows, size: int64(len(page)), data: w.at})
		w.write(page)
		w.pending[k].known, w.pending[k].data = w.pending[k].known[:0], w.pending[k].data[:0]
	}
	w.groups, w.sizes = append(w.groups, g), append(w.sizes, sizes)
}

// page is the head and the compressed values of a column, and their size before.
func (p *pending) page(kind Type, z *zstd.Encoder) (out []byte, size int64) {
	body := levels(p.known)
	if kind == Boolean {
		body = packed(body, len(p.data), func(k int) bool { return p.data[k] == 1 })
	} else {
		body = append(body, p.data...)
	}
	small := z.EncodeAll(body, nil)
	var e encoder
	e.open()
	e.i32(1, 0)
	e.i32(2, int64(len(body)))
	e.i32(3, int64(len(small)))
	e.inside(5, func() {
		e.i32(1, int64(len(p.known)))
		e.i32(2, encodingPlain)
		e.i32(3, encodingRuns)
		e.i32(4, encodingRuns)
	})
	e.close()
	return append(e.out, small...), int64(len(e.out) + len(body))
}

// levels says which values are there: one run if all or none are, else bits.
func levels(known []bool) []byte {
	same := true
	for _, k := range known {
		same = same && k == known[0]
	}
	var runs []byte
	if same {
		one := byte(0)
		if known[0] {
			one = 1
		}
		runs = append(binary.AppendUvarint(nil, uint64(len(known))<<1), one)
	} else {
		runs = binary.AppendUvarint(nil, uint64((len(known)+7)/8)<<1|1)
		runs = packed(runs, len(known), func(k int) bool { return known[k] })
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}

// packed appends n bits.
func packed(out []byte, n int, bit func(k int) bool) []byte {
	first := len(out)
	out = append(out, make([]byte, (n+7)/8)...)
	for k := range n {
		if bit(k) {
			out[first+k/8] |= 1 << (k % 8)
		}
	}
	return out
}

// Close writes the rows that wait, and the description. It does not close what it writes to.
func (w *Writer) Close() error {
	if w.rows%GroupRows != 0 {
		w.group()
	}
	var e encoder
	e.open()
	e.i32(1, 2)
	e.list(2, thriftStruct, len(w.columns)+1)
	e.open()
	e.text(4, "table")
	e.i32(5, int64(len(w.columns)))
	e.close()
	for _, c := range w.columns {
		describe(&e, c)
	}
	e.i64(3, w.rows)
	e.list(4, thriftStruct, len(w.groups))
	for k, g := range w.groups {
		w.describeGroup(&e, g, w.sizes[k])
	}
	e.text(6, "grfgp")
	e.close()
	w.write(e.out)
	w.write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(e.out))), magic...))
	return w.err
}

// describe writes an element of the schema.
func describe(e *encoder, c Column) {
	e.open()
	e.i32(1, int64(c.Type))
	e.i32(3, 1) // optional
	e.text(4, c.Name)
	switch c.Type {
	case ByteArray:
		e.i32(6, 0)
		e.inside(10, func() { e.inside(1, func() {}) })
	case Int64:
		e.i32(6, 18)
		e.inside(10, func() {
			e.inside(10, func() {
				e.field(1, thriftByte)
				e.out = append(e.out, 64)
				e.field(2, thriftTrue)
			})
		})
	}
	e.close()
}

func (w *Writer) describeGroup(e *encoder, g group, sizes []int64) {
	total := int64(0)
	e.open()
	e.list(1, thriftStruct, len(g.chunks))
	for k, c := range g.chunks {
		total += sizes[k]
		e.open()
		e.i64(2, c.data)
		e.inside(3, func() {
			e.i32(1, int64(c.kind))
			e.list(2, 5, 2)
			e.zigzag(encodingPlain)
			e.zigzag(encodingRuns)
			e.list(3, thriftBinary, 1)
			e.item(w.columns[k].Name)
			e.i32(4, c.codec)
			e.i64(5, c.values)
			e.i64(6, sizes[k])
			e.i64(7, c.size)
			e.i64(9, c.data)
		})
		e.close()
	}
	e.i64(2, total)
	e.i64(3, g.rows)
	e.close()
}
