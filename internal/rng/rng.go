// Package rng turns one seed into named, counter-based random streams. A stream
// depends on its seed, purpose and indices alone, never on who draws from it or
// when, so every result is the same at any number of workers.
package rng

import (
	"math/bits"
)

// Philox 2x64 constants (Salmon, Moraes, Dror, Shaw: "Parallel random numbers:
// as easy as 1, 2, 3", 2011).
const (
	multiplier = 0xD2B74407B1CE6E93
	weyl       = 0x9E3779B97F4A7C15
)

// philox is Philox2x64-10: a bijection of the 128-bit counter for every key.
func philox(ctr0, ctr1, key uint64) (uint64, uint64) {
	for range 10 {
		hi, lo := bits.Mul64(multiplier, ctr0)
		ctr0, ctr1 = hi^key^ctr1, lo
		key += weyl
	}
	return ctr0, ctr1
}

// Stream is a sequence of random 64-bit words. It implements the Source of
// math/rand/v2, so rand.New(s) gives normal deviates, permutations and so on.
type Stream struct {
	key, index, block uint64
	spare             uint64
	hasSpare          bool
}

// New returns the stream of the given seed, purpose and indices; no index is
// index 0. Streams that differ in any of them are independent for all practical
// purposes.
func New(seed uint64, purpose string, indices ...uint64) *Stream {
	s := Derive(seed, purpose).At(0)
	for k, i := range indices {
		if k == 0 {
			s.index = i
		} else {
			s.key, _ = philox(s.index, uint64(k), s.key)
			s.index = i
		}
	}
	return &s
}

// Key is a seed together with a purpose: a family of streams, one per index.
type Key uint64

// Derive returns the family of streams of a seed and a purpose.
func Derive(seed uint64, purpose string) Key {
	// Absorb the purpose in 8-byte words, its length last so that "a" and
	// "a\x00" differ.
	key, word := seed, uint64(0)
	for i := range len(purpose) {
		word = word<<8 | uint64(purpose[i])
		if i%8 == 7 {
			key, _ = philox(word, key, seed)
			word = 0
		}
	}
	key, _ = philox(word, key, seed^uint64(len(purpose)))
	return Key(key)
}

// Within returns the family of the streams New(seed, purpose, index, ·), numbered by the last
// index.
func Within(seed uint64, purpose string, index uint64) Key {
	key, _ := philox(index, 1, uint64(Derive(seed, purpose)))
	return Key(key)
}

// At returns stream number index of the family, by value: starting a stream
// per node costs nothing.
func (k Key) At(index uint64) Stream { return Stream{key: uint64(k), index: index} }

// Uint64 returns the next word.
func (s *Stream) Uint64() uint64 {
	if s.hasSpare {
		s.hasSpare = false
		return s.spare
	}
	a, b := philox(s.block, s.index, s.key)
	s.block++
	s.spare, s.hasSpare = b, true
	return a
}

// Skip passes over n words.
func (s *Stream) Skip(n int) {
	if n > 0 && s.hasSpare {
		s.hasSpare = false
		n--
	}
	s.block += uint64(n / 2)
	if n%2 == 1 {
		s.Uint64()
	}
}

// Float64 returns a uniform number in [0, 1) with 53 random bits.
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) * 0x1p-53 }

// Fill sets every element of dst to the next words.
func (s *Stream) Fill(dst []uint64) {
	i := 0
	if s.hasSpare && len(dst) > 0 {
		s.hasSpare = false
		dst[0], i = s.spare, 1
	}
	// Two blocks a turn: their multiplications overlap.
	for ; i+4 <= len(dst); i += 4 {
		dst[i], dst[i+1], dst[i+2], dst[i+3] = philoxPair(s.block, s.index, s.key)
		s.block += 2
	}
	for ; i < len(dst); i++ {
		dst[i] = s.Uint64()
	}
}

// philoxPair returns philox of ctr0 and of ctr0+1, computed side by side.
func philoxPair(ctr0, ctr1, key uint64) (a0, a1, b0, b1 uint64) {
	a0, a1, b0, b1 = ctr0, ctr1, ctr0+1, ctr1
	for range 5 { // two rounds a turn
		ah, al := bits.Mul64(multiplier, a0)
		bh, bl := bits.Mul64(multiplier, b0)
		ah ^= key ^ a1
		bh ^= key ^ b1
		key += weyl
		a0, a1 = bits.Mul64(multiplier, ah)
		b0, b1 = bits.Mul64(multiplier, bh)
		a0 ^= key ^ al
		b0 ^= key ^ bl
		key += weyl
	}
	return a0, a1, b0, b1
}
