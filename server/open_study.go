package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"grfgp/bayesopt"
	"grfgp/study"
)

// studyEntry is a study that is open, or being opened.
type studyEntry struct {
	opened chan struct{} // closed when study or err is set
	study  *openStudy
	err    error
	used   time.Time // when somebody last asked for it; guarded by Server.mu
}

// openStudy is a study with its engine, which is made in the background, and the
// computations under way for it.
type openStudy struct {
	*study.Study
	server *Server
	name   string
	users  atomic.Int64 // streams, and others that use it for long

	operations operations

	fitting    flight[study.Snapshot]
	predicting flight[*study.Predictions]
	validating flight[*validated]
	judging    flight[*study.ClassCalibration] // in studies of classes
	explaining flight[*explained]

	mu      sync.Mutex
	net     *network
	engine  study.Engine
	modelAt int64 // ModelSeq of engine
	err     error // why there is no engine
	status  engineStatus
	running int           // pieces of work under way that take long
	changed chan struct{} // closed when the status changes

	work   workbook
	around around
}

// engineState says what the engine of a study is doing.
type engineState string

const (
	engineIdle     engineState = "idle" // nobody has needed it yet
	engineLoading  engineState = "loading"
	engineLearning engineState = "learning" // the model is being fitted
	engineReady    engineState = "ready"
	engineFailed   engineState = "failed"

	// The server ended while the model was being fitted: it is not fitted again before
	// somebody asks for it.
	engineQuarantined engineState = "quarantined"
)

// engineStatus is the progress of background work, as clients see it.
type engineStatus struct {
	State engineState `json:"state"`
	Stage string      `json:"stage,omitempty"`
	// Running is how many pieces of work are under way while the state is learning: fitting and
	// predicting begin and end apart, and the end of each is told.
	Running int       `json:"running,omitempty"`
	Since   time.Time `json:"since"`
	Error   string    `json:"error,omitempty"`
}

// study returns the study of a name, and opens it first if need be.
func (s *Server) study(ctx context.Context, name string) (*openStudy, error) {
	if study.CheckName(name) != nil { // stores need not handle such names
		return nil, noStudy(name)
	}
	s.mu.Lock()
	e := s.studies[name]
	if e == nil {
		e = &studyEntry{opened: make(chan struct{})}
		e.used = s.opts.Now()
		s.studies[name] = e
		s.mu.Unlock()
		if e.err = safely(func() (err error) { e.study, err = s.openStudy(name); return err }); e.err != nil {
			s.mu.Lock()
			delete(s.studies, name)
			s.mu.Unlock()
		}
		close(e.opened)
		return e.study, e.err
	}
	e.used = s.opts.Now()
	s.mu.Unlock()
	select {
	case <-e.opened:
		return e.study, e.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *Server) openStudy(name string) (*openStudy, error) {
	o := &openStudy{server: s, name: name, status: engineStatus{State: engineIdle, Since: s.opts.Now().UTC()}, changed: make(chan struct{})}
	engine := func(context.Context) (study.Engine, error) {
		engine, _, err := o.currentEngine()
		return engine, err
	}
	st, err := study.Open(s.ctx, s.opts.Store.Log(name), study.Options{Now: s.opts.Now, Engine: engine})
	s.noteDamage(name, 0, err)
	if errors.Is(err, study.ErrNotFound) {
		return nil, noStudy(name)
	}
	if err != nil {
		return nil, fmt.Errorf("opening %q: %w", name, err)
	}
	o.Study = st
	s.mu.Lock()
	o.work.crash = s.crashes[name]
	s.mu.Unlock()
	if o.work.crash != nil {
		o.status.State, o.status.Error = engineQuarantined, o.work.crash.words()
	}
	return o, nil
}

func noStudy(name string) error {
	return notFound.because("there is no study called %q", name)
}

// etag identifies a response by its kind, the events behind it, and whether the
// map positions of nodes are known. Studies of the same name in different stores
// differ in graph or time of creation.
func (o *openStudy) etag(kind string, after ...int64) string {
	var created time.Time
	o.View(func(st *study.State) { created = st.Created })
	tag := fmt.Sprintf("%s-%.16s-%x-%t", kind, o.net.id, created.UnixMicro(), o.net.isLaidOut())
	for _, seq := range after {
		tag += fmt.Sprintf("-%d", seq)
	}
	return tag
}

// openStudies returns the studies that are open.
func (s *Server) openStudies() []*openStudy {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []*openStudy
	for _, e := range s.studies {
		select {
		case <-e.opened:
			if e.err == nil {
				all = append(all, e.study)
			}
		default:
		}
	}
	return all
}

// currentEngine returns the engine; the error wraps errLoading while it is being
// made. The channel is closed at the next change of status.
func (o *openStudy) currentEngine() (study.Engine, <-chan struct{}, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine != nil && o.modelAt == o.ModelSeq() {
		return o.engine, o.changed, nil
	}
	if o.err != nil {
		return nil, o.changed, o.err
	}
	return nil, o.changed, fmt.Errorf("%w: %s; try again soon", errLoading, o.status.Stage)
}

// start loads the graph and makes the engine in the background, unless that is
// done or under way.
func (o *openStudy) start() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine != nil && o.modelAt == o.ModelSeq() || o.status.State == engineLoading {
		return
	}
	o.err = nil
	o.net = o.server.network(o.Settings().Graph)
	o.setStatus(o.loading("reading the graph"))
	o.server.background(o.load)
}

