package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"math"
)

// hashFormat changes whenever the hashed bytes do.
const hashFormat = "grfgp graph 1\n"

// Hash identifies the content of the graph: equal for equal nodes, ids, order
// and weights, on every machine and in every run.
func (g *Graph) Hash() [sha256.Size]byte {
	if g.hash != nil {
		return *g.hash
	}
	rowPtr, col, val := g.adj.Raw()
	h := hasher{to: sha256.New()}
	h.to.Write([]byte(hashFormat))
	for _, p := range rowPtr {
		h.word(uint64(p))
	}
	for p, j := range col {
		h.word(uint64(j))
		h.word(math.Float64bits(val[p]))
	}
	for i := range g.Len() {
		h.word(uint64(g.ids.end[i]))
	}
	h.flush()
	if n := g.Len(); n > 0 {
		h.to.Write(g.ids.text[:g.ids.end[n-1]])
	}
	return [sha256.Size]byte(h.to.Sum(nil))
}

// hasher hashes words in blocks.
type hasher struct {
	to   hash.Hash
	buf  [8192]byte
	used int
}

func (h *hasher) word(x uint64) {
	if h.used == len(h.buf) {
		h.flush()
	}
	binary.LittleEndian.PutUint64(h.buf[h.used:], x)
	h.used += 8
}

func (h *hasher) flush() {
	h.to.Write(h.buf[:h.used])
	h.used = 0
}
