package graph

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"math"
	"strconv"
	"sync"
	"sync/atomic"

	"grfgp/internal/parallel"
)

// IDs numbers node ids in the order in which they are first seen. Ids are text:
// "007" and "7" are two nodes. Ids that are all whole numbers are kept as numbers, in four
// bytes each, and those that are 0, 1, 2, … in none; other ids share one block of bytes, so that a
// million ids are not a million strings. Reading is safe for concurrent use;
// Intern is not.
type IDs struct {
	form idForm
	n    int      // ids
	num  []uint32 // numbers: the ids
	text []byte
	end  []int // texts: id i is text[end[i-1]:end[i]]

	// The numbers of ids; where ids are known to differ they are entered on first use.
	small []uint32 // numbers: by id, its number + 1; 0 if there is no such id below len(small)

	// Open addressing, size a power of two: 32 bits of hash, which choose the
	// slot and spare most looks at the id, and number + 1; 0 when free.
	table    []uint64
	used     int // slots
	seed     maphash.Seed
	indexing sync.Once
}

// idForm is how ids are kept.
type idForm uint8

const (
	inSequence idForm = iota // id i is i
	asNumbers
	asTexts
)

const numberBits = 32 // of a table entry

// NewIDs returns an empty table with room for about n ids.
func NewIDs(n int) *IDs { return &IDs{num: make([]uint32, 0, n)} }

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
func NumberIDs(n int) *IDs { return &IDs{n: n} }

// pickIDs returns the ids of the given nodes, renumbered in that order. No node
// may be given twice.
func pickIDs[T int | uint32](l *IDs, nodes []T) *IDs {
	p := &IDs{form: l.form, n: len(nodes)}
	if l.form != asTexts {
		p.form, p.num = asNumbers, make([]uint32, len(nodes))
		parallel.Ranges(len(nodes), rowBlock, func(lo, hi int) {
			for k := lo; k < hi; k++ {
				p.num[k] = l.number(int(nodes[k]))
			}
		})
		return p
	}
	size := 0
	for _, i := range nodes {
		size += len(l.Bytes(int(i)))
	}
	p.text, p.end = make([]byte, 0, size), make([]int, len(nodes))
	for k, i := range nodes {
		p.text = append(p.text, l.Bytes(int(i))...)
		p.end[k] = len(p.text)
	}
	return p
}

// Len returns the number of ids.
func (l *IDs) Len() int { return l.n }

// Bytes returns id i; the caller must not change it. Append does not allocate.
func (l *IDs) Bytes(i int) []byte {
	if l.form != asTexts {
		return l.Append(nil, i)
	}
	lo := 0
	if i > 0 {
		lo = l.end[i-1]
	}
	return l.text[lo:l.end[i]:l.end[i]]
}

// Append appends id i to a text.
func (l *IDs) Append(to []byte, i int) []byte {
	if l.form == asTexts {
		return append(to, l.Bytes(i)...)
	}
	return strconv.AppendUint(to, uint64(l.number(i)), 10)
}

// At returns id i.
func (l *IDs) At(i int) string {
	if l.form == asTexts {
		return string(l.Bytes(i))
	}
	return strconv.FormatUint(uint64(l.number(i)), 10)
}

// number returns id i of ids that are numbers.
func (l *IDs) number(i int) uint32 {
	if l.form == inSequence {
		if uint(i) >= uint(l.n) {
			panic("graph: no id " + strconv.Itoa(i))
		}
		return uint32(i)
	}
	return l.num[i]
}

// compare puts whole numbers first, by value, then other ids by their bytes.
func (l *IDs) compare(i, j int) int {
	if l.form != asTexts {
		return cmp.Compare(l.number(i), l.number(j))
	}
	return compareIDs(l.Bytes(i), l.Bytes(j))
}

// wholeNumber returns the number that an id is, in the one way to write it.
func wholeNumber(id []byte) (v uint32, ok bool) {
	if len(id) == 0 || len(id) > 10 || id[0] == '0' && len(id) > 1 {
		return 0, false
	}
	sum := uint64(0)
	for _, c := range id {
		if c < '0' || c > '9' {
			return 0, false
		}
		sum = 10*sum + uint64(c-'0')
	}
	return uint32(sum), sum <= math.MaxUint32
}

// Lookup returns the number of an id, or false if it was never seen.
func (l *IDs) Lookup(id []byte) (int, bool) {
	if l.form == asTexts {
		l.indexing.Do(l.index)
		i, _ := l.find(id, l.hash(id))
		return i, i >= 0
	}
	v, ok := wholeNumber(id)
	if !ok {
		return 0, false
	}
	if l.form == inSequence {
		return int(v), int(v) < l.n
	}
	l.indexing.Do(l.index)
	i := l.findNumber(v)
	return i, i >= 0
}

// Intern returns the number of an id, giving it the next one if it is new.
func (l *IDs) Intern(id []byte) int {
	v, whole := wholeNumber(id)
	switch {
	case l.form == inSequence && whole && int(v) < l.n:
		return int(v)
	case l.form == inSequence && whole && int(v) == l.n:
		l.n++
		return l.n - 1
	case l.form == inSequence && whole:
		l.toNumbers()
	case l.form != asTexts && !whole:
		l.toTexts()
	}
	l.indexing.Do(l.index)
	if l.form == asNumbers {
		return l.internNumber(v)
	}
	hash := l.hash(id)
	i, slot := l.find(id, hash)
	if i >= 0 {
		return i
	}
	i = l.n
	l.n++
	l.text = append(l.text, id...)
	l.end = append(l.end, len(l.text))
	l.occupy(slot, hash|uint64(i+1))
	return i
}

