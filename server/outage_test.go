package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"grfgp/server"
	"grfgp/store"
	"grfgp/store/storetest"
	"grfgp/study"
)

// A database that goes away is a matter of waiting; who asks learns neither where
// it is nor how it is called. Names that no study or graph can have never reach it.
func TestDatabaseGoesAway(t *testing.T) {
	t.Parallel()
	place := storetest.Postgres(t)
	admin, err := pgx.Connect(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(context.Background())
	h := newHost(t, func(o *server.Options) { o.Store = openStore(t, place) })
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
	for _, path := range []string{"/v1/studies/a%00b", "/v1/studies/%ff", "/v1/graphs/a%00b", "/v1/graphs/%ff", "/v1/studies/" +
		strings.Repeat("a", 300)} {
		h.refused("not-found", 404, "GET", path, nil)
	}
	h.refused("not-found", 404, "POST", "/v1/studies", map[string]any{"name": "t", "graph": "a\x00b"})

	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	host := u.Query().Get("host")
	socket := filepath.Join(host, ".s.PGSQL.5432")
	if err := os.Rename(socket, socket+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND `+
		`application_name LIKE 'grfgp, %'`); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, path string
		body         any
	}{
		{"GET", "/v1/studies", nil},
		{"GET", "/v1/studies/unknown", nil},
		{"GET", "/v1/graphs", nil},
		{"GET", "/v1/studies/s/export", nil},
		{"PUT", "/v1/studies/s/trials/1/result", `{"value":1}`},
	} {
		a := h.Do(c.method, c.path, c.body)
		p := h.problem(a)
		if a.Status != http.StatusServiceUnavailable || p.Type != "urn:grfgp:problem:unavailable" || a.Header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.Status, a.Body)
		}
		if strings.Contains(string(a.Body), host) || strings.Contains(string(a.Body), "user=") {
			t.Errorf("%s %s tells of the database: %s", c.method, c.path, a.Body)
		}
	}
	if err := os.Rename(socket+".away", socket); err != nil {
		t.Fatal(err)
	}
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, nil)
}

// heldStore is one that another process took.
type heldStore struct {
	store.Store
	held atomic.Bool
}

func (s *heldStore) Studies(ctx context.Context) ([]store.StudyInfo, error) {
	if s.held.Load() {
		return nil, fmt.Errorf("%w: database secret on host is used by someone", store.ErrHeld)
	}
	return s.Store.Studies(ctx)
}

func TestStoreTaken(t *testing.T) {
	t.Parallel()
	s := &heldStore{Store: openStore(t, store.Memory)}
	h := newHost(t, func(o *server.Options) { o.Store = s })
	s.held.Store(true)
	if p := h.refused("unavailable", 503, "GET", "/v1/studies", nil); strings.Contains(p.Detail, "secret") {
		t.Errorf("it tells of the database: %s", p.Detail)
	}
	s.held.Store(false)
	h.Must("GET", "/v1/studies", nil, nil)
}

// Costs that no number holds together are refused, and break nothing where they
// come about all the same.
func TestHugeCosts(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.NewEngine = nil })
	huge := map[string]float64{}
	for i := range 10 {
		huge[fmt.Sprintf("n%d", i)] = 1.7e308
	}
	h.Create(10, func(s *study.Settings) { s.Cost = huge })
	h.refused("conflict", 409, "POST", "/v1/studies/s/asks", `{"count":2}`)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
	h.Must("POST", "/v1/studies/s/trials/1/release", nil, nil)
	h.Must("POST", "/v1/studies/s/asks", nil, nil)
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"value":1}`, nil) // late: both are spent
	for _, path := range []string{"/v1/studies/s", "/v1/studies"} {
		checkFinite(t, path, h.Must("GET", path, nil, nil))
	}
}

// Candidates are what an ask would get: none of a paused study, and a node that
// failed comes last.
func TestCandidatesAreWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	h := newHost(t)
	h.Create(10)
	look := func() (nodes []string, short study.Reason) {
		var view struct {
			Candidates []struct{ Node string }
			Short      study.Reason
		}
		h.Must("GET", "/v1/studies/s/candidates?count=9", nil, &view)
		for _, c := range view.Candidates {
			nodes = append(nodes, c.Node)
		}
		return nodes, view.Short
	}
	var first, second study.Ask
	h.Must("POST", "/v1/studies/s/asks", nil, &first)
	h.Must("PUT", "/v1/studies/s/trials/1/result", `{"failed":true}`, nil)
	nodes, _ := look()
	if h.Must("POST", "/v1/studies/s/asks", `{"count":9}`, &second); len(nodes) != 9 || len(second.Trials) != 9 {
		t.Fatalf("%v, then %+v", nodes, second)
	}
	for k, n := range second.Trials {
		if nodes[k] != n.Node || n.Node == first.Trials[0].Node {
			t.Errorf("candidate %d is %s, and %s was handed out; %s failed", k, nodes[k], n.Node, first.Trials[0].Node)
		}
	}
	h.Must("POST", "/v1/studies/s/pause", nil, nil)
	if nodes, short := look(); len(nodes) != 0 || short != study.ReasonPaused {
		t.Errorf("paused: %v, %q", nodes, short)
	}
}
