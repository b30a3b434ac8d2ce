package pmtiles

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"sort"
)

// entry is a line of a directory: run tiles from number on that are the same bytes, or, if run is
// 0, the directory of the tiles from number on.
type entry struct {
	number uint64
	offset uint64 // within the section of tiles, or of directories
	length uint32
	run    uint32
}

// directory is a list of entries by number.
type directory []entry

// find returns the entry of a tile: itself, a run that has it, or the directory to look in.
func (d directory) find(number uint64) (entry, bool) {
	k := sort.Search(len(d), func(k int) bool { return d[k].number > number }) - 1
	if k < 0 {
		return entry{}, false
	}
	e := d[k]
	return e, e.run == 0 || number-e.number < uint64(e.run)
}

func (a *Archive) unpackDirectory(packed []byte) (directory, error) {
	body, err := unpack(packed, a.inner, mostDirectory)
	if err != nil {
		return nil, err
	}
	return parseDirectory(body)
}

// parseDirectory reads the number of entries, and then one column after the other: the steps of
// the numbers, runs, lengths, and offsets plus 1, where 0 means directly behind the entry before.
func parseDirectory(body []byte) (directory, error) {
	next := func() (uint64, error) {
		v, n := binary.Uvarint(body)
		if n <= 0 {
			return 0, fmt.Errorf("%w: a directory ends early", ErrFormat)
		}
		body = body[n:]
		return v, nil
	}
	count, err := next()
	if err != nil {
		return nil, err
	}
	if count > uint64(len(body))/4 { // an entry has four numbers of a byte at least
		return nil, fmt.Errorf("%w: a directory of %d entries in %d bytes", ErrFormat, count, len(body))
	}
	d := make(directory, count)
	column := func(set func(k int, v uint64) bool) error {
		for k := range d {
			v, err := next()
			if err != nil {
				return err
			}
			if !set(k, v) {
				return fmt.Errorf("%w: an entry of a directory is out of range", ErrFormat)
			}
		}
		return nil
	}
	last := uint64(0)
	for _, set := range []func(k int, v uint64) bool{
		func(k int, v uint64) bool {
			sum, carry := bits.Add64(last, v, 0)
			last, d[k].number = sum, sum
			return carry == 0 && (k == 0 || v > 0)
		},
		func(k int, v uint64) bool { d[k].run = uint32(v); return v <= math.MaxUint32 },
		func(k int, v uint64) bool { d[k].length = uint32(v); return v > 0 && v <= math.MaxUint32 },
		func(k int, v uint64) bool {
			if v > 0 {
				d[k].offset = v - 1
				return true
			}
			if k == 0 {
				return false
			}
			sum, carry := bits.Add64(d[k-1].offset, uint64(d[k-1].length), 0)
			d[k].offset = sum
			return carry == 0
		},
	} {
		if err := column(set); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// numberOf is the number of a tile: those of lower zooms come first, and those of a zoom follow
// the Hilbert curve.
func numberOf(zoom, x, y int) uint64 {
	number := (uint64(1)<<(2*zoom) - 1) / 3 // tiles of lower zooms
	ux, uy := uint64(x), uint64(y)
	for side := uint64(1) << zoom >> 1; side > 0; side >>= 1 {
		var right, down uint64
		if ux&side != 0 {
			right = 1
		}
		if uy&side != 0 {
			down = 1
		}
		number += side * side * (3*right ^ down)
		if down == 0 { // turn the quarter
			if right == 1 {
				ux, uy = side-1-ux&(side-1), side-1-uy&(side-1)
			}
			ux, uy = uy, ux
		}
	}
	return number
}
