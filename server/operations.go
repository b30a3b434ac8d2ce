package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"grfgp/study"
)

// askPart is the largest number of nodes that one computation with a model suggests. An ask
// for more goes in parts, between which other asks have their turn.
const askPart = 50

// operation is an ask that goes on without its request. It can be watched and cancelled.
type operation struct {
	id      int
	request study.AskRequest
	begun   time.Time
	cancel  context.CancelFunc

	mu      sync.Mutex
	state   operationState
	ended   time.Time
	answer  study.Ask // what is reserved so far
	problem *problem
	changed chan struct{} // closed at the next change
}

// operationState says how far an operation is.
type operationState string

const (
	operationRunning   operationState = "running"
	operationDone      operationState = "done"
	operationFailed    operationState = "failed"
	operationCancelled operationState = "cancelled"
)

// operationView is an operation as the API shows it.
type operationView struct {
	Operation int            `json:"operation"`
	State     operationState `json:"state"`
	Count     int            `json:"count"`    // nodes asked for
	Reserved  int            `json:"reserved"` // nodes reserved so far
	Holder    string         `json:"holder,omitempty"`
	Begun     time.Time      `json:"begun"`
	Ended     *time.Time     `json:"ended,omitempty"`
	Problem   *problem       `json:"problem,omitempty"` // why it failed
	Answer    *study.Ask     `json:"answer,omitempty"`  // of one that has ended
}

// view returns the operation, and a channel that is closed when it changes.
func (op *operation) view() (operationView, <-chan struct{}) {
	op.mu.Lock()
	defer op.mu.Unlock()
	v := operationView{
		Operation: op.id, State: op.state, Count: op.request.Count, Reserved: len(op.answer.Trials), Holder: op.request.Holder, Begun: op.begun,
		Problem: op.problem,
	}
	if op.state != operationRunning {
		ended, answer := op.ended, op.answer
		v.Ended, v.Answer = &ended, &answer
	}
	return v, op.changed
}

// set changes the operation and wakes those who watch it.
func (op *operation) set(change func()) {
	op.mu.Lock()
	defer op.mu.Unlock()
	change()
	close(op.changed)
	op.changed = make(chan struct{})
}

// operations are those of a study: all that run, and the last that have ended.
type operations struct {
	mu   sync.Mutex
	last int
	all  []*operation
}

const (
	mostOperations  = 16 // that run at once, of a study
	keptOperations  = 50 // that have ended
	operationMemory = time.Hour
)

