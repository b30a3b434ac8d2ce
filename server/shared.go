package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/study"
)

// entry is a study that is open, or about to be.
type entry struct {
	ready chan struct{} // closed when one of the others is there
	study *shared
	err   error
}

// shared is a study that is open, with what is worked out for it in the
// background.
type shared struct {
	*study.Study
	server *Server
	name   string

	learning   task[study.Snapshot]
	predicting task[*study.Predictions]
	validating task[*grfgp.Validation]

	mu      sync.Mutex
	net     *network
	engine  study.Engine
	err     error // why there is no engine
	last    *study.Predictions
	status  engineStatus
	changed chan struct{} // closed when the status changes
}

// engineStatus says how far what is worked out in the background has come.
type engineStatus struct {
	State string    `json:"state"` // idle, loading, learning, ready or failed
	Stage string    `json:"stage,omitempty"`
	Since time.Time `json:"since"`
	Error string    `json:"error,omitempty"`
}

// study returns a study, which is opened if this is the first time.
func (s *Server) study(ctx context.Context, name string) (*shared, error) {
	if study.CheckName(name) != nil { // the store need not know what to do with it
		return nil, noStudy(name)
	}
	s.mu.Lock()
	e := s.studies[name]
	if e == nil {
		e = &entry{ready: make(chan struct{})}
		s.studies[name] = e
		s.mu.Unlock()
		if e.err = safely(func() (err error) { e.study, err = s.openStudy(name); return err }); e.err != nil {
			s.mu.Lock()
			delete(s.studies, name)
			s.mu.Unlock()
		}
		close(e.ready)
		return e.study, e.err
	}
	s.mu.Unlock()
	select {
	case <-e.ready:
		return e.study, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Server) openStudy(name string) (*shared, error) {
	o := &shared{server: s, name: name, status: engineStatus{State: "idle", Since: s.opts.Now().UTC()}, changed: make(chan struct{})}
	st, err := study.Open(s.ctx, s.opts.Store.Log(name), study.Options{Now: s.opts.Now, Engine: o.engineNow})
	if errors.Is(err, study.ErrNotFound) {
		return nil, noStudy(name)
	}
	if err != nil {
		return nil, fmt.Errorf("server: opening %q: %w", name, err)
	}
	o.Study = st
	return o, nil
}

func noStudy(name string) error {
	return notFound.because("there is no study called %q; GET /v1/studies lists them", name)
}

// tag names a state of the study, of whichever store it is: after which events,
// and whether its graph has places yet.
func (o *shared) tag(what string, after ...int64) string {
	var created time.Time
	o.View(func(st *study.State) { created = st.Created })
	tag := fmt.Sprintf("%s-%.16s-%x-%t", what, o.net.id, created.UnixMicro(), o.net.isPlaced())
	for _, seq := range after {
		tag += fmt.Sprintf("-%d", seq)
	}
	return tag
}

// open returns the studies that are open.
func (s *Server) open() []*shared {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*shared
	for _, e := range s.studies {
		select {
		case <-e.ready:
			if e.err == nil {
				all = append(all, e.study)
			}
		default:
		}
	}
	return all
}

// engineNow is the engine if it is there.
func (o *shared) engineNow(context.Context) (study.Engine, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.engine != nil:
		return o.engine, nil
	case o.err != nil:
		return nil, o.err
	}
	return nil, fmt.Errorf("%w: %s; ask again soon", errLoading, o.status.Stage)
}

// start loads the graph and makes the engine in the background, unless that is
// done or under way.
func (o *shared) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine != nil || o.status.State == "loading" {
		return
	}
	o.err = nil
	o.net = o.server.network(o.Settings().Graph)
	o.set(engineStatus{State: "loading", Stage: "reading the graph"})
	o.server.background(o.load)
}

func (o *shared) load() {
	var engine study.Engine
	err := safely(func() (err error) { engine, err = o.makeEngine(); return err })
	o.mu.Lock()
	if err != nil {
		o.err = err
		o.set(engineStatus{State: "failed", Error: reason(err)})
		o.mu.Unlock()
		o.server.log.Error("a study cannot be worked on", "study", o.name, "error", err)
		return
	}
	o.engine = engine
	o.set(engineStatus{State: "ready"})
	o.mu.Unlock()
	o.learnSoon(true)
}

func (o *shared) makeEngine() (study.Engine, error) {
	if err := o.net.wait(o.server.ctx, false); err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.set(engineStatus{State: "loading", Stage: "preparing the graph"})
	o.mu.Unlock()
	return o.server.newEngine(o.net, o.Settings())
}

// adopt takes an engine that was made before the study.
func (o *shared) adopt(net *network, engine study.Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine == nil && o.status.State == "idle" {
		o.net, o.engine = net, engine
		o.set(engineStatus{State: "ready"})
	}
}

