package parallel_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"grfgp/internal/parallel"
)

// A panic in a block comes out of the call that began it, at any number of threads, and
// the next call works.
func TestPanic(t *testing.T) {
	broken := errors.New("broken")
	calls := map[string]func(do func(b int)){
		"blocks": func(do func(b int)) {
			_ = parallel.Blocks(context.Background(), 100, func(_, b int) error { do(b); return nil })
		},
		"ranges": func(do func(b int)) { parallel.Ranges(100, 1, func(lo, _ int) { do(lo) }) },
		"within": func(do func(b int)) {
			parallel.Ranges(3, 1, func(lo, _ int) { parallel.Ranges(100, 1, func(b, _ int) { do(b) }) })
		},
		"team": func(do func(b int)) {
			team := parallel.NewTeam()
			defer team.Close()
			team.Ranges(100, 1, func(lo, _ int) { do(lo) })
		},
	}
	for _, threads := range []int{2, 5} {
		for name, call := range calls {
			was := runtime.GOMAXPROCS(threads)
			for range 20 {
				func() {
					defer func() {
						v := recover()
						p, ok := v.(*parallel.Panic)
						if !ok || !errors.Is(p, broken) || !strings.Contains(p.Error(), "TestPanic") {
							t.Errorf("%s on %d threads: panic %v", name, threads, v)
						}
					}()
					call(func(b int) {
						if b == 70 {
							panic(broken)
						}
					})
					t.Errorf("%s on %d threads returns", name, threads)
				}()
			}
			var done atomic.Int64
			call(func(int) { done.Add(1) })
			if n := done.Load(); n%100 != 0 || n == 0 {
				t.Errorf("%s on %d threads: %d blocks after a panic", name, threads, n)
			}
			runtime.GOMAXPROCS(was)
		}
	}
}
