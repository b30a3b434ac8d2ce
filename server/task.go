package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
)

// task is work that goes on though nobody waits for it any longer. Those who want
// the same at the same time share it.
type task[T any] struct {
	mu  sync.Mutex
	run *run[T]
}

type run[T any] struct {
	done chan struct{}
	v    T
	err  error
}

// start begins the work unless it is under way.
func (t *task[T]) start(s *Server, f func() (T, error)) (_ *run[T], began bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.run != nil {
		return t.run, false
	}
	r := &run[T]{done: make(chan struct{})}
	t.run = r
	s.background(func() {
		defer close(r.done)
		r.err = safely(func() (err error) { r.v, err = f(); return err })
		t.mu.Lock()
		t.run = nil
		t.mu.Unlock()
	})
	return r, true
}

// safely turns a panic of f into an error: one study that cannot be worked on must
// not end the server for all others.
func safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// get waits for work that began no earlier than the call. When the patience of
// the server ends before, the error wraps errLoading.
func (t *task[T]) get(ctx context.Context, s *Server, f func() (T, error)) (v T, err error) {
	waiting, cancel := context.WithTimeout(ctx, s.opts.Limits.Patience)
	defer cancel()
	for try := 1; ; try++ {
		r, began := t.start(s, f)
		select {
		case <-r.done:
			if began || try > 1 {
				return r.v, r.err
			}
		case <-waiting.Done():
			if errors.Is(ctx.Err(), context.Canceled) { // the client went away
				return v, ctx.Err()
			}
			return v, fmt.Errorf("%w: the model learns from the values; ask again soon", errLoading)
		}
	}
}
