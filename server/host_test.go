package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/crossval"
	"grfgp/graphio"
	"grfgp/internal/rng"
	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// host is a server under test, with a simple engine.
type host struct {
	t      testing.TB
	server *server.Server
	http   *httptest.Server
	store  store.Store
	log    *lockedBuffer
	token  string
}

// newHost starts a server on a store in memory, unless the options say more.
func newHost(t testing.TB, change ...func(*server.Options)) *host {
	t.Helper()
	s := &host{t: t, log: new(lockedBuffer)}
	opts := server.Options{Log: slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test", Limits: server.DefaultLimits(), NewEngine: newSimple}
	for _, f := range change {
		f(&opts)
	}
	if opts.Store == nil {
		opts.Store = openStore(t, store.Memory)
	}
	s.token, s.store = opts.Token, opts.Store
	s.server = server.New(opts)
	s.http = httptest.NewServer(s.server)
	t.Cleanup(s.close)
	return s
}

func (s *host) close() {
	s.http.CloseClientConnections()
	s.server.Close()
	s.http.Close()
}

func openStore(t testing.TB, place string) store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), place, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// with sets headers of a request, as "Name: value".
type with string

// do sends a request; body is text as it is, or marshals to JSON.
func (s *host) do(method, path string, body any, headers ...with) answer {
	s.t.Helper()
	a, err := s.try(method, path, body, headers...)
	if err != nil {
		s.t.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

func (s *host) try(method, path string, body any, headers ...with) (answer, error) {
	req := s.request(method, path, body, headers...)
	resp, err := s.http.Client().Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, text}, err
}

func (s *host) request(method, path string, body any, headers ...with) *http.Request {
	var in io.Reader
	switch b := body.(type) {
	case nil:
	case string:
		in = strings.NewReader(b)
	case []byte:
		in = bytes.NewReader(b)
	case io.Reader:
		in = b
	default:
		text, err := json.Marshal(b)
		if err != nil {
			s.t.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, s.http.URL+path, in)
	if err != nil {
		s.t.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(string(h), ": ")
		if name == "Host" {
			req.Host = value
		} else {
			req.Header.Set(name, value)
		}
	}
	return req
}

// must is do for requests that succeed; the answer is read into v.
func (s *host) must(method, path string, body, v any, headers ...with) answer {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	if a.status/100 != 2 {
		s.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	if v != nil {
		if err := json.Unmarshal(a.body, v); err != nil {
			s.t.Fatalf("%s %s: %v in %s", method, path, err, a.body)
		}
	}
	return a
}

type problem struct {
	Type, Title, Detail string
	Status              int
	Errors              []struct{ Pointer, Detail string }
}

// refused sends a request that a problem of the kind answers.
func (s *host) refused(kind string, status int, method, path string, body any, headers ...with) problem {
	s.t.Helper()
	a := s.do(method, path, body, headers...)
	p := s.problem(a)
	if p.Type != "urn:grfgp:problem:"+kind || a.status != status || p.Status != status {
		s.t.Errorf("%s %s: %d %s; want %d %s", method, path, a.status, a.body, status, kind)
	}
	return p
}

func (s *host) problem(a answer) (p problem) {
	s.t.Helper()
	if err := json.Unmarshal(a.body, &p); err != nil || a.header.Get("Content-Type") != "application/problem+json" || p.Title == "" || p.Detail == "" {
		s.t.Errorf("no problem: %d %q %s (%v)", a.status, a.header.Get("Content-Type"), a.body, err)
	}
	return p
}

// ring is a graph of n nodes n0, n1, … in a ring, as CSV.
func ring(n int) string {
	var b strings.Builder
	b.WriteString("source,target\n")
	for i := range n {
		fmt.Fprintf(&b, "n%d,n%d\n", i, (i+1)%n)
	}
	return b.String()
}

// putRing keeps a ring and returns its id.
func (s *host) putRing(n int) string {
	s.t.Helper()
	var g struct {
		ID    string
		Nodes int
	}
	s.must("POST", "/v1/graphs", ring(n), &g, "Content-Type: text/csv")
	if g.Nodes != n || len(g.ID) != 64 {
		s.t.Fatalf("graph %+v", g)
	}
	return g.ID
}

// create makes the study s on a ring of n nodes.
func (s *host) create(n int, change ...func(*study.Settings)) {
	s.t.Helper()
	settings := study.Settings{Name: "s", Graph: s.putRing(n), Seed: 1, Lease: study.DefaultLease}
	for _, f := range change {
		f(&settings)
	}
	s.must("POST", "/v1/studies", settings, nil)
}

// observe tells values that nobody asked for.
func (s *host) observe(values map[string]float64) {
	s.t.Helper()
	rows := []study.Measurement{}
	for node, v := range values {
		rows = append(rows, study.Measurement{Node: node, Value: v})
	}
	slices.SortFunc(rows, func(a, b study.Measurement) int { return strings.Compare(a.Node, b.Node) })
	s.must("POST", "/v1/studies/s/observations", map[string]any{"observations": rows}, nil)
}

// five are enough for a model.
var five = map[string]float64{"n0": 1, "n1": 2, "n2": 3, "n3": 2, "n4": 1}

// simple is an engine that draws nodes at random and predicts the mean of what
// it knows: quick, and a function of its arguments as an engine must be.
type simple struct{ net *graphio.Network }

func newSimple(net *graphio.Network, s study.Settings) (study.Engine, error) {
	for _, id := range s.Allowed {
		if _, ok := net.Graph.IDs().Lookup([]byte(id)); !ok {
			return nil, fmt.Errorf("%w: %q", study.ErrUnknownNode, id)
		}
	}
	return simple{net}, nil
}

func (e simple) IDs() study.NodeIDs { return e.net.Graph.IDs() }

func (e simple) Cost(int) float64 { return 1 }

func (e simple) Suggest(_ context.Context, q study.Query) (out study.Suggestions, err error) {
	closed := map[string]bool{}
	for _, r := range q.Measurements {
		closed[r.Node] = true
	}
	for _, id := range slices.Concat(q.Pending, q.Excluded) {
		closed[id] = true
	}
	var open []string
	for i := range e.IDs().Len() {
		if id := e.IDs().At(i); !closed[id] {
			open = append(open, id)
		}
	}
	left := len(open)
	if q.Budget != nil {
		left = int(*q.Budget)
	}
	stream := rng.New(q.Seed, "simple")
	for range q.Count {
		switch {
		case len(open) == 0:
			out.Short = bayesopt.NoNodesLeft
			return out, nil
		case len(out.List) == left:
			out.Short = bayesopt.BudgetReached
			return out, nil
		}
		k := int(stream.Uint64() % uint64(len(open)))
		out.List = append(out.List, study.Suggestion{Node: open[k], Cost: 1, Why: "at random"})
		open = slices.Delete(open, k, k+1)
	}
	return out, nil
}

func (e simple) Fit(_ context.Context, readings []study.Measurement) (study.Snapshot, error) {
	if len(readings) < 5 {
		return nil, fmt.Errorf("%w: %d values", study.ErrNoModel, len(readings))
	}
	return simpleSnapshot{e, readings}, nil
}

type simpleSnapshot struct {
	simple
	readings []study.Measurement
}

func (k simpleSnapshot) Predict(_ context.Context, nodes []int) (p grfgp.Prediction, _ error) {
	mean := 0.0
	for _, r := range k.readings {
		mean += r.Value / float64(len(k.readings))
	}
	for _, i := range nodes {
		p.Mean, p.SD = append(p.Mean, mean+float64(i)/1000), append(p.SD, 0.5)
	}
	return p, nil
}

func (k simpleSnapshot) Validate(context.Context, uint64) (*crossval.Validation, error) {
	v := &crossval.Validation{Scheme: crossval.Scattered, Folds: 2, Coverage: crossval.Coverages{{Level: 0.5, Share: 0.5}}, BaselineRMSE: map[crossval.Baseline]float64{crossval.Mean: 1}}
	for i, r := range k.readings {
		v.HeldOut = append(v.HeldOut, crossval.HeldOut{Node: i % k.IDs().Len(), Value: r.Value, Mean: 1, SD: 1, PIT: 0.5})
	}
	return v, nil
}

func (k simpleSnapshot) Effects(context.Context) (*grfgp.Effects, error) {
	per := 0.5
	f := grfgp.Effect{Column: "depth", Of: "deep", From: "shallow", To: "deep", Mean: 2, SD: 0.5, Lower: 1, Upper: 3, PerUnit: &per, Unit: "m", Between: &grfgp.Contrast{Mean: 2, SD: 1, Lower: 0, Upper: 4, Low: 3, High: 4}}
	return &grfgp.Effects{Columns: []grfgp.Effect{f}, LeftOut: []string{"age"}, Parts: []grfgp.Part{{Name: "graph", Variance: 1, Share: 1}}, Nodes: 10, Level: 0.95, Scale: "log"}, nil
}

func (k simpleSnapshot) NoiseSD() float64 { return 0.1 }

// Spec has every field.
func (k simpleSnapshot) Chosen() grfgp.Spec {
	one := 1.0
	return grfgp.Spec{
		Family: "matern", Nu: 2, Method: "grf", Hops: 5, Scales: "many", Trend: "none", Walks: 50, Rank: 3, Solver: "exact", Seed: 1, Mean: &one, NoiseSD: &one,
	}
}

// clock is a clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// eventually waits until something is so.
func eventually(t testing.TB, so func() bool) {
	t.Helper()
	for began := time.Now(); !so(); time.Sleep(time.Millisecond) {
		if time.Since(began) > patience {
			t.Fatal("it never is")
		}
	}
}

// studies are the names of all studies.
func (s *host) studies() (names []string) {
	s.t.Helper()
	var all struct{ Studies []struct{ Name string } }
	s.must("GET", "/v1/studies", nil, &all)
	for _, one := range all.Studies {
		names = append(names, one.Name)
	}
	return names
}

// quoted is a value as JavaScript writes it.
func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
