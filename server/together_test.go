package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/graphio"
	"grfgp/internal/testkit"
	"grfgp/server"
	"grfgp/study"
)

// asked is an answer to an ask.
type asked struct {
	Seq    int64
	Short  string
	Trials []struct {
		Trial int
		Node  string
	}
}

// together runs f for many clients at once and returns their first errors.
func together(clients int, f func(c int) error) []error {
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() { errs[c] = f(c) })
	}
	wg.Wait()
	return slices.DeleteFunc(errs, func(err error) bool { return err == nil })
}

// One key, many times at once: one effect, equal answers.
func TestOneKeyManyTimes(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(50)
	const times = 32
	for what, request := range map[string]struct{ path, body string }{
		"ask":     {"/v1/studies/s/asks", `{"count":3,"holder":"anna"}`},
		"observe": {"/v1/studies/s/observations", `{"observations":[{"node":"n1","value":1},{"node":"n2","value":2}]}`},
	} {
		answers := make([]string, times)
		for _, err := range together(times, func(c int) error {
			a, err := h.Try("POST", request.path, request.body, with("Idempotency-Key: "+what))
			answers[c] = fmt.Sprint(a.Status, string(a.Body))
			return err
		}) {
			t.Fatal(err)
		}
		if same := slices.Compact(slices.Clone(answers)); len(same) != 1 || same[0][:3] != "201" {
			t.Errorf("%s: %d different answers, the first %s", what, len(same), same[0])
		}
	}
	var view struct {
		Seq    int64
		Values int
		Trials map[string]int
	}
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Seq != 3 || view.Values != 2 || view.Trials["pending"] != 3 {
		t.Errorf("more than one effect: %+v", view)
	}
	h.refused("conflict", 409, "POST", "/v1/studies/s/asks", `{"count":4,"holder":"anna"}`, "Idempotency-Key: ask")
	h.refused("conflict", 409, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":7}]}`, "Idempotency-Key: observe")
}

// Many clients ask and tell at once: no node twice, and the budget to the last
// trial.
func TestManyClients(t *testing.T) {
	t.Parallel()
	clients, asks := testkit.Size(16, 64), testkit.Size(20, 50)
	budget := float64(clients*asks) - 13
	h := newHost(t)
	h.Create(clients*asks+100, func(s *study.Settings) { s.Budget = &budget })
	var mu sync.Mutex
	seen := map[string]int{}
	short := 0
	for _, err := range together(clients, func(c int) error {
		for k := range asks {
			a, err := h.Try("POST", "/v1/studies/s/asks", map[string]any{"holder": fmt.Sprint(c)}, with(fmt.Sprintf("Idempotency-Key: %d-%d", c, k)))
			var got asked
			if err != nil || a.Status/100 != 2 || json.Unmarshal(a.Body, &got) != nil {
				return fmt.Errorf("ask: %d %s %v", a.Status, a.Body, err)
			}
			mu.Lock()
			for _, trial := range got.Trials {
				seen[trial.Node]++
			}
			if got.Short != "" {
				short++
			}
			mu.Unlock()
			for _, trial := range got.Trials {
				a, err := h.Try("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", trial.Trial), map[string]any{"value": float64(trial.Trial)})
				if err != nil || a.Status != 200 {
					return fmt.Errorf("tell: %d %s %v", a.Status, a.Body, err)
				}
			}
		}
		return nil
	}) {
		t.Fatal(err)
	}
	for node, n := range seen {
		if n != 1 {
			t.Errorf("node %s was handed out %d times", node, n)
		}
	}
	if len(seen) != int(budget) || short != 13 {
		t.Errorf("%d trials of a budget of %v, and %d asks that got none", len(seen), budget, short)
	}
	var view struct {
		Left   float64
		Trials map[string]int
	}
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Left != 0 || view.Trials["done"] != int(budget) {
		t.Errorf("%+v", view)
	}
}

