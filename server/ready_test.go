package server_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"grfgp/server"
	"grfgp/store"
	"grfgp/study"
)

// A server whose store is removed answers no change with success, is not ready, and its log
// says so; it lives.
func TestStoreRemoved(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "s.db")
	kept, err := store.Open(t.Context(), place, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, func(o *server.Options) { o.Store = kept })
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", `{"count":2}`, nil)
	h.Must("GET", "/readyz", nil, nil)
	move := func(from, to string) {
		for _, part := range []string{"", "-wal", "-shm"} {
			if err := os.Rename(from+part, to+part); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	move(place, place+".away")
	if p := h.refused("unavailable", 503, "PUT", "/v1/studies/s/trials/1/result", `{"value":1}`); !strings.Contains(p.Detail,
		"removed or replaced") || strings.Contains(p.Detail, place) {
		t.Errorf("%s", p.Detail)
	}
	h.Must("GET", "/v1/studies/s", nil, nil)
	h.Must("GET", "/healthz", nil, nil)
	eventually(t, func() bool {
		a := h.Do("GET", "/readyz", nil)
		return a.Status == 503 && strings.Contains(string(a.Body), "removed or replaced")
	})
	eventually(t, func() bool { return strings.Contains(h.Log.String(), "the store is gone") })
	if text := string(h.Must("GET", "/metrics", nil, nil).Body); !strings.Contains(text, "grfgp_store_up 0") {
		t.Error("metrics say that the store is up")
	}
	if err := kept.Close(); !errors.Is(err, store.ErrGone) {
		t.Errorf("%v", err)
	}
	h.Close()
	move(place+".away", place) // only what is there is closed
	if err := kept.Close(); err != nil {
		t.Error(err)
	}
}

// sick is a store whose checks fail, or do not end.
type sick struct {
	store.Store
	err  atomic.Pointer[error]
	hang chan struct{}
}

func (s *sick) Check(ctx context.Context, write bool) error {
	if s.hang != nil {
		<-s.hang
	}
	if err := s.err.Load(); err != nil {
		return *err
	}
	return s.Store.Check(ctx, write)
}

func TestNotReady(t *testing.T) {
	t.Parallel()
	s := &sick{Store: openStore(t, store.Memory)}
	c := newClock()
	h := newHost(t, func(o *server.Options) { o.Store, o.Now = s, c.Now })
	h.Must("GET", "/readyz", nil, nil)
	full := fmt.Errorf("%w: secret place", store.ErrFull)
	s.err.Store(&full)
	h.Must("GET", "/readyz", nil, nil) // found out a moment ago
	c.Pass(time.Second)
	if p := h.refused("unavailable", 503, "GET", "/readyz", nil); !strings.Contains(p.Detail, "full") || strings.Contains(p.Detail, "secret") {
		t.Errorf("%s", p.Detail)
	}
	s.err.Store(nil)
	c.Pass(time.Second)
	h.Must("GET", "/readyz", nil, nil)
}

func TestHungStoreIsNotReady(t *testing.T) {
	t.Parallel()
	s := &sick{Store: openStore(t, store.Memory), hang: make(chan struct{})}
	h := newHost(t, func(o *server.Options) { o.Store, o.Limits.Patience = s, 100*time.Millisecond })
	defer close(s.hang)
	for range 3 {
		if p := h.refused("unavailable", 503, "GET", "/readyz", nil); !strings.Contains(p.Detail, "does not answer") {
			t.Errorf("%s", p.Detail)
		}
	}
	h.Must("GET", "/healthz", nil, nil)
}

// The metrics tell of commits, models, trials, the queue and the store.
func TestStoreMetrics(t *testing.T) {
	t.Parallel()
	h := newHost(t, realEngine, func(o *server.Options) { o.Store = openStore(t, filepath.Join(t.TempDir(), "s.db")) })
	h.Create(30)
	h.Must("POST", "/v1/studies/s/observations", map[string]any{"observations": []map[string]any{
		{"node": "n0", "value": 1}, {"node": "n1", "value": 2}, {"node": "n2", "value": 3}, {"node": "n3", "value": 2},
		{"node": "n4", "value": 1}}}, nil)
	h.Must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	h.Must("POST", "/v1/studies/s/queue", map[string]any{"nodes": []string{"n29"}}, nil)
	text := h.Must("GET", "/metrics", nil, nil).Body
	for _, want := range []string{
		`grfgp_build_info\{go="go.*",version="test"\} 1`, `grfgp_store_up 1`, `grfgp_store_bytes [1-9]`, `grfgp_store_events 4\n`,
		`grfgp_store_studies\{status="open"\} 1`, `grfgp_store_trials\{state="pending"\} 3`,
		`grfgp_store_values 5`, `grfgp_store_queued 1`, `grfgp_commit_seconds_count [1-9]`, `grfgp_commit_failures_total 0`,
		`grfgp_model_seconds_count\{work="fit"\} 1`, `grfgp_quarantined_studies 0`,
	} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %s", want)
		}
	}
}

// A backup over HTTP is a store with all that was answered.
func TestBackupOverHTTP(t *testing.T) {
	t.Parallel()
	h := newHost(t, func(o *server.Options) { o.Store = openStore(t, filepath.Join(t.TempDir(), "s.db")) })
	h.Create(10)
	h.Must("POST", "/v1/studies/s/asks", `{"count":2}`, nil)
	a := h.Must("POST", "/v1/backup", nil, nil)
	if !bytes.HasPrefix(a.Body, []byte("SQLite format 3")) || a.Header.Get("Content-Length") != fmt.Sprint(len(a.Body)) {
		t.Fatalf("%d bytes, %v", len(a.Body), a.Header)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(file, a.Body, 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := study.Open(t.Context(), openStore(t, file).Log("s"), study.Options{})
	if err != nil || x.Seq() != 2 {
		t.Errorf("%v", err)
	}
	in := newHost(t)
	in.refused("no-backup", 409, "POST", "/v1/backup", nil)
}
