package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Value is a value of a column. The zero value is a missing one.
type Value struct {
	Known bool
	Bits  uint64 // of Boolean, Int32, Int64, Float and Double
	Bytes []byte // of ByteArray, FixedBytes and Int96; valid until the next value
}

// Whole is the value of an Int32 or Int64.
func (v Value) Whole() int64 { return int64(v.Bits) }

// Float is the value of a Double.
func (v Value) Float() float64 { return math.Float64frombits(v.Bits) }

// Float32 is the value of a Float.
func (v Value) Float32() float32 { return math.Float32frombits(uint32(v.Bits)) }

// Encodings of pages.
const (
	encodingPlain         = 0
	encodingOldDictionary = 2
	encodingRuns          = 3
	encodingDelta         = 5
	encodingDeltaLengths  = 6
	encodingDeltaBytes    = 7
	encodingDictionary    = 8
	encodingSplit         = 9
)

// deltaBlock is the most values in a block of differences: files have 128 or so.
const deltaBlock = 1 << 20

var (
	errShort = errors.New("a page ends too early")
	errWidth = errors.New("a page has numbers of too many bits")
	errWord  = errors.New("a page names a value that its dictionary does not have")
	errDelta = errors.New("a page has differences of no known form")
)

// source yields the values of a page that are there, one after another.
type source interface {
	next() (Value, error)
}

// plain reads values as they are.
type plain struct {
	kind  Type
	bytes int // of a FixedBytes
	data  []byte
	bit   uint // next bit of the first byte, of Booleans
}

func (p *plain) next() (Value, error) {
	size := width(p.kind, p.bytes)
	switch p.kind {
	case Boolean:
		if len(p.data) == 0 {
			return Value{}, errShort
		}
		v := Value{Known: true, Bits: uint64(p.data[0]>>p.bit) & 1}
		if p.bit++; p.bit == 8 {
			p.data, p.bit = p.data[1:], 0
		}
		return v, nil
	case ByteArray:
		if len(p.data) < 4 {
			return Value{}, errShort
		}
		n := binary.LittleEndian.Uint32(p.data)
		p.data = p.data[4:]
		if uint64(n) > uint64(len(p.data)) {
			return Value{}, errShort
		}
		size = int(n)
	}
	if len(p.data) < size {
		return Value{}, errShort
	}
	v := fixed(p.kind, p.data[:size])
	p.data = p.data[size:]
	return v, nil
}

// width is the number of bytes of a value; 0 where it differs.
func width(kind Type, fixedBytes int) int {
	switch kind {
	case Int32, Float:
		return 4
	case Int64, Double:
		return 8
	case Int96:
		return 12
	case FixedBytes:
		return fixedBytes
	}
	return 0
}

// fixed is the value of some bytes.
func fixed(kind Type, b []byte) Value {
	switch kind {
	case Int32:
		return Value{Known: true, Bits: uint64(int64(int32(binary.LittleEndian.Uint32(b))))}
	case Float:
		return Value{Known: true, Bits: uint64(binary.LittleEndian.Uint32(b))}
	case Int64, Double:
		return Value{Known: true, Bits: binary.LittleEndian.Uint64(b)}
	}
	return Value{Known: true, Bytes: b}
}

// bitsAt is a number of n bits, at most 64, that begins at a bit of data; bits beyond its end are 0.
func bitsAt(data []byte, at uint64, n int) uint64 {
	var v uint64
	for got := 0; got < n; {
		k := at / 8
		if k >= uint64(len(data)) {
			break
		}
		shift := int(at % 8)
		take := min(8-shift, n-got)
		v |= uint64(data[k]>>shift) & (1<<take - 1) << got
		got += take
		at += uint64(take)
	}
	return v
}

// runs reads numbers of a fixed width that are repeated or packed by eights: the levels of a
// page, places in its dictionary, and Booleans.
type runs struct {
	data   []byte
	width  int
	left   uint64 // values of the run
	same   uint64 // of a run of one value
	packed []byte // of a run of different ones
	at     uint64 // next bit of packed
}

func newRuns(data []byte, width int) (*runs, error) {
	if width < 0 || width > 32 {
		return nil, errWidth
	}
	return &runs{data: data, width: width}, nil
}

