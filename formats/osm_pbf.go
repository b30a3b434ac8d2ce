package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// osmPBFFormat is OpenStreetMap data in the form of its extracts: blocks of compressed
// protocol buffers. The few fields of roads are read with protowire, which takes less than a
// library for all of OpenStreetMap, and places in the file for errors.
var osmPBFFormat = &Format{
	Name: "OpenStreetMap PBF",
	Detect: func(_ string, head []byte) bool {
		return bytes.HasPrefix(head, []byte{0, 0, 0}) && bytes.Contains(head[:min(len(head), 64)], []byte("OSMHeader"))
	},
	Read: readOSMPBF,
}

func readOSMPBF(ctx context.Context, in Input, _ Options) (*File, error) {
	r := &osmRoads{}
	// Nodes come before ways: which of them are needed is known after the first pass.
	var wanted []int64
	for _, pass := range []func(b *pbfBlock) error{
		func(b *pbfBlock) error { return b.ways(r) },
		func(b *pbfBlock) error { return b.nodes(r, wanted) },
	} {
		if err := eachPBFBlock(ctx, in.Data, pass); err != nil {
			return nil, err
		}
		wanted = r.wanted()
	}
	return r.file()
}

// Limits of the format.
const (
	pbfHeader = 64 << 10
	pbfBlob   = 32 << 20
)

// eachPBFBlock calls use for each block of data.
func eachPBFBlock(ctx context.Context, data []byte, use func(b *pbfBlock) error) error {
	for n := int64(1); len(data) > 0; n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		damaged := func(err error) error {
			e := failAt(n, Damaged, err.Error(), "the file was cut short or is damaged: fetch it again")
			e.Unit = "block"
			return e
		}
		kind, blob, rest, err := nextBlob(data)
		if err != nil {
			return damaged(err)
		}
		data = rest
		switch kind {
		case "OSMHeader":
			content, err := unpackBlob(blob)
			if err != nil {
				return damaged(err)
			}
			if err := checkPBFHeader(content); err != nil {
				var needs *Error
				if errors.As(err, &needs) {
					return needs
				}
				return damaged(err)
			}
		case "OSMData":
			content, err := unpackBlob(blob)
			if err != nil {
				return damaged(err)
			}
			b, err := newPBFBlock(content)
			if err == nil {
				err = use(b)
			}
			if err != nil {
				return damaged(err)
			}
		}
	}
	return nil
}

var errPBFCut = errors.New("the file ends in the middle of a block")

// nextBlob cuts off the first blob.
func nextBlob(data []byte) (kind string, blob, rest []byte, err error) {
	if len(data) < 4 {
		return "", nil, nil, errPBFCut
	}
	size := int64(binary.BigEndian.Uint32(data))
	if data = data[4:]; size > pbfHeader || size > int64(len(data)) {
		return "", nil, nil, errPBFCut
	}
	length := int64(-1)
	err = eachField(data[:size], func(f pbfField) error {
		switch f.number {
		case 1:
			kind = string(f.bytes)
		case 3:
			length = int64(f.value)
		}
		return nil
	})
	data = data[size:]
	if err == nil && (length < 0 || length > pbfBlob || length > int64(len(data))) {
		err = errPBFCut
	}
	if err != nil {
		return "", nil, nil, err
	}
	return kind, data[:length], data[length:], nil
}

// unpackBlob decompresses a blob.
func unpackBlob(blob []byte) (content []byte, err error) {
	found := false
	err = eachField(blob, func(f pbfField) (err error) {
		var z io.Reader
		switch f.number {
		case 1:
			content, found = f.bytes, true
			return nil
		case 3:
			z, err = zlib.NewReader(bytes.NewReader(f.bytes))
		case 7:
			var d *zstd.Decoder
			if d, err = zstd.NewReader(bytes.NewReader(f.bytes), zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(2*pbfBlob)); err == nil {
				defer d.Close()
				z = d
			}
		case 4, 5, 6:
			return errors.New("a block is compressed by LZMA, bzip2 or LZ4, which is not read")
		default:
			return nil
		}
		if err != nil {
			return fmt.Errorf("a block cannot be decompressed (%w)", err)
		}
		found = true
		if content, err = io.ReadAll(io.LimitReader(z, pbfBlob+1)); err != nil {
			return fmt.Errorf("a block cannot be decompressed (%w)", err)
		}
		if len(content) > pbfBlob {
			return errors.New("a block is larger than 32 MiB, which the format forbids")
		}
		return nil
	})
	if err == nil && !found {
		err = errors.New("a block has no content")
	}
	return content, err
}

// checkPBFHeader refuses files that need what is not read.
func checkPBFHeader(content []byte) error {
	return eachField(content, func(f pbfField) error {
		if known := []string{"OsmSchema-V0.6", "DenseNodes"}; f.number == 4 && !slices.Contains(known, string(f.bytes)) {
			return fail(Unsupported, fmt.Sprintf("needs the feature %s, which is not read", quote(string(f.bytes))),
				"write the current state of the map; with osmium: osmium time-filter, or osmium cat")
		}
		return nil
	})
}

// pbfBlock is a block of nodes and ways.
type pbfBlock struct {
	strings        [][]byte
	groups         [][]byte
	granularity    int64
	latOff, lonOff int64
}

