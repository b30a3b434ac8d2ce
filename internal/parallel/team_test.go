package parallel

import (
	"runtime"
	"sync/atomic"
	"testing"
)

// TestTeam: every block of every job is done once, before Ranges returns, whether the goroutines
// are awake or asleep, and Close ends them.
func TestTeam(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	before := runtime.NumGoroutine()
	team := NewTeam()
	for round := range 3000 {
		if round%500 == 0 {
			for team.sleepers.Load() < 3 { // all but this one
				runtime.Gosched()
			}
		}
		n := round % 97
		times := make([]int32, n)
		var blocks atomic.Int64
		team.Ranges(n, 1+round%13, func(lo, hi int) {
			blocks.Add(1)
			for i := lo; i < hi; i++ {
				times[i]++
			}
		})
		for i, k := range times {
			if k != 1 {
				t.Fatalf("round %d: place %d was done %d times", round, i, k)
			}
		}
		if want := int64((n + round%13) / (1 + round%13)); blocks.Load() != want {
			t.Fatalf("round %d: %d blocks, want %d", round, blocks.Load(), want)
		}
	}
	team.Close()
	for runtime.NumGoroutine() > before {
		runtime.Gosched()
	}
}
