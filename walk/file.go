package walk

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unsafe"
)

// ErrFile is wrapped by every error about a features file that is incomplete,
// altered, of another kind or of another version.
var ErrFile = errors.New("not a readable features file")

// A features file is
//
//	magic     8 bytes, with the version
//	lengths   uint32 of the header, uint32 of its CRC-32C
//	header    JSON: options, and sizes and CRC-32C of every block
//	blocks    the arrays of each block, each padded to 8 bytes
//
// in little-endian order. Blocks are laid out as in memory, so a mapped file is
// used in place.
const (
	fileMagic     = "grfgpF1\n"
	fileAlignment = 8
)

type fileHeader struct {
	Nodes   int         `json:"nodes"`
	Options Options     `json:"options"`
	Matrix  string      `json:"matrix"` // hash of the matrix that was walked on
	Blocks  []fileBlock `json:"blocks"`
}

type fileBlock struct {
	Rows    int    `json:"r"`
	Entries int    `json:"e"`
	Values  int    `json:"v"`
	CRC     uint32 `json:"c"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode writes f as one file, and returns its size. Matrix identifies the
// matrix that was walked on, so that a reader can refuse features of another graph.
func (f *Features) Encode(w io.Writer, matrix string) (int64, error) {
	f, err := f.stored(context.Background())
	if err != nil {
		return 0, fmt.Errorf("writing features: %w", err)
	}
	return (&Shared{own: f, opts: f.opts}).Encode(context.Background(), w, matrix)
}

// writeTo writes the arrays, each padded.
func (b *block) writeTo(w io.Writer) (int64, error) {
	return write(w,
		rawBytes(b.entryEnd), rawBytes(b.valueEnd), b.exact,
		rawBytes(b.col), b.num, b.len, rawBytes(b.val))
}

func write(w io.Writer, parts ...[]byte) (written int64, err error) {
	var zeros [fileAlignment]byte
	for _, part := range parts {
		for _, piece := range [][]byte{part, zeros[:padding(len(part))]} {
			n, err := w.Write(piece)
			written += int64(n)
			if err != nil {
				return written, err
			}
		}
	}
	return written, nil
}

func padding(n int) int { return -n & (fileAlignment - 1) }

// Decode returns the features in data, a whole file read or mapped into memory,
// and the name of the matrix they belong to. The features use data in place if
// possible, so it must stay unchanged while they are in use. All checksums and
// indices are checked.
func Decode(data []byte) (f *Features, matrix string, err error) {
	const fixed = len(fileMagic) + 8
	if len(data) < fixed {
		return nil, "", fmt.Errorf("%w: only %d bytes", ErrFile, len(data))
	}
	if string(data[:len(fileMagic)]) != fileMagic {
		return nil, "", fmt.Errorf("%w: it does not begin with %q; was it written by this version of 'grfgp-lab features'?", ErrFile, fileMagic)
	}
	size := int(binary.LittleEndian.Uint32(data[len(fileMagic):]))
	if size > len(data)-fixed {
		return nil, "", fmt.Errorf("%w: the header is cut off", ErrFile)
	}
	header := data[fixed : fixed+size]
	if crc32.Checksum(header, castagnoli) != binary.LittleEndian.Uint32(data[len(fileMagic)+4:]) {
		return nil, "", fmt.Errorf("%w: the header's checksum is wrong", ErrFile)
	}
	var h fileHeader
	if err := json.Unmarshal(header, &h); err != nil {
		return nil, "", fmt.Errorf("%w: the header: %v", ErrFile, err)
	}
	if err := h.check(); err != nil {
		return nil, "", err
	}
	f = &Features{opts: h.Options, nodes: h.Nodes, blocks: make([]block, len(h.Blocks))}
	rest := data[fixed+size:]
	for i, fb := range h.Blocks {
		need := fb.size()
		if need > len(rest) {
			return nil, "", fmt.Errorf("%w: it ends in block %d of %d; the copy is incomplete", ErrFile, i+1, len(h.Blocks))
		}
		if crc32.Checksum(rest[:need], castagnoli) != fb.CRC {
			return nil, "", fmt.Errorf("%w: the checksum of block %d is wrong; the file was altered or damaged", ErrFile, i+1)
		}
		if err := f.blocks[i].decode(rest[:need], fb, &h); err != nil {
			return nil, "", fmt.Errorf("%w: block %d: %v", ErrFile, i+1, err)
		}
		rest = rest[need:]
	}
	if len(rest) != 0 {
		return nil, "", fmt.Errorf("%w: %d bytes follow the last block", ErrFile, len(rest))
	}
	return f, h.Matrix, nil
}

// check makes sure that the sizes in the header fit together and are safe to
// compute with.
func (h *fileHeader) check() error {
	o := h.Options
	if h.Nodes < 0 || o.Lo < 0 || o.Hi < o.Lo || o.Hi > h.Nodes || o.MaxLen < 0 || o.MaxLen > MaxMaxLen {
		return fmt.Errorf("%w: rows [%d, %d) of %d nodes, lengths to %d", ErrFile, o.Lo, o.Hi, h.Nodes, o.MaxLen)
	}
	rows := 0
	for i, b := range h.Blocks {
		last := i == len(h.Blocks)-1
		const most = 1 << 40
		if b.Rows < 1 || b.Rows > blockRows || b.Rows < blockRows && !last || b.Entries < 0 || b.Entries > most || b.Values < 0 ||
			b.Values > most {
			return fmt.Errorf("%w: block %d has %d rows, %d entries, %d values", ErrFile, i+1, b.Rows, b.Entries, b.Values)
		}
		rows += b.Rows
	}
	if rows != o.Hi-o.Lo {
		return fmt.Errorf("%w: blocks hold %d rows, want %d", ErrFile, rows, o.Hi-o.Lo)
	}
	return nil
}

func (b fileBlock) size() int {
	total := 0
	for _, n := range []int{4 * b.Rows, 4 * b.Rows, b.Rows, 4 * b.Entries, b.Entries, b.Values, 4 * b.Values} {
		total += n + padding(n)
	}
	return total
}

// decode takes the arrays out of data and checks every index in them.
func (b *block) decode(data []byte, fb fileBlock, h *fileHeader) error {
	next := func(n int) []byte {
		part := data[:n:n]
		data = data[n+padding(n):]
		return part
	}
	b.entryEnd, b.valueEnd, b.exact = fromBytes[uint32](next(4*fb.Rows)), fromBytes[uint32](next(4*fb.Rows)), next(fb.Rows)
	b.col, b.num = fromBytes[uint32](next(4*fb.Entries)), next(fb.Entries)
	b.len, b.val = next(fb.Values), fromBytes[float32](next(4*fb.Values))

	e, v := 0, 0
	for r := range fb.Rows {
		end := int(b.entryEnd[r])
		if end < e || end > fb.Entries {
			return fmt.Errorf("row %d ends at entry %d of %d", r, end, fb.Entries)
		}
		for ; e < end; e++ {
			if int(b.col[e]) >= h.Nodes {
				return fmt.Errorf("node %d of %d", b.col[e], h.Nodes)
			}
			v += int(b.num[e])
		}
		if v != int(b.valueEnd[r]) || v > fb.Values {
			return fmt.Errorf("row %d has its values end at %d, not %d", r, b.valueEnd[r], v)
		}
		if int(b.exact[r]) > h.Options.MaxLen {
			return fmt.Errorf("row %d is exact to length %d of %d", r, b.exact[r], h.Options.MaxLen)
		}
	}
	if e != fb.Entries || v != fb.Values {
		return fmt.Errorf("%d entries and %d values in the rows, %d and %d in the block", e, v, fb.Entries, fb.Values)
	}
	for _, l := range b.len {
		if int(l) > h.Options.MaxLen {
			return fmt.Errorf("length %d of %d", l, h.Options.MaxLen)
		}
	}
	return nil
}

// littleEndian tells whether arrays in memory look as in the file.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// rawBytes returns the little-endian bytes of s, in place where memory has that
// order.
func rawBytes[T uint32 | float32](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	b := unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*len(s))
	if !littleEndian {
		return swapped(b)
	}
	return b
}

// fromBytes is the inverse of rawBytes; it copies only where memory has another
// order or b is not aligned.
func fromBytes[T uint32 | float32](b []byte) []T {
	if len(b) == 0 {
		return nil
	}
	if !littleEndian {
		b = swapped(b)
	}
	if uintptr(unsafe.Pointer(&b[0]))%4 != 0 {
		s := make([]T, len(b)/4)
		copy(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), len(b)), b)
		return s
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), len(b)/4)
}

// swapped returns b with the bytes of every 4-byte word reversed.
func swapped(b []byte) []byte {
	out := make([]byte, len(b))
	for i := 0; i < len(b); i += 4 {
		binary.BigEndian.PutUint32(out[i:], binary.LittleEndian.Uint32(b[i:]))
	}
	return out
}
