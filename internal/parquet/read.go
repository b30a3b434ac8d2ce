package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
)

// pageMost is the most bytes of a page: usual ones have 1 MiB.
const pageMost = 1 << 28

// File is a file that is read.
type File struct {
	Columns []Column
	data    io.ReaderAt
	size    int64
	groups  []group
}

// Open reads the description of a file of size bytes.
func Open(data io.ReaderAt, size int64) (*File, error) {
	var tail [8]byte
	if size < 12 {
		return nil, io.ErrUnexpectedEOF
	}
	if _, err := data.ReadAt(tail[:], size-8); err != nil {
		return nil, err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:4]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, &Unsupported{"it is encrypted"}
	case string(tail[4:]) != "PAR1" || length > size-12:
		return nil, errors.New("it does not end as such a file does")
	}
	d := newDecoder(io.NewSectionReader(data, size-8-length, length), length)
	schema, groups := description(d)
	if d.err != nil {
		return nil, d.err
	}
	all, err := columns(schema)
	if err != nil {
		return nil, err
	}
	return &File{Columns: all, data: data, size: size, groups: groups}, nil
}

// Groups is the number of rows in each group, as the file says.
func (f *File) Groups() []int64 {
	rows := make([]int64, len(f.groups))
	for k, g := range f.groups {
		rows[k] = g.rows
	}
	return rows
}

