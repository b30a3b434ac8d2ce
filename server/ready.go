package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"grfgp/store"
)

// readiness is whether the store can be read and written, as it was found out last.
type readiness struct {
	mu    sync.Mutex
	at    time.Time // of the last check; zero: none yet
	err   error
	under chan struct{} // closed when the check that is under way ends; nil: none is
}

// checkEvery is how long the result of a check of the store is used again.
const checkEvery = time.Second

// checkPatience is how long a request waits for the check of the store.
const checkPatience = 6 * time.Second

// errHung is the error of a store whose check does not end.
var errHung = errors.New("the store does not answer")

// check returns the result of a check that is at most checkEvery old. It waits for one that
// is under way, but begins no second one.
func (c *readiness) check(ctx context.Context, s *Server) error {
	c.mu.Lock()
	if !c.at.IsZero() && s.opts.Now().Sub(c.at) < checkEvery {
		defer c.mu.Unlock()
		return c.err
	}
	if c.under == nil {
		done := make(chan struct{})
		c.under = done
		s.background(func() {
			err := safely(func() error { return s.opts.Store.Check(s.ctx, !s.opts.ReadOnly) })
			c.mu.Lock()
			defer c.mu.Unlock()
			c.at, c.err, c.under = s.opts.Now(), err, nil
			close(done)
		})
	}
	under := c.under
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, min(checkPatience, s.opts.Limits.Patience))
	defer cancel()
	select {
	case <-under:
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.err
	case <-ctx.Done():
		return errHung
	}
}

// ready answers whether the server can do its work: the store was read and written within
// the last second.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) error {
	select {
	case <-s.stopping:
		return stopping.because("the server is shutting down").after(2)
	default:
	}
	if err := s.readiness.check(r.Context(), s); err != nil {
		words := "the store cannot be read and written; the log of the server says more"
		switch {
		case errors.Is(err, store.ErrGone):
			words = goneWords
		case errors.Is(err, store.ErrFull):
			words = "the disk of the store is full"
		case errors.Is(err, store.ErrUnavailable), errors.Is(err, errHung):
			words = "the database does not answer"
		}
		s.log.Error("not ready", "error", err)
		return unavailable.because("%s", words).after(2)
	}
	return respond(w, http.StatusOK, map[string]string{"status": "ready"})
}

// goneWords tell clients that the file of the store is gone.
const goneWords = "the file of the store was removed or replaced, and nothing is stored any more; whoever runs the server must put it " +
	"back and start the server again"

// watchStore looks every second whether the store is still there, so that the log tells it at
// once. Writes find out for themselves.
func (s *Server) watchStore() {
	tick := time.NewTicker(checkEvery)
	defer tick.Stop()
	gone := false
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		err := s.opts.Store.Present()
		if now := err != nil; now != gone {
			gone = now
			if gone {
				s.log.Error("the store is gone: nothing is stored any more", "error", err)
			} else {
				s.log.Info("the store is back")
			}
		}
	}
}