// set changes the status and tells those who wait. The caller holds mu.
func (o *shared) set(to engineStatus) {
	to.Since = o.status.Since
	if to == o.status {
		return
	}
	to.Since = o.server.opts.Now().UTC().Truncate(time.Millisecond)
	o.status = to
	close(o.changed)
	o.changed = make(chan struct{})
}

// progress returns the status, and what is closed when it changes.
func (o *shared) progress() (engineStatus, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status, o.changed
}

// ready waits for the engine. When the patience of the server ends before, the
// error wraps errLoading.
func (o *shared) ready(ctx context.Context) (study.Engine, error) {
	ctx, cancel := context.WithTimeout(ctx, o.server.opts.Limits.Patience)
	defer cancel()
	o.start()
	for {
		engine, err := o.engineNow(ctx)
		if !errors.Is(err, errLoading) {
			return engine, err
		}
		_, changed := o.progress()
		if again, errAgain := o.engineNow(ctx); !errors.Is(errAgain, errLoading) {
			return again, errAgain
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// patience is the context of a request that waits for what is worked out in the
// background.
func (s *Server) patience(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), s.opts.Limits.Patience)
}

// largeGraph is from how many nodes on a model is learned as soon as values come,
// for those who ask next would wait for it.
const largeGraph = 20_000

// learnSoon lets the model learn in the background, of a large graph or of any.
func (o *shared) learnSoon(any bool) {
	o.mu.Lock()
	there := o.engine != nil
	o.mu.Unlock()
	if there && o.Settings().UsesModel() && (any || o.engine.IDs().Len() >= largeGraph) {
		o.learning.start(o.server, o.learn)
	}
}

// learn works out what the values tell.
func (o *shared) learn() (k study.Snapshot, err error) {
	o.whileLearning(func() { k, err = o.Snapshot(o.server.ctx) })
	return k, err
}

// shown is how long learning takes before anybody is told of it.
const shown = 200 * time.Millisecond

// whileLearning runs f and says so if it takes longer.
func (o *shared) whileLearning(f func()) {
	done, told := make(chan struct{}), make(chan struct{})
	say := func(state, stage string) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.engine != nil {
			o.set(engineStatus{State: state, Stage: stage})
		}
	}
	go func() {
		defer close(told)
		select {
		case <-done:
			return
		case <-time.After(shown):
		}
		say("learning", "learning from the values")
		<-done
		say("ready", "")
	}()
	defer func() { close(done); <-told }()
	f()
}

// learned waits until the model knows the values. That there is none yet is no
// error.
func (o *shared) learned(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, o.server.opts.Limits.Patience)
	defer cancel()
	if _, err := o.ready(ctx); err != nil {
		return err
	}
	_, err := o.learning.get(ctx, o.server, o.learn)
	if errors.Is(err, study.ErrNoModel) {
		return nil
	}
	return err
}

// predicted waits for the predictions of all nodes.
func (o *shared) predicted(ctx context.Context) (*study.Predictions, error) {
	ctx, cancel := context.WithTimeout(ctx, o.server.opts.Limits.Patience)
	defer cancel()
	if _, err := o.ready(ctx); err != nil {
		return nil, err
	}
	return o.predicting.get(ctx, o.server, func() (p *study.Predictions, err error) {
		o.whileLearning(func() { p, err = o.Predictions(o.server.ctx) })
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(p.Mean, infinite) && !slices.ContainsFunc(p.SD, infinite) {
			o.mu.Lock()
			o.last = p
			o.mu.Unlock()
			return p, nil
		}
		return nil, fmt.Errorf("%w: the values are too far apart for a model; retract those that cannot be true", study.ErrNoModel)
	})
}

func infinite(v float64) bool { return !finite(v) }

// lastPredictions are the latest that were worked out; nil: none.
func (o *shared) lastPredictions() *study.Predictions {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// allowedNodes tells which nodes may be suggested; nil: all.
func (o *shared) allowedNodes() []bool {
	settings := o.Settings()
	labels := o.net.Graph.IDs()
	if settings.Allowed == nil {
		if o.net.Nodes == nil {
			return nil
		}
		return o.net.Nodes.Allowed
	}
	may := make([]bool, labels.Len())
	for _, id := range settings.Allowed {
		if i, ok := labels.Lookup([]byte(id)); ok {
			may[i] = true
		}
	}
	return may
}

// seeksBest reports whether the goal is to find the highest or lowest node, and
// the sign by which higher is better.
func seeksBest(g bayesopt.Goal) (sign float64, ok bool) {
	switch g {
	case bayesopt.Maximize:
		return 1, true
	case bayesopt.Minimize:
		return -1, true
	}
	return 0, false
}
