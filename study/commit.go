package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Commands of many clients share the cost of writing. A command is decided on the state
// that the commands before it leave behind, and waits in a queue; one write takes the whole
// queue. Nobody is answered before the events that an answer rests on are in the log. If a
// write fails, commands are decided again, each in a write of its own, so that one that
// cannot be written does not fail the others.

// command is a change that waits to be written, or an answer that rests on changes that do.
type command struct {
	ctx   context.Context
	event *Event       // nil: nothing changes
	then  func(*State) // sees the state after the event; may be nil
	err   error        // of a command that is refused
	alone bool         // in a write of its own

	done chan error // gets the result, once
}

// errAgain asks for a command to be decided again; errAlone to be written by itself then.
var (
	errAgain = errors.New("decide again")
	errAlone = fmt.Errorf("%w, alone", errAgain)
)

// commit runs one command. decide returns the payload of the event to append, or nil
// if nothing changes. then, unless it is nil, sees the state afterwards.
func (s *Study) commit(ctx context.Context, by string, decide func(*State) (Payload, error), then func(*State)) error {
	const tries = 4
	alone := false
	for try := 1; ; {
		c := &command{ctx: ctx, then: then, alone: alone, done: make(chan error, 1)}
		if err := s.enter(c, by, decide); err != nil {
			return err
		}
		switch err := <-c.done; { // once writing has begun it is not cancelled
		case errors.Is(err, errAlone) && try < tries:
			alone = true
			try++
		case errors.Is(err, errAlone):
			return fmt.Errorf("%w: other writers append to the log all the time", ErrSequence)
		case !errors.Is(err, errAgain):
			return err
		}
	}
}

// AtRest reports whether no ask is under way and nothing waits to be written.
func (s *Study) AtRest() bool {
	s.writing.Lock()
	defer s.writing.Unlock()
	return !s.flushing && len(s.asking) == 0
}

// enter decides a command and puts it into the queue.
func (s *Study) enter(c *command, by string, decide func(*State) (Payload, error)) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.isDeleted() {
		return errDeleted
	}
	if s.stale { // nothing is being written
		if err := s.catchUp(c.ctx); err != nil {
			return err
		}
	}
	if s.ahead == nil {
		s.ahead = s.state.clone()
	}
	p, err := decide(s.ahead)
	if err == nil && p != nil {
		e := Event{s.ahead.Seq + 1, stamp(s.now()), by, p}
		if err = s.ahead.check(e); err == nil {
			if err := c.ctx.Err(); err != nil {
				return err
			}
			c.event = &e
			s.ahead.apply(e)
		}
	}
	c.err = err
	if s.queue = append(s.queue, c); !s.flushing {
		s.flushing = true
		go s.flush()
	}
	return nil
}

// flush writes the queue until it is empty.
func (s *Study) flush() {
	for {
		batch, events, summary := s.next()
		if batch == nil {
			return
		}
		var err error
		if len(events) > 0 {
			err = s.write(context.WithoutCancel(batch[0].ctx), events, summary)
		}
		s.writing.Lock()
		if err == nil {
			s.accept(batch)
		} else {
			s.refuse(batch, err)
		}
		s.writing.Unlock()
	}
}

// next takes the commands of the next write off the queue, nil if there are none. The
// summary is that of the state after them, nil if it is not known.
func (s *Study) next() (batch []*command, events []Event, summary *Summary) {
	s.writing.Lock()
	defer s.writing.Unlock()
	n := 0
	for n < len(s.queue) && (n == 0 || !s.queue[n].alone && !s.queue[0].alone) {
		n++
	}
	batch, s.queue = s.queue[:n:n], s.queue[n:]
	if n == 0 {
		s.queue, s.flushing = nil, false
		s.written.Broadcast()
		return nil, nil, nil
	}
	for _, c := range batch {
		if c.event != nil {
			events = append(events, *c.event)
		}
	}
	if len(s.queue) == 0 && len(events) > 0 {
		s.ahead.sumUp()
		summary = s.ahead.Summary()
	}
	return batch, events, summary
}

// write appends events to the log; a panic is an error, since nobody else would see it.
func (s *Study) write(ctx context.Context, events []Event, summary *Summary) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return appendTo(ctx, s.log, summary, events...)
}

// accept applies the events of a batch that was written, and answers.
func (s *Study) accept(batch []*command) {
	s.mu.Lock()
	changed := false
	for _, c := range batch {
		if c.event != nil {
			s.applyLocked(*c.event)
			changed = true
		}
		if c.then != nil && c.err == nil {
			c.then(s.state)
		}
	}
	if changed {
		s.state.sumUp()
		s.wake()
	}
	s.mu.Unlock()
	for _, c := range batch {
		c.done <- c.err
	}
}

// refuse answers the commands of a batch that was not written, or of which it is not known:
// the log tells. Commands behind it were decided on events that may not be there, and are
// decided again.
func (s *Study) refuse(batch []*command, err error) {
	behind := s.queue
	s.queue, s.ahead, s.stale = nil, nil, true
	s.doubtful = map[int64]*command{}
	events := 0
	inDoubt := !errors.Is(err, ErrSequence) && !errors.Is(err, ErrNotDurable) // these say that nothing was written
	for _, c := range batch {
		if c.event != nil {
			events++
			if inDoubt {
				s.doubtful[c.event.Seq] = c
			}
		}
	}
	found := func(c *command) bool {
		return c.event != nil && inDoubt && s.doubtful[c.event.Seq] == nil
	}
	lost := s.catchUp(context.WithoutCancel(batch[0].ctx))
	if errors.Is(err, ErrNotDurable) {
		lost = err
	}
	for _, c := range batch {
		switch {
		case found(c):
			c.done <- nil
		case lost == nil && (errors.Is(err, ErrSequence) || events > 1 || c.event == nil):
			c.done <- errAlone
		case c.event == nil:
			c.done <- err
		default:
			c.done <- fmt.Errorf("writing event %d: %w", c.event.Seq, err)
		}
	}
	s.doubtful = nil
	for _, c := range behind {
		if lost == nil {
			c.done <- errAgain
		} else {
			c.done <- err
		}
	}
}

// catchUp applies the events of the log that are not in the state.
func (s *Study) catchUp(ctx context.Context) error {
	for e, err := range s.log.Events(ctx, s.state.Seq) {
		if err != nil {
			return fmt.Errorf("reading events: %w", err)
		}
		if err := s.state.check(e); err != nil {
			return fmt.Errorf("%w: event %d: %w", ErrCorrupt, e.Seq, err)
		}
		s.mu.Lock()
		s.applyLocked(e)
		if c := s.doubtful[e.Seq]; c != nil && same(*c.event, e) {
			delete(s.doubtful, e.Seq)
			if c.then != nil {
				c.then(s.state)
			}
		}
		s.wake()
		s.mu.Unlock()
	}
	s.mu.Lock()
	s.state.sumUp()
	s.mu.Unlock()
	s.stale = false
	return nil
}

// same reports whether an event in the log is the one that was to be written.
func same(a, b Event) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

// applyLocked applies an event that was checked. The caller holds mu.
func (s *Study) applyLocked(e Event) {
	s.state.apply(e)
	s.tail.add(e)
}

// wake wakes callers of Wait. The caller holds mu.
func (s *Study) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
