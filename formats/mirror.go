package formats

import "hash/maphash"

// mirror compares two lists of edges that together are a symmetric matrix: that of
// entries above the diagonal, and that of entries below. Entries on it are of both.
type mirror struct {
	seed    maphash.Seed
	n       [2]int64
	pairs   [2]uint64 // sums of hashes, the same for the same entries in any order
	weights [2]uint64
}

func newMirror() *mirror { return &mirror{seed: maphash.MakeSeed()} }

// add takes an entry; true if it is not below the diagonal.
func (m *mirror) add(from, to int64, weight ...string) bool {
	pair, sides := [2]int64{from, to}, []int{0}
	switch {
	case from > to:
		pair, sides = [2]int64{to, from}, []int{1}
	case from == to:
		sides = []int{0, 1}
	}
	for _, k := range sides {
		m.n[k]++
		m.pairs[k] += maphash.Comparable(m.seed, pair)
		for _, w := range weight {
			m.weights[k] += maphash.Comparable(m.seed, [2]any{pair, w})
		}
	}
	return from <= to
}

// same reports whether both lists hold the same edges.
func (m *mirror) same() bool { return m.n[0] == m.n[1] && m.pairs[0] == m.pairs[1] }

// sameWeights reports whether they have the same weights, too.
func (m *mirror) sameWeights() bool { return m.weights[0] == m.weights[1] }