func (o *openStudy) load() {
	var engine study.Engine
	at := o.ModelSeq()
	err := safely(func() (err error) { engine, err = o.makeEngine(); return err })
	o.mu.Lock()
	if err != nil {
		o.err = err
		o.setStatus(engineStatus{State: engineFailed, Error: reason(err)})
		o.mu.Unlock()
		o.server.metrics.unloaded.Add(1)
		o.server.log.Error("cannot make the engine of a study", "study", o.name, "error", err)
		return
	}
	if o.engine == nil || o.modelAt < at {
		o.engine, o.modelAt = engine, at
	}
	o.setStatus(o.made())
	o.mu.Unlock()
	o.fitSoon(true)
}

// loading returns the status of an engine that is being made. A study in quarantine stays
// in it, and says so.
func (o *openStudy) loading(stage string) engineStatus {
	s := engineStatus{State: engineLoading, Stage: stage}
	if err := o.work.quarantined(); err != nil {
		s.Error = reason(err)
	}
	return s
}

// made returns the status of an engine that is made. The caller holds mu.
func (o *openStudy) made() engineStatus {
	if o.running > 0 {
		return engineStatus{State: engineLearning, Stage: o.work.stage(), Running: o.running}
	}
	return o.rested()
}

// rested returns the status of an engine that is made and does nothing.
func (o *openStudy) rested() engineStatus {
	if err := o.work.quarantined(); err != nil {
		return engineStatus{State: engineQuarantined, Error: reason(err)}
	}
	if err := o.work.failure(); err != nil {
		return engineStatus{State: engineFailed, Error: reason(err)}
	}
	return engineStatus{State: engineReady}
}

func (o *openStudy) makeEngine() (study.Engine, error) {
	if err := o.net.wait(o.server.ctx, false); err != nil {
		return nil, err
	}
	o.mu.Lock()
	o.setStatus(o.loading("preparing the graph"))
	o.mu.Unlock()
	engine, err := o.server.newEngine(o.net, o.Settings())
	if err != nil {
		return nil, err
	}
	return guarded{engine, o}, nil
}

// adopt sets the engine that was made before the study was created.
func (o *openStudy) adopt(net *network, engine study.Engine) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.engine == nil && o.status.State == engineIdle {
		o.net, o.engine, o.modelAt = net, guarded{engine, o}, o.ModelSeq()
		o.setStatus(o.rested())
	}
}

// setStatus changes the status and wakes those who wait for it. The caller holds
// mu.
func (o *openStudy) setStatus(to engineStatus) {
	to.Since = o.status.Since
	if to == o.status {
		return
	}
	to.Since = o.server.opts.Now().UTC().Truncate(time.Millisecond)
	o.status = to
	close(o.changed)
	o.changed = make(chan struct{})
}

