// Package servertest starts servers for tests, and has engines and networks for them.
package servertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"path/filepath"
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
	"grfgp/server/tokens"
	"grfgp/store"
	"grfgp/study"
)

// Host is a server under test, with a simple engine.
type Host struct {
	T      testing.TB
	Server *server.Server
	HTTP   *httptest.Server
	Store  store.Store
	Log    *Buffer
	Token  string
}

// New starts a server on a store in memory, unless the options say more.
func New(t testing.TB, change ...func(*server.Options)) *Host {
	t.Helper()
	s := &Host{T: t, Log: new(Buffer)}
	opts := server.Options{Log: slog.New(slog.NewTextHandler(s.Log, &slog.HandlerOptions{Level: slog.LevelDebug})), Version: "test",
		Limits: server.DefaultLimits(), NewEngine: NewSimple}
	for _, f := range change {
		f(&opts)
	}
	if opts.Store == nil {
		opts.Store = OpenStore(t, store.Memory)
	}
	s.Token, s.Store = opts.Token, opts.Store
	s.Server = server.New(opts)
	s.HTTP = httptest.NewServer(s.Server)
	t.Cleanup(s.Close)
	return s
}

// On is the host in another test, often a subtest.
func (s *Host) On(t testing.TB) *Host {
	on := *s
	on.T = t
	return &on
}

// NewWithRoles starts a server with tokens of all roles, whose names are the role and “er”; requests have that of run.
func NewWithRoles(t testing.TB, change ...func(*server.Options)) (h *Host, file string, secrets map[tokens.Role]string) {
	t.Helper()
	file, secrets = filepath.Join(t.TempDir(), "s.tokens"), map[tokens.Role]string{}
	for _, role := range tokens.Roles() {
		secrets[role] = AddToken(t, file, string(role)+"er", role)
	}
	h = New(t, append(change, func(o *server.Options) { o.Tokens = tokens.Open(file) })...)
	h.Token = secrets[tokens.Run]
	return h, file, secrets
}

