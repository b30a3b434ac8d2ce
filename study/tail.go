package study

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"
	"weak"
)

// Encoded is an event as it is stored and sent.
type Encoded struct {
	Seq  int64
	Kind string
	JSON []byte // shared: it must not be changed
}

// EncodedLog is a Log that gives its events without decoding them.
type EncodedLog interface {
	Log
	// Encoded returns the next events with numbers above after, in order: at least one, if
	// there is any, and not many more than fit into so many bytes.
	Encoded(ctx context.Context, after int64, bytes int) ([]Encoded, error)
}

// tail keeps the last events in memory, so that those who follow a study do not read its
// log. An event is encoded once, when the first of them needs it.
type tail struct {
	events []*tailEvent
	weight int
}

// tailWeight bounds the tail: an event weighs 1, and 1 for each of its trials or values,
// some 100 bytes.
const tailWeight = 20_000

type tailEvent struct {
	Event
	weight int
	once   sync.Once
	json   []byte
	err    error
}

func (t *tail) add(e Event) {
	weight := 1
	switch p := e.Data.(type) {
	case Created:
		weight += len(p.Settings.Allowed) + len(p.Settings.Cost) + len(p.Settings.Group)
	case Changed:
		weight += len(p.Settings.Allowed) + len(p.Settings.Cost) + len(p.Settings.Group)
	case Asked:
		weight += len(p.Trials)
	case Observed:
		weight += len(p.Values)
	case Expired:
		weight += len(p.Trials) / 10
	case Queued:
		weight += len(p.Nodes)
	}
	t.events = append(t.events, &tailEvent{Event: e, weight: weight})
	t.weight += weight
	drop := 0
	for t.weight > tailWeight && drop < len(t.events)-1 {
		t.weight -= t.events[drop].weight
		t.events[drop] = nil
		drop++
	}
	t.events = t.events[drop:]
}

// after returns the events with numbers above seq; false if some of them are no longer kept.
func (t *tail) after(seq int64) ([]*tailEvent, bool) {
	if len(t.events) == 0 || seq+1 < t.events[0].Seq {
		return nil, false
	}
	return t.events[min(int64(len(t.events)), seq+1-t.events[0].Seq):], true
}

func (e *tailEvent) encoded() (Encoded, error) {
	e.once.Do(func() { e.json, e.err = json.Marshal(e.Event) })
	return Encoded{e.Seq, e.Kind(), e.json}, e.err
}

// chunk is the number of bytes of events that are read from the log at once.
const chunk = 256 << 10

// Piece is some events of a study, in order. All who send the same events at the same time
// share one; old events as long as somebody keeps theirs (runtime.KeepAlive).
type Piece struct {
	Events []Encoded
	More   bool // there are events behind them

	once sync.Once
	text []byte
}

// Rendered returns what render makes of the events, once for all who share the piece. It
// must not be changed.
func (p *Piece) Rendered(render func([]Encoded) []byte) []byte {
	p.once.Do(func() { p.text = render(p.Events) })
	return p.text
}

// Encoded returns the next events with numbers above after: none if there are none yet.
// The last events come from memory, and older ones from the log. Events of the last moment
// may be missing where others got the same piece before they came.
func (s *Study) Encoded(ctx context.Context, after int64) (*Piece, error) {
	s.mu.RLock()
	last, kept := s.tail.after(after)
	seq := s.state.Seq
	s.mu.RUnlock()
	switch {
	case after >= seq:
		return new(Piece), nil
	case !kept:
		return s.older.read(ctx, s.log, after)
	}
	return s.recent.piece(after, last)
}

// latest are the pieces that were last made of the tail. Those who follow a study are mostly
// at the same event.
type latest struct {
	mu     sync.Mutex
	pieces [4]struct {
		after int64
		made  time.Time
		piece *Piece
	}
	next int
}

// moment is how long a piece of the tail is given to others, without newer events.
const moment = 20 * time.Millisecond

// piece returns the first of some events.
func (l *latest) piece(after int64, events []*tailEvent) (*Piece, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.pieces {
		if p.piece != nil && p.after == after && time.Since(p.made) < moment {
			return p.piece, nil
		}
	}
	p := new(Piece)
	for size := 0; len(p.Events) < len(events) && size < chunk; {
		e, err := events[len(p.Events)].encoded()
		if err != nil {
			return nil, err
		}
		p.Events = append(p.Events, e)
		size += len(e.JSON)
	}
	p.More = len(p.Events) < len(events)
	at := &l.pieces[l.next]
	at.after, at.made, at.piece = after, time.Now(), p
	l.next = (l.next + 1) % len(l.pieces)
	return p, nil
}

// older are the pieces of a log that are being sent.
type older struct {
	mu     sync.Mutex
	pieces map[int64]weak.Pointer[Piece] // by the number of the event before
}

// mostPieces is the number of pieces from which on those that nobody keeps are forgotten.
const mostPieces = 32

func (o *older) read(ctx context.Context, log Log, after int64) (*Piece, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p := o.pieces[after].Value(); p != nil {
		return p, nil
	}
	events, err := encodedFrom(ctx, log, after)
	if err != nil {
		return nil, err
	}
	if len(events) == 0 {
		return nil, fmt.Errorf("%w: there is no event %d", ErrCorrupt, after+1)
	}
	if o.pieces == nil {
		o.pieces = map[int64]weak.Pointer[Piece]{}
	}
	if len(o.pieces) >= mostPieces {
		for at, p := range o.pieces {
			if p.Value() == nil {
				delete(o.pieces, at)
			}
		}
	}
	p := &Piece{Events: events, More: true}
	o.pieces[after] = weak.Make(p)
	return p, nil
}

// encodedFrom reads a piece of a log.
func encodedFrom(ctx context.Context, log Log, after int64) (piece []Encoded, err error) {
	if l, ok := log.(EncodedLog); ok {
		return l.Encoded(ctx, after, chunk)
	}
	size := 0
	for e, err := range log.Events(ctx, after) {
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		piece = append(piece, Encoded{e.Seq, e.Kind(), text})
		if size += len(text); size >= chunk {
			break
		}
	}
	return piece, nil
}

// KindOf returns the kind of an encoded event without decoding its data.
func KindOf(text []byte) (string, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return "", fmt.Errorf("%w: an event is a JSON object", ErrCorrupt)
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return "", fmt.Errorf("%w: an event: %v", ErrCorrupt, err)
		}
		if name == "kind" {
			kind, err := dec.Token()
			if text, ok := kind.(string); ok && err == nil && readers[text] != nil {
				return text, nil
			}
			return "", fmt.Errorf("%w: unknown kind %v", ErrCorrupt, kind)
		}
		var other json.RawMessage
		if err := dec.Decode(&other); err != nil {
			return "", fmt.Errorf("%w: an event: %v", ErrCorrupt, err)
		}
	}
	return "", fmt.Errorf("%w: an event without a kind", ErrCorrupt)
}
