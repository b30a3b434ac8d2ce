package parallel

import (
	"runtime"
	"sync/atomic"
)

// Team is goroutines that stay ready between many short pieces of work, such as the levels of a
// search: they wait a few microseconds for the next piece before they sleep. Starting goroutines
// for each piece would take longer than the piece. One goroutine uses a Team, and closes it.
type Team struct {
	job      atomic.Pointer[job]
	sleepers atomic.Int64
	wake     chan struct{} // one token for every sleeper that is woken
}

// job is one piece of work, in numbered blocks. Who comes late finds no block left.
type job struct {
	n, size, blocks int
	do              func(lo, hi int)
	next, done      atomic.Int64
	broken          atomic.Pointer[Panic] // the first
}

// patience is how often a goroutine looks for work before it sleeps: some ten
// microseconds.
const patience = 1 << 13

// NewTeam returns a team of Workers goroutines, the caller among them.
func NewTeam() *Team {
	others := runtime.GOMAXPROCS(0) - 1
	t := &Team{wake: make(chan struct{}, others)}
	for range others {
		go t.work()
	}
	return t
}

// Ranges cuts [0, n) into blocks of at most size and calls do(lo, hi) for each, as the function
// Ranges does, panics included.
func (t *Team) Ranges(n, size int, do func(lo, hi int)) {
	j := &job{n: n, size: size, blocks: (n + size - 1) / size, do: do}
	if j.blocks > 1 {
		t.publish(j)
	}
	j.run()
	for spins := 0; j.done.Load() < int64(j.blocks); spins++ {
		if spins > patience {
			runtime.Gosched()
		}
	}
	if p := j.broken.Load(); p != nil {
		panic(p)
	}
}

// Close ends the goroutines of the team.
func (t *Team) Close() { t.publish(&job{blocks: -1}) }

// publish offers a job, and wakes who sleeps.
func (t *Team) publish(j *job) {
	t.job.Store(j)
	if t.sleepers.Load() > 0 {
		for range t.sleepers.Swap(0) {
			t.wake <- struct{}{}
		}
	}
}

// run does the blocks of a job that nobody has begun.
func (j *job) run() {
	for {
		b := int(j.next.Add(1)) - 1
		if b >= j.blocks {
			return
		}
		j.block(b)
		j.done.Add(1)
	}
}

// block does one block, and keeps its panic.
func (j *job) block(b int) {
	defer catch(&j.broken)
	j.do(b*j.size, min(j.n, (b+1)*j.size))
}

// work does one job after the other.
func (t *Team) work() {
	var last *job
	for {
		for spins := 0; t.job.Load() == last; spins++ {
			if spins > patience {
				t.sleep(last)
				spins = 0
			}
		}
		last = t.job.Load()
		if last.blocks < 0 {
			return
		}
		last.run()
	}
}

// sleep waits until there is another job than the last.
func (t *Team) sleep(last *job) {
	t.sleepers.Add(1)
	if t.job.Load() != last {
		// The job came meanwhile: nobody need wake this goroutine, unless somebody is
		// about to.
		for {
			n := t.sleepers.Load()
			if n == 0 {
				break
			}
			if t.sleepers.CompareAndSwap(n, n-1) {
				return
			}
		}
	}
	<-t.wake
}
