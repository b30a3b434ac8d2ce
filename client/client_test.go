package client_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"grfgp/bayesopt"
	"grfgp/client"
	"grfgp/client/local"
	"grfgp/covariate"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

var (
	_ client.Studies = (*client.Client)(nil)
	_ client.Studies = (*local.Studies)(nil)
)

// serve starts a server in memory and returns its URL.
func serve(t testing.TB, change func(*server.Options)) string {
	t.Helper()
	kept, err := store.Open(t.Context(), store.Memory, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	opts := server.Options{Store: kept}
	if change != nil {
		change(&opts)
	}
	s := server.New(opts)
	h := httptest.NewServer(s)
	t.Cleanup(func() {
		h.Close()
		s.Close()
		kept.Close()
	})
	return h.URL
}

func connect(t testing.TB, url string, opts client.Options) *client.Client {
	t.Helper()
	c, err := client.New(url, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ring returns the packed graph of a ring, and settings of a study on it.
func ring(t testing.TB, n int) ([]byte, study.Settings) {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := graphio.Encode(graphio.NewNetwork(g, nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	settings, err := study.Settings{Name: "ring", Graph: "any", Goal: bayesopt.Maximize, Seed: 1}.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return packed, settings
}

// A study behaves alike on a server and in a store of this process.
func TestStudiesBehaveAlike(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(t *testing.T) client.Studies{
		"server": func(t *testing.T) client.Studies { return connect(t, serve(t, nil), client.Options{}) },
		"store": func(t *testing.T) client.Studies {
			all, err := local.Open(t.Context(), store.Memory, local.Options{})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { all.Close() })
			return all
		},
	} {
		t.Run(name, func(t *testing.T) { studyContract(t, open(t)) })
	}
}

func studyContract(t *testing.T, all client.Studies) {
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := all.Study(ctx, "ring"); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("a study that does not exist: %v", err)
	}
	packed, settings := ring(t, 20)
	for _, want := range []bool{true, false} {
		isNew, err := all.Create(ctx, settings, packed, "anna")
		if err != nil || isNew != want {
			t.Fatalf("new: %v, want %v; %v", isNew, want, err)
		}
	}
	other := settings
	other.Seed++
	if _, err := all.Create(ctx, other, packed, "anna"); !errors.Is(err, study.ErrConflict) {
		t.Errorf("other settings: %v", err)
	}
	s, err := all.Study(ctx, "ring")
	must(err)
	if net, err := s.Network(ctx); err != nil || net.Graph.Len() != 20 {
		t.Errorf("the graph: %v", err)
	}
	if _, err := s.Observe(ctx, "first", []study.Measurement{{Node: "0", Value: 1}, {Node: "5", Value: 2}}, "", "anna"); err != nil {
		t.Fatal(err)
	}
	ask, err := s.Ask(ctx, study.AskRequest{Count: 3, Holder: "anna", Key: "one"})
	must(err)
	again, err := s.Ask(ctx, study.AskRequest{Count: 3, Holder: "anna", Key: "one"})
	must(err)
	if len(ask.Trials) != 3 || fmt.Sprint(nodes(ask)) != fmt.Sprint(nodes(again)) {
		t.Errorf("%v, then %v under the same key", nodes(ask), nodes(again))
	}
	first := ask.Trials[0].Trial
	for range 2 {
		if trial, err := s.Tell(ctx, first, study.Outcome{Value: 7}, "anna"); err != nil || trial.State != study.TrialDone {
			t.Fatalf("%+v, %v", trial, err)
		}
	}
	if _, err := s.Tell(ctx, first, study.Outcome{Value: 8}, "anna"); !errors.Is(err, study.ErrConflict) {
		t.Errorf("another value: %v", err)
	}
	if _, err := s.Observe(ctx, "", []study.Measurement{{Node: "nowhere", Value: 1}}, "", ""); !errors.Is(err, study.ErrUnknownNode) {
		t.Errorf("an unknown node: %v", err)
	}
	if _, err := s.Renew(ctx, ask.Trials[1].Trial, 72*time.Hour, "anna"); err != nil {
		t.Error(err)
	}
	if _, err := s.Release(ctx, ask.Trials[1].Trial, "anna"); err != nil {
		t.Error(err)
	}
	if _, err := s.Abandon(ctx, ask.Trials[2].Trial, "flooded", "anna"); err != nil {
		t.Error(err)
	}
	must(s.Pause(ctx, "lunch", "anna"))
	if a, err := s.Ask(ctx, study.AskRequest{Count: 1}); err != nil || a.Short != study.ReasonPaused {
		t.Errorf("%+v, %v from a paused study", a, err)
	}
	must(s.Resume(ctx, "anna"))
	if v, err := s.Retract(ctx, 1, "broken sensor", "anna"); err != nil || !v.Retracted {
		t.Errorf("%+v, %v", v, err)
	}
	shown, err := s.Show(ctx)
	must(err)
	if shown.Values != 2 || shown.Best == nil || shown.Best.Value != 7 || len(shown.AllTrials) != 3 || len(shown.Observations) != 3 ||
		shown.Goal != "maximize" {
		t.Errorf("%+v", shown)
	}
	for _, suggestions := range []bool{false, true} {
		if v, err := s.Verify(ctx, suggestions, nil); err != nil || int64(v.Events) != shown.Events {
			t.Errorf("%+v, %v; want %d events", v, err, shown.Events)
		}
	}
	var file bytes.Buffer
	must(s.Export(ctx, &file, true))
	if name, err := all.Import(ctx, &file, "copy"); err != nil || name != "copy" {
		t.Errorf("imported as %q, %v", name, err)
	}
	covariateContract(t, all)
	lifeContract(t, all, s)
	must(s.Close(ctx, "done", "anna"))
	list, err := all.List(ctx, false)
	must(err)
	if len(list) != 3 || list[0].Name != "copy" || list[0].Status != study.StatusOpen || list[2].Status != study.StatusClosed ||
		list[2].Events <= shown.Events {
		t.Errorf("%+v", list)
	}
}

// lifeContract changes the study s, queues nodes, archives, and deletes the copy of it.
func lifeContract(t *testing.T, all client.Studies, s client.Study) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now, err := s.Change(ctx, []byte(`{"budget": 30, "lease": "2h", "spec": {"rank": 7}}`), "more money", "anna")
	if err != nil || now.Budget == nil || *now.Budget != 30 || now.Spec.Rank != 7 || s.Settings().Spec.Rank != 7 {
		t.Fatalf("%+v, %v", now, err)
	}
	for patch, want := range map[string]error{`{"name": "x"}`: study.ErrInvalid, `{"spec": {"method": "nonsense"}}`: study.ErrInvalid,
		`{"covariates": ["depth"]}`: study.ErrInvalid, `{`: study.ErrInvalid} {
		if _, err := s.Change(ctx, []byte(patch), "", ""); !errors.Is(err, want) {
			t.Errorf("%s: %v", patch, err)
		}
	}
	shown, err := s.Show(ctx)
	must(err)
	var free []string // nodes that nobody has asked for or measured
	for i := 0; len(free) < 4; i++ {
		node := fmt.Sprint(i)
		if !slices.ContainsFunc(shown.AllTrials, func(t study.Trial) bool { return t.Node == node }) &&
			!slices.ContainsFunc(shown.Observations, func(v study.Record) bool { return v.Node == node }) {
			free = append(free, node)
		}
	}
	if q, err := s.Queue(ctx, []string{free[0], free[1]}, "near the valve", "ben"); err != nil || len(q) != 2 || q[0].Cost != 1 {
		t.Fatalf("%+v, %v", q, err)
	}
	if q, err := s.Unqueue(ctx, []string{free[1]}, "ben"); err != nil || len(q) != 1 {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err := s.Queue(ctx, nil, "", ""); err != nil || len(q) != 1 || q[0].Node != free[0] {
		t.Errorf("%+v, %v", q, err)
	}
	ask, err := s.Ask(ctx, study.AskRequest{Count: 2, Holder: "carla"})
	if err != nil || ask.Trials[0].Node != free[0] || ask.Trials[0].Why != "queued by ben: near the valve" {
		t.Errorf("%+v, %v", ask, err)
	}
	mine := free[2]
	if ask.Trials[1].Node == mine {
		mine = free[3]
	}
	own, err := s.Ask(ctx, study.AskRequest{Nodes: []string{mine}, Holder: "carla"})
	if err != nil || nodes(own)[0] != mine || own.Trials[0].Why != "chosen by carla" {
		t.Errorf("%+v, %v", own, err)
	}
	if _, err := s.Ask(ctx, study.AskRequest{Nodes: []string{mine}, Holder: "ben"}); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a reserved node: %v", err)
	}
	if v, err := s.Verify(ctx, true, nil); err != nil || v.Suggestions == 0 {
		t.Errorf("%+v, %v", v, err)
	}
	must(s.Archive(ctx, "done", "anna"))
	if _, err := s.Tell(ctx, own.Trials[0].Trial, study.Outcome{Value: 1}, ""); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a result for an archived study: %v", err)
	}
	count := func(archived bool) int {
		list, err := all.List(ctx, archived)
		must(err)
		return len(list)
	}
	if count(true) != count(false)+1 {
		t.Errorf("%d studies, %d with archived ones", count(false), count(true))
	}
	must(s.Restore(ctx, "anna"))
	must(s.Archive(ctx, "", "anna"))
	must(s.Restore(ctx, "anna"))

	packed, settings := ring(t, 33)
	settings.Name = "short-lived"
	if _, err := all.Create(ctx, settings, packed, ""); err != nil {
		t.Fatal(err)
	}
	graphs, err := all.Graphs(ctx)
	must(err)
	at := slices.IndexFunc(graphs, func(g client.Graph) bool { return slices.Equal(g.Studies, []string{"short-lived"}) })
	if at < 0 {
		t.Fatalf("%+v", graphs)
	}
	if err := all.DeleteGraph(ctx, graphs[at].ID); !errors.Is(err, study.ErrConflict) {
		t.Errorf("a graph in use: %v", err)
	}
	must(all.Delete(ctx, "short-lived", "anna"))
	if err := all.Delete(ctx, "short-lived", "anna"); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := all.Study(ctx, "short-lived"); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("a deleted study: %v", err)
	}
	must(all.DeleteGraph(ctx, graphs[at].ID))
	if isNew, err := all.Create(ctx, settings, packed, ""); err != nil || !isNew {
		t.Errorf("created again: %v, %v", isNew, err)
	}
	must(all.Delete(ctx, "short-lived", ""))
}

