package graph

import (
	"slices"

	"grfgp/internal/parallel"
)

// split moves the items of numbered chunks into numbered buckets, chunks side by
// side, so that a bucket holds its items by chunk and in the order of the chunk.
type split struct {
	chunks, buckets int
	next            []int // by chunk: where its next item of each bucket goes
	start           []int // bucket b gets the places start[b] to start[b+1]
}

// newSplit plans a split: count adds the items of a chunk to their buckets.
func newSplit(chunks, buckets int, count func(chunk int, count []int)) *split {
	s := &split{chunks: chunks, buckets: buckets, next: make([]int, chunks*buckets), start: make([]int, buckets+1)}
	parallel.Ranges(chunks, 1, func(c, _ int) { count(c, s.of(c)) })
	total := 0
	for b := range buckets {
		s.start[b] = total
		for c := range chunks {
			total, s.of(c)[b] = total+s.of(c)[b], total
		}
	}
	s.start[buckets] = total
	return s
}

// place calls put for every chunk, which must advance next by the same items
// that were counted.
func (s *split) place(put func(chunk int, next []int)) {
	parallel.Ranges(s.chunks, 1, func(c, _ int) { put(c, s.of(c)) })
}

func (s *split) of(chunk int) []int { return s.next[chunk*s.buckets : (chunk+1)*s.buckets] }

// addUp replaces counts by their running total and returns the last.
func addUp(counts []int) int {
	total := 0
	for i, c := range counts {
		total += c
		counts[i] = total
	}
	return total
}

// grow returns a slice of length n, x itself when that is long enough. Its
// elements are whatever they were.
func grow[T any](x []T, n int) []T { return slices.Grow(x[:0], n)[:n] }
