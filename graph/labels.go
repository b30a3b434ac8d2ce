package graph

import (
	"hash/maphash"
	"strconv"
)

// Labels numbers node ids in the order in which they are first seen. Ids are
// text: "007" and "7" are two nodes. A million ids cost one block of bytes and
// two integers each, not a million strings.
type Labels struct {
	text  []byte
	end   []int    // id i is text[end[i-1]:end[i]]
	table []uint32 // open addressing: number + 1, 0 when free; size a power of two
	seed  maphash.Seed
}

// NewLabels returns an empty table with room for about n ids.
func NewLabels(n int) *Labels {
	size := 16
	for size < 2*n {
		size *= 2
	}
	return &Labels{table: make([]uint32, size), seed: maphash.MakeSeed()}
}

// LabelsOf returns the table of the given ids; false if one of them repeats.
func LabelsOf(ids []string) (*Labels, bool) {
	l := NewLabels(len(ids))
	for i, id := range ids {
		if l.Intern([]byte(id)) != i {
			return nil, false
		}
	}
	return l, true
}

// NumberLabels returns the ids "0", "1", … of n nodes.
func NumberLabels(n int) *Labels {
	l := NewLabels(n)
	var buf [20]byte
	for i := range n {
		l.Intern(strconv.AppendInt(buf[:0], int64(i), 10))
	}
	return l
}

// Len returns how many ids there are.
func (l *Labels) Len() int { return len(l.end) }

// Bytes returns id i without copying it; the caller must not change it.
func (l *Labels) Bytes(i int) []byte {
	lo := 0
	if i > 0 {
		lo = l.end[i-1]
	}
	return l.text[lo:l.end[i]:l.end[i]]
}

// At returns id i.
func (l *Labels) At(i int) string { return string(l.Bytes(i)) }

// Lookup returns the number of an id, or false if it was never seen.
func (l *Labels) Lookup(id []byte) (int, bool) {
	i, _ := l.find(id)
	return i, i >= 0
}

// Intern returns the number of an id, giving it the next one if it is new.
func (l *Labels) Intern(id []byte) int {
	i, slot := l.find(id)
	if i >= 0 {
		return i
	}
	i = len(l.end)
	l.text = append(l.text, id...)
	l.end = append(l.end, len(l.text))
	l.table[slot] = uint32(i + 1)
	if 4*len(l.end) > 3*len(l.table) {
		l.grow()
	}
	return i
}

// find returns the number of id, or -1 and the slot where it belongs.
func (l *Labels) find(id []byte) (number, slot int) {
	mask := len(l.table) - 1
	for slot = int(maphash.Bytes(l.seed, id)) & mask; ; slot = (slot + 1) & mask {
		k := l.table[slot]
		if k == 0 {
			return -1, slot
		}
		if string(l.Bytes(int(k-1))) == string(id) {
			return int(k - 1), slot
		}
	}
}

func (l *Labels) grow() {
	l.table = make([]uint32, 2*len(l.table))
	mask := len(l.table) - 1
	for i := range l.end {
		slot := int(maphash.Bytes(l.seed, l.Bytes(i))) & mask
		for l.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		l.table[slot] = uint32(i + 1)
	}
}

// pick returns the labels of the given nodes, renumbered in that order.
func (l *Labels) pick(nodes []int) *Labels {
	p := NewLabels(len(nodes))
	for _, i := range nodes {
		p.Intern(l.Bytes(i))
	}
	return p
}
