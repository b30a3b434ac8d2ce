package server

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"

	"grfgp/internal/parallel"
)

// flight is a computation in the background that concurrent requests share. It
// goes on when no request waits for it any longer, and keeps no result: the study
// does.
type flight[T any] struct {
	mu      sync.Mutex
	current *call[T] // nil: none is under way
}

type call[T any] struct {
	done chan struct{}
	v    T
	err  error
}

// start begins the computation unless it is under way.
func (f *flight[T]) start(s *Server, compute func() (T, error)) (_ *call[T], began bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.current != nil {
		return f.current, false
	}
	c := &call[T]{done: make(chan struct{})}
	f.current = c
	s.background(func() {
		defer close(c.done)
		c.err = safely(func() (err error) { c.v, err = compute(); return err })
		f.mu.Lock()
		f.current = nil
		f.mu.Unlock()
	})
	return c, true
}

// underWay reports whether a computation is under way.
func (f *flight[T]) underWay() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.current != nil
}

// await returns the result of a computation that began after await was called, so
// that it takes all earlier measurements into account. If ctx reaches its deadline
// first, the error wraps errLoading.
func (f *flight[T]) await(ctx context.Context, s *Server, compute func() (T, error)) (v T, err error) {
	for try := 1; ; try++ {
		c, began := f.start(s, compute)
		select {
		case <-c.done:
			if began || try > 1 {
				return c.v, c.err
			}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) { // the client went away
				return v, ctx.Err()
			}
			return v, fmt.Errorf("%w: the model is being fitted to the measurements; try again soon", errLoading)
		}
	}
}

// safely turns a panic of f into an error, so that one study cannot end the server
// for all others.
func safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			p := &panicked{v, debug.Stack()}
			if inner, ok := v.(*parallel.Panic); ok {
				p.value, p.stack = inner.Value, inner.Stack
			}
			err = p
		}
	}()
	return f()
}

// panicked is a panic as an error.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }
