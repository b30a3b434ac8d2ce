package study

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"sync"
)

// Log stores the events of one study. It is safe for concurrent use.
type Log interface {
	// Append adds events, all or none. When it returns nil they are durable: they
	// survive a crash of the machine. If their numbers do not follow the last one in
	// the log, because another writer was faster, the error wraps ErrSequence. After
	// any other error the events may or may not have been added.
	Append(ctx context.Context, events ...Event) error
	// Events returns the events with numbers above after, in order. They are durable.
	Events(ctx context.Context, after int64) iter.Seq2[Event, error]
}

// MemoryLog is a Log in memory. The zero value is empty.
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

// Len returns the number of events.
func (m *MemoryLog) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events)
}

// Delete removes all events and returns their number.
func (m *MemoryLog) Delete() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := len(m.events)
	m.events = nil
	return n
}

func outOfSequence(seq, next int64) error {
	return fmt.Errorf("%w: event %d where %d is next", ErrSequence, seq, next)
}
