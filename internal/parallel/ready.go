package parallel

import "sync/atomic"

// Goroutines that Blocks has started stay ready for the next call for a short time: a
// solver has thousands of calls with microseconds in between, and on 16 processors it takes
// a tenth of a millisecond until as many goroutines run. They serve one call at a time;
// calls beside it and within it start goroutines of their own.

const (
	readyFrom = 4       // workers, from which goroutines stay: two are soon started
	readyMost = 256     // workers
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
	active  atomic.Int32     // goroutines in work
	parked  atomic.Bool      // the caller waits for done
	done    chan struct{}
}

// together runs work on as many goroutines, the caller among them, and returns when all
// that have begun are done. It reports false, and does nothing, if the goroutines are taken.
func together(workers int, work func(worker int)) bool {
	if workers < readyFrom || workers > readyMost || !ready.taken.CompareAndSwap(false, true) {
		return false
	}
	defer ready.taken.Store(false)
	c := &call{workers: workers, work: work, done: make(chan struct{}, 1)}
	ready.call.Store(c)
	defer ready.call.Store(nil) // what work refers to can be freed
	for w := 1; w < workers; w++ {
		if ready.alive[w].CompareAndSwap(false, true) {
			go stay(w, c)
		}
	}
	work(0)
	// Who begins from now on finds no block.
	for spins := 0; c.active.Load() != 0; spins++ {
		if spins < 1<<10 {
			pause()
			continue
		}
		c.parked.Store(true)
		if c.active.Load() != 0 {
			<-c.done
		}
	}
	return true
}

// join works for a call.
func (c *call) join(w int) {
	if c == nil || w >= c.workers {
		return
	}
	c.active.Add(1)
	c.work(w)
	if c.active.Add(-1) == 0 && c.parked.Load() {
		select {
		case c.done <- struct{}{}:
		default:
		}
	}
}

// stay is the goroutine of a worker: it joins one call after another, until there is none
// for some time.
func stay(w int, c *call) {
	for {
		c.join(w)
		next, ok := await(c)
		if !ok {
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
