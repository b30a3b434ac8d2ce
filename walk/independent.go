package walk

import "grfgp/internal/rng"

// independent draws rows by Algorithm 2. The walkers of a root advance together,
// so that their cache misses overlap.
type independent struct {
	*steps
	walks, maxLen int
	survive       []float64 // s_l = P(a walk takes at least l steps)
	wide          bool      // 32 random bits are too few to tell the longest
	weight        []float64

	at    []uint32
	next  []uint32 // the entry of W that a walker steps along
	load  []float64
	words []uint64
	alive []int // alive[l]: walks with at least l steps
}

func newIndependent(s *steps, opts Options) *independent {
	r := &independent{
		steps: s, walks: opts.Walks, maxLen: opts.MaxLen,
		at:    make([]uint32, opts.Walks),
		next:  make([]uint32, opts.Walks),
		load:  make([]float64, opts.Walks),
		words: make([]uint64, opts.Walks),
		alive: make([]int, opts.MaxLen+2),
	}
	// A walk has at least l steps with probability s_l = (1−p)^l. AdHoc does
	// not divide by it.
	s1, reach := 1-opts.Halt, 1.0
	for range opts.MaxLen + 1 {
		r.survive = append(r.survive, reach)
		r.wide = reach < 0x1p-12
		w := 1 / float64(opts.Walks)
		if opts.Sampler != AdHoc {
			w /= reach
		}
		r.weight = append(r.weight, w)
		reach *= s1
	}
	return r
}

// row estimates the row of one root.
func (r *independent) row(t *tally, root uint32, stream *rng.Stream) (exact uint8) {
	t.reset()
	t.add(root, float64(r.walks), int32(r.walks))
	if r.maxLen == 0 || r.sink(root) {
		return uint8(r.maxLen)
	}
	r.lengths(stream)
	for w := range r.at {
		r.at[w], r.load[w] = root, 1
	}
	for l := 1; l <= r.maxLen && r.alive[l] > 0; l++ {
		t.next()
		k := r.alive[l]
		words := r.words[:(k+1)/2]
		switch {
		case r.cum != nil:
			r.searchSteps(k, stream)
		case r.unit():
			stream.Fill(words)
			r.unitSteps(words, k)
		default:
			stream.Fill(words)
			r.flatSteps(words, k)
		}
		for w, node := range r.at[:k] {
			t.add(node, r.load[w], 1)
		}
	}
	return 0
}

// lengths draws how many walks live how long. All walks start alike, so it does
// not matter which of them they are: the first alive[l] have at least l steps.
func (r *independent) lengths(stream *rng.Stream) {
	clear(r.alive)
	words := r.words[:(r.walks+1)/2]
	if r.wide {
		words = r.words
	}
	stream.Fill(words)
	for w := range r.walks {
		u := 0.0
		if r.wide {
			u = float64(words[w]>>11) * 0x1p-53
		} else {
			u = float64(half(words, w)) * 0x1p-32
		}
		l := 0
		for l < r.maxLen && u < r.survive[l+1] {
			l++
		}
		r.alive[l]++
	}
	for l := r.maxLen; l > 0; l-- {
		r.alive[l] += r.alive[l+1]
	}
}

// half returns the k-th 32-bit number of words.
func half(words []uint64, k int) uint64 { return words[k>>1] >> (32 * uint(k&1)) & 0xffffffff }

// unitSteps moves the first k walkers where no load changes. Rows are looked up
// in a loop of their own, so that many cache misses are under way at a time.
func (r *independent) unitSteps(words []uint64, k int) {
	rowPtr, col, next := r.rowPtr, r.col, r.next[:k]
	for w, i := range r.at[:k] {
		a, b := rowPtr[i], rowPtr[i+1]
		// ⌊u·d⌋ of a 32-bit u is off by at most d/2³² from even odds.
		next[w] = a + uint32(half(words, w)*uint64(b-a)>>32)
	}
	for w, p := range next {
		r.at[w] = col[p]
	}
}

// flatSteps moves the first k walkers to neighbours with equal odds.
func (r *independent) flatSteps(words []uint64, k int) {
	next := r.next[:k]
	for w, i := range r.at[:k] {
		a, b := r.rowPtr[i], r.rowPtr[i+1]
		if a == b { // a sink: the walk ends here and adds nothing further
			next[w], r.load[w] = 0, 0
			continue
		}
		next[w] = a + uint32(half(words, w)*uint64(b-a)>>32)
	}
	for w, p := range next {
		if r.load[w] != 0 {
			r.load[w] *= r.factor(r.at[w], int(p))
			r.at[w] = r.col[p]
		}
	}
}

// searchSteps moves the first k walkers by the cumulated probabilities.
func (r *independent) searchSteps(k int, stream *rng.Stream) {
	for w, i := range r.at[:k] {
		if r.sink(i) {
			r.load[w] = 0
			continue
		}
		p := r.search(i, stream.Float64())
		r.load[w] *= r.factor(i, p)
		r.at[w] = r.col[p]
	}
}
