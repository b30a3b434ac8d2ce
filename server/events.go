package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"grfgp/study"
)

const eventsPath = "/v1/studies/{s}/events"

// wantsStream reports whether a request asks for server-sent events.
func wantsStream(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// events sends a page of events, or a stream of server-sent events.
func (s *Server) events(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "after", "limit")
	after := int64(q.count("after", 0, 0, math.MaxInt))
	limit := q.count("limit", min(100, s.opts.Limits.Page), 1, s.opts.Limits.Page)
	if q.err != nil {
		return q.err
	}
	o, err := s.named(r)
	if err != nil {
		return err
	}
	if wantsStream(r) {
		if text := r.Header.Get("Last-Event-ID"); text != "" {
			if after, err = strconv.ParseInt(text, 10, 64); err != nil || after < 0 {
				return malformed.because("Last-Event-ID is the number of an event, not %q", text)
			}
		}
		return s.streamEvents(w, r, o, after)
	}
	answer := struct {
		Events []study.Event `json:"events"`
		Next   int64         `json:"next,omitempty"`
	}{Events: []study.Event{}}
	for e, err := range o.Events(r.Context(), after) {
		if err != nil {
			return err
		}
		if len(answer.Events) == limit {
			answer.Next = answer.Events[limit-1].Seq
			break
		}
		answer.Events = append(answer.Events, e)
	}
	return respond(w, http.StatusOK, answer)
}

// heartbeat is the interval of comments that keep a stream alive.
const heartbeat = 15 * time.Second

// streamPause is the time between two parts of a stream: events that come faster are sent
// together, so that those who follow a busy study cost little.
const streamPause = 50 * time.Millisecond

// streamEvents sends events as they happen, and changes of the engine's status, until
// the client or the server ends the stream.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, o *openStudy, after int64) error {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer o.use()()
	o.start()
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	status, changed := o.progress()
	out.tell("engine", status)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for out.err == nil && s.stillAllowed(r) {
		var err error
		if after, err = out.events(ctx, o, after); err != nil {
			return err
		}
		pause := time.After(streamPause)
		came := make(chan error, 1)
		go func() { came <- o.Wait(ctx, after) }()
		for waiting := true; waiting && out.err == nil; {
			select {
			case err := <-came:
				if err != nil {
					return nil
				}
				select {
				case <-pause:
				case <-ctx.Done():
					return nil
				case <-s.stopping:
					return nil
				}
				waiting = false
			case <-changed:
				status, changed = o.progress()
				out.tell("engine", status)
				out.flush()
			case <-beat.C:
				if !s.stillAllowed(r) {
					return nil
				}
				out.comment()
				out.flush()
			case <-s.stopping:
				return nil
			}
		}
	}
	return nil // the client went away
}

// events sends all events with numbers above after, and returns the number of the last.
func (e *eventWriter) events(ctx context.Context, o *openStudy, after int64) (int64, error) {
	for e.err == nil {
		piece, err := o.Encoded(ctx, after)
		if err != nil {
			return after, err
		}
		if len(piece.Events) == 0 {
			break
		}
		for _, event := range piece.Events {
			e.send(event.Kind, strconv.FormatInt(event.Seq, 10), event.JSON)
			after = event.Seq
		}
		runtime.KeepAlive(piece) // while it is sent, others send the same one
	}
	e.flush()
	return after, nil
}

// eventWriter writes server-sent events; the first error stays.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

// tell sends a value that is not an event of the study.
func (e *eventWriter) tell(kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	e.send(kind, "", data)
}

func (e *eventWriter) send(kind, id string, data []byte) {
	head := "event: " + kind + "\ndata: "
	if id != "" {
		head = "id: " + id + "\n" + head
	}
	e.write([]byte(head))
	e.write(data)
	e.write([]byte("\n\n"))
}

func (e *eventWriter) comment() { e.write([]byte(":\n\n")) }

func (e *eventWriter) write(p []byte) {
	if e.err == nil {
		_, e.err = e.w.Write(p)
	}
}

func (e *eventWriter) flush() {
	if e.err == nil {
		e.err = e.control.Flush()
	}
}
