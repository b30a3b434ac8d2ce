package walk

import (
	"fmt"
	"math"
)

// tally collects one row: which nodes were reached at which length with what
// mass. It is scratch that is used again for every row.
type tally struct {
	// Open addressing from node to entry. A slot belongs to the current row
	// when its upper half equals turn, so nothing is cleared between rows.
	slots []uint64 // turn<<32 | node
	entry []uint32
	shift uint
	turn  uint64

	node []uint32 // per entry, in order of first visit
	open []int32  // per entry: its visit at the current length, or less than begin

	visits []visit
	begin  int // first visit of the current length
	length int

	err error // the first row that cannot be stored

	// Scratch of flush, per entry.
	ends  []int     // where its next value goes
	ratio []float64 // v_i/v_j
}

// visit is an entry at one length.
type visit struct {
	mass   float64
	entry  uint32
	count  int32 // walkers
	length uint8
}

func newTally() *tally {
	t := &tally{}
	t.resize(10)
	return t
}

func (t *tally) resize(bits uint) {
	t.slots = make([]uint64, 1<<bits)
	t.entry = make([]uint32, 1<<bits)
	t.shift = 64 - bits
	t.turn = max(t.turn, 1)
	for e, node := range t.node {
		t.place(node, uint32(e))
	}
}

// reset starts a new row.
func (t *tally) reset() {
	t.turn++
	if t.turn == 1<<32 { // slots of 2³² rows ago would look like this row's
		clear(t.slots)
		t.turn = 1
	}
	t.node, t.open, t.visits = t.node[:0], t.open[:0], t.visits[:0]
	t.begin, t.length = 0, 0
}

// next moves on to the next length.
func (t *tally) next() {
	t.begin = len(t.visits)
	t.length++
}

// undo removes the visits of the current length, and returns to the length before.
func (t *tally) undo() {
	for _, v := range t.visits[t.begin:] {
		t.open[v.entry] = -1
	}
	t.visits = t.visits[:t.begin]
	t.length--
}

func hash(node uint32) uint64 { return uint64(node) * 0x9E3779B97F4A7C15 }

// add puts mass and walkers on a node at the current length.
func (t *tally) add(node uint32, mass float64, count int32) {
	want := t.turn<<32 | uint64(node)
	mask := uint64(len(t.slots) - 1)
	h := hash(node) >> t.shift
	for {
		have := t.slots[h&mask]
		if have == want {
			break
		}
		if have>>32 != t.turn {
			t.insert(h&mask, want, node, mass, count)
			return
		}
		h++
	}
	e := t.entry[h&mask]
	if at := int(t.open[e]); at >= t.begin {
		v := &t.visits[at]
		v.mass += mass
		v.count += count
		return
	}
	t.visit(e, mass, count)
}

func (t *tally) insert(slot, key uint64, node uint32, mass float64, count int32) {
	e := uint32(len(t.node))
	t.slots[slot], t.entry[slot] = key, e
	t.node = append(t.node, node)
	t.open = append(t.open, -1)
	t.visit(e, mass, count)
	if 2*len(t.node) > len(t.slots) {
		t.resize(65 - t.shift)
	}
}

func (t *tally) visit(e uint32, mass float64, count int32) {
	t.open[e] = int32(len(t.visits))
	t.visits = append(t.visits, visit{mass, e, count, uint8(t.length)})
}

// place puts a node into a free slot of a new table.
func (t *tally) place(node, e uint32) {
	mask := uint64(len(t.slots) - 1)
	h := hash(node) >> t.shift
	for t.slots[h&mask]>>32 == t.turn {
		h++
	}
	t.slots[h&mask], t.entry[h&mask] = t.turn<<32|uint64(node), e
}

// front returns the visits of the current length.
func (t *tally) front() []visit { return t.visits[t.begin:] }

// flush appends the row to b, visits grouped by entry and in order of length.
// Masses become values by the factor weight(length)·v_i/v_j.
func (t *tally) flush(b *block, s *steps, root uint32, weight []float64) {
	t.ends = t.ends[:0]
	for range t.node {
		t.ends = append(t.ends, 0)
	}
	for i := range t.visits {
		t.ends[t.visits[i].entry]++
	}
	at := len(b.val)
	for e, k := range t.ends {
		if k > 0 { // entries without a visit were undone
			b.col = append(b.col, t.node[e])
			b.num = append(b.num, uint8(k))
		}
		t.ends[e] = at
		at += k
	}
	b.val = grow(b.val, len(t.visits))
	b.len = grow(b.len, len(t.visits))
	t.rescale(s, root)
	for i := range t.visits {
		v := &t.visits[i]
		q := t.ends[v.entry]
		t.ends[v.entry]++
		x := float32(v.mass * weight[v.length] * t.ratio[v.entry])
		if x-x != 0 && t.err == nil { // infinite, or not a number
			t.err = fmt.Errorf("%w: values of length %d from node %d are beyond float32: the matrix grows; take a normalised one, or fewer hops",
				ErrOptions, v.length, root)
		}
		b.val[q] = x
		b.len[q] = v.length
	}
	if len(b.val) > math.MaxUint32 && t.err == nil {
		t.err = fmt.Errorf("%w: %d rows have more than 2³² values; take fewer walkers", ErrOptions, blockRows)
	}
	b.entryEnd = append(b.entryEnd, uint32(len(b.col)))
	b.valueEnd = append(b.valueEnd, uint32(len(b.val)))
}

// rescale fills ratio, the factor v_i/v_j that turns masses at node j into values.
func (t *tally) rescale(s *steps, root uint32) {
	t.ratio = grow(t.ratio[:0], len(t.node))
	if s.rooted {
		vi, ratio := s.v(root), t.ratio
		for e, j := range t.node {
			ratio[e] = vi / math.Sqrt(s.strengths[j])
		}
		return
	}
	if s.scale == nil {
		for e := range t.ratio {
			t.ratio[e] = 1
		}
		return
	}
	vi, ratio := s.scale[root], t.ratio
	for e, j := range t.node {
		ratio[e] = vi / s.scale[j]
	}
}

// grow lengthens s by n elements without the zeroing of append(s, make…).
func grow[T any](s []T, n int) []T {
	if len(s)+n <= cap(s) {
		return s[:len(s)+n]
	}
	return append(s, make([]T, n)...)
}
