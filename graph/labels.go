package graph

import (
	"hash/maphash"
	"strconv"
	"sync"
)

// Labels numbers node ids in the order in which they are first seen. Ids are
// text: "007" and "7" are two nodes. A million ids cost one block of bytes and
// a few integers each, not a million strings. Reading is safe from several
// goroutines at once, Intern is not.
type Labels struct {
	text []byte
	end  []int // id i is text[end[i-1]:end[i]]

	// Open addressing, size a power of two: 32 bits of hash, which choose the
	// slot and spare most looks at the text, and number + 1; 0 when free.
	// Where ids are known to differ it is built on first use.
	table    []uint64
	seed     maphash.Seed
	indexing sync.Once
}

const numberBits = 32 // of a table entry

// NewLabels returns an empty table with room for about n ids.
func NewLabels(n int) *Labels {
	return &Labels{table: make([]uint64, tableSize(n))}
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
	l := &Labels{end: make([]int, n)}
	for i := range n {
		l.text = strconv.AppendInt(l.text, int64(i), 10)
		l.end[i] = len(l.text)
	}
	return l
}

// pick returns the labels of the given nodes, renumbered in that order. No node
// may be given twice.
func (l *Labels) pick(nodes []int) *Labels {
	size := 0
	for _, i := range nodes {
		size += len(l.Bytes(i))
	}
	p := &Labels{text: make([]byte, 0, size), end: make([]int, len(nodes))}
	for k, i := range nodes {
		p.text = append(p.text, l.Bytes(i)...)
		p.end[k] = len(p.text)
	}
	return p
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
	l.indexing.Do(l.index)
	i, _ := l.find(id, l.hash(id))
	return i, i >= 0
}

// Intern returns the number of an id, giving it the next one if it is new.
func (l *Labels) Intern(id []byte) int {
	l.indexing.Do(l.index)
	hash := l.hash(id)
	i, slot := l.find(id, hash)
	if i >= 0 {
		return i
	}
	i = len(l.end)
	l.text = append(l.text, id...)
	l.end = append(l.end, len(l.text))
	l.table[slot] = hash | uint64(i+1)
	if 4*len(l.end) > 3*len(l.table) {
		old := l.table
		l.table = make([]uint64, 2*len(old))
		for _, entry := range old {
			if entry != 0 {
				l.enter(entry)
			}
		}
	}
	return i
}

// hash returns 32 random-looking bits in the upper half of a word.
func (l *Labels) hash(id []byte) uint64 {
	return maphash.Bytes(l.seed, id) &^ (1<<numberBits - 1)
}

// find returns the number of id, or -1 and the slot where it belongs.
func (l *Labels) find(id []byte, hash uint64) (number, slot int) {
	mask := len(l.table) - 1
	for slot = int(hash>>numberBits) & mask; ; slot = (slot + 1) & mask {
		entry := l.table[slot]
		if entry == 0 {
			return -1, slot
		}
		if (entry^hash)>>numberBits == 0 {
			if i := int(uint32(entry)) - 1; string(l.Bytes(i)) == string(id) {
				return i, slot
			}
		}
	}
}

// enter puts an entry that is not there yet into its slot.
func (l *Labels) enter(entry uint64) {
	mask := len(l.table) - 1
	slot := int(entry>>numberBits) & mask
	for l.table[slot] != 0 {
		slot = (slot + 1) & mask
	}
	l.table[slot] = entry
}

// index prepares the table for the ids that are there already.
func (l *Labels) index() {
	l.seed = maphash.MakeSeed()
	if l.table == nil {
		l.table = make([]uint64, tableSize(len(l.end)))
	}
	for i := range l.end {
		l.enter(l.hash(l.Bytes(i)) | uint64(i+1))
	}
}

// tableSize leaves at least a quarter of the slots free.
func tableSize(n int) int {
	size := 16
	for 3*size < 4*(n+1) {
		size *= 2
	}
	return size
}
