// Package server is an HTTP service, with a web page, for studies that several
// people and machines share.
//
//	st, err := store.Open(ctx, "team.db", store.Options{})
//	s := server.New(server.Options{Store: st})
//	defer s.Close()
//	err = http.ListenAndServe("127.0.0.1:8080", s)
//
// A search by HTTP: upload a graph, create a study on it, ask for a node, tell the
// result, read the predictions.
//
//	POST /v1/graphs                            body: CSV of edges      → {"id": "5f…", "nodes": 12, …}
//	POST /v1/studies                           {"name": "pressure", "graph": "5f…", "goal": "minimize"}
//	POST /v1/studies/pressure/asks             {"count": 1, "holder": "anna"}
//	                                           → {"trials": [{"trial": 1, "node": "j7", …}], …}
//	PUT  /v1/studies/pressure/trials/1/result  {"value": 3.1, "by": "anna"}
//	GET  /v1/studies/pressure/predictions?sort=mean&limit=5
//
// GET /v1/openapi.json describes all paths, GET /v1/meta reports the limits. A
// client that received no answer may repeat its request: results are PUT to their
// trial, asks and observations take the header Idempotency-Key. Errors are problem
// documents (RFC 9457), application/problem+json.
//
// Handlers translate between HTTP and package study, which implements the rules.
// Loading a graph and fitting a model run in the background. A request waits for
// them up to Limits.Patience and is then answered with 503 and Retry-After; the
// work goes on.
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"grfgp/graphio"
	"grfgp/server/pmtiles"
	"grfgp/server/tokens"
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
	// LogDropped is how many lines of the log could not be written, for the metrics; nil: it
	// is not known.
	LogDropped func() int
	// Version is the version of the program, as GET /v1/meta reports it.
	Version string
	Limits  Limits

	// Tokens are named tokens with roles; nil: none. Where its file exists, requests must
	// send a token in the header Authorization: Bearer TOKEN, and the log has its name.
	Tokens *tokens.File
	// Token is a secret without a name that allows everything; empty: none.
	Token string
	// TokenNeeded makes the server refuse all requests while there are no tokens.
	TokenNeeded bool
	// Admit reports whether the other end of a connection needs no token where there are
	// none. It is asked once for a connection. nil: nobody needs one.
	Admit func(local, remote net.Addr) bool
	// Open lets requests in that came through a proxy, where there are no tokens.
	Open bool
	// Proxies are the addresses of proxies, whose headers X-Forwarded-For and
	// X-Forwarded-Host are believed; ProxySocket says that clients over a unix socket are
	// proxies.
	Proxies     []netip.Prefix
	ProxySocket bool
	// BasePath is a path, as /grfgp, under which the server answers too, for a proxy that
	// passes it on; empty: none.
	BasePath string
	// Hosts are names by which clients may call the server, in addition to localhost
	// and IP addresses; "*" allows any name; nil: no other names. Requests with
	// another Host header are refused (protection against DNS rebinding).
	Hosts []string
	// Memory is how many bytes the process may have in use while models are fitted. Models
	// that would take more wait for others, or are not fitted. 0: 80 % of the memory that
	// is free when the server is made; negative: no limit.
	Memory int64
	// Device is where models are computed, as in grfgp.Spec; empty: on the processor, so that
	// suggestions are the same on every machine.
	Device string
	// Basemap are tiles that the page shows under graphs with latitudes and longitudes; nil: none.
	Basemap *pmtiles.Archive
	// ReadOnly makes the server refuse every request that would change something.
	ReadOnly bool

	// Now is the clock of leases and events; nil: time.Now.
	Now func() time.Time
	// NewEngine returns the engine of a study; nil: a study.ModelEngine that keeps its
	// checkpoints in the store.
	NewEngine func(*graphio.Network, study.Settings) (study.Engine, error)
}

// Server is the service. It implements http.Handler; Close ends its background
// work.
type Server struct {
	opts     Options
	log      *slog.Logger
	metrics  *metrics
	handler  http.Handler
	gates    [gates]chan struct{} // one element per request under way
	lent     lent
	attempts attempts
	drafts   drafts

	ctx      context.Context // of background work
	stop     context.CancelFunc
	stopping chan struct{} // closed when the server accepts no more requests
	ending   sync.Once
	work     sync.WaitGroup

	memory  budget
	crashes map[string]*crash // studies whose models were being fitted when the process before this one ended

	readiness readiness
	backingUp sync.Mutex   // held while a backup is made and sent
	lives     sync.RWMutex // held for writing while a study or graph is deleted, for reading while one is made

	summarizing chan struct{} // holds a token while a study is replayed for a list

	mu      sync.Mutex
	studies map[string]*studyEntry
	graphs  map[string]*network
	damaged map[string]damaged
	marked  map[string]int // work under way with a mark in the store, by study
}

// New returns a server. The caller must close the server, and then the store.
func New(opts Options) *Server {
	opts.Limits = opts.Limits.complete()
	if opts.Now == nil {
		opts.Now = time.Now
	}
	if opts.Log == nil {
		opts.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{
		opts: opts, log: opts.Log,
		stopping: make(chan struct{}), studies: map[string]*studyEntry{}, graphs: map[string]*network{}, marked: map[string]int{},
		memory: budget{most: memoryLimit(opts.Memory), used: liveMemory},
	}
	s.ctx, s.stop = context.WithCancel(context.Background())
	for g, most := range [gates]int{small: opts.Limits.Concurrent, uploads: opts.Limits.Uploads, downloads: opts.Limits.Downloads,
		streams: opts.Limits.Streams} {
		s.gates[g] = make(chan struct{}, most)
	}
	s.summarizing, s.damaged = make(chan struct{}, 1), map[string]damaged{}
	s.readMarks()
	s.metrics = newMetrics(s)
	s.handler = s.guard(s.mux())
	s.background(s.watchStore)
	if !opts.ReadOnly {
		s.background(s.expireLeases)
	}
	s.background(s.evictIdle)
	return s
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.handler.ServeHTTP(w, r) }

// Serve answers requests on a listener until ctx ends. Then it accepts no more
// requests, ends event streams, and waits at most the duration grace for requests in
// progress.
func (s *Server) Serve(ctx context.Context, l net.Listener, grace time.Duration) error {
	h := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.opts.Limits.BodyTime,
		IdleTimeout:       s.opts.Limits.IdleTime,
		MaxHeaderBytes:    32 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(s.connected(ctx, c), connectionKey{}, c)
		},
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
		s.log.Warn("aborted requests under way", "grace", grace)
		return h.Close()
	}
	return err
}

// end marks the server as stopping.
func (s *Server) end() { s.ending.Do(func() { close(s.stopping) }) }

// Stop cancels background work without waiting for it. The store may be closed
// afterwards: writes of background work that is still running then fail.
func (s *Server) Stop() {
	s.end()
	s.stop()
	s.unmarkAll()
}

// Close cancels background work and waits for it to end.
func (s *Server) Close() {
	s.Stop()
	s.work.Wait()
}

// background runs f in a goroutine that Close waits for.
func (s *Server) background(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.work.Go(f)
	}
}

// expireLeases ends trials when their leases run out, so that lists show it before
// the next ask.
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
				s.log.Error("cannot expire leases", "study", e.name, "error", err)
			}
		}
	}
}
