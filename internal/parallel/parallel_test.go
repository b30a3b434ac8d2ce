package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

func TestBlocksRunOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 7} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 3, 100} {
			counts := make([]atomic.Int32, n)
			err := Blocks(context.Background(), n, func(worker, block int) error {
				if worker < 0 || worker >= Workers(n) {
					t.Errorf("worker %d of %d", worker, Workers(n))
				}
				counts[block].Add(1)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for b := range counts {
				if c := counts[b].Load(); c != 1 {
					t.Errorf("%d processors: block %d of %d ran %d times", procs, b, n, c)
				}
			}
		}
	}
}

func TestBlocksStopAtAnError(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	broken := errors.New("broken")
	for _, procs := range []int{1, 4} {
		runtime.GOMAXPROCS(procs)
		var ran atomic.Int32
		err := Blocks(context.Background(), 1000, func(_, block int) error {
			ran.Add(1)
			if block == 3 {
				return broken
			}
			return nil
		})
		if err != broken || ran.Load() == 1000 {
			t.Errorf("%d processors: error %v after %d blocks", procs, err, ran.Load())
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := Blocks(ctx, 10, func(int, int) error { return nil }); !errors.Is(err, context.Canceled) {
			t.Errorf("%d processors: %v after a cancel", procs, err)
		}
	}
}

// What Blocks says of a cancelled context does not depend on the number of
// threads: nothing where all blocks are done, else ctx.Err(), whatever the cause.
func TestBlocksAfterACancel(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 4} {
		runtime.GOMAXPROCS(procs)
		for _, c := range []struct {
			blocks int
			want   error
		}{{4, nil}, {1000, context.Canceled}} {
			ctx, cancel := context.WithCancelCause(context.Background())
			var ran atomic.Int32
			err := Blocks(ctx, c.blocks, func(int, int) error {
				if ran.Add(1) >= 4 { // or another block overtakes the cancel
					cancel(errors.New("a cause"))
				}
				return nil
			})
			if err != c.want {
				t.Errorf("%d processors: %v after a cancel in block 4 of %d, want %v", procs, err, c.blocks, c.want)
			}
			if err == nil && int(ran.Load()) != c.blocks {
				t.Errorf("%d processors: no error after %d of %d blocks", procs, ran.Load(), c.blocks)
			}
		}
	}
}

func TestRangesCoverAll(t *testing.T) {
	for _, n := range []int{0, 1, 10, 11} {
		var sum atomic.Int64
		Ranges(n, 4, func(lo, hi int) {
			if hi-lo > 4 || hi <= lo {
				t.Errorf("range [%d, %d)", lo, hi)
			}
			sum.Add(int64(hi - lo))
		})
		if sum.Load() != int64(n) {
			t.Errorf("covered %d of %d", sum.Load(), n)
		}
	}
}
