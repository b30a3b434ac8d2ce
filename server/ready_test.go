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
	place := filepath.Join(t.TempDir(), "s.db")
	kept, err := store.Open(t.Context(), place, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, func(o *server.Options) { o.Store = kept })
	h.create(10)
	h.must("POST", "/v1/studies/s/asks", `{"count":2}`, nil)
	h.must("GET", "/readyz", nil, nil)
	for _, name := range []string{place, place + "-wal", place + "-shm"} {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
	if p := h.refused("unavailable", 503, "PUT", "/v1/studies/s/trials/1/result", `{"value":1}`); !strings.Contains(p.Detail, "removed or replaced") || strings.Contains(p.Detail, place) {
		t.Errorf("%s", p.Detail)
	}
	h.must("GET", "/v1/studies/s", nil, nil)
	h.must("GET", "/healthz", nil, nil)
	eventually(t, func() bool {
		a := h.do("GET", "/readyz", nil)
		return a.status == 503 && strings.Contains(string(a.body), "removed or replaced")
	})
	eventually(t, func() bool { return strings.Contains(h.log.String(), "the store is gone") })
	if text := string(h.must("GET", "/metrics", nil, nil).body); !strings.Contains(text, "grfgp_store_up 0") {
		t.Error("metrics say that the store is up")
	}
	if err := kept.Close(); !errors.Is(err, store.ErrGone) {
		t.Errorf("%v", err)
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
	s := &sick{Store: openStore(t, store.Memory)}
	h := newHost(t, func(o *server.Options) { o.Store = s })
	h.must("GET", "/readyz", nil, nil)
	full := fmt.Errorf("%w: secret place", store.ErrFull)
	s.err.Store(&full)
	eventually(t, func() bool {
		a := h.do("GET", "/readyz", nil)
		return a.status == 503 && strings.Contains(string(a.body), "full") && !strings.Contains(string(a.body), "secret")
	})
	s.err.Store(nil)
	eventually(t, func() bool { return h.do("GET", "/readyz", nil).status == 200 })
}

func TestHungStoreIsNotReady(t *testing.T) {
	s := &sick{Store: openStore(t, store.Memory), hang: make(chan struct{})}
	h := newHost(t, func(o *server.Options) { o.Store, o.Limits.Patience = s, 100*time.Millisecond })
	defer close(s.hang)
	for range 3 {
		if p := h.refused("unavailable", 503, "GET", "/readyz", nil); !strings.Contains(p.Detail, "does not answer") {
			t.Errorf("%s", p.Detail)
		}
	}
	h.must("GET", "/healthz", nil, nil)
}

// The metrics tell of commits, models, trials, the queue and the store.
func TestStoreMetrics(t *testing.T) {
	h := newHost(t, realEngine, func(o *server.Options) { o.Store = openStore(t, filepath.Join(t.TempDir(), "s.db")) })
	h.create(30)
	h.must("POST", "/v1/studies/s/observations", map[string]any{"observations": []map[string]any{
		{"node": "n0", "value": 1}, {"node": "n1", "value": 2}, {"node": "n2", "value": 3}, {"node": "n3", "value": 2}, {"node": "n4", "value": 1}}}, nil)
	h.must("POST", "/v1/studies/s/asks", `{"count":3}`, nil)
	h.must("POST", "/v1/studies/s/queue", map[string]any{"nodes": []string{"n29"}}, nil)
	text := h.must("GET", "/metrics", nil, nil).body
	for _, want := range []string{
		`grfgp_build_info\{go="go.*",version="test"\} 1`, `grfgp_store_up 1`, `grfgp_store_bytes [1-9]`, `grfgp_store_events 4\n`, `grfgp_store_studies\{status="open"\} 1`, `grfgp_store_trials\{state="pending"\} 3`,
		`grfgp_store_values 5`, `grfgp_store_queued 1`, `grfgp_commit_seconds_count [1-9]`, `grfgp_commit_failures_total 0`, `grfgp_model_seconds_count\{work="fit"\} 1`, `grfgp_quarantined_studies 0`,
	} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %s", want)
		}
	}
}

// A backup over HTTP is a store with all that was answered.
func TestBackupOverHTTP(t *testing.T) {
	h := newHost(t, func(o *server.Options) { o.Store = openStore(t, filepath.Join(t.TempDir(), "s.db")) })
	h.create(10)
	h.must("POST", "/v1/studies/s/asks", `{"count":2}`, nil)
	a := h.must("POST", "/v1/backup", nil, nil)
	if !bytes.HasPrefix(a.body, []byte("SQLite format 3")) || a.header.Get("Content-Length") != fmt.Sprint(len(a.body)) {
		t.Fatalf("%d bytes, %v", len(a.body), a.header)
	}
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(file, a.body, 0o600); err != nil {
		t.Fatal(err)
	}
	x, err := study.Open(t.Context(), openStore(t, file).Log("s"), study.Options{})
	if err != nil || x.Seq() != 2 {
		t.Errorf("%v", err)
	}
	in := newHost(t)
	in.refused("no-backup", 409, "POST", "/v1/backup", nil)
}
