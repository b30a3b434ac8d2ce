package parallel

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestTasks: every task, and every block within, is done once, with scratch for as
// many workers as Workers says, on no more processors than there are.
func TestTasks(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 5, 16} {
		runtime.GOMAXPROCS(procs)
		for _, n := range []int{0, 1, 3, 7, 40} {
			times := make([]int32, n)
			var now, most atomic.Int64
			Tasks(n, func(k int) {
				times[k]++ // unguarded: the race detector looks on
				for round := range 20 {
					blocks := 1 + (7*k+round)%50
					done, scratch := make([]int32, blocks), make([]int32, Workers(blocks))
					err := Blocks(context.Background(), blocks, func(worker, b int) error {
						at := now.Add(1)
						for was := most.Load(); at > was && !most.CompareAndSwap(was, at); was = most.Load() {
						}
						done[b]++
						scratch[worker]++
						for range 100 {
							pause()
						}
						now.Add(-1)
						return nil
					})
					sum := int32(0)
					for b := range done {
						if done[b] != 1 {
							t.Errorf("block %d of %d was done %d times", b, blocks, done[b])
						}
					}
					for _, c := range scratch {
						sum += c
					}
					if int(sum) != blocks || err != nil {
						t.Errorf("workers did %d of %d blocks: %v", sum, blocks, err)
					}
				}
			})
			for k, c := range times {
				if c != 1 {
					t.Errorf("%d processors: task %d of %d ran %d times", procs, k, n, c)
				}
			}
			if most.Load() > int64(procs) {
				t.Errorf("%d blocks at a time on %d processors", most.Load(), procs)
			}
			if tasks.Load() != 0 {
				t.Fatalf("%d tasks run after the end", tasks.Load())
			}
		}
	}
}

// TestTasksBroken: a panic of a task, or of a block within, comes out of Tasks, and an error of a
// block out of Blocks.
func TestTasksBroken(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	broken := errors.New("broken")
	for _, procs := range []int{2, 3, 8} {
		runtime.GOMAXPROCS(procs)
		for _, within := range []bool{false, true} {
			func() {
				defer func() {
					if p, ok := recover().(*Panic); !ok || !errors.Is(p, broken) {
						t.Errorf("%d processors, within blocks %t: panic %v", procs, within, p)
					}
				}()
				Tasks(5, func(k int) {
					Ranges(40, 1, func(lo, _ int) {
						if within && k == 3 && lo == 30 {
							panic(broken)
						}
					})
					if k == 3 {
						panic(broken)
					}
				})
			}()
			if tasks.Load() != 0 {
				t.Fatalf("%d tasks run after a panic", tasks.Load())
			}
		}
		errs := make([]error, 5)
		Tasks(5, func(k int) {
			errs[k] = Blocks(context.Background(), 100, func(_, b int) error {
				if b == 10*k {
					return broken
				}
				return nil
			})
		})
		for k, err := range errs {
			if err != broken {
				t.Errorf("%d processors: error %v of task %d", procs, err, k)
			}
		}
	}
}