// covariateContract creates a study "known" on a ring whose nodes have a column "depth".
func covariateContract(t *testing.T, all client.Studies) {
	t.Helper()
	ctx := t.Context()
	g, err := graph.Ring(20)
	if err != nil {
		t.Fatal(err)
	}
	depth := make([]float64, 20)
	for i := range depth {
		depth[i] = float64(i * 7 % 20)
	}
	table := &graphio.NodeTable{IDs: g.IDs(), Columns: []covariate.Column{covariate.NewNumbers("depth", depth)}}
	packed, err := graphio.Encode(graphio.NewNetwork(g, table, nil))
	if err != nil {
		t.Fatal(err)
	}
	_, settings := ring(t, 20)
	settings.Name, settings.Covariates, settings.Spec.Roles = "known", []string{"deepth"}, "none"
	if _, err := all.Create(ctx, settings, packed, "anna"); !errors.Is(err, study.ErrInvalid) ||
		!strings.Contains(err.Error(), `did you mean "depth"`) {
		t.Errorf("an unknown column: %v", err)
	}
	if _, err := all.Study(ctx, "known"); !errors.Is(err, study.ErrNotFound) {
		t.Errorf("a refused study exists: %v", err)
	}
	settings.Covariates = []string{"depth"}
	for _, want := range []bool{true, false} {
		if isNew, err := all.Create(ctx, settings, packed, "anna"); err != nil || isNew != want {
			t.Fatalf("new: %v, want %v; %v", isNew, want, err)
		}
	}
	s, err := all.Study(ctx, "known")
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Settings(); !slices.Equal(got.Covariates, settings.Covariates) || got.Spec.Roles != "none" {
		t.Errorf("%+v", got)
	}
	for range 6 {
		ask, err := s.Ask(ctx, study.AskRequest{Count: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, trial := range ask.Trials {
			i, _ := g.IDs().Lookup([]byte(trial.Node))
			if _, err := s.Tell(ctx, trial.Trial, study.Outcome{Value: depth[i] * depth[i]}, "anna"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if v, err := s.Verify(ctx, true, nil); err != nil || v.Suggestions != 6 {
		t.Errorf("%+v, %v", v, err)
	}
}

func nodes(a study.Ask) (ids []string) {
	for _, t := range a.Trials {
		ids = append(ids, t.Node)
	}
	return ids
}

func TestNewRefusesURLs(t *testing.T) {
	t.Parallel()
	for address, use := range map[string]string{
		"": "", "127.0.0.1:8080": "", "ftp://127.0.0.1": "", "http://": "", "http://anna:secret@127.0.0.1": "", "http://127.0.0.1/?a=b": "",
		"http://127.0.0.1:8080/v1/": "http://127.0.0.1:8080",
	} {
		_, err := client.New(address, client.Options{})
		var bad *client.URLError
		if !errors.As(err, &bad) || bad.Use != use {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	foreign := httptest.NewServer(http.NotFoundHandler())
	defer foreign.Close()
	for address, want := range map[string]error{
		"http://127.0.0.1:9": client.ErrUnreachable,
		foreign.URL:          client.ErrForeign,
		strings.Replace(serve(t, nil), "http:", "https:", 1): client.ErrScheme,
	} {
		_, err := connect(t, address, client.Options{}).List(t.Context(), false)
		var lost *client.ConnectionError
		if !errors.As(err, &lost) || lost.URL != address || !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", address, err, want)
		}
	}
}

func TestProblems(t *testing.T) {
	t.Parallel()
	url := serve(t, func(o *server.Options) { o.Token, o.ReadOnly = "correct-horse-battery", true })
	kind := func(token string, do func(*client.Client) error) string {
		var p *client.Problem
		if err := do(connect(t, url, client.Options{Token: token})); !errors.As(err, &p) {
			t.Fatalf("%v", err)
		}
		return p.Kind
	}
	list := func(c *client.Client) error { _, err := c.List(t.Context(), false); return err }
	if got := kind("", list); got != client.KindUnauthorized {
		t.Errorf("no token: %s", got)
	}
	packed, settings := ring(t, 5)
	create := func(c *client.Client) error { _, err := c.Create(t.Context(), settings, packed, ""); return err }
	if got := kind("correct-horse-battery", create); got != client.KindReadOnly {
		t.Errorf("a read-only server: %s", got)
	}
}

// breaking is a transport that loses the first answers.
type breaking struct {
	lose int
	keys []string
}

func (b *breaking) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if r.Method == http.MethodPost {
		b.keys = append(b.keys, r.Header.Get("Idempotency-Key"))
		if b.lose > 0 && err == nil {
			b.lose--
			resp.Body.Close()
			return nil, errors.New("the cable was pulled")
		}
	}
	return resp, err
}

// An ask whose answer was lost is sent again under its key: nodes are reserved
// once. A command without a key is not repeated.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	url := serve(t, nil)
	packed, settings := ring(t, 20)
	if _, err := connect(t, url, client.Options{}).Create(t.Context(), settings, packed, ""); err != nil {
		t.Fatal(err)
	}
	cable := &breaking{}
	s, err := connect(t, url, client.Options{Transport: cable}).Study(t.Context(), "ring")
	if err != nil {
		t.Fatal(err)
	}
	cable.lose = 1
	ask, err := s.Ask(t.Context(), study.AskRequest{Count: 2})
	if err != nil || len(ask.Trials) != 2 {
		t.Fatalf("%+v, %v", ask, err)
	}
	if shown, err := s.Show(t.Context()); err != nil || len(shown.AllTrials) != 2 || len(cable.keys) != 2 ||
		len(slices.Compact(cable.keys)) != 1 {
		t.Errorf("%d trials, keys %v, %v", len(shown.AllTrials), cable.keys, err)
	}
	cable.lose = 1
	if err := s.Pause(t.Context(), "", ""); !errors.Is(err, client.ErrLost) {
		t.Errorf("a lost answer to a command without a key: %v", err)
	}
}

// While a server loads, a client waits and says so.
func TestWaits(t *testing.T) {
	t.Parallel()
	turn := 0
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if turn++; turn == 1 {
			w.Header().Set("Content-Type", "application/problem+json")
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprint(w, `{"type":"urn:grfgp:problem:loading"}`)
			return
		}
		fmt.Fprint(w, `{"studies":[]}`)
	}))
	defer h.Close()
	var said []string
	c := connect(t, h.URL, client.Options{Progress: client.Progress{Wait: func() func() {
		said = append(said, "waiting")
		return func() { said = append(said, "ready") }
	}}})
	if _, err := c.List(t.Context(), false); err != nil || fmt.Sprint(said) != "[waiting ready]" {
		t.Errorf("%v, %v", said, err)
	}
	turn = 0
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := c.List(ctx, false); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a caller who is out of time: %v", err)
	}
}

