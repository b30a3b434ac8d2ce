package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
)

// gate is a kind of request with a limit of its own on how many are answered at a time, so
// that none of them keeps others out.
type gate int

const (
	small     gate = iota // everything else
	uploads               // graphs and archives that arrive
	downloads             // graphs and archives that are sent
	streams               // of events
	gates                 // number of kinds
)

// gateNames name the requests of a gate for people.
var gateNames = [gates]string{"requests", "uploads", "downloads", "event streams"}

// gateOf returns the gate of a request.
func gateOf(rt route, r *http.Request) gate {
	if rt.path == eventsPath && wantsStream(r) {
		return streams
	}
	return rt.gate
}

// enter takes a place for a request, and returns the function that gives it back.
func (s *Server) enter(g gate) (leave func(), err error) {
	queue := s.gates[g]
	select {
	case queue <- struct{}{}:
		return func() { <-queue }, nil
	default:
		return nil, busy.because("%d %s are under way already; try again soon", cap(queue), gateNames[g]).after(1)
	}
}

// lent are the packed graphs that are being sent: one copy of each for all who read it.
type lent struct {
	mu     sync.Mutex
	graphs map[string]*loan
}

type loan struct {
	read   chan struct{} // closed when packed or err is set
	packed []byte
	err    error
	users  int
}

// borrow returns a packed graph that others may be sending too. The caller must not change
// it, and calls done when it is sent.
func (s *Server) borrow(ctx context.Context, id string) (packed []byte, done func(), err error) {
	l := &s.lent
	l.mu.Lock()
	if l.graphs == nil {
		l.graphs = map[string]*loan{}
	}
	of := l.graphs[id]
	first := of == nil
	if first {
		of = &loan{read: make(chan struct{})}
		l.graphs[id] = of
	}
	of.users++
	l.mu.Unlock()
	done = func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if of.users--; of.users == 0 && l.graphs[id] == of {
			delete(l.graphs, id)
		}
	}
	if first {
		of.err = errors.New("reading the graph was broken off")
		func() {
			defer close(of.read)
			of.packed, of.err = s.packed(context.WithoutCancel(ctx), id)
		}()
	}
	select {
	case <-of.read:
	case <-ctx.Done():
		done()
		return nil, nil, ctx.Err()
	}
	if of.err != nil {
		done()
		return nil, nil, of.err
	}
	return of.packed, done, nil
}