// Read calls put for each value of a column in a group, in the order of the rows.
func (f *File) Read(ctx context.Context, group, column int, put func(Value) error) error {
	c, g := f.Columns[column], f.groups[group]
	if c.leaf >= len(g.chunks) || c.Nested {
		return fmt.Errorf("column %s is missing", c.Name)
	}
	at := g.chunks[c.leaf]
	if at.kind != c.Type || at.start() < 0 || at.size < 0 || at.size > f.size-at.start() {
		return fmt.Errorf("column %s is not where it should be", c.Name)
	}
	p := &pages{column: c, codec: at.codec, in: newDecoder(io.NewSectionReader(f.data, at.start(), at.size), at.size)}
	for left := at.values; left > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, values, err := p.next()
		if err != nil {
			return err
		}
		if n > left {
			return fmt.Errorf("column %s has more values than it says", c.Name)
		}
		left -= n
		for range n {
			v, err := values()
			if err == nil {
				err = put(v)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// pages reads the pages of a chunk.
type pages struct {
	column Column
	codec  int64
	in     *decoder
	words  []Value // the dictionary
}

// pageHead describes a page.
type pageHead struct {
	kind, plain, packed int64 // plain and packed: bytes
	values, encoding    int64
	levels, repeats     int64 // bytes of levels before the values, of pages of the second kind
	stored              bool  // values are not compressed
}

func (p *pages) head() (h pageHead, err error) {
	d := p.in
	fields := func(places map[int64]*int64) {
		d.structure(func(id int64, kind byte) bool {
			if at := places[id]; at != nil && isWhole(kind) {
				*at = d.whole()
				return true
			}
			h.stored = h.stored || h.kind == 3 && id == 7 && kind == thriftFalse
			return false
		})
	}
	d.structure(func(id int64, kind byte) bool {
		switch {
		case id == 1 && isWhole(kind):
			h.kind = d.whole()
		case id == 2 && isWhole(kind):
			h.plain = d.whole()
		case id == 3 && isWhole(kind):
			h.packed = d.whole()
		case (id == 5 || id == 7) && kind == thriftStruct:
			fields(map[int64]*int64{1: &h.values, 2: &h.encoding})
		case id == 8 && kind == thriftStruct:
			fields(map[int64]*int64{1: &h.values, 4: &h.encoding, 5: &h.levels, 6: &h.repeats})
		default:
			return false
		}
		return true
	})
	switch {
	case d.err != nil:
		return h, d.err
	case h.packed < 0 || h.packed > d.left || h.plain < 0 || h.values < 0 || h.levels < 0 || h.repeats < 0:
		return h, errors.New("a page has no possible size")
	case h.plain > pageMost:
		return h, &Unsupported{fmt.Sprintf("it has a page of %d bytes, more than %d", h.plain, pageMost)}
	}
	return h, nil
}

// next reads pages up to the next one of data: its number of rows, and a function that yields their values.
func (p *pages) next() (int64, func() (Value, error), error) {
	for {
		h, err := p.head()
		if err != nil {
			return 0, nil, err
		}
		body := make([]byte, h.packed)
		if _, err := io.ReadFull(p.in.r, body); err != nil {
			return 0, nil, io.ErrUnexpectedEOF
		}
		p.in.left -= h.packed
		switch h.kind {
		case 0:
			values, err := p.data(h, body)
			return h.values, values, err
		case 2:
			if err := p.dictionary(h, body); err != nil {
				return 0, nil, err
			}
		case 3:
			values, err := p.data2(h, body)
			return h.values, values, err
		}
	}
}

func (p *pages) dictionary(h pageHead, body []byte) error {
	data, err := expand(p.codec, body, h.plain)
	if err != nil {
		return err
	}
	if p.words != nil || h.encoding != encodingPlain && h.encoding != encodingOldDictionary {
		return errors.New("a dictionary is not one")
	}
	from := &plain{kind: p.column.Type, bytes: p.column.bytes, data: data}
	for range h.values {
		v, err := from.next()
		if err != nil {
			return err
		}
		p.words = append(p.words, v)
	}
	return nil
}

// data opens a page whose levels are compressed together with its values.
func (p *pages) data(h pageHead, body []byte) (func() (Value, error), error) {
	data, err := expand(p.codec, body, h.plain)
	if err != nil {
		return nil, err
	}
	var levels []byte
	if !p.column.needed {
		if len(data) < 4 || uint64(binary.LittleEndian.Uint32(data)) > uint64(len(data)-4) {
			return nil, errShort
		}
		n := binary.LittleEndian.Uint32(data)
		levels, data = data[4:4+n], data[4+n:]
	}
	return p.values(h, levels, data)
}

// data2 opens a page of the second kind, whose levels come first, as they are.
func (p *pages) data2(h pageHead, body []byte) (func() (Value, error), error) {
	before := h.levels + h.repeats
	if before > h.packed || before > h.plain {
		return nil, errShort
	}
	levels, data := body[h.repeats:before], body[before:]
	if !h.stored {
		var err error
		if data, err = expand(p.codec, data, h.plain-before); err != nil {
			return nil, err
		}
	}
	return p.values(h, levels, data)
}

// values joins levels and the values that are there.
func (p *pages) values(h pageHead, levels, data []byte) (func() (Value, error), error) {
	from, err := sourceOf(p.column, h.encoding, data, h.values, p.words)
	if err != nil || p.column.needed {
		return func() (Value, error) { return from.next() }, err
	}
	present, err := newRuns(levels, 1)
	if err != nil {
		return nil, err
	}
	return func() (Value, error) {
		if known, err := present.number(); err != nil || known == 0 {
			return Value{}, err
		}
		return from.next()
	}, nil
}

// expand undoes the compression of a page, which has size bytes then. No memory is taken before there
// are bytes for it, but for LZ4 and Snappy, which cannot grow without bounds.
func expand(codec int64, body []byte, size int64) ([]byte, error) {
	var from io.Reader
	switch codec {
	case 0:
		from = bytes.NewReader(body)
	case 1:
		if n, err := snappy.DecodedLen(body); err != nil || int64(n) != size || size > 64*int64(len(body)) {
			return nil, errors.New("a page has another size than it says")
		}
		return snappy.Decode(nil, body)
	case 2:
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		from = r
	case 6:
		r, err := zstd.NewReader(bytes.NewReader(body), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(pageMost))
		if err != nil {
			return nil, err
		}
		defer r.Close()
		from = r
	case 7:
		return lz4(body, size)
	default:
		name, known := map[int64]string{3: "LZO", 4: "Brotli", 5: "the LZ4 of Hadoop"}[codec]
		if !known {
			name = fmt.Sprintf("method %d", codec)
		}
		return nil, &Unsupported{"it is compressed by " + name}
	}
	out, err := io.ReadAll(io.LimitReader(from, size+1))
	if err == nil && int64(len(out)) != size {
		err = errors.New("a page has another size than it says")
	}
	return out, err
}

// lz4 expands a block of LZ4: sequences of bytes as they are, each followed by a copy of earlier ones.
func lz4(in []byte, size int64) ([]byte, error) {
	if size > 255*int64(len(in))+16 {
		return nil, errShort // more than any block can grow
	}
	out := make([]byte, 0, size)
	length := func(n int) (int, bool) { // 15 and more go on in the next bytes
		for more := n == 15; more; {
			if len(in) == 0 || n > pageMost {
				return 0, false
			}
			n += int(in[0])
			more = in[0] == 255
			in = in[1:]
		}
		return n, true
	}
	for len(in) > 0 {
		token := in[0]
		in = in[1:]
		n, ok := length(int(token >> 4))
		if !ok || n > len(in) || n > cap(out)-len(out) {
			return nil, errShort
		}
		out = append(out, in[:n]...)
		in = in[n:]
		if len(in) == 0 {
			break // the last sequence has no copy
		}
		if len(in) < 2 {
			return nil, errShort
		}
		back := int(binary.LittleEndian.Uint16(in))
		in = in[2:]
		n, ok = length(int(token & 15))
		if n += 4; !ok || back == 0 || back > len(out) || n > cap(out)-len(out) {
			return nil, errShort
		}
		for range n { // a copy may overlap itself
			out = append(out, out[len(out)-back])
		}
	}
	if int64(len(out)) != size {
		return nil, errShort
	}
	return out, nil
}