// AddToken adds a token to a file and returns its secret.
func AddToken(t testing.TB, file, name string, role tokens.Role) string {
	t.Helper()
	secret, err := tokens.Add(file, name, role, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// Close ends the server; the store stays open.
func (s *Host) Close() {
	s.HTTP.CloseClientConnections()
	s.Server.Close()
	s.HTTP.Close()
}

// OpenStore opens a store that is closed with the test.
func OpenStore(t testing.TB, place string) store.Store {
	t.Helper()
	st, err := store.Open(context.Background(), place, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	return st
}

// Buffer keeps what several goroutines write.
type Buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds to the buffer.
func (l *Buffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is all that was written.
func (l *Buffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Answer is what came back.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// With sets headers of a request, as "Name: value".
type With string

// Do sends a request; body is text as it is, or marshals to JSON.
func (s *Host) Do(method, path string, body any, headers ...With) Answer {
	s.T.Helper()
	a, err := s.Try(method, path, body, headers...)
	if err != nil {
		s.T.Fatalf("%s %s: %v", method, path, err)
	}
	return a
}

// Try is Do for requests that may get no answer.
func (s *Host) Try(method, path string, body any, headers ...With) (Answer, error) {
	req := s.Request(method, path, body, headers...)
	resp, err := s.HTTP.Client().Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, text}, err
}

// Request makes the request that Do sends.
func (s *Host) Request(method, path string, body any, headers ...With) *http.Request {
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
			s.T.Fatal(err)
		}
		in = bytes.NewReader(text)
	}
	req, err := http.NewRequest(method, s.HTTP.URL+path, in)
	if err != nil {
		s.T.Fatal(err)
	}
	if in != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.Token != "" {
		req.Header.Set("Authorization", "Bearer "+s.Token)
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

// Must is Do for requests that succeed; the answer is read into v.
func (s *Host) Must(method, path string, body, v any, headers ...With) Answer {
	s.T.Helper()
	a := s.Do(method, path, body, headers...)
	if a.Status/100 != 2 {
		s.T.Fatalf("%s %s: %d %s", method, path, a.Status, a.Body)
	}
	if v != nil {
		if err := json.Unmarshal(a.Body, v); err != nil {
			s.T.Fatalf("%s %s: %v in %s", method, path, err, a.Body)
		}
	}
	return a
}

// File is a file of a form: its name there, and its text.
type File [2]string

// Form is a form of files, and its type.
func Form(t testing.TB, files ...File) (body []byte, kind With) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, file := range files {
		f, err := w.CreateFormFile(file[0], file[0]+".csv")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(f, file[1])
	}
	w.Close()
	return b.Bytes(), With("Content-Type: " + w.FormDataContentType())
}

// Ring is a graph of n nodes n0, n1, … in a ring, as CSV.
func Ring(n int) string {
	var b strings.Builder
	b.WriteString("source,target\n")
	for i := range n {
		fmt.Fprintf(&b, "n%d,n%d\n", i, (i+1)%n)
	}
	return b.String()
}

// PutRing keeps a ring and returns its id.
func (s *Host) PutRing(n int) string {
	s.T.Helper()
	var g struct {
		ID    string
		Nodes int
	}
	s.Must("POST", "/v1/graphs", Ring(n), &g, "Content-Type: text/csv")
	if g.Nodes != n || len(g.ID) != 64 {
		s.T.Fatalf("graph %+v", g)
	}
	return g.ID
}

// Create makes the study s on a ring of n nodes.
func (s *Host) Create(n int, change ...func(*study.Settings)) {
	s.T.Helper()
	settings := study.Settings{Name: "s", Graph: s.PutRing(n), Seed: 1, Lease: study.DefaultLease}
	for _, f := range change {
		f(&settings)
	}
	s.Must("POST", "/v1/studies", settings, nil)
}

// Observe tells values that nobody asked for.
func (s *Host) Observe(values map[string]float64) {
	s.T.Helper()
	rows := []study.Measurement{}
	for node, v := range values {
		rows = append(rows, study.Measurement{Node: node, Value: v})
	}
	slices.SortFunc(rows, func(a, b study.Measurement) int { return strings.Compare(a.Node, b.Node) })
	s.Must("POST", "/v1/studies/s/observations", map[string]any{"observations": rows}, nil)
}

// Five are enough for a model.
var Five = map[string]float64{"n0": 1, "n1": 2, "n2": 3, "n3": 2, "n4": 1}

// Simple is an engine that draws nodes at random and predicts the mean of what
// it knows: quick, and a function of its arguments as an engine must be.
type Simple struct{ Net *graphio.Network }

// NewSimple is the NewEngine of server.Options for Simple.
func NewSimple(net *graphio.Network, s study.Settings) (study.Engine, error) {
	for _, id := range s.Allowed {
		if _, ok := net.Graph.IDs().Lookup([]byte(id)); !ok {
			return nil, fmt.Errorf("%w: %q", study.ErrUnknownNode, id)
		}
	}
	return Simple{net}, nil
}

// IDs are those of the graph.
func (e Simple) IDs() study.NodeIDs { return e.Net.Graph.IDs() }

// Cost is the same at all nodes.
func (e Simple) Cost(int) float64 { return 1 }

// Suggest draws nodes that are free.
func (e Simple) Suggest(_ context.Context, q study.Query) (out study.Suggestions, err error) {
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

// Fit needs five readings.
func (e Simple) Fit(_ context.Context, readings []study.Measurement) (study.Snapshot, error) {
	if len(readings) < 5 {
		return nil, fmt.Errorf("%w: %d values", study.ErrNoModel, len(readings))
	}
	return SimpleSnapshot{e, readings}, nil
}

// SimpleSnapshot is the model of Simple.
type SimpleSnapshot struct {
	Simple
	Readings []study.Measurement
}

// Predict returns the mean of the readings, a little higher at every node.
func (k SimpleSnapshot) Predict(_ context.Context, nodes []int) (p grfgp.Prediction, _ error) {
	mean := 0.0
	for _, r := range k.Readings {
		mean += r.Value / float64(len(k.Readings))
	}
	for _, i := range nodes {
		p.Mean, p.SD = append(p.Mean, mean+float64(i)/1000), append(p.SD, 0.5)
	}
	return p, nil
}

// Validate returns some validation.
func (k SimpleSnapshot) Validate(context.Context, uint64) (*crossval.Validation, error) {
	v := &crossval.Validation{Scheme: crossval.Scattered, Folds: 2, Coverage: crossval.Coverages{{Level: 0.5, Share: 0.5}},
		BaselineRMSE: map[crossval.Baseline]float64{crossval.Mean: 1}}
	for i, r := range k.Readings {
		v.HeldOut = append(v.HeldOut, crossval.HeldOut{Node: i % k.IDs().Len(), Value: r.Value, Mean: 1, SD: 1, PIT: 0.5})
	}
	return v, nil
}

// Effects returns some effects.
func (k SimpleSnapshot) Effects(context.Context) (*grfgp.Effects, error) {
	per := 0.5
	f := grfgp.Effect{Column: "depth", Of: "deep", From: "shallow", To: "deep", Mean: 2, SD: 0.5, Lower: 1, Upper: 3, PerUnit: &per, Unit: "m",
		Between: &grfgp.Contrast{Mean: 2, SD: 1, Lower: 0, Upper: 4, Low: 3, High: 4}}
	return &grfgp.Effects{Columns: []grfgp.Effect{f}, LeftOut: []string{"age"}, Parts: []grfgp.Part{{Name: "graph", Variance: 1, Share: 1}},
		Nodes: 10, Level: 0.95, Scale: "log"}, nil
}

// NoiseSD is known.
func (k SimpleSnapshot) NoiseSD() float64 { return 0.1 }

// Chosen has every field.
func (k SimpleSnapshot) Chosen() grfgp.Spec {
	one := 1.0
	return grfgp.Spec{Expression: grfgp.Expression{Family: "matern", Nu: 2, Method: "grf", Hops: 5, Scales: "many", Trend: "none"},
		Walks: 50, Rank: 3, Solver: "exact", Seed: 1, Mean: &one, NoiseSD: &one}
}

// Gated returns an engine that fits when the channel fit is closed, and predicts when predict is.
func Gated(e study.Engine, fit, predict chan struct{}) study.Engine { return gated{e, fit, predict} }

type gated struct {
	study.Engine
	fit, predict chan struct{}
}

func (e gated) Fit(ctx context.Context, m []study.Measurement) (study.Snapshot, error) {
	if err := through(ctx, e.fit); err != nil {
		return nil, err
	}
	s, err := e.Engine.Fit(ctx, m)
	return gatedSnapshot{s, e.predict}, err
}

type gatedSnapshot struct {
	study.Snapshot
	predict chan struct{}
}

func (k gatedSnapshot) Predict(ctx context.Context, nodes []int) (grfgp.Prediction, error) {
	if err := through(ctx, k.predict); err != nil {
		return grfgp.Prediction{}, err
	}
	return k.Snapshot.Predict(ctx, nodes)
}

func through(ctx context.Context, gate chan struct{}) error {
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Clock is a clock that tests move.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// NewClock returns a clock that stands still.
func NewClock(at time.Time) *Clock { return &Clock{at: at} }

// Now is what the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Pass moves the clock on.
func (c *Clock) Pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Patience is how long tests wait for what must happen: long, because machines are busy.
const Patience = 90 * time.Second

// Eventually asks until something is so. Go's own limit of a test is the only one: machines are busy.
func Eventually(t testing.TB, so func() bool) {
	t.Helper()
	for !so() {
		time.Sleep(time.Millisecond)
	}
}
