package server_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/graphio"
	"grfgp/server"
	"grfgp/study"
)

// haltingEngine suggests as many nodes as it is let.
type haltingEngine struct {
	study.Engine
	let     chan struct{} // one for each node; closed: all
	largest *atomic.Int64 // number of nodes that were wanted at once
}

func (e haltingEngine) Suggest(ctx context.Context, q study.Query) (study.Suggestions, error) {
	for was := e.largest.Load(); int64(q.Count) > was && !e.largest.CompareAndSwap(was, int64(q.Count)); was = e.largest.Load() {
	}
	for range q.Count {
		select {
		case <-e.let:
		case <-ctx.Done():
			return study.Suggestions{}, ctx.Err()
		}
	}
	return e.Engine.Suggest(ctx, q)
}

// newSlow is a host whose engine waits for every node.
func newSlow(t *testing.T, nodes int, change ...func(*server.Options)) (*host, haltingEngine) {
	t.Helper()
	slow := haltingEngine{let: make(chan struct{}), largest: new(atomic.Int64)}
	h := newHost(t, append(change, func(o *server.Options) {
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			e, err := newSimple(net, s)
			return haltingEngine{e, slow.let, slow.largest}, err
		}
	})...)
	h.Create(nodes)
	return h, slow
}

type operationShown struct {
	Operation       int
	State           string
	Count, Reserved int
	Answer          *asked
}

// A long ask is an operation: it goes on without its request, is watched, lets other asks in
// between, and is there again by its key.
func TestAskAsOperation(t *testing.T) {
	t.Parallel()
	h, slow := newSlow(t, 1000)
	async := []with{"Prefer: respond-async", "Idempotency-Key: big"}
	var op operationShown
	a := h.Must("POST", "/v1/studies/s/asks", `{"count":500,"holder":"anna"}`, &op, async...)
	if a.Status != http.StatusAccepted || op.State != "running" || op.Count != 500 || op.Reserved != 0 {
		t.Fatalf("%d, %+v", a.Status, op)
	}
	at := a.Header.Get("Location")
	if same := (operationShown{}); h.Must("POST", "/v1/studies/s/asks", `{"count":500,"holder":"anna"}`, &same,
		async...).Status != http.StatusAccepted || same.Operation != op.Operation {
		t.Errorf("the same key: %+v", same)
	}
	h.refused("conflict", 409, "POST", "/v1/studies/s/asks", `{"count":501,"holder":"anna"}`, async...)
	for range 60 {
		slow.let <- struct{}{}
	}
	for op.Reserved < 50 {
		h.Must("GET", at+"?wait=1ms", nil, &op)
	}
	if op.State != "running" || op.Answer != nil {
		t.Errorf("%+v", op)
	}
	small := make(chan error, 1)
	go func() {
		a, err := h.Try("POST", "/v1/studies/s/asks", `{"count":1}`)
		if err == nil && a.Status != http.StatusCreated {
			err = fmt.Errorf("%d %s", a.Status, a.Body)
		}
		small <- err
	}()
	eventually(t, func() bool { requests, _ := h.Server.Taken(); return requests == 1 }) // it is on its way
	for answered := false; !answered; {                                                  // long before the operation has ended
		select {
		case slow.let <- struct{}{}:
			h.Must("GET", at, nil, nil)
		case err := <-small:
			if err != nil {
				t.Error(err)
			}
			answered = true
		}
	}
	h.Must("GET", at, nil, &op)
	if op.Reserved > 450 {
		t.Errorf("a small ask waited for %d nodes of the other", op.Reserved)
	}
	close(slow.let)
	for op.State == "running" {
		h.Must("GET", at+"?wait=5s", nil, &op)
	}
	if op.State != "done" || op.Answer == nil || len(op.Answer.Trials) != 500 {
		t.Fatalf("%+v", op)
	}
	if n := slow.largest.Load(); n > 50 {
		t.Errorf("%d nodes were wanted at once", n)
	}
	var again asked
	if h.Must("POST", "/v1/studies/s/asks", `{"count":500,"holder":"anna"}`, &again, with("Idempotency-Key: big")); len(again.Trials) != 500 ||
		again.Trials[499] != op.Answer.Trials[499] {
		t.Errorf("the same key without an operation: %d trials", len(again.Trials))
	}
	var list struct{ Operations []operationShown }
	if h.Must("GET", "/v1/studies/s/operations", nil, &list); len(list.Operations) != 1 || list.Operations[0].Answer != nil {
		t.Errorf("%+v", list)
	}
	h.refused("not-found", 404, "GET", "/v1/studies/s/operations/7", nil)
	h.refused("malformed", 400, "GET", at+"?wait=soon", nil)
}

// An operation that is cancelled ends, and says what it has reserved.
func TestCancelOperation(t *testing.T) {
	t.Parallel()
	h, slow := newSlow(t, 1000)
	var op operationShown
	at := h.Must("POST", "/v1/studies/s/asks", `{"count":200}`, &op, "Prefer: respond-async").Header.Get("Location")
	for range 70 {
		slow.let <- struct{}{}
	}
	if h.Must("DELETE", at, nil, &op); op.State != "cancelled" || op.Answer == nil || len(op.Answer.Trials) != 50 {
		t.Errorf("%+v", op)
	}
	var view struct{ Trials map[string]int }
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Trials["pending"] != 50 {
		t.Errorf("%+v", view)
	}
}

// An ask does not wait for another longer than the server is patient.
func TestAskIsNotBlocked(t *testing.T) {
	t.Parallel()
	h, slow := newSlow(t, 1000, func(o *server.Options) { o.Limits.Patience = 50 * time.Millisecond })
	h.Must("POST", "/v1/studies/s/asks", `{"count":500}`, nil, "Prefer: respond-async")
	slow.let <- struct{}{} // it is at work
	h.refused("loading", 503, "POST", "/v1/studies/s/asks", `{"count":1}`)
	close(slow.let)
}

// Nodes of many that were reserved for a client that went away are given back, unless it can
// ask for them again by its key.
func TestClientOfManyGoesAway(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"": "released", "mine": "pending"} {
		h, slow := newSlow(t, 1000)
		ctx, cancel := context.WithCancel(t.Context())
		req := h.Request("POST", "/v1/studies/s/asks", `{"count":500}`).WithContext(ctx)
		if key != "" {
			req.Header.Set("Idempotency-Key", key)
		}
		gone := make(chan struct{})
		go func() {
			defer close(gone)
			if resp, err := h.HTTP.Client().Do(req); err == nil {
				resp.Body.Close()
			}
		}()
		for range 120 {
			slow.let <- struct{}{}
		}
		cancel()
		<-gone
		var view struct{ Trials map[string]int }
		eventually(t, func() bool {
			h.Must("GET", "/v1/studies/s", nil, &view)
			return view.Trials[want] == 100
		})
	}
}