func (l *IDs) internNumber(v uint32) int {
	if i := l.findNumber(v); i >= 0 {
		return i
	}
	l.num = append(l.num, v)
	l.n++
	l.enterNumber(l.n - 1)
	return l.n - 1
}

// toNumbers keeps ids in sequence as numbers.
func (l *IDs) toNumbers() {
	l.num = l.num[:0]
	for i := range l.n {
		l.num = append(l.num, uint32(i))
	}
	l.form = asNumbers
}

// toTexts keeps ids that are numbers as texts.
func (l *IDs) toTexts() {
	l.end = make([]int, l.n, max(l.n, cap(l.num)))
	for i := range l.n {
		l.text = l.Append(l.text, i)
		l.end[i] = len(l.text)
	}
	l.form, l.num, l.small, l.table, l.used = asTexts, nil, nil, nil, 0
	l.indexing.Do(func() {})
	l.index()
}

// hash returns 32 random-looking bits in the upper half of a word.
func (l *IDs) hash(id []byte) uint64 {
	return maphash.Bytes(l.seed, id) &^ (1<<numberBits - 1)
}

func (l *IDs) hashNumber(v uint32) uint64 {
	return maphash.Comparable(l.seed, v) &^ (1<<numberBits - 1)
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

// findNumber returns the number of an id that is a number, or -1.
func (l *IDs) findNumber(v uint32) int {
	if int(v) < len(l.small) && l.small[v] > 0 {
		return int(l.small[v]) - 1
	}
	if l.used == 0 {
		return -1
	}
	hash, mask := l.hashNumber(v), len(l.table)-1
	for slot := int(hash>>numberBits) & mask; ; slot = (slot + 1) & mask {
		entry := l.table[slot]
		if entry == 0 {
			return -1
		}
		if (entry^hash)>>numberBits == 0 {
			if i := int(uint32(entry)) - 1; l.num[i] == v {
				return i
			}
		}
	}
}

// enterNumber enters id i, which is a number. Small numbers have a place in an array,
// which may have four times as many places as there are ids.
func (l *IDs) enterNumber(i int) {
	v := int(l.num[i])
	if most := 4*l.n + 1024; v >= len(l.small) && v < most {
		l.small = append(l.small, make([]uint32, max(v+1, min(2*len(l.small), most))-len(l.small))...)
	}
	if v < len(l.small) {
		l.small[v] = uint32(i + 1)
		return
	}
	hash := l.hashNumber(l.num[i])
	if l.table == nil {
		l.table = make([]uint64, tableSize(0))
	}
	l.occupy(l.free(hash), hash|uint64(i+1))
}

// free returns the slot for an entry that is not there yet.
func (l *IDs) free(hash uint64) int {
	mask := len(l.table) - 1
	slot := int(hash>>numberBits) & mask
	for l.table[slot] != 0 {
		slot = (slot + 1) & mask
	}
	return slot
}

// occupy fills a slot, and makes the table larger when it is nearly full.
func (l *IDs) occupy(slot int, entry uint64) {
	l.table[slot] = entry
	l.used++
	if 4*l.used > 3*len(l.table) {
		old := l.table
		l.table = make([]uint64, 2*len(old))
		for _, entry := range old {
			if entry != 0 {
				l.table[l.free(entry)] = entry
			}
		}
	}
}

// index enters the ids that are there already, which must differ.
func (l *IDs) index() {
	l.seed = maphash.MakeSeed()
	if l.form == asNumbers {
		l.indexNumbers()
		return
	}
	l.table, l.used = make([]uint64, tableSize(l.n)), l.n
	parallel.Ranges(l.n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			l.enter(l.hash(l.Bytes(i)) | uint64(i+1))
		}
	})
}

// indexNumbers is index for ids that are numbers: small ones have a place in an array, as in enterNumber.
func (l *IDs) indexNumbers() {
	least := uint32(min(math.MaxUint32, 4*l.n+1024)) // that is not small
	mosts, larges := make([]int, (l.n+rowBlock-1)/rowBlock), make([]int, (l.n+rowBlock-1)/rowBlock)
	parallel.Ranges(l.n, rowBlock, func(lo, hi int) {
		most, large := -1, 0
		for _, v := range l.num[lo:hi] {
			if v < least {
				most = max(most, int(v))
			} else {
				large++
			}
		}
		mosts[lo/rowBlock], larges[lo/rowBlock] = most, large
	})
	most := -1
	for b := range mosts {
		most = max(most, mosts[b])
		l.used += larges[b]
	}
	l.small = make([]uint32, most+1)
	if l.used > 0 {
		l.table = make([]uint64, tableSize(l.used))
	}
	parallel.Ranges(l.n, rowBlock, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			if v := l.num[i]; v < least {
				l.small[v] = uint32(i + 1)
			} else {
				l.enter(l.hashNumber(v) | uint64(i+1))
			}
		}
	})
}

// enter puts an entry into the table, which has room for it; several goroutines do so at once.
func (l *IDs) enter(entry uint64) {
	mask := len(l.table) - 1
	slot := int(entry>>numberBits) & mask
	for !atomic.CompareAndSwapUint64(&l.table[slot], 0, entry) {
		slot = (slot + 1) & mask
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

// compareIDs puts whole numbers first, by value, then other ids by their bytes.
func compareIDs(a, b []byte) int {
	whole := func(id []byte) bool {
		for _, c := range id {
			if c < '0' || c > '9' {
				return false
			}
		}
		return len(id) > 0 && (id[0] != '0' || len(id) == 1)
	}
	switch x, y := whole(a), whole(b); {
	case x && y:
		return cmp.Or(len(a)-len(b), bytes.Compare(a, b))
	case x:
		return -1
	case y:
		return 1
	}
	return bytes.Compare(a, b)
}
