package study

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
)

// Options are the options of Open. The zero value opens a study that can be read
// and told results, but makes no suggestions or predictions.
type Options struct {
	// Engine makes the engine of the settings that the study has. It is called when a
	// suggestion or prediction is first asked for, and again after an error or a change of
	// settings. Nil: commands that need the graph return
	// ErrNoEngine.
	Engine func(ctx context.Context) (Engine, error)
	// Now is the clock of leases and events; nil: time.Now.
	Now func() time.Time
}

// Study executes commands on a study. It is safe for concurrent use. Nothing else
// should append to the log while the study is open; if that happens, commands read
// the new events and try again.
type Study struct {
	log Log
	now func() time.Time

	writing  sync.Mutex         // held briefly: nobody waits for the log with it, unless a write has failed
	ahead    *State             // after the commands in the queue; nil: not made yet
	queue    []*command         // commands that wait to be written
	flushing bool               // a goroutine writes the queue
	written  sync.Cond          // the queue is empty
	stale    bool               // the log may have events that are not in state
	doubtful map[int64]*command // of a write that failed, by event, until the log tells

	mu      sync.RWMutex  // held briefly: readers do not wait for the log
	state   *State        // what is in the log; changed only with writing held as well
	changed chan struct{} // closed at the next event, or when the study is deleted
	deleted bool
	tail    tail // the last events

	older  older // events that are read from the log
	recent latest

	asking chan struct{} // holds one token per ask in progress: at most one

	loading sync.Mutex
	load    func(ctx context.Context) (Engine, error)
	engine  Engine
	modelAt int64 // ModelSeq of engine

	fitting sync.Mutex // guards fit
	fit     *fit       // to the measurements so far; nil: none was needed yet
	latest  atomic.Pointer[Predictions]
}

// Create writes the first event of a study to an empty log, and reports whether the
// study is new. A log with a study of the same settings is not changed; if the
// settings differ, the error wraps ErrConflict.
func Create(ctx context.Context, log Log, settings Settings, by string, at time.Time) (bool, error) {
	settings, err := settings.Complete()
	if err != nil {
		return false, err
	}
	e := Event{Seq: 1, Time: stamp(at), By: by, Data: Created{settings}}
	first := new(State)
	if err := first.Apply(e); err != nil {
		return false, err
	}
	err = appendTo(ctx, log, first.Summary(), e)
	if !errors.Is(err, ErrSequence) {
		return err == nil, err
	}
	for e, err := range log.Events(ctx, 0) {
		if err != nil {
			return false, err
		}
		if was, ok := e.Data.(Created); !ok || !settings.repeats(was.Settings) {
			return false, fmt.Errorf("%w: there is a study called %q already, with other settings; use another name", ErrConflict, settings.Name)
		}
		return false, nil
	}
	return false, fmt.Errorf("%w: the log refuses the first event, but is empty", ErrCorrupt)
}

// Open replays a log. The error wraps ErrNotFound if the log is empty.
func Open(ctx context.Context, log Log, opts Options) (*Study, error) {
	s := &Study{log: log, now: opts.Now, load: opts.Engine, state: new(State), changed: make(chan struct{}), asking: make(chan struct{}, 1)}
	s.written.L = &s.writing
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	if s.state.Seq == 0 {
		return nil, fmt.Errorf("%w: the log is empty", ErrNotFound)
	}
	return s, nil
}

// stamp rounds a time as events store it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// View calls f with the state. f must not change the state or keep it after it
// returns.
func (s *Study) View(f func(*State)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.state)
}

// Settings returns the settings of the study.
func (s *Study) Settings() Settings {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.Settings
}

// Seq returns the number of the last event.
func (s *Study) Seq() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.Seq
}

// Events returns the events with numbers above after, in order.
func (s *Study) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return s.log.Events(ctx, after)
}

// Wait blocks until there is an event with a number above after, or ctx ends. The error
// wraps ErrNotFound if the study was deleted.
func (s *Study) Wait(ctx context.Context, after int64) error {
	for {
		changed, err := s.Next(after)
		if changed == nil {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Next returns nil if there is an event with a number above after. Otherwise the channel is
// closed when it is worth asking again. The error wraps ErrNotFound if the study was deleted.
func (s *Study) Next(after int64) (<-chan struct{}, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.state.Seq > after:
		return nil, nil
	case s.deleted:
		return nil, errDeleted
	}
	return s.changed, nil
}

// Engine returns the engine, and makes it by Options.Engine if need be: when there is none,
// and when the settings of the model were changed.
func (s *Study) Engine(ctx context.Context) (Engine, error) {
	if s.load == nil {
		return nil, ErrNoEngine
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	at := s.ModelSeq()
	if s.engine != nil && s.modelAt == at {
		return s.engine, nil
	}
	e, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	s.engine, s.modelAt = e, at
	return e, nil
}
