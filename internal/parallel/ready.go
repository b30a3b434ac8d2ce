package parallel

import (
	"sync"
	"sync/atomic"
)

// Goroutines that Blocks has started stay ready for the next call for a short time: a
// solver has thousands of calls with microseconds in between, and on 16 processors it takes
// a tenth of a millisecond until as many goroutines run. They serve one call at a time;
// calls beside it and within it start goroutines of their own.

const (
	readyMost = 256     // workers
	waitFor   = 1 << 10 // pauses for the last goroutines of a call, before the caller sleeps
	readyFor  = 1 << 11 // pauses after the last call, some 50 µs: a clock may stand still (testing/synctest)
)

var ready struct {
	taken atomic.Bool // a call uses the goroutines
	call  atomic.Pointer[call]
	alive [readyMost]atomic.Bool // per worker: its goroutine runs
}

// call is a call of Blocks.
type call struct {
	workers int
	work    func(worker int) // returns when no block is left
	// Held by each goroutine in work to read; the caller gets it to write when there is none.
	// A channel would do, but may not be shared by goroutines with different clocks (testing/synctest).
	working sync.RWMutex
}

// together runs work on as many goroutines, the caller among them, and returns when all
// that have begun are done. It reports false, and does nothing, if the goroutines are taken.
func together(workers int, work func(worker int)) bool {
	if workers > readyMost || !ready.taken.CompareAndSwap(false, true) {
		return false
	}
	defer ready.taken.Store(false)
	c := &call{workers: workers, work: work}
	ready.call.Store(c)
	defer ready.call.Store(nil) // what work refers to can be freed
	for w := 1; w < workers; w++ {
		if ready.alive[w].CompareAndSwap(false, true) {
			go stay(w, c)
		}
	}
	work(0)
	// Who begins from now on finds no block.
	for range waitFor {
		if c.working.TryLock() {
			c.working.Unlock()
			return true
		}
		pause()
	}
	c.working.Lock()
	defer c.working.Unlock()
	return true
}

// join works for a call, and reports whether the goroutine may be wanted for the next: while
// tasks run, those that the call has no place for would take the processors of the tasks.
func (c *call) join(w int) bool {
	if c == nil {
		return true
	}
	if w >= c.workers {
		return tasks.Load() == 0
	}
	c.working.RLock()
	defer c.working.RUnlock()
	c.work(w)
	return true
}

// stay is the goroutine of a worker: it joins one call after another, until there is none
// for some time.
func stay(w int, c *call) {
	for {
		wanted := c.join(w)
		var next *call
		if wanted {
			next, wanted = await(c)
		}
		if !wanted {
			// A call that came just now has seen that this goroutine is alive, or starts
			// another.
			ready.alive[w].Store(false)
			if next = ready.call.Load(); next == nil || next == c || !ready.alive[w].CompareAndSwap(false, true) {
				return
			}
		}
		c = next
	}
}

// await returns the call after c, which may be nil, for none; false if none comes.
func await(c *call) (*call, bool) {
	for range readyFor {
		if next := ready.call.Load(); next != c {
			return next, true
		}
		pause()
	}
	return nil, false
}
