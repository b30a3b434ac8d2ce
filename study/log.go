package study

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// Log keeps the events of one study. It is safe for concurrent use.
type Log interface {
	// Append adds events, all or none, durably: when it returns nil they outlast
	// the machine. Their numbers follow those in the log; if they do not, because
	// somebody else was quicker, the error wraps ErrSequence. After any other
	// error the events may be there or not.
	Append(ctx context.Context, events ...Event) error
	// Events returns the events after a number, in order.
	Events(ctx context.Context, after int64) iter.Seq2[Event, error]
}

// MemoryLog is a Log that is lost with the process. The zero value is empty.
type MemoryLog struct {
	mu     sync.Mutex
	events []Event
}

// Append implements Log.
func (m *MemoryLog) Append(_ context.Context, events ...Event) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for k, e := range events {
		if next := int64(len(m.events) + 1 + k); e.Seq != next {
			return outOfSequence(e.Seq, next)
		}
	}
	m.events = append(m.events, events...)
	return nil
}

// Events implements Log.
func (m *MemoryLog) Events(_ context.Context, after int64) iter.Seq2[Event, error] {
	m.mu.Lock()
	events := slices.Clip(m.events)
	m.mu.Unlock()
	return func(yield func(Event, error) bool) {
		for _, e := range events[min(max(0, after), int64(len(events))):] {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func outOfSequence(seq, next int64) error {
	return fmt.Errorf("%w: event %d where %d is next", ErrSequence, seq, next)
}