// A lease runs out: the node is handed out again, and both results are kept.
func TestLeaseRunsOut(t *testing.T) {
	t.Parallel()
	c := newClock()
	h := newHost(t, func(o *server.Options) { o.Now = c.Now })
	h.Create(1)
	var first, second, third asked
	h.Must("POST", "/v1/studies/s/asks", `{"holder":"anna","lease":"1h"}`, &first)
	if h.Must("POST", "/v1/studies/s/asks", `{"holder":"ben"}`, &third); third.Short != "no_allowed_nodes" || len(third.Trials) != 0 {
		t.Fatalf("a reserved node was handed out: %+v", third)
	}
	c.Pass(59 * time.Minute)
	h.Must("POST", "/v1/studies/s/trials/1/lease", `{"lease":"2h"}`, nil)
	c.Pass(119 * time.Minute)
	h.Must("POST", "/v1/studies/s/asks", `{"holder":"ben"}`, &third)
	if len(third.Trials) != 0 {
		t.Fatalf("a renewed lease did not hold: %+v", third)
	}
	c.Pass(time.Minute)
	h.Must("POST", "/v1/studies/s/asks", `{"holder":"ben"}`, &second)
	if len(second.Trials) != 1 || second.Trials[0].Node != first.Trials[0].Node || second.Trials[0].Trial == first.Trials[0].Trial {
		t.Fatalf("after the lease: %+v", second)
	}
	h.refused("conflict", 409, "POST", "/v1/studies/s/trials/1/lease", nil)
	var late, usual struct {
		State string
		Late  bool
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, &late)
	h.Must("PUT", "/v1/studies/s/trials/2/result", `{"value":2}`, &usual)
	if late.State != "done" || !late.Late || usual.State != "done" || usual.Late {
		t.Errorf("late %+v, usual %+v", late, usual)
	}
	var list struct{ Total int }
	if h.Must("GET", "/v1/studies/s/observations", nil, &list); list.Total != 2 {
		t.Errorf("%d values", list.Total)
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, nil)
	h.refused("conflict", 409, "PUT", "/v1/studies/s/trials/1/result", `{"value":3}`)
}

// Leases end by themselves, so that lists show it.
func TestLeasesEndByThemselves(t *testing.T) {
	t.Parallel()
	c := newClock()
	h := newHost(t, func(o *server.Options) { o.Now = c.Now })
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", `{"lease":"1h"}`, nil)
	s := h.stream("s", "2")
	c.Pass(2 * time.Hour)
	if e := s.nextEvent(); e.Kind() != "expired" {
		t.Errorf("event %s", e.Kind())
	}
}

// Fifty asks are the same with and without a restart between them, by the real
// engine.
func TestRestartChangesNothing(t *testing.T) {
	t.Parallel()
	asks := testkit.Size(16, 50)
	truth := func(node string) float64 {
		var k int
		fmt.Sscanf(node, "n%d", &k)
		return float64((k*k)%31) / 10
	}
	run := func(restartAt int) []string {
		place := filepath.Join(t.TempDir(), "s.db")
		clock := newClock() // events hold times
		start := func() *host {
			return newHost(t, func(o *server.Options) { o.Store, o.NewEngine, o.Now = openStore(t, place), nil, clock.Now })
		}
		h := start()
		h.Create(60)
		var nodes []string
		for k := range asks {
			if k == restartAt {
				h.Close()
				h.Store.Close()
				h = start()
			}
			var a asked
			h.Must("POST", "/v1/studies/s/asks", nil, &a)
			nodes = append(nodes, a.Trials[0].Node)
			h.Must("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", a.Trials[0].Trial), map[string]any{"value": truth(a.Trials[0].Node)}, nil)
		}
		return append(nodes, string(h.Must("GET", "/v1/studies/s/export", nil, nil).Body))
	}
	straight, restarted := run(-1), run(asks/2)
	for k := range straight {
		if straight[k] != restarted[k] {
			t.Fatalf("ask %d:\n%s\nwith a restart\n%s", k+1, straight[k], restarted[k])
		}
	}
}

// An exported study goes on elsewhere as it would have here.
func TestExportImport(t *testing.T) {
	t.Parallel()
	clock := newClock()
	h := newHost(t, func(o *server.Options) { o.NewEngine, o.Now = nil, clock.Now })
	h.Create(40)
	h.Observe(five)
	h.Must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	h.Must("PUT", "/v1/studies/s/trials/2/result", `{"value":4}`, nil)
	archive := h.Must("GET", "/v1/studies/s/export", nil, nil).Body
	there := newHost(t, func(o *server.Options) { o.NewEngine, o.Now = nil, clock.Now })
	there.Must("POST", "/v1/imports", archive, nil)
	if again := there.Must("GET", "/v1/studies/s/export", nil, nil).Body; string(again) != string(archive) {
		t.Error("the export of the import is another file")
	}
	var here, elsewhere asked
	h.Must("POST", "/v1/studies/s/asks", `{"count":4}`, &here)
	there.Must("POST", "/v1/studies/s/asks", `{"count":4}`, &elsewhere)
	if fmt.Sprint(here) != fmt.Sprint(elsewhere) {
		t.Errorf("here %v, there %v", here, elsewhere)
	}
	there.refused("conflict", 409, "POST", "/v1/imports", archive)
	there.Must("POST", "/v1/imports?name=copy", archive, nil)
	there.refused("bad-data", 422, "POST", "/v1/imports?name=cut", archive[:len(archive)-10])
	there.refused("bad-data", 422, "POST", "/v1/imports?name=forged",
		[]byte(string(archive[:len(archive)/2])+"x"+string(archive[len(archive)/2+1:])))
	there.refused("invalid", 400, "POST", "/v1/imports?name=a/b", archive)
	bare := h.Must("GET", "/v1/studies/s/export?graph=no", nil, nil).Body
	there.Must("POST", "/v1/imports?name=bare", bare, nil)
	newHost(t).refused("not-found", 404, "POST", "/v1/imports", bare)
}