func (r *runs) number() (uint64, error) {
	for r.left == 0 {
		head, n := binary.Uvarint(r.data)
		if n <= 0 {
			return 0, errShort
		}
		r.data = r.data[n:]
		r.left = head >> 1
		size := (r.width + 7) / 8
		r.packed, r.same = nil, 0
		if head&1 == 1 {
			if r.left > math.MaxInt32 {
				return 0, errShort
			}
			// The last run may be cut after its last value.
			size = int(min(r.left*uint64(r.width), uint64(len(r.data))))
			r.left *= 8
		} else if size > len(r.data) {
			return 0, errShort
		}
		run := r.data[:size]
		r.data = r.data[size:]
		if head&1 == 1 {
			r.packed, r.at = run, 0
			if r.width > 0 {
				r.left = min(r.left, uint64(len(run))*8/uint64(r.width))
			}
		} else {
			r.same = bitsAt(run, 0, 8*size)
		}
	}
	r.left--
	if r.packed == nil {
		return r.same, nil
	}
	v := bitsAt(r.packed, r.at, r.width)
	r.at += uint64(r.width)
	return v, nil
}

func (r *runs) next() (Value, error) {
	v, err := r.number()
	return Value{Known: true, Bits: v}, err
}

// looked reads places in a dictionary.
type looked struct {
	runs  *runs
	words []Value
}

func (l *looked) next() (Value, error) {
	k, err := l.runs.number()
	if err != nil {
		return Value{}, err
	}
	if k >= uint64(len(l.words)) {
		return Value{}, errWord
	}
	return l.words[k], nil
}

// deltas reads whole numbers from their differences, which are packed in blocks of small
// ones.
type deltas struct {
	kind   Type
	data   []byte
	value  int64
	left   uint64 // values, the first one included
	first  bool
	block  uint64 // values of a part of a block
	parts  uint64 // parts of a block
	widths []byte // of the parts that follow in the block
	least  int64  // smallest difference of the block
	packed []byte // the part
	width  int
	at     uint64 // next value of the part
}

func newDeltas(kind Type, data []byte) (*deltas, error) {
	d := &deltas{kind: kind, data: data, first: true}
	values := d.unsigned()
	d.parts = d.unsigned()
	d.left = d.unsigned()
	d.value = d.zigzag()
	if d.data == nil || d.parts == 0 || values == 0 || values > deltaBlock || values%d.parts != 0 || values/d.parts%8 != 0 {
		return nil, errDelta
	}
	d.block = values / d.parts
	d.at = d.block
	return d, nil
}

func (d *deltas) unsigned() uint64 {
	v, n := binary.Uvarint(d.data)
	if n <= 0 {
		d.data = nil
		return 0
	}
	d.data = d.data[n:]
	if len(d.data) == 0 {
		d.data = []byte{} // not the mark of an error
	}
	return v
}

func (d *deltas) zigzag() int64 {
	v := d.unsigned()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *deltas) number() (int64, error) {
	if d.left == 0 {
		return 0, errShort
	}
	d.left--
	if d.first {
		d.first = false
		return d.value, nil
	}
	if d.at == d.block {
		if err := d.part(); err != nil {
			return 0, err
		}
	}
	d.value += d.least + int64(bitsAt(d.packed, d.at*uint64(d.width), d.width))
	d.at++
	if d.kind == Int32 {
		d.value = int64(int32(d.value))
	}
	return d.value, nil
}

// part begins the next part of a block, or of the next block.
func (d *deltas) part() error {
	if len(d.widths) == 0 {
		d.least = d.zigzag()
		if d.data == nil || uint64(len(d.data)) < d.parts {
			return errShort
		}
		d.widths, d.data = d.data[:d.parts], d.data[d.parts:]
	}
	d.width, d.widths, d.at = int(d.widths[0]), d.widths[1:], 0
	if d.width > 64 {
		return errWidth
	}
	size := min(d.block/8*uint64(d.width), uint64(len(d.data)))
	if need := min(d.left+1, d.block) * uint64(d.width); need > 8*size {
		return errShort
	}
	d.packed, d.data = d.data[:size], d.data[size:]
	return nil
}

// rest returns what follows after the last value.
func (d *deltas) rest() []byte { return d.data }

