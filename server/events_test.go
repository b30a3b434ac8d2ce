package server_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/study"
)

// stream is an open stream of events.
type stream struct {
	t     testing.TB
	resp  *http.Response
	lines *bufio.Scanner
}

// event is one that came.
type event struct{ id, kind, data string }

// stream opens a stream of a study, after an event if one is named.
func (h *host) stream(name, after string) *stream {
	h.T.Helper()
	headers := []with{"Accept: text/event-stream"}
	if after != "" {
		headers = append(headers, with("Last-Event-ID: "+after))
	}
	resp, err := h.HTTP.Client().Do(h.Request("GET", "/v1/studies/"+name+"/events", nil, headers...))
	if err != nil {
		h.T.Fatal(err)
	}
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		h.T.Fatalf("stream: %d %s", resp.StatusCode, resp.Header.Get("Content-Type"))
	}
	s := &stream{h.T, resp, bufio.NewScanner(resp.Body)}
	s.lines.Buffer(nil, 1<<20)
	h.T.Cleanup(s.close)
	return s
}

func (s *stream) close() { s.resp.Body.Close() }

// next returns the next event; false when the stream has ended.
func (s *stream) next() (e event, ok bool) {
	for s.lines.Scan() {
		name, value, _ := strings.Cut(s.lines.Text(), ": ")
		switch {
		case name == "id":
			e.id = value
		case name == "event":
			e.kind = value
		case name == "data":
			e.data = value
		case name == "" && e.kind != "":
			return e, true
		}
	}
	return e, false
}

// nextEvent skips what is told of the engine.
func (s *stream) nextEvent() (out study.Event) {
	s.t.Helper()
	for {
		e, ok := s.next()
		if !ok {
			s.t.Fatalf("the stream ended: %v", s.lines.Err())
		}
		if e.kind == "engine" {
			continue
		}
		if err := json.Unmarshal([]byte(e.data), &out); err != nil {
			s.t.Fatal(err)
		}
		if fmt.Sprint(out.Seq) != e.id || out.Kind() != e.kind {
			s.t.Fatalf("event %+v", e)
		}
		return out
	}
}

// A client that lost its stream goes on where it was: every event comes once.
func TestStreamGoesOn(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	s := h.stream("s", "")
	if e, _ := s.next(); e.kind != "engine" || e.id != "" || !strings.Contains(e.data, `"state":"`) {
		t.Fatalf("first %+v", e)
	}
	if e := s.nextEvent(); e.Seq != 1 {
		t.Fatalf("event %d", e.Seq)
	}
	for _, verb := range []string{"pause", "resume", "pause"} {
		h.Must("POST", "/v1/studies/s/"+verb, nil, nil)
	}
	if e := s.nextEvent(); e.Seq != 2 || e.Kind() != "paused" {
		t.Fatalf("event %d %s", e.Seq, e.Kind())
	}
	s.close()
	h.Must("POST", "/v1/studies/s/resume", nil, nil)
	s = h.stream("s", "2")
	for seq := int64(3); seq <= 5; seq++ {
		if e := s.nextEvent(); e.Seq != seq {
			t.Fatalf("event %d where %d is next", e.Seq, seq)
		}
	}
	h.Must("POST", "/v1/studies/s/close", nil, nil)
	if e := s.nextEvent(); e.Seq != 6 || e.Kind() != "closed" {
		t.Fatalf("event %d %s", e.Seq, e.Kind())
	}
	h.refused("malformed", 400, "GET", "/v1/studies/s/events", nil, "Accept: text/event-stream", "Last-Event-ID: six")
}

// Streams end when the server does, so that it can.
func TestStreamEnds(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	s := h.stream("s", "1")
	go h.Server.Close()
	for {
		if _, ok := s.next(); !ok {
			break
		}
	}
	h.refused("stopping", 503, "GET", "/healthz", nil)
}

func TestEventPages(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	for range 3 {
		h.Must("POST", "/v1/studies/s/pause", nil, nil)
		h.Must("POST", "/v1/studies/s/resume", nil, nil)
	}
	var seen []int64
	for after := int64(0); ; {
		var page struct {
			Events []study.Event
			Next   int64
		}
		h.Must("GET", fmt.Sprintf("/v1/studies/s/events?after=%d&limit=3", after), nil, &page)
		for _, e := range page.Events {
			seen = append(seen, e.Seq)
		}
		if after = page.Next; after == 0 {
			break
		}
	}
	if fmt.Sprint(seen) != "[1 2 3 4 5 6 7]" {
		t.Errorf("events %v", seen)
	}
}

// A page is open while ten thousand results come: it sees each of them once.
func TestPageOpenUnderLoad(t *testing.T) {
	t.Parallel()
	tells := testkit.Size(1000, 10_000)
	h := newHost(t)
	h.Create(100, func(s *study.Settings) { s.Repeats = true })
	s := h.stream("s", "1")
	const clients = 8
	failed := make(chan error, clients)
	for c := range clients {
		go func() {
			for k := c; k < tells; k += clients {
				body := map[string]any{"observations": []study.Measurement{{Node: fmt.Sprintf("n%d", k%100), Value: float64(k)}}}
				if a, err := h.Try("POST", "/v1/studies/s/observations", body); err != nil || a.Status != 201 {
					failed <- fmt.Errorf("%d %s %v", a.Status, a.Body, err)
					return
				}
				if k%1000 == 0 { // somebody looks at the map, too
					if a, err := h.Try("GET", "/v1/studies/s/map", nil); err != nil || a.Status != 200 {
						failed <- fmt.Errorf("map: %d %v", a.Status, err)
						return
					}
				}
			}
			failed <- nil
		}()
	}
	seen := make([]bool, tells)
	for k := range tells {
		e := s.nextEvent()
		if e.Seq != int64(k)+2 {
			t.Fatalf("event %d where %d is next", e.Seq, k+2)
		}
		v := int(e.Data.(study.Observed).Values[0].Value)
		if seen[v] {
			t.Fatalf("value %d twice", v)
		}
		seen[v] = true
	}
	for range clients {
		if err := <-failed; err != nil {
			t.Fatal(err)
		}
	}
}
