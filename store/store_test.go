package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"grfgp/store"
	"grfgp/store/storetest"
	"grfgp/study"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	storetest.Run(t, false, func(*testing.T) string { return store.Memory })
}

func TestSQLite(t *testing.T) {
	t.Parallel()
	storetest.Run(t, true, func(t *testing.T) string { return filepath.Join(t.TempDir(), "studies.db") })
}

func TestPostgres(t *testing.T) {
	t.Parallel()
	server := storetest.Postgres(t)
	ctx := context.Background()
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close(ctx)
	var last atomic.Int64
	storetest.Run(t, true, func(t *testing.T) string {
		name := fmt.Sprintf("db%d", last.Add(1))
		if _, err := admin.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	})
	for name, test := range map[string]func(*testing.T, string, *pgx.Conn){
		"broken connection": brokenConnection, "callers go away": callersGoAway, "durable": durable, "not there": notThere,
		"unreleased tables": unreleasedTables,
	} {
		t.Run(name, func(t *testing.T) { test(t, server, admin) })
	}
}

// A connection that breaks takes the lock with it: the store comes back, unless
// somebody else was quicker.
func brokenConnection(t *testing.T, server string, admin *pgx.Conn) {
	ctx := t.Context()
	s, err := store.Open(ctx, server, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := store.Open(ctx, server, store.Options{}); !errors.Is(err, store.ErrHeld) ||
		!strings.Contains(err.Error(), fmt.Sprintf("grfgp, process %d on ", os.Getpid())) {
		t.Errorf("a second owner: %v", err)
	}
	all := storetest.All("s")
	cut := func() {
		t.Helper()
		var n int
		// one that was refused may still be ending
		if err := admin.QueryRow(ctx, `SELECT count(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity WHERE application_name LIKE 'grfgp,`+
			` %' AND datname = current_database()`).Scan(&n); err != nil || n < 1 {
			t.Fatalf("%d connections were cut: %v", n, err)
		}
	}
	// The first word after a break may be lost: it is said again.
	say := func(e study.Event) error {
		err := s.Log("s").Append(ctx, e)
		if err != nil && !errors.Is(err, store.ErrHeld) {
			err = s.Log("s").Append(ctx, e)
		}
		return err
	}
	for k, e := range all[:3] {
		if err := say(e); err != nil {
			t.Fatalf("event %d: %v", k+1, err)
		}
		cut()
	}
	other, err := store.Open(ctx, server, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := say(all[3]); !errors.Is(err, store.ErrHeld) {
		t.Errorf("another process owns it, and an event was taken: %v", err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if err := say(all[3]); err != nil {
		t.Errorf("it is free again: %v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := filepath.Join(dir, "foreign.db")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("node,value\na,1\n", 500)), 0o600); err != nil {
		t.Fatal(err)
	}
	for place, want := range map[string]error{
		"":                                  store.ErrNotFound,
		"mysql://host/db":                   store.ErrNotFound,
		filepath.Join(dir, "no", "s.db"):    store.ErrNotFound,
		filepath.Join(dir, "missing.db"):    store.ErrNotFound,
		foreign:                             store.ErrForeign,
		dir:                                 store.ErrNotFound,
		"postgres://localhost:1/none":       store.ErrUnavailable,
		"postgres://host:port/not a number": store.ErrNotFound,
	} {
		s, err := store.Open(t.Context(), place, store.Options{MustExist: true})
		if !errors.Is(err, want) {
			t.Errorf("%q: %v, %v; want %v", place, s, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); err == nil {
		t.Error("a store was made where it had to be")
	}
}

// What somebody else keeps in a file stays as it is, to the byte, and an empty file
// becomes a store only where one may be made.
func TestOpenLeavesAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	other, empty := filepath.Join(dir, "other.db"), filepath.Join(dir, "empty.csv")
	db, err := sql.Open("sqlite", other)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec(`CREATE TABLE bookmarks (url TEXT)`); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Close(), os.WriteFile(empty, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		opts store.Options
	}{{other, store.Options{}}, {other, store.Options{MustExist: true}}, {empty, store.Options{MustExist: true}}} {
		before, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := store.Open(t.Context(), c.path, c.opts); !errors.Is(err, store.ErrForeign) {
			t.Errorf("%s, %+v: %v, %v", c.path, c.opts, s, err)
		}
		if after, err := os.ReadFile(c.path); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed: %d bytes, and %d before, %v", c.path, len(after), len(before), err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("files were left behind: %v, %v", left, err)
	}
	s, err := store.Open(t.Context(), empty, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
}

// Whoever waits gets the store when its owner gives it up; whoever does not is told
// where that one answers.
func TestOpenWaits(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "studies.db")
	synctest.Test(t, func(t *testing.T) {
		first, err := store.Open(t.Context(), path, store.Options{URL: "http://127.0.0.1:8080"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), path, store.Options{}); !errors.Is(err, store.ErrHeld) ||
			!strings.Contains(err.Error(), "; give http://127.0.0.1:8080 as the store") {
			t.Errorf("without waiting: %v", err)
		}
		time.AfterFunc(30*time.Second, func() { first.Close() })
		second, err := store.Open(t.Context(), path, store.Options{MustExist: true, Wait: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		second.Close()
	})
}

// No character of a file name means anything to the database.
func TestFileNames(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"with space.db", "what?mode=memory.db", "100%.db", "a#b.db", "ü&é.db"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := store.Open(t.Context(), path, store.Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if info, err := os.Stat(path); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}
