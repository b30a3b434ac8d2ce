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

// Options of a Study. The zero value opens a study that can be read and told
// results, but makes no suggestions or predictions.
type Options struct {
	// Engine makes the engine. It is called when a suggestion or prediction is first
	// asked for, and again after an error. Nil: commands that need the graph return
	// ErrNoEngine.
	Engine func(ctx context.Context) (Engine, error)
	// Now is the clock of leases and events; nil: time.Now.
	Now func() time.Time
}

// Study takes commands, safe for concurrent use. Nothing else may append to its
// log while it is open; should that happen, it reads on and tries again.
type Study struct {
	log Log
	now func() time.Time

	writing sync.Mutex // held by the command that is being written
	stale   bool       // the log may have events that state has not

	mu      sync.RWMutex  // held for moments: who reads does not wait for the log
	state   *State        // changed only by who holds writing as well
	changed chan struct{} // closed at the next event

	asking chan struct{} // held by the ask that is being answered

	loading sync.Mutex
	load    func(ctx context.Context) (Engine, error)
	engine  Engine

	fitting sync.Mutex // guards fit
	fit     *fit       // to the measurements so far; nil: none was needed yet
	latest  atomic.Pointer[Predictions]
}

// Create writes the first event of a study to an empty log. If the log holds a
// study of the same settings that is fine; if they differ, the error wraps
// ErrConflict. It reports whether the study is new.
func Create(ctx context.Context, log Log, settings Settings, by string, at time.Time) (bool, error) {
	settings, err := settings.Complete()
	if err != nil {
		return false, err
	}
	e := Event{Seq: 1, Time: stamp(at), By: by, Data: Created{settings}}
	if err := new(State).check(e); err != nil {
		return false, err
	}
	err = log.Append(ctx, e)
	if !errors.Is(err, ErrSequence) {
		return err == nil, err
	}
	for e, err := range log.Events(ctx, 0) {
		if err != nil {
			return false, err
		}
		if was, ok := e.Data.(Created); !ok || !was.Settings.Equal(settings) {
			return false, fmt.Errorf("%w: there is a study called %q already, with other settings; take another name", ErrConflict, settings.Name)
		}
		return false, nil
	}
	return false, fmt.Errorf("%w: a log that is neither empty nor begun", ErrCorrupt)
}

// Open replays a log. The error wraps ErrNotFound if the log is empty.
func Open(ctx context.Context, log Log, opts Options) (*Study, error) {
	s := &Study{log: log, now: opts.Now, load: opts.Engine, state: new(State), changed: make(chan struct{}), asking: make(chan struct{}, 1)}
	if s.now == nil {
		s.now = time.Now
	}
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	if s.state.Seq == 0 {
		return nil, fmt.Errorf("%w: a log without events", ErrNotFound)
	}
	return s, nil
}

// stamp is a time as events keep it.
func stamp(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// catchUp applies what the log has and the state has not.
func (s *Study) catchUp(ctx context.Context) error {
	for e, err := range s.log.Events(ctx, s.state.Seq) {
		if err != nil {
			return fmt.Errorf("study: reading events: %w", err)
		}
		if err := s.state.check(e); err != nil {
			return fmt.Errorf("%w: event %d: %w", ErrCorrupt, e.Seq, err)
		}
		s.apply(e)
	}
	s.stale = false
	return nil
}

// apply changes the state by an event that was checked, and wakes those who wait
// for one.
func (s *Study) apply(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.apply(e)
	close(s.changed)
	s.changed = make(chan struct{})
}

// commit runs one command: decide looks at the state and returns what is to
// happen, or nil where nothing is. An event that was appended is applied; then is
// told of the state with it, or without one where nothing happened.
func (s *Study) commit(ctx context.Context, by string, decide func(*State) (Payload, error), then func(*State)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	const tries = 4
	for try := 1; ; try++ {
		if s.stale || try > 1 {
			if err := s.catchUp(ctx); err != nil {
				return err
			}
		}
		p, err := decide(s.state)
		if err != nil {
			return err
		}
		if p != nil {
			err = s.append(ctx, Event{s.state.Seq + 1, stamp(s.now()), by, p})
		}
		if errors.Is(err, errRetry) && try < tries {
			continue
		}
		if err == nil && then != nil {
			then(s.state)
		}
		return err
	}
}

// errRetry is wrapped with ErrSequence where somebody else wrote to the log.
var errRetry = errors.New("study: somebody else wrote to the log")

func (s *Study) append(ctx context.Context, e Event) error {
	if err := s.state.check(e); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// A caller who goes away now leaves it open whether the event is there.
	if err := s.log.Append(context.WithoutCancel(ctx), e); err != nil {
		s.stale = true
		if errors.Is(err, ErrSequence) {
			return fmt.Errorf("%w: %w", errRetry, err)
		}
		return fmt.Errorf("study: writing event %d: %w", e.Seq, err)
	}
	s.apply(e)
	return nil
}

// View lets f read the state, which must not be kept or changed.
func (s *Study) View(f func(*State)) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	f(s.state)
}

// Settings are what the study was created with.
func (s *Study) Settings() Settings {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.Settings
}

// Seq is the number of the last event.
func (s *Study) Seq() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state.Seq
}

// Events returns the events after a number.
func (s *Study) Events(ctx context.Context, after int64) iter.Seq2[Event, error] {
	return s.log.Events(ctx, after)
}

// Wait returns when there is an event after a number, or with the error of ctx.
func (s *Study) Wait(ctx context.Context, after int64) error {
	for {
		s.mu.RLock()
		seq, changed := s.state.Seq, s.changed
		s.mu.RUnlock()
		if seq > after {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Engine returns the engine, which is made if this is the first time.
func (s *Study) Engine(ctx context.Context) (Engine, error) {
	if s.load == nil {
		return nil, ErrNoEngine
	}
	s.loading.Lock()
	defer s.loading.Unlock()
	if s.engine != nil {
		return s.engine, nil
	}
	e, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	s.engine = e
	return e, nil
}
