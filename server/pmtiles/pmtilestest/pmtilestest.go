// Package pmtilestest makes PMTiles archives for tests.
package pmtilestest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"maps"
	"slices"
)

// Tile names a tile.
type Tile struct{ Zoom, X, Y int }

// Archive is what an archive is made of.
type Archive struct {
	Kind     byte // 1: vector tiles, 2: PNG, 3: JPEG, 4: WebP
	Packing  byte // of the tiles: 1: none, 2: gzip
	Inner    byte // of directories and metadata
	MaxZoom  int
	Bounds   [4]float64 // west, south, east, north
	Metadata string
	Tiles    map[Tile][]byte
	Leaf     int // entries of a directory below the root; 0: all are in the root
}

// Bytes returns the file.
func (a Archive) Bytes() []byte {
	byNumber := map[uint64][]byte{}
	for t, body := range a.Tiles {
		byNumber[number(t)] = pack(body, a.Packing)
	}
	var tiles, leaves []byte
	var all []entry
	for _, n := range slices.Sorted(maps.Keys(byNumber)) {
		body := byNumber[n]
		if k := len(all) - 1; k >= 0 && all[k].number+uint64(all[k].run) == n && bytes.Equal(tiles[all[k].offset:], body) {
			all[k].run++ // the same tile once more
			continue
		}
		all = append(all, entry{n, uint64(len(tiles)), len(body), 1})
		tiles = append(tiles, body...)
	}
	root := all
	if a.Leaf > 0 {
		root = nil
		for part := range slices.Chunk(all, a.Leaf) {
			body := pack(directory(part), a.Inner)
			root = append(root, entry{part[0].number, uint64(len(leaves)), len(body), 0})
			leaves = append(leaves, body...)
		}
	}
	packedRoot, metadata := pack(directory(root), a.Inner), pack([]byte(a.Metadata), a.Inner)
	head := make([]byte, 127)
	copy(head, "PMTiles\x03")
	at := uint64(len(head))
	for k, part := range [][]byte{packedRoot, metadata, leaves, tiles} {
		binary.LittleEndian.PutUint64(head[8+16*k:], at)
		binary.LittleEndian.PutUint64(head[16+16*k:], uint64(len(part)))
		at += uint64(len(part))
	}
	head[97], head[98], head[99], head[101] = a.Inner, a.Packing, a.Kind, byte(a.MaxZoom)
	for k, v := range a.Bounds {
		binary.LittleEndian.PutUint32(head[102+4*k:], uint32(int32(v*1e7)))
	}
	return slices.Concat(head, packedRoot, metadata, leaves, tiles)
}

type entry struct {
	number, offset uint64
	length, run    int
}

func directory(entries []entry) (out []byte) {
	put := func(v uint64) { out = binary.AppendUvarint(out, v) }
	put(uint64(len(entries)))
	last := uint64(0)
	for _, e := range entries {
		put(e.number - last)
		last = e.number
	}
	for _, e := range entries {
		put(uint64(e.run))
	}
	for _, e := range entries {
		put(uint64(e.length))
	}
	for k, e := range entries {
		if k > 0 && e.offset == entries[k-1].offset+uint64(entries[k-1].length) {
			put(0)
		} else {
			put(e.offset + 1)
		}
	}
	return out
}

func pack(body []byte, how byte) []byte {
	if how != 2 {
		return body
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(body)
	z.Close()
	return out.Bytes()
}

// number is the number of a tile, by walking along the curve of its zoom.
func number(t Tile) uint64 {
	first := uint64(0)
	for z := range t.Zoom {
		first += 1 << (2 * z)
	}
	for d := range uint64(1) << (2 * t.Zoom) {
		if x, y := along(t.Zoom, d); x == t.X && y == t.Y {
			return first + d
		}
	}
	panic("no such tile")
}

// along returns the place on the Hilbert curve after so many steps.
func along(zoom int, steps uint64) (x, y int) {
	for side := 1; side < 1<<zoom; side *= 2 {
		right := int(steps/2) & 1
		down := int(steps^uint64(right)) & 1
		if down == 0 {
			if right == 1 {
				x, y = side-1-x, side-1-y
			}
			x, y = y, x
		}
		x, y = x+side*right, y+side*down
		steps /= 4
	}
	return x, y
}