// An ask for many nodes is an operation of the server: it is watched, and the same again by
// its key.
func TestAskMany(t *testing.T) {
	t.Parallel()
	var told []int
	all := connect(t, serve(t, nil), client.Options{Progress: client.Progress{Asked: func(reserved, count int) {
		if told = append(told, reserved); count < 130 {
			t.Errorf("%d of %d nodes", reserved, count)
		}
	}}})
	packed, settings := ring(t, 400)
	if _, err := all.Create(t.Context(), settings, packed, "anna"); err != nil {
		t.Fatal(err)
	}
	x, err := all.Study(t.Context(), "ring")
	if err != nil {
		t.Fatal(err)
	}
	var values []study.Measurement
	for k := range 8 {
		values = append(values, study.Measurement{Node: fmt.Sprint(k * 40), Value: float64(k * k % 5)})
	}
	if _, err := x.Observe(t.Context(), "", values, "", "anna"); err != nil {
		t.Fatal(err)
	}
	r := study.AskRequest{Count: 130, Key: "many", Holder: "anna"}
	a, err := x.Ask(t.Context(), r)
	if err != nil || len(a.Trials) != 130 || len(told) == 0 || !slices.IsSorted(told) {
		t.Fatalf("%d trials, told %v, %v", len(a.Trials), told, err)
	}
	distinct := nodes(a)
	slices.Sort(distinct)
	if len(slices.Compact(distinct)) != 130 {
		t.Error("a node twice")
	}
	if again, err := x.Ask(t.Context(), r); err != nil || !slices.Equal(nodes(again), nodes(a)) {
		t.Errorf("the same key: %d trials, %v", len(again.Trials), err)
	}
	if _, err := x.Ask(t.Context(), study.AskRequest{Count: 131, Key: "many", Holder: "anna"}); !errors.Is(err, study.ErrConflict) {
		t.Errorf("another ask with the key: %v", err)
	}
	if v, err := x.Verify(t.Context(), true, nil); err != nil || v.Suggestions != 3 {
		t.Errorf("%+v, %v", v, err)
	}
}