// While the graph is loaded or the model learns, nobody waits forever and nothing
// is lost: results are taken, asks are told to come back.
func TestNotReadyYet(t *testing.T) {
	t.Parallel()
	made, learned := make(chan struct{}), make(chan struct{})
	place := filepath.Join(t.TempDir(), "s.db")
	kept := openStore(t, place)
	before := newHost(t, func(o *server.Options) { o.Store = kept })
	before.Create(30)
	before.Must("POST", "/v1/studies/s/asks", `{"count":6}`, nil)
	before.Close()
	h := newHost(t, func(o *server.Options) {
		o.Store, o.Limits.Patience = kept, 50*time.Millisecond
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			<-made
			e, err := newSimple(net, s)
			return slowEngine{e, learned}, err
		}
	})
	events := h.stream("s", "2")
	engine := func(state string) {
		t.Helper()
		for {
			e, ok := events.next()
			if !ok {
				t.Fatalf("the stream ended before the engine was %s", state)
			}
			var status struct{ State string }
			if e.kind == "engine" && json.Unmarshal([]byte(e.data), &status) == nil && status.State == state {
				return
			}
		}
	}
	engine("loading")
	for _, path := range []string{"predictions", "candidates", "map?wait=yes", "calibration"} {
		h.refused("loading", 503, "GET", "/v1/studies/s/"+path, nil)
	}
	h.refused("loading", 503, "POST", "/v1/studies/s/observations", `{"observations":[{"node":"n1","value":1}]}`)
	h.refused("loading", 503, "POST", "/v1/studies/s/asks", nil)
	for k := range 6 {
		h.Must("PUT", fmt.Sprintf("/v1/studies/s/trials/%d/result", k+1), map[string]any{"value": k}, nil)
	}
	close(made)
	engine("learning")
	a := h.Do("POST", "/v1/studies/s/asks", nil)
	if p := h.problem(a); p.Type != "urn:grfgp:problem:loading" || a.Header.Get("Retry-After") == "" {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	var view struct{ Trials map[string]int }
	if h.Must("GET", "/v1/studies/s", nil, &view); view.Trials["pending"] != 0 {
		t.Errorf("nodes are reserved for nobody: %v", view.Trials)
	}
	if a := h.Do("GET", "/v1/studies/s/map", nil); a.Status != 200 || len(readColumns(t, a.Body).counts["mean"]) != 0 {
		t.Errorf("the map has to wait for the model: %d", a.Status)
	}
	close(learned)
	engine("ready")
	for path, method := range map[string]string{"asks": "POST", "predictions": "GET"} {
		eventually(t, func() bool { return h.Do(method, "/v1/studies/s/"+path, nil).Status/100 == 2 }) // 503 where 50 ms do not suffice
	}
}

// slowEngine learns when it is let.
type slowEngine struct {
	study.Engine
	let chan struct{}
}

func (e slowEngine) Fit(ctx context.Context, r []study.Measurement) (study.Snapshot, error) {
	select {
	case <-e.let:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	return e.Engine.Fit(ctx, r)
}

// brokenEngine breaks on every value.
type brokenEngine struct{ study.Engine }

func (brokenEngine) Fit(context.Context, []study.Measurement) (study.Snapshot, error) {
	panic("out of order")
}

// A study that cannot be worked on does not end the server for others.
func TestOneStudyBreaks(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) {
		o.NewEngine = func(net *graphio.Network, s study.Settings) (study.Engine, error) {
			e, err := newSimple(net, s)
			if s.Name == "s" {
				e = brokenEngine{e}
			}
			return e, err
		}
	})
	h.Create(10)
	h.Must("POST", "/v1/studies", study.Settings{Name: "well", Graph: h.PutRing(10)}, nil)
	h.Must("POST", "/v1/studies/s/asks", nil, nil) // at random
	h.refused("no-fit", 409, "GET", "/v1/studies/s/predictions", nil)
	h.Must("POST", "/v1/studies/well/asks", nil, nil)
	if !strings.Contains(h.Log.String(), "out of order") {
		t.Error("the log does not say why")
	}
}
