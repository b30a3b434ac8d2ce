package server

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net"
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

// streamPause is the least time between two parts of a stream: events that come faster are
// sent together, to all streams at the same moments, so that those who follow a busy study
// cost little and send the same bytes.
const streamPause = 100 * time.Millisecond

// connectionKey is the key of its connection in the context of a request.
type connectionKey struct{}

// streamBuffer is the number of bytes that the system keeps of a stream for a client who does
// not read.
const streamBuffer = 64 << 10

// bound bounds what the system keeps of a response.
func bound(r *http.Request, bytes int) {
	c, _ := r.Context().Value(connectionKey{}).(net.Conn)
	if encrypted, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = encrypted.NetConn()
	}
	if buffered, ok := c.(interface{ SetWriteBuffer(bytes int) error }); ok {
		_ = buffered.SetWriteBuffer(bytes) // it is only for the better
	}
}

// streamEvents sends events as they happen, and changes of the engine's status, until
// the client or the server ends the stream.
func (s *Server) streamEvents(w http.ResponseWriter, r *http.Request, o *openStudy, after int64) error {
	ctx := r.Context()
	defer o.use()()
	o.start()
	s.metrics.streams.Add(1)
	defer s.metrics.streams.Add(-1)
	bound(r, streamBuffer)
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	out := &eventWriter{w: w, control: http.NewResponseController(w)}
	status, changed := o.progress()
	out.tell("engine", status)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	pause := time.NewTimer(0)
	defer pause.Stop()
	<-pause.C
	for out.err == nil && s.stillAllowed(r) {
		var err error
		if after, err = out.events(ctx, o, after); err != nil {
			return err
		}
		sent := time.Now()
		for waiting := true; waiting && out.err == nil; {
			next, err := o.Next(after)
			if err != nil {
				return nil
			}
			resume := (<-chan time.Time)(nil)
			if next == nil { // events have come
				wait := time.Until(sent.Truncate(streamPause).Add(streamPause))
				if waiting = wait > 0; !waiting {
					break
				}
				pause.Reset(wait)
				resume = pause.C
			}
			select {
			case <-next:
			case <-resume:
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
			case <-ctx.Done():
				return nil
			case <-s.stopping:
				return nil
			}
		}
	}
	return nil // the client went away
}

// events sends events with numbers above after, and returns the number of the last.
func (e *eventWriter) events(ctx context.Context, o *openStudy, after int64) (int64, error) {
	for more := true; more && e.err == nil; {
		piece, err := o.Encoded(ctx, after)
		if err != nil {
			return after, err
		}
		if n := len(piece.Events); n > 0 {
			e.write(piece.Rendered(frames))
			after = piece.Events[n-1].Seq
		}
		more = piece.More
		runtime.KeepAlive(piece) // while it is sent, others send the same one
	}
	e.flush()
	return after, nil
}

// frames writes events of a study as server-sent events.
func frames(events []study.Encoded) []byte {
	size := 0
	for _, e := range events {
		size += len(e.JSON) + 64
	}
	text := make([]byte, 0, size)
	for _, e := range events {
		text = frame(text, e.Kind, strconv.FormatInt(e.Seq, 10), e.JSON)
	}
	return text
}

// frame appends a server-sent event.
func frame(text []byte, kind, id string, data []byte) []byte {
	if id != "" {
		text = append(append(append(text, "id: "...), id...), '\n')
	}
	text = append(append(append(text, "event: "...), kind...), "\ndata: "...)
	return append(append(text, data...), "\n\n"...)
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
	e.write(frame(nil, kind, "", data))
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
