package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"grfgp/store"
	"grfgp/store/storetest"
)

func TestMemory(t *testing.T) {
	storetest.Run(t, false, func(*testing.T) string { return store.Memory })
}

func TestSQLite(t *testing.T) {
	storetest.Run(t, true, func(t *testing.T) string { return filepath.Join(t.TempDir(), "studies.db") })
}

func TestPostgres(t *testing.T) {
	server := storetest.Postgres(t)
	var last atomic.Int64
	storetest.Run(t, true, func(t *testing.T) string {
		ctx := context.Background()
		c, err := pgx.Connect(ctx, server)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close(ctx)
		name := fmt.Sprintf("db%d", last.Add(1))
		if _, err := c.Exec(ctx, "CREATE DATABASE "+name); err != nil {
			t.Fatal(err)
		}
		return strings.Replace(server, "/postgres?", "/"+name+"?", 1)
	})
}

func TestOpenRefuses(t *testing.T) {
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
		"postgres://localhost:1/none":       store.ErrNotFound,
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

// No character of a file name means anything to the database.
func TestFileNames(t *testing.T) {
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