// progress returns the status, and a channel that is closed when it changes.
func (o *openStudy) progress() (engineStatus, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.status, o.changed
}

// largeGraph is the number of nodes from which on a model is fitted as soon as
// measurements arrive, so that the next ask need not wait for it.
const largeGraph = 20_000

// fitSoon fits the model in the background if suggestions need one: for large
// graphs, or always.
func (o *openStudy) fitSoon(always bool) {
	engine, _, err := o.currentEngine()
	if err == nil && o.Settings().UsesModel() && (always || engine.IDs().Len() >= largeGraph) && o.work.quarantined() == nil {
		o.fitting.start(o.server, o.fit)
	}
}

func (o *openStudy) fit() (snapshot study.Snapshot, err error) {
	o.reportLearning(func() { snapshot, err = o.Snapshot(o.server.ctx) })
	return snapshot, err
}

// reportAfter is how long fitting takes before the status says so.
const reportAfter = 200 * time.Millisecond

// reportLearning runs f, and counts it in the status if it takes long.
func (o *openStudy) reportLearning(f func()) {
	done, watched, long := make(chan struct{}), make(chan struct{}), 0
	go func() {
		defer close(watched)
		select {
		case <-done:
		case <-time.After(reportAfter):
			long = 1
			o.count(1)
		}
	}()
	defer func() {
		close(done)
		<-watched
		o.count(-long)
	}()
	f()
}

// count adds to the pieces of work under way, and sets the status of an engine that is made: also
// without any, because work that ended may have failed.
func (o *openStudy) count(by int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.running += by
	if o.engine != nil && o.status.State != engineLoading {
		o.setStatus(o.made())
	}
}

// waitContext returns the context in which a request waits for background work.
// Its deadline, Limits.Patience from now, is the only one: the methods that wait
// below set none of their own.
func (s *Server) waitContext(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeout(r.Context(), s.opts.Limits.Patience)
}

// awaitEngine starts the engine if need be and waits for it. If ctx ends first, the
// error wraps errLoading.
func (o *openStudy) awaitEngine(ctx context.Context) (study.Engine, error) {
	o.start()
	for {
		engine, changed, err := o.currentEngine()
		if !errors.Is(err, errLoading) {
			return engine, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, err
		}
	}
}

// awaitFit waits until the model is fitted to the measurements. That they are too few for
// a model, or that it cannot be fitted, is not an error.
func (o *openStudy) awaitFit(ctx context.Context) error {
	if _, err := o.awaitEngine(ctx); err != nil {
		return err
	}
	_, err := o.fitting.await(ctx, o.server, o.fit)
	if errors.Is(err, study.ErrNoModel) || errors.Is(err, study.ErrFit) {
		return nil
	}
	return err
}

// awaitPredictions waits for the predictions of all nodes.
func (o *openStudy) awaitPredictions(ctx context.Context) (*study.Predictions, error) {
	if _, err := o.awaitEngine(ctx); err != nil {
		return nil, err
	}
	return o.predicting.await(ctx, o.server, func() (p *study.Predictions, err error) {
		o.reportLearning(func() { p, err = o.Predictions(o.server.ctx) })
		return p, err
	})
}

// allowedNodes tells for each node whether it may be suggested; nil: all may.
func (o *openStudy) allowedNodes() []bool {
	settings := o.Settings()
	ids := o.net.Graph.IDs()
	if settings.Allowed == nil {
		if o.net.Nodes == nil {
			return nil
		}
		return o.net.Nodes.Allowed
	}
	allowed := make([]bool, ids.Len())
	for _, id := range settings.Allowed {
		if i, ok := ids.Lookup([]byte(id)); ok {
			allowed[i] = true
		}
	}
	return allowed
}

// seeksBest reports whether the goal is to maximize or minimize, with the sign that
// makes larger values better.
func seeksBest(g bayesopt.Goal) (sign float64, ok bool) {
	switch g {
	case bayesopt.Maximize:
		return 1, true
	case bayesopt.Minimize:
		return -1, true
	}
	return 0, false
}
