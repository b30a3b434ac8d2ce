package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
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

// streamEvents sends events as they happen, and changes of the engine's status, until
// the client or the server ends the stream.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, o *openStudy, after int64) error {
	ctx := r.Context()
	o.start()
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	status, changed := o.progress()
	out.tell("engine", "", status)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for out.err == nil {
		for e, err := range o.Events(ctx, after) {
			if err != nil {
				return err
			}
			out.tell(e.Kind(), strconv.FormatInt(e.Seq, 10), e)
			after = e.Seq
			if out.err != nil {
				return nil // the client went away
			}
		}
		out.flush()
		came := make(chan error, 1)
		go func() { came <- o.Wait(ctx, after) }()
		for waiting := true; waiting; {
			select {
			case err := <-came:
				if err != nil {
					return nil
				}
				waiting = false
			case <-changed:
				status, changed = o.progress()
				out.tell("engine", "", status)
				out.flush()
			case <-beat.C:
				out.comment()
				out.flush()
			case <-s.stopping:
				return nil
			}
			if out.err != nil {
				return nil
			}
		}
	}
	return nil
}

// eventWriter writes server-sent events; the first error stays.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (e *eventWriter) tell(kind, id string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		e.err = errors.Join(e.err, err)
		return
	}
	var b bytes.Buffer
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", kind, data)
	e.write(b.Bytes())
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
