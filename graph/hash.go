package graph

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// hashFormat changes whenever the hashed bytes do.
const hashFormat = "grfgp graph 1\n"

// Hash identifies the content of the graph: equal for equal nodes, ids, order
// and weights, on every machine and in every run.
func (g *Graph) Hash() [sha256.Size]byte {
	if g.hash != nil {
		return *g.hash
	}
	h, err := (&Layout{g: g}).Hash(context.Background())
	if err != nil {
		panic("graph: hashing: " + err.Error()) // nothing cancels it
	}
	return h
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
