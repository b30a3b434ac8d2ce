// Package randomstate draws the numbers that numpy's RandomState draws, for tasks
// and splits that others have defined by it. Everything else draws from
// internal/rng.
package randomstate

import (
	"math"
	"math/bits"
)

// Mersenne twister constants (Matsumoto, Nishimura: "Mersenne Twister: a
// 623-dimensionally equidistributed uniform pseudo-random number generator",
// 1998; seeding as in their revision of 2002).
const (
	words   = 624 // of state
	middle  = 397 // distance to the word that is mixed in
	matrix  = 0x9908b0df
	upper   = 1 << 31
	lower   = upper - 1
	spreads = 1812433253 // multiplier of the seeding
)

// State is the generator that numpy calls RandomState: MT19937 with numpy's
// frozen ways to turn its words into numbers.
type State struct {
	word     [words]uint32
	next     int     // word to be given out next
	spare    float64 // second normal deviate of the last pair
	hasSpare bool
}

// New returns the generator of a seed.
func New(seed uint32) *State {
	r := &State{next: words}
	r.word[0] = seed
	for i := 1; i < words; i++ {
		prev := r.word[i-1]
		r.word[i] = spreads*(prev^prev>>30) + uint32(i)
	}
	return r
}

// refill makes the next 624 words.
func (r *State) refill() {
	w := &r.word
	for i := range words - middle {
		w[i] = w[i+middle] ^ twist(w[i], w[i+1])
	}
	for i := words - middle; i < words-1; i++ {
		w[i] = w[i+middle-words] ^ twist(w[i], w[i+1])
	}
	w[words-1] = w[middle-1] ^ twist(w[words-1], w[0])
	r.next = 0
}

func twist(a, b uint32) uint32 {
	return (a&upper|b&lower)>>1 ^ -(b&1)&matrix
}

func (r *State) uint32() uint32 {
	if r.next == words {
		r.refill()
	}
	x := r.word[r.next]
	r.next++
	x ^= x >> 11
	x ^= x << 7 & 0x9d2c5680
	x ^= x << 15 & 0xefc60000
	return x ^ x>>18
}

// Bits53 returns a uniform integer below 2⁵³: 27 bits of one word above 26 of
// the next.
func (r *State) Bits53() uint64 {
	hi := uint64(r.uint32() >> 5)
	return hi<<26 | uint64(r.uint32()>>6)
}

// Uniform returns a number in [lo, hi). As below, the conversion keeps a product
// from being fused into a sum on machines that can.
func (r *State) Uniform(lo, hi float64) float64 {
	return lo + float64((hi-lo)*(float64(r.Bits53())*0x1p-53))
}

// Normal returns a standard normal deviate by Marsaglia's polar method, which
// makes two at a time: the second of the pair comes first.
func (r *State) Normal() float64 {
	if r.hasSpare {
		r.hasSpare = false
		return r.spare
	}
	for {
		x, y := r.Uniform(-1, 1), r.Uniform(-1, 1)
		square := float64(x*x) + float64(y*y)
		if square >= 1 || square == 0 {
			continue
		}
		f := math.Sqrt(-2 * math.Log(square) / square)
		r.spare, r.hasSpare = f*x, true
		return f * y
	}
}

// Below returns a uniform integer in [0, n), n ≥ 1: words are cut to the bits of
// n−1 and drawn again while too large. n = 1 draws nothing.
func (r *State) Below(n uint32) uint32 {
	most := n - 1
	if most == 0 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(most) - 1
	for {
		if x := r.uint32() & mask; x <= most {
			return x
		}
	}
}

// Shuffle puts x in random order, from the back.
func Shuffle[T any](r *State, x []T) {
	for i := len(x) - 1; i > 0; i-- {
		j := r.Below(uint32(i) + 1)
		x[i], x[j] = x[j], x[i]
	}
}