func (d *deltas) next() (Value, error) {
	v, err := d.number()
	return Value{Known: true, Bits: uint64(v)}, err
}

// lengths reads all of the numbers of a page's deltas, and what follows them.
func lengths(data []byte, most int64) ([]int64, []byte, error) {
	d, err := newDeltas(Int32, data)
	if err != nil {
		return nil, nil, err
	}
	if d.left > uint64(most) {
		return nil, nil, errShort
	}
	var out []int64
	for d.left > 0 {
		n, err := d.number()
		if err != nil {
			return nil, nil, err
		}
		if n < 0 {
			return nil, nil, errDelta
		}
		out = append(out, n)
	}
	return out, d.rest(), nil
}

// joined reads texts that are written one after another, each perhaps with the beginning of the one
// before.
type joined struct {
	kind     Type
	prefixes []int64 // nil: none
	suffixes []int64
	data     []byte
	value    []byte
}

func newJoined(kind Type, data []byte, most int64, prefixes bool) (*joined, error) {
	j := &joined{kind: kind}
	var err error
	if prefixes {
		if j.prefixes, data, err = lengths(data, most); err != nil {
			return nil, err
		}
	}
	if j.suffixes, j.data, err = lengths(data, most); err != nil {
		return nil, err
	}
	if prefixes && len(j.prefixes) != len(j.suffixes) {
		return nil, errDelta
	}
	return j, nil
}

func (j *joined) next() (Value, error) {
	if len(j.suffixes) == 0 || j.suffixes[0] > int64(len(j.data)) {
		return Value{}, errShort
	}
	n, keep := j.suffixes[0], int64(0)
	j.suffixes = j.suffixes[1:]
	if j.prefixes != nil {
		keep, j.prefixes = j.prefixes[0], j.prefixes[1:]
	}
	if keep > int64(len(j.value)) {
		return Value{}, errShort
	}
	j.value = append(j.value[:keep], j.data[:n]...)
	j.data = j.data[n:]
	return fixed(j.kind, j.value), nil
}

// split reads numbers whose first bytes come first, then all second ones.
type split struct {
	kind  Type
	data  []byte
	bytes int
	n, at int
	value []byte
}

func newSplit(kind Type, fixedBytes int, data []byte) (*split, error) {
	size := width(kind, fixedBytes)
	if size == 0 {
		return nil, &Unsupported{"it has texts whose bytes are split"}
	}
	return &split{kind: kind, data: data, bytes: size, n: len(data) / size, value: make([]byte, size)}, nil
}

func (s *split) next() (Value, error) {
	if s.at == s.n {
		return Value{}, errShort
	}
	for k := range s.bytes {
		s.value[k] = s.data[k*s.n+s.at]
	}
	s.at++
	return fixed(s.kind, s.value), nil
}

// sourceOf returns the values of a page of data: most of them at the most.
func sourceOf(c Column, encoding int64, data []byte, most int64, words []Value) (source, error) {
	switch encoding {
	case encodingPlain:
		return &plain{kind: c.Type, bytes: c.bytes, data: data}, nil
	case encodingOldDictionary, encodingDictionary:
		if len(data) == 0 {
			data = []byte{0}
		}
		r, err := newRuns(data[1:], int(data[0]))
		return &looked{runs: r, words: words}, err
	case encodingRuns:
		if c.Type == Boolean && len(data) >= 4 {
			n := binary.LittleEndian.Uint32(data)
			if uint64(n) > uint64(len(data)-4) {
				return nil, errShort
			}
			return newRuns(data[4:4+n], 1)
		}
	case encodingDelta:
		if c.Type == Int32 || c.Type == Int64 {
			return newDeltas(c.Type, data)
		}
	case encodingDeltaLengths:
		if c.Type == ByteArray {
			return newJoined(c.Type, data, most, false)
		}
	case encodingDeltaBytes:
		if c.Type == ByteArray || c.Type == FixedBytes {
			return newJoined(c.Type, data, most, true)
		}
	case encodingSplit:
		return newSplit(c.Type, c.bytes, data)
	}
	return nil, &Unsupported{fmt.Sprintf("it has values of type %d in encoding %d", c.Type, encoding)}
}
