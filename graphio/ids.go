package graphio

import (
	"hash/maphash"
	"strconv"

	"grfgp/graph"
)

// Workers know ids, not node numbers. They return codes: a small whole number is its
// own code, any other id has its index in the list of the block, plus textCode.
const textCode = 1 << 31

// code returns the code of an id within its block.
func (l *localIDs) code(id []byte) uint32 {
	if v, ok := smallInteger(id); ok {
		return v
	}
	return textCode | l.intern(id)
}

// localIDs numbers the distinct ids of one block that are not small numbers.
type localIDs struct {
	text  []byte
	end   []uint32 // id i is text[end[i-1]:end[i]]
	table []uint32 // open addressing: number + 1, 0 when free; size a power of two
}

var hashSeed = maphash.MakeSeed()

func (l *localIDs) reset() {
	if len(l.end) > 0 {
		clear(l.table)
	}
	l.text, l.end = l.text[:0], l.end[:0]
}

func (l *localIDs) at(i uint32) []byte {
	lo := uint32(0)
	if i > 0 {
		lo = l.end[i-1]
	}
	return l.text[lo:l.end[i]]
}

func (l *localIDs) intern(id []byte) uint32 {
	if 4*len(l.end) >= 3*len(l.table) {
		l.grow()
	}
	mask := uint64(len(l.table) - 1)
	slot := maphash.Bytes(hashSeed, id) & mask
	for ; l.table[slot] != 0; slot = (slot + 1) & mask {
		if i := l.table[slot] - 1; string(l.at(i)) == string(id) {
			return i
		}
	}
	i := uint32(len(l.end))
	l.text = append(l.text, id...)
	l.end = append(l.end, uint32(len(l.text)))
	l.table[slot] = i + 1
	return i
}

func (l *localIDs) grow() {
	l.table = make([]uint32, max(1024, 2*len(l.table)))
	mask := uint64(len(l.table) - 1)
	for i := range uint32(len(l.end)) {
		slot := maphash.Bytes(hashSeed, l.at(i)) & mask
		for l.table[slot] != 0 {
			slot = (slot + 1) & mask
		}
		l.table[slot] = i + 1
	}
}

// namer turns codes into node numbers, in the order of first appearance. Ids are
// mostly small numbers without large gaps, so a slice maps these to nodes.
type namer struct {
	ids    *graph.IDs
	small  []uint32 // 1 + the node called so, 0 if not known here
	local  []uint32 // the same for the ids of the block at hand
	digits []byte
}

// newNamer starts with the nodes of a table, if there is one.
func newNamer(nodes *NodeTable) *namer {
	n := &namer{ids: graph.NewIDs(0)}
	if nodes != nil {
		n.ids = graph.NewIDs(nodes.IDs.Len())
		for i := range nodes.IDs.Len() {
			n.ids.Intern(nodes.IDs.Bytes(i))
		}
	}
	return n
}

// begin prepares for the codes of a block.
func (n *namer) begin(ids *localIDs) {
	if cap(n.local) < len(ids.end) {
		n.local = make([]uint32, len(ids.end))
	}
	n.local = n.local[:len(ids.end)]
	clear(n.local)
}

func (n *namer) node(code uint32, ids *localIDs) uint32 {
	switch {
	case code&textCode != 0:
		i := code &^ textCode
		if n.local[i] == 0 {
			n.local[i] = uint32(n.ids.Intern(ids.at(i))) + 1
		}
		return n.local[i] - 1
	case int(code) < len(n.small) && n.small[code] != 0:
		return n.small[code] - 1
	}
	n.digits = strconv.AppendUint(n.digits[:0], uint64(code), 10)
	node := uint32(n.ids.Intern(n.digits))
	// The slice may grow to a small multiple of the number of nodes, no more.
	if int(code) >= len(n.small) && int(code) < 4*n.ids.Len()+1<<16 {
		n.small = append(n.small, make([]uint32, max(int(code)+1, 2*len(n.small))-len(n.small))...)
	}
	if int(code) < len(n.small) {
		n.small[code] = node + 1
	}
	return node
}
