// Package server is the HTTP service for studies that several people share, with
// a page to look at.
//
// Handlers are thin: what a study is and may do is in package study. What needs
// the graph or a model is worked out in the background; requests wait for it for
// a while and are then told to come back.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"grfgp/graphio"
	"grfgp/store"
	"grfgp/study"
)

// Options of a Server. Only Store is required; the zero value of every other
// field is the default that its comment gives.
type Options struct {
	// Store keeps the studies and graphs. The server does not close it.
	Store store.Store
	// Log receives requests and failures; nil discards them.
	Log *slog.Logger
	// Version is the version of the program, as GET /v1/meta reports it.
	Version string
	Limits  Limits

	// Token must be sent by requests in the header Authorization: Bearer TOKEN.
	// Empty: none is needed.
	Token string
	// Hosts are names by which clients may call the server, beside localhost and
	// IP addresses; "*" allows any name. Requests with another Host header are
	// refused (protection against DNS rebinding).
	Hosts []string
	// ReadOnly refuses every request that would change something.
	ReadOnly bool

	// Now is the clock of leases and events; nil: time.Now.
	Now func() time.Time
	// NewEngine returns the engine of a study; nil: a study.Optimizer that keeps its
	// checkpoints in the store.
	NewEngine func(*graphio.Network, study.Settings) (study.Engine, error)
}

// Server answers requests. It owns what it works out in the background, until
// Close.
type Server struct {
	opts    Options
	log     *slog.Logger
	metrics *metrics
	handler http.Handler
	gate    chan struct{} // held by requests
	streams chan struct{} // held by event streams

	ctx      context.Context // of work in the background
	stop     context.CancelFunc
	stopping chan struct{} // closed when no more is taken
	ending   sync.Once
	work     sync.WaitGroup

	mu      sync.Mutex
	studies map[string]*studyEntry
	graphs  map[string]*network
}

// New returns a server that is ready to answer.
func New(opts Options) *Server {
	opts.Limits = opts.Limits.complete()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts: opts, log: opts.Log, gate: make(chan struct{}, opts.Limits.Concurrent), streams: make(chan struct{}, opts.Limits.Streams),
		stopping: make(chan struct{}), studies: map[string]*studyEntry{}, graphs: map[string]*network{},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	s.metrics = newMetrics(s)
	s.handler = s.guard(s.mux())
	if !opts.ReadOnly {
		s.background(s.expireLeases)
	}
	return s
}

// ServeHTTP answers a request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests until ctx ends. Then it takes no more, ends event
// streams, and gives requests under way so much grace.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.opts.Limits.BodyTime,
		IdleTimeout:       s.opts.Limits.IdleTime,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
	failed := make(chan error, 1)
	go func() { failed <- h.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.end()
	end, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	err := h.Shutdown(end)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("requests were cut off", "grace", grace)
		return h.Close()
	}
	return err
}

// end says that no more is taken.
func (s *Server) end() { s.ending.Do(func() { close(s.stopping) }) }

// Stop tells what goes on in the background to end, and does not wait for it.
// The store may be closed after it: what comes too late is refused there.
func (s *Server) Stop() {
	s.end()
	s.stop()
}

// Close ends what goes on in the background.
func (s *Server) Close() {
	s.Stop()
	s.work.Wait()
}

// background runs f until it returns; Close waits for it.
func (s *Server) background(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.work.Go(f)
	}
}

// expireLeases returns nodes to the pool when their leases run out, so that lists
// show it before somebody asks.
func (s *Server) expireLeases() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-s.ctx.Done():
			return
		}
		for _, e := range s.openStudies() {
			if err := e.Expire(s.ctx); err != nil && s.ctx.Err() == nil {
				s.log.Error("leases could not be ended", "study", e.name, "error", err)
			}
		}
	}
}
