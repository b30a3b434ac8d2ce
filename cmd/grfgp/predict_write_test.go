package main

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
)

// TestRelay: blocks are written in their order, each once, whatever the sizes of groups, and as many are
// held as two groups have.
func TestRelay(t *testing.T) {
	t.Parallel()
	sizes := []int{5*blockRows + 1, 0, 1, 2 * blockRows, 7 * blockRows, 3, 6*blockRows - 1}
	var written, want []int
	var made atomic.Int64
	r := relay[[]int]{fresh: func() []int { made.Add(1); return nil }, write: func(b []int) error {
		written = append(written, b...)
		return nil
	}}
	first := 0
	for _, n := range sizes {
		err := r.next(t.Context(), n, func(b *[]int, lo, hi int) error {
			*b = (*b)[:0]
			for a := lo; a < hi; a++ {
				*b = append(*b, first+a)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(written) != first {
			t.Fatalf("%d rows are written after the group that begins with row %d", len(written), first)
		}
		first += n
	}
	if err := r.flush(); err != nil {
		t.Fatal(err)
	}
	for a := range first {
		want = append(want, a)
	}
	if !slices.Equal(written, want) {
		t.Errorf("%d rows, or in another order than %d", len(written), first)
	}
	if made.Load() > 2*7 {
		t.Errorf("%d blocks", made.Load())
	}

	full, broken := errors.New("no space left"), errors.New("a row that cannot be written")
	r = relay[[]int]{fresh: func() []int { return nil }, write: func([]int) error { return full }}
	fine := func(*[]int, int, int) error { return nil }
	if err := r.next(t.Context(), 10, func(*[]int, int, int) error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want that of the row", err)
	}
	if err := r.next(t.Context(), 10, fine); err != nil {
		t.Errorf("%v before anything is written", err)
	}
	if err := r.next(t.Context(), 10, fine); !errors.Is(err, full) {
		t.Errorf("%v, want that of the file", err)
	}
	if err := r.flush(); !errors.Is(err, full) {
		t.Errorf("%v at the end, want that of the file", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := r.next(ctx, 10, fine); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that of the context", err)
	}
}
