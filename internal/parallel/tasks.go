package parallel

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// tasks is the number of tasks that run.
var tasks atomic.Int64

// Tasks calls do(k) for every k in [0, n), all at the same time or, on few processors, as many
// as there are, in increasing order. It is for few and long tasks that use Blocks in turn, such
// as likelihoods of several samples: short blocks of one task do not keep many processors
// busy. Within tasks, a call of Blocks uses the processors that the tasks leave, if no other
// task does, and else works alone until they are free. If a task panics, Tasks panics with a
// *Panic when no other task is under way.
func Tasks(n int, do func(k int)) {
	workers := Workers(n)
	if workers == 1 {
		for k := range n {
			do(k)
		}
		return
	}
	var next atomic.Int64
	var broken atomic.Pointer[Panic] // the first
	work := func() {
		defer tasks.Add(-1)
		defer catch(&broken)
		for broken.Load() == nil {
			k := int(next.Add(1)) - 1
			if k >= n {
				return
			}
			do(k)
		}
	}
	tasks.Add(int64(workers))
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	if p := broken.Load(); p != nil {
		panic(p)
	}
}

// spare returns how many goroutines a call of Blocks may use, so that there is a processor for
// every other task that runs.
func spare() int {
	if others := int(tasks.Load()) - 1; others > 0 {
		return max(1, runtime.GOMAXPROCS(0)-others)
	}
	return math.MaxInt
}