// askLater starts an ask in the background. The same key gets the same operation.
func (o *openStudy) askLater(r study.AskRequest) (*operation, error) {
	s := o.server
	ops := &o.operations
	ops.mu.Lock()
	defer ops.mu.Unlock()
	running := 0
	for _, op := range ops.all {
		v, _ := op.view()
		if v.State != operationRunning {
			continue
		}
		running++
		if r.Key != "" && op.request.Key == r.Key {
			if op.request.Count != r.Count || op.request.Holder != r.Holder {
				return nil, fmt.Errorf("%w: the key %q was used for another ask; use a new key", study.ErrConflict, r.Key)
			}
			return op, nil
		}
	}
	if running >= mostOperations {
		return nil, busy.because("%d operations of this study are under way already; try again soon", running).after(5)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	ops.last++
	op := &operation{id: ops.last, request: r, begun: s.opts.Now().UTC(), cancel: cancel, state: operationRunning,
		changed: make(chan struct{})}
	ops.all = append(ops.forgetEnded(s.opts.Now()), op)
	leave := o.use()
	s.background(func() {
		defer leave()
		defer cancel()
		o.operate(ctx, op)
	})
	return op, nil
}

// forgetEnded returns the operations without those that ended long ago.
func (ops *operations) forgetEnded(now time.Time) (kept []*operation) {
	ended := 0
	for k := len(ops.all) - 1; k >= 0; k-- {
		v, _ := ops.all[k].view()
		if v.State != operationRunning {
			if ended++; ended > keptOperations || now.Sub(*v.Ended) > operationMemory {
				continue
			}
		}
		kept = append([]*operation{ops.all[k]}, kept...)
	}
	return kept
}

// operate runs an operation to its end.
func (o *openStudy) operate(ctx context.Context, op *operation) {
	s := o.server
	var answer study.Ask
	err := safely(func() (err error) {
		if err := o.readyFor(ctx, op.request); err != nil {
			return err
		}
		answer, err = o.askInParts(ctx, op.request, func(a study.Ask) { op.set(func() { op.answer = a }) })
		return err
	})
	s.metrics.issued.Add(float64(len(answer.Trials)))
	op.set(func() {
		op.ended = s.opts.Now().UTC()
		switch {
		case err == nil:
			op.state, op.answer = operationDone, answer
		case ctx.Err() != nil:
			op.state = operationCancelled
		default:
			op.state, op.problem = operationFailed, s.problemOf(new(http.Request), err)
		}
	})
}

// askInParts reserves nodes; an ask for many that needs a model goes in parts.
func (o *openStudy) askInParts(ctx context.Context, r study.AskRequest, reserved func(study.Ask)) (study.Ask, error) {
	parts := study.Parts{Size: study.MaxCount, Reserved: reserved}
	if o.Settings().UsesModel() {
		parts.Size = askPart
	}
	parts.Before = func(ctx context.Context) error { return o.readyFor(ctx, r) }
	return o.AskInParts(ctx, r, parts)
}

// readyFor waits for what an ask needs: the graph, and the model.
func (o *openStudy) readyFor(ctx context.Context, r study.AskRequest) error {
	covered := false
	o.View(func(st *study.State) { covered = r.Nodes == nil && st.QueueCovers(r.Count) })
	switch known, may := o.mayIssue(r.Key); {
	case known, covered:
		return nil
	case may && r.Nodes == nil && o.Settings().UsesModel():
		return o.awaitFit(ctx)
	}
	_, err := o.awaitEngine(ctx)
	return err
}

// prefersAsync reports whether a request wants its answer later (RFC 7240).
func prefersAsync(r *http.Request) bool {
	for _, line := range r.Header.Values("Prefer") {
		for _, wish := range strings.Split(line, ",") {
			if name, _, _ := strings.Cut(strings.TrimSpace(wish), ";"); strings.EqualFold(strings.TrimSpace(name), "respond-async") {
				return true
			}
		}
	}
	return false
}

// sendOperation sends an operation that was accepted.
func (o *openStudy) sendOperation(w http.ResponseWriter, op *operation) error {
	w.Header().Set("Location", "/v1/studies/"+url.PathEscape(o.name)+"/operations/"+strconv.Itoa(op.id))
	w.Header().Set("Preference-Applied", "respond-async")
	v, _ := op.view()
	return respond(w, http.StatusAccepted, v)
}

func (s *Server) listOperations(w http.ResponseWriter, r *http.Request) error {
	q := only(r)
	o, err := s.named(r)
	if err = errors.Join(q.err, err); err != nil {
		return err
	}
	o.operations.mu.Lock()
	defer o.operations.mu.Unlock()
	all := []operationView{}
	for _, op := range o.operations.all {
		v, _ := op.view()
		v.Answer = nil // it may be large
		all = append(all, v)
	}
	return respond(w, http.StatusOK, map[string]any{"operations": all})
}

// operation returns the operation that the path of a request names.
func (s *Server) operation(r *http.Request) (*operation, error) {
	o, err := s.named(r)
	if err != nil {
		return nil, err
	}
	number, err := numbered(r, "n", "operation")
	if err != nil {
		return nil, err
	}
	o.operations.mu.Lock()
	defer o.operations.mu.Unlock()
	for _, op := range o.operations.all {
		if op.id == number {
			return op, nil
		}
	}
	return nil, notFound.because("there is no operation %d; operations that have ended are forgotten after an hour, and with a restart of "+
		"the server", number)
}

// showOperation sends an operation; with wait it waits for the next change.
func (s *Server) showOperation(w http.ResponseWriter, r *http.Request) error {
	q := only(r, "wait")
	wait := time.Duration(0)
	if text := q.text("wait"); text != "" && q.err == nil {
		var err error
		if wait, err = time.ParseDuration(text); err != nil || wait < 0 {
			return malformed.because("wait is a duration such as 5s, not %q", text)
		}
	}
	op, err := s.operation(r)
	if err = errors.Join(q.err, err); err != nil {
		return err
	}
	v, changed := op.view()
	if wait > 0 && v.State == operationRunning {
		select {
		case <-changed:
		case <-time.After(min(wait, s.opts.Limits.Patience)):
		case <-r.Context().Done():
			return r.Context().Err()
		case <-s.stopping:
		}
		v, _ = op.view()
	}
	return respond(w, http.StatusOK, v)
}

// cancelOperation ends an operation. Nodes that it has reserved stay reserved.
func (s *Server) cancelOperation(w http.ResponseWriter, r *http.Request) error {
	op, err := s.operation(r)
	if err != nil {
		return err
	}
	op.cancel()
	for v, changed := op.view(); v.State == operationRunning; v, changed = op.view() {
		select {
		case <-changed:
		case <-r.Context().Done():
			return r.Context().Err()
		}
	}
	v, _ := op.view()
	return respond(w, http.StatusOK, v)
}

// giveBack releases nodes that were reserved for a client that went away.
func (o *openStudy) giveBack(a study.Ask) {
	if len(a.Trials) == 0 {
		return
	}
	const atOnce = 64
	queue := make(chan int)
	var wg sync.WaitGroup
	for range min(atOnce, len(a.Trials)) {
		wg.Go(func() {
			for trial := range queue {
				if _, err := o.Release(o.server.ctx, trial, a.Holder); err != nil && o.server.ctx.Err() == nil {
					o.server.log.Warn("cannot release a node of a client that went away", "study", o.name, "trial", trial, "error", err)
				}
			}
		})
	}
	for _, i := range a.Trials {
		queue <- i.Trial
	}
	close(queue)
	wg.Wait()
}
