// Package machine measures this machine: how fast its memory is, so that speeds can
// be stated as a share of what is possible, and how much of it is free.
package machine

import (
	"context"
	"math/bits"
	"time"

	"grfgp/internal/parallel"
)

const (
	repeats     = 5        // the best one counts
	streamWords = 16 << 20 // 128 MiB an array: no cache holds three of them
	blockWords  = 32 << 10
	readBlock   = 1 << 16 // random reads in a block of work
	readBlocks  = 1 << 6
)

// Streams are the rates at which all processors together pass through long
// arrays a, b, c, in bytes per second of what the program reads and writes. The
// reads that the hardware adds before it writes do not count, as usual.
type Streams struct {
	Copy  float64 // a = b
	Triad float64 // a = b + s·c
	Read  float64 // Σ a
}

// Bandwidth measures the streaming rates within about half a second, on 384 MiB
// of memory. It returns early, with ctx's error, when ctx ends.
func Bandwidth(ctx context.Context) (Streams, error) { return streams(ctx, streamWords) }

// streams is Bandwidth over three arrays of so many words, a multiple of blockWords.
func streams(ctx context.Context, words int) (Streams, error) {
	a, b, c := make([]float64, words), make([]float64, words), make([]float64, words)
	sums := make([]float64, words/blockWords)
	over := func(do func(block int, a, b, c []float64)) func() error {
		return func() error {
			return parallel.Blocks(ctx, len(sums), func(_, k int) error {
				lo, hi := k*blockWords, (k+1)*blockWords
				do(k, a[lo:hi], b[lo:hi], c[lo:hi])
				return nil
			})
		}
	}

	// Pages that were never written are all the same page of zeros.
	touch := over(func(_ int, a, b, c []float64) {
		for i := range a {
			a[i], b[i], c[i] = 1, 2, 3
		}
	})
	if err := touch(); err != nil {
		return Streams{}, err
	}
	var s Streams
	for _, m := range []struct {
		rate  *float64
		bytes int
		pass  func() error
	}{
		{&s.Copy, 16 * words, over(func(_ int, a, b, _ []float64) { copy(a, b) })},
		{&s.Triad, 24 * words, over(func(_ int, a, b, c []float64) { triad(a, b, c, 3) })},
		{&s.Read, 8 * words, over(func(k int, a, _, _ []float64) { sums[k] = sum(a) })},
	} {
		seconds, err := best(m.pass)
		if err != nil {
			return Streams{}, err
		}
		*m.rate = float64(m.bytes) / seconds
	}
	return s, nil
}

// RandomReads measures how many independent 8-byte reads a second all
// processors together make at random places of a working set of that many
// bytes. The places do not depend on what is read, so that misses overlap.
func RandomReads(ctx context.Context, bytes int) (float64, error) {
	words := make([]uint64, max(1, bytes/8))
	n := (len(words) + blockWords - 1) / blockWords
	err := parallel.Blocks(ctx, n, func(_, k int) error {
		for i := k * blockWords; i < min(len(words), (k+1)*blockWords); i++ {
			words[i] = uint64(i)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	sums := make([]uint64, readBlocks)
	seconds, err := best(func() error {
		return parallel.Blocks(ctx, readBlocks, func(_, k int) error {
			sums[k] = gather(words, uint64(k))
			return nil
		})
	})
	return readBlocks * readBlock / seconds, err
}

// best returns the shortest time that pass took, in seconds.
func best(pass func() error) (float64, error) {
	shortest := time.Duration(0)
	for r := range repeats {
		start := time.Now()
		if err := pass(); err != nil {
			return 0, err
		}
		if d := time.Since(start); r == 0 || d < shortest {
			shortest = d
		}
	}
	return shortest.Seconds(), nil
}

// triad sets a = b + s·c.
func triad(a, b, c []float64, s float64) {
	b, c = b[:len(a)], c[:len(a)]
	for i := range a {
		a[i] = b[i] + s*c[i]
	}
}

// sum adds up a with enough sums side by side that only memory limits it.
func sum(a []float64) float64 {
	// Four variables: the compiler would keep an array in memory.
	var s0, s1, s2, s3 float64
	for ; len(a) >= 4; a = a[4:] {
		s0 += a[0]
		s1 += a[1]
		s2 += a[2]
		s3 += a[3]
	}
	return s0 + s1 + s2 + s3
}

// gather adds up readBlock words at places drawn by a multiplicative hash of
// block and position.
func gather(words []uint64, block uint64) uint64 {
	const golden = 0x9E3779B97F4A7C15
	s := uint64(0)
	for i := range uint64(readBlock) {
		h := (block*readBlock + i + 1) * golden
		h = (h ^ h>>32) * golden
		place, _ := bits.Mul64(h, uint64(len(words)))
		s += words[place]
	}
	return s
}
