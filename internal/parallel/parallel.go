// Package parallel spreads numbered blocks of work over the processors. What a
// block computes must depend on its number alone, so that results are the same
// bytes at any GOMAXPROCS.
package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Workers returns how many goroutines Blocks uses for n blocks at most.
func Workers(n int) int { return max(1, min(n, runtime.GOMAXPROCS(0))) }

// Blocks calls do(worker, block) once for every block in [0, n), on Workers(n)
// goroutines or, within Tasks, on fewer; worker indexes per-goroutine scratch. Blocks start in increasing
// order. It stops early on the first error or when ctx ends, and returns that
// error or ctx.Err(). Where all blocks are done it returns nil, whatever became
// of ctx meanwhile. If a block panics, Blocks panics with a *Panic when no other
// block is under way, so that the caller can recover.
func Blocks(ctx context.Context, n int, do func(worker, block int) error) error {
	workers := min(Workers(n), spare())
	if workers == 1 {
		for b := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := do(0, b); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var failed atomic.Pointer[error] // the first
	var broken atomic.Pointer[Panic] // the first
	// one does a block, and reports whether there may be another.
	one := func(w int) bool {
		if ctx.Err() != nil || failed.Load() != nil || broken.Load() != nil {
			return false
		}
		b := int(next.Add(1)) - 1
		if b >= n {
			return false
		}
		if err := do(w, b); err != nil {
			failed.CompareAndSwap(nil, &err)
			return false
		}
		return true
	}
	work := func(w int) {
		defer catch(&broken)
		for one(w) {
		}
	}
	switch {
	case together(workers, work):
	case tasks.Load() > 0:
		func() {
			defer catch(&broken)
			for one(0) && !together(workers, work) {
			}
		}()
	default:
		var wg sync.WaitGroup
		for w := range workers {
			wg.Go(func() { work(w) })
		}
		wg.Wait()
	}
	if p := broken.Load(); p != nil {
		panic(p)
	}
	if err := failed.Load(); err != nil {
		return *err
	}
	if int(next.Load()) >= n { // every block was begun, so every block is done
		return nil
	}
	return ctx.Err()
}

// Ranges cuts [0, n) into blocks of at most size and calls do(lo, hi) for each,
// as Blocks does. It is for loops that neither fail nor run long.
func Ranges(n, size int, do func(lo, hi int)) {
	// With a background context and no errors Blocks has nothing to report.
	_ = Blocks(context.Background(), (n+size-1)/size, func(_, b int) error {
		do(b*size, min(n, (b+1)*size))
		return nil
	})
}
