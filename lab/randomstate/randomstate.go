// Package randomstate reproduces the numbers of numpy's RandomState, which defines
// tasks and splits of the paper. All other code draws from internal/rng.
package randomstate

import (
	"math"
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// State is numpy's RandomState: the Mersenne Twister MT19937, with numpy's rules for
// turning its 32-bit words into numbers.
type State struct {
	words    *prng.MT19937
	spare    float64 // second normal deviate of the last pair
	hasSpare bool
}

// New returns the generator with the given seed.
func New(seed uint32) *State {
	r := &State{words: prng.NewMT19937()}
	r.words.Seed(uint64(seed))
	return r
}

// Bits53 returns a uniform integer below 2⁵³: 27 bits of one word above 26 bits of the
// next.
func (r *State) Bits53() uint64 {
	hi := uint64(r.words.Uint32() >> 5)
	return hi<<26 | uint64(r.words.Uint32()>>6)
}

// Uniform returns a number in [lo, hi). Here and in Normal, explicit conversions to
// float64 prevent the compiler from fusing a product and a sum.
func (r *State) Uniform(lo, hi float64) float64 {
	return lo + float64((hi-lo)*(float64(r.Bits53())*0x1p-53))
}

// Normal returns a standard normal deviate by Marsaglia's polar method. The method
// makes pairs; as in numpy, the second of a pair is returned first.
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

// Below returns a uniform integer in [0, n), n ≥ 1: words are masked to the bits of
// n−1, and rejected if too large. For n = 1 no word is drawn.
func (r *State) Below(n uint32) uint32 {
	most := n - 1
	if most == 0 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(most) - 1
	for {
		if x := r.words.Uint32() & mask; x <= most {
			return x
		}
	}
}

// Shuffle permutes x at random, from the last element to the first, as numpy does.
func Shuffle[T any](r *State, x []T) {
	for i := len(x) - 1; i > 0; i-- {
		j := r.Below(uint32(i) + 1)
		x[i], x[j] = x[j], x[i]
	}
}
