package graph

import (
	"hash/maphash"
	"strconv"
	"sync"
)

// IDs numbers node ids in the order in which they are first seen. Ids are text:
// "007" and "7" are two nodes. All ids share one block of bytes, so that a
// million ids are not a million strings. Reading is safe for concurrent use;
// Intern is not.
type IDs struct {
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

// NewIDs returns an empty table with room for about n ids.
func NewIDs(n int) *IDs {
	return &IDs{table: make([]uint64, tableSize(n))}
}

// IDsOf returns the table of the given ids; false if one of them repeats.
func IDsOf(ids []string) (*IDs, bool) {
	l := NewIDs(len(ids))
	for i, id := range ids {
		if l.Intern([]byte(id)) != i {
			return nil, false
		}
	}
	return l, true
}

// NumberIDs returns the ids "0", "1", … of n nodes.
func NumberIDs(n int) *IDs {
	l := &IDs{end: make([]int, n)}
	for i := range n {
		l.text = strconv.AppendInt(l.text, int64(i), 10)
		l.end[i] = len(l.text)
	}
	return l
}

// pickIDs returns the ids of the given nodes, renumbered in that order. No node
// may be given twice.
func pickIDs[T int | uint32](l *IDs, nodes []T) *IDs {
	size := 0
	for _, i := range nodes {
		size += len(l.Bytes(int(i)))
	}
	p := &IDs{text: make([]byte, 0, size), end: make([]int, len(nodes))}
	for k, i := range nodes {
		p.text = append(p.text, l.Bytes(int(i))...)
		p.end[k] = len(p.text)
	}
	return p
}

// Len returns the number of ids.
func (l *IDs) Len() int { return len(l.end) }

// Bytes returns id i without copying it; the caller must not change it.
func (l *IDs) Bytes(i int) []byte {
	lo := 0
	if i > 0 {
		lo = l.end[i-1]
	}
	return l.text[lo:l.end[i]:l.end[i]]
}

// At returns id i.
func (l *IDs) At(i int) string { return string(l.Bytes(i)) }

// Lookup returns the number of an id, or false if it was never seen.
func (l *IDs) Lookup(id []byte) (int, bool) {
	l.indexing.Do(l.index)
	i, _ := l.find(id, l.hash(id))
	return i, i >= 0
}

// Intern returns the number of an id, giving it the next one if it is new.
func (l *IDs) Intern(id []byte) int {
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
func (l *IDs) hash(id []byte) uint64 {
	return maphash.Bytes(l.seed, id) &^ (1<<numberBits - 1)
}

// find returns the number of id, or -1 and the slot where it belongs.
func (l *IDs) find(id []byte, hash uint64) (number, slot int) {
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
func (l *IDs) enter(entry uint64) {
	mask := len(l.table) - 1
	slot := int(entry>>numberBits) & mask
	for l.table[slot] != 0 {
		slot = (slot + 1) & mask
	}
	l.table[slot] = entry
}

// index prepares the table for the ids that are there already.
func (l *IDs) index() {
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