func newPBFBlock(content []byte) (*pbfBlock, error) {
	b := &pbfBlock{granularity: 100}
	return b, eachField(content, func(f pbfField) error {
		switch f.number {
		case 1:
			return eachField(f.bytes, func(s pbfField) error {
				if s.number == 1 {
					b.strings = append(b.strings, s.bytes)
				}
				return nil
			})
		case 2:
			b.groups = append(b.groups, f.bytes)
		case 17:
			b.granularity = int64(f.value)
		case 19:
			b.latOff = int64(f.value)
		case 20:
			b.lonOff = int64(f.value)
		}
		return nil
	})
}

// each calls use for all parts of the groups.
func (b *pbfBlock) each(use func(f pbfField) error) error {
	for _, group := range b.groups {
		if err := eachField(group, use); err != nil {
			return err
		}
	}
	return nil
}

// ways adds the roads among the ways.
func (b *pbfBlock) ways(r *osmRoads) error {
	return b.each(func(f pbfField) error {
		if f.number != 3 {
			return nil
		}
		var id int64
		var keys, values, refs []int64
		if err := eachField(f.bytes, func(w pbfField) (err error) {
			switch w.number {
			case 1:
				id = int64(w.value)
			case 2:
				keys, err = w.numbers(keys, plainNumber)
			case 3:
				values, err = w.numbers(values, plainNumber)
			case 8:
				refs, err = w.numbers(refs, protowire.DecodeZigZag)
			}
			return err
		}); err != nil {
			return err
		}
		addUp(refs)
		tags := map[string]string{}
		for k := range min(len(keys), len(values)) {
			if max(keys[k], values[k]) >= int64(len(b.strings)) || min(keys[k], values[k]) < 0 {
				return fmt.Errorf("a tag of way %d has no text", id)
			}
			tags[string(b.strings[keys[k]])] = string(b.strings[values[k]])
		}
		r.add(id, refs, func(key string) string { return tags[key] })
		return nil
	})
}

// nodes adds the nodes that are wanted.
func (b *pbfBlock) nodes(r *osmRoads, wanted []int64) error {
	add := func(id, lat, lon int64) error {
		if _, ok := slices.BinarySearch(wanted, id); !ok {
			return nil
		}
		n := osmNode{id, b.latOff + b.granularity*lat, b.lonOff + b.granularity*lon}
		if max(n.lat, -n.lat) > 90e9 || max(n.lon, -n.lon) > 180e9 {
			return fmt.Errorf("node %d lies outside of the globe", id)
		}
		r.nodes = append(r.nodes, n)
		return nil
	}
	return b.each(func(f pbfField) error {
		if f.number != 1 && f.number != 2 {
			return nil
		}
		// A node has single numbers where dense nodes have lists of differences.
		var ids, lats, lons []int64
		if err := eachField(f.bytes, func(n pbfField) (err error) {
			switch n.number {
			case 1:
				ids, err = n.numbers(ids, protowire.DecodeZigZag)
			case 8:
				lats, err = n.numbers(lats, protowire.DecodeZigZag)
			case 9:
				lons, err = n.numbers(lons, protowire.DecodeZigZag)
			}
			return err
		}); err != nil {
			return err
		}
		if len(ids) != len(lats) || len(ids) != len(lons) {
			return errors.New("nodes and their coordinates differ in number")
		}
		addUp(ids)
		addUp(lats)
		addUp(lons)
		for k, id := range ids {
			if err := add(id, lats[k], lons[k]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addUp replaces differences by sums.
func addUp(numbers []int64) {
	for k := 1; k < len(numbers); k++ {
		numbers[k] += numbers[k-1]
	}
}

// pbfField is a field of a message: a number or bytes.
type pbfField struct {
	number protowire.Number
	value  uint64
	bytes  []byte
}

func plainNumber(v uint64) int64 { return int64(v) }

// numbers appends the field's number, or its packed list of numbers.
func (f pbfField) numbers(to []int64, decode func(uint64) int64) ([]int64, error) {
	if f.bytes == nil {
		return append(to, decode(f.value)), nil
	}
	for data := f.bytes; len(data) > 0; {
		v, n := protowire.ConsumeVarint(data)
		if n < 0 {
			return nil, errors.New("a list of numbers is damaged")
		}
		to = append(to, decode(v))
		data = data[n:]
	}
	return to, nil
}

// eachField calls use for the fields of a message that are numbers or bytes.
func eachField(data []byte, use func(f pbfField) error) error {
	for len(data) > 0 {
		number, kind, n := protowire.ConsumeTag(data)
		if n < 0 {
			return errors.New("a message is damaged")
		}
		data = data[n:]
		f := pbfField{number: number}
		switch kind {
		case protowire.VarintType:
			f.value, n = protowire.ConsumeVarint(data)
		case protowire.BytesType:
			f.bytes, n = protowire.ConsumeBytes(data)
			if f.bytes == nil {
				f.bytes = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, data)
		}
		if n < 0 {
			return errors.New("a message is damaged")
		}
		data = data[n:]
		if kind != protowire.VarintType && kind != protowire.BytesType {
			continue
		}
		if err := use(f); err != nil {
			return err
		}
	}
	return nil
}
