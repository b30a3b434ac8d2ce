package parallel

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// allEnd waits for the goroutines that are ready, which end soon after the last call.
func allEnd() {
	for w := range ready.alive {
		for ready.alive[w].Load() {
			runtime.Gosched()
		}
	}
}

// TestReadyWithoutClock: goroutines end also where no time passes while they run.
func TestReadyWithoutClock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	allEnd()
	synctest.Test(t, func(t *testing.T) {
		var sum atomic.Int64
		Ranges(100, 1, func(lo, _ int) { sum.Add(int64(lo)) })
		time.Sleep(time.Second) // of a clock that waits for all goroutines
		if sum.Load() != 4950 {
			t.Error(sum.Load())
		}
	})
}

// TestReadyForAnotherClock: goroutines that are ready from a call before serve one whose clock is its own, and
// the caller sleeps until they are done.
func TestReadyForAnotherClock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	for range 100 {
		var sum atomic.Int64
		synctest.Test(t, func(t *testing.T) {
			inside := make(chan struct{})
			go func() {
				defer close(inside)
				Ranges(8, 1, func(lo, _ int) {
					for range 4 * waitFor {
						pause()
					}
					sum.Add(int64(lo))
				})
			}()
			<-inside
		})
		Ranges(8, 1, func(lo, _ int) { sum.Add(int64(lo)) })
		if sum.Load() != 2*28 {
			t.Error(sum.Load())
		}
	}
}

// TestReady: every block is done once, before Blocks returns, in calls one after another,
// beside each other and within each other, at changing numbers of threads; goroutines end
// soon after the last call.
func TestReady(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	before := runtime.NumGoroutine()
	check := func(n int, inner bool) {
		times := make([]int32, n)
		var inside atomic.Int64
		err := Blocks(context.Background(), n, func(worker, b int) error {
			times[b]++ // unguarded: the race detector looks on
			if inner {
				Ranges(9, 2, func(lo, hi int) { inside.Add(int64(hi - lo)) })
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		for b, k := range times {
			if k != 1 {
				t.Errorf("block %d of %d was done %d times", b, n, k)
			}
		}
		if inner && inside.Load() != int64(9*n) {
			t.Errorf("%d of %d places within blocks", inside.Load(), 9*n)
		}
	}
	for round := range 2000 {
		if round%100 == 0 {
			runtime.GOMAXPROCS([]int{2, 7, 5, 16}[round/100%4])
		}
		if round%250 == 0 {
			allEnd()
		}
		check(1+round%40, round%50 == 0)
		if round%100 == 1 {
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() { check(30, false) })
			}
			wg.Wait()
		}
	}
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
	if c := ready.call.Load(); c != nil {
		t.Error("a call is kept after it has ended")
	}
}

// TestReadyAfterAPanic: a panic of the caller's own block leaves Blocks usable.
func TestReadyAfterAPanic(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	func() {
		defer func() { recover() }()
		together(8, func(worker int) {
			if worker == 0 {
				panic("worker 0")
			}
		})
	}()
	if ready.taken.Load() || ready.call.Load() != nil {
		t.Fatal("the goroutines are still taken")
	}
	if !together(8, func(int) {}) {
		t.Error("the goroutines cannot be used")
	}
}
