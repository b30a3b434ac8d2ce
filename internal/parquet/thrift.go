package parquet

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
)

// Kinds of values in Thrift's compact protocol, in which all descriptions of a Parquet file
// are written.
const (
	thriftTrue   = 1
	thriftFalse  = 2
	thriftByte   = 3
	thriftDouble = 7
	thriftBinary = 8
	thriftList   = 9
	thriftSet    = 10
	thriftMap    = 11
	thriftStruct = 12
)

// thriftDepth is how deep structs may be nested: descriptions take six.
const thriftDepth = 32

var errThrift = errors.New("a description in it cannot be read")

// decoder reads the compact protocol. After the first error all it reads is zero; lists and
// structs end there.
type decoder struct {
	r     *bufio.Reader
	left  int64 // bytes that may follow: no length claims more
	depth int
	err   error
}

func newDecoder(r io.Reader, size int64) *decoder {
	return &decoder{r: bufio.NewReader(r), left: size}
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	b, err := d.r.ReadByte()
	if err != nil {
		d.fail(io.ErrUnexpectedEOF)
		return 0
	}
	d.left--
	return b
}

func (d *decoder) unsigned() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		b := d.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.fail(errThrift)
	return 0
}

// whole is an integer of any size.
func (d *decoder) whole() int64 {
	v := d.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) binary() []byte {
	n := d.unsigned()
	if d.err == nil && n > uint64(max(0, d.left)) {
		d.fail(io.ErrUnexpectedEOF)
	}
	if d.err != nil {
		return nil
	}
	b := make([]byte, n)
	if _, err := io.ReadFull(d.r, b); err != nil {
		d.fail(io.ErrUnexpectedEOF)
		return nil
	}
	d.left -= int64(n)
	return b
}

// list calls item for each item of a list.
func (d *decoder) list(item func(kind byte)) {
	head := d.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = d.unsigned()
	}
	for ; n > 0 && d.err == nil; n-- {
		item(head & 15)
	}
}

// structure calls field for each field of a struct, which reads it, or returns false. The kind of a truth is
// its value.
func (d *decoder) structure(field func(id int64, kind byte) bool) {
	if d.depth++; d.depth > thriftDepth {
		d.fail(errThrift)
	}
	defer func() { d.depth-- }()
	id := int64(0)
	for d.err == nil {
		head := d.byte()
		kind := head & 15
		if kind == 0 {
			return
		}
		if step := int64(head >> 4); step != 0 {
			id += step
		} else {
			id = d.whole()
		}
		if !field(id, kind) {
			d.skip(kind, false)
		}
	}
}

// skip passes over a value. Truths have a byte of their own in lists only.
func (d *decoder) skip(kind byte, inList bool) {
	switch kind {
	case thriftTrue, thriftFalse:
		if inList {
			d.byte()
		}
	case thriftByte:
		d.byte()
	case 4, 5, 6:
		d.unsigned()
	case thriftDouble:
		for range 8 {
			d.byte()
		}
	case thriftBinary:
		d.binary()
	case thriftList, thriftSet:
		if d.depth++; d.depth > thriftDepth {
			d.fail(errThrift)
		}
		d.list(func(kind byte) { d.skip(kind, true) })
		d.depth--
	case thriftStruct:
		d.structure(func(int64, byte) bool { return false })
	default: // maps occur in no description
		d.fail(errThrift)
	}
}

// encoder writes the compact protocol. Fields of a struct are written in the order of their ids.
type encoder struct {
	out  []byte
	last []int64 // id of the last field, for each open struct
}

func (e *encoder) unsigned(v uint64) { e.out = binary.AppendUvarint(e.out, v) }

// zigzag writes an integer: small ones of either sign are short.
func (e *encoder) zigzag(v int64) { e.unsigned(uint64(v)<<1 ^ uint64(v>>63)) }

func (e *encoder) field(id int64, kind byte) {
	last := &e.last[len(e.last)-1]
	e.out = append(e.out, byte(id-*last)<<4|kind)
	*last = id
}

// i32 and i64 differ by their kind alone.
func (e *encoder) i32(id, v int64) { e.field(id, 5); e.zigzag(v) }
func (e *encoder) i64(id, v int64) { e.field(id, 6); e.zigzag(v) }

func (e *encoder) text(id int64, s string) { e.field(id, thriftBinary); e.item(s) }

func (e *encoder) item(s string) { e.unsigned(uint64(len(s))); e.out = append(e.out, s...) }

func (e *encoder) list(id int64, kind byte, n int) {
	e.field(id, thriftList)
	if n < 15 {
		e.out = append(e.out, byte(n)<<4|kind)
		return
	}
	e.out = append(e.out, 15<<4|kind)
	e.unsigned(uint64(n))
}

// open and close stand around the fields of a struct that is an item of a list, or the whole.
func (e *encoder) open()  { e.last = append(e.last, 0) }
func (e *encoder) close() { e.out = append(e.out, 0); e.last = e.last[:len(e.last)-1] }

// inside writes a field that is a struct.
func (e *encoder) inside(id int64, fields func()) {
	e.field(id, thriftStruct)
	e.open()
	fields()
	e.close()
}
