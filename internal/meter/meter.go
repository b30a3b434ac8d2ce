// Package meter counts the time and the bytes of passes over memory, for benchmarks: how
// much of a computation is products and sweeps, and how near they come to the machine's
// bandwidth. It is off unless a benchmark turns it on.
package meter

import (
	"sync/atomic"
	"time"
)

var (
	on    atomic.Bool
	nanos atomic.Int64
	moved atomic.Int64
)

// Reading is what was counted since Begin: the time of passes, added up over goroutines
// that pass at the same time, and the bytes that they read and wrote at least.
type Reading struct {
	Seconds float64
	Bytes   float64
}

// Begin starts to count from zero.
func Begin() {
	nanos.Store(0)
	moved.Store(0)
	on.Store(true)
}

// End stops counting and returns what was counted.
func End() Reading {
	on.Store(false)
	return Reading{time.Duration(nanos.Load()).Seconds(), float64(moved.Load())}
}

// Pass is a pass that has begun; the zero value is not counted.
type Pass struct{ start time.Time }

// Start begins a pass. Passes must not be nested.
func Start() Pass {
	if !on.Load() {
		return Pass{}
	}
	return Pass{time.Now()}
}

// Done ends a pass that moved so many bytes: what it has to read and to write, once each.
func (p Pass) Done(bytes int) {
	if p.start.IsZero() {
		return
	}
	nanos.Add(int64(time.Since(p.start)))
	moved.Add(int64(bytes))
}
