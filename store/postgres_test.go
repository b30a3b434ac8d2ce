package store_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"grfgp/store"
	"grfgp/store/storetest"
)

// place makes a database of its own on a server.
func place(t *testing.T, server, name string, admin *pgx.Conn, settings ...string) string {
	t.Helper()
	for _, statement := range append([]string{"CREATE DATABASE " + name}, settings...) {
		if _, err := admin.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	u.Path = "/" + name
	return u.String()
}

// backend is the process of the database's server for the connection that owns a store.
func backend(t *testing.T, admin *pgx.Conn, database string) (pid int) {
	t.Helper()
	if err := admin.QueryRow(t.Context(), `SELECT pid FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE datname = $1 AND locktype = `+
		`'advisory'`, database).Scan(&pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// Callers who go away in the middle leave the one connection, and with it the
// lock, where it is.
func callersGoAway(t *testing.T, server string, admin *pgx.Conn) {
	s, err := store.Open(t.Context(), place(t, server, "away", admin), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	id, err := s.PutGraph(t.Context(), make([]byte, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Log("s").Append(t.Context(), storetest.All("s")...); err != nil {
		t.Fatal(err)
	}
	before := backend(t, admin, "away")
	for k := range 200 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(k)*10*time.Microsecond)
		_, errGraph := s.Graph(ctx, id)
		_, errStudies := s.Studies(ctx)
		errKeep := s.Checkpoints("s").Save(ctx, []byte("learned"))
		_, errKept := s.Checkpoints("s").Load(ctx)
		cancel()
		for _, err := range []error{errGraph, errStudies, errKeep, errKept} {
			if err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("caller %d: %v", k, err)
			}
		}
	}
	if after := backend(t, admin, "away"); after != before {
		t.Errorf("the connection was lost: process %d, then %d", before, after)
	}
}

// What is committed is on disk, whatever the database is set to.
func durable(t *testing.T, server string, admin *pgx.Conn) {
	for set, want := range map[string]string{"off": "on", "local": "local", "remote_apply": "remote_apply"} {
		name := "sync_" + set
		s, err := store.Open(t.Context(), place(t, server, name, admin, "ALTER DATABASE "+name+" SET synchronous_commit = '"+set+"'"),
			store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := store.Setting(t.Context(), s, "synchronous_commit"); err != nil || got != want {
			t.Errorf("synchronous_commit is %q (%v) where the database says %q; want %q", got, err, set, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A database that does not answer is neither missing nor held, and is there again
// when it answers.
func notThere(t *testing.T, server string, admin *pgx.Conn) {
	s, err := store.Open(t.Context(), place(t, server, "down", admin), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(u.Query().Get("host"), ".s.PGSQL.5432")
	if err := os.Rename(socket, socket+".away"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = 'down'`); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := s.Studies(t.Context()); !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrNotFound) {
			t.Errorf("reading: %v", err)
		}
		if err := s.Log("s").Append(t.Context(), storetest.All("s")[0]); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("writing: %v", err)
		}
	}
	if err := os.Rename(socket+".away", socket); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Studies(t.Context()); err != nil {
		t.Errorf("it answers again: %v", err)
	}
}
