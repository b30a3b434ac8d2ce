package store_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"grfgp/store"
	"grfgp/study"
)

// version1 copies testdata/version1.db, which the last program with tables of version 1
// wrote: two studies on one graph, with a checkpoint.
func version1(t *testing.T) string {
	t.Helper()
	body, err := os.ReadFile("testdata/version1.db")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "studies.db")
	if err := os.WriteFile(path, body, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// content is all that an SQLite file with studies holds in the tables of version 1, but its version.
func content(t *testing.T, path string) string {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var all strings.Builder
	for _, query := range []string{
		`SELECT study || seq || at || body FROM grfgp_events ORDER BY study, seq`, `SELECT id || size || hex(body) FROM grfgp_graphs ORDER BY id`,
		`SELECT study || hex(body) FROM grfgp_learned ORDER BY study`, `SELECT name || value FROM grfgp_meta WHERE name <> 'version' ORDER BY name`,
	} {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				t.Fatal(err)
			}
			all.WriteString(line + "\n")
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all.String()
}

func setVersion(t *testing.T, path, to string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE grfgp_meta SET value = ? WHERE name = 'version'`, to); err != nil {
		t.Fatal(err)
	}
}

// A file of version 1 is opened with all that it holds, once, after a copy was made that
// is a store of version 1.
func TestMigration(t *testing.T) {
	path := version1(t)
	before := content(t, path)
	if strings.Count(before, "\n") < 14 {
		t.Fatalf("the stored file holds too little:\n%s", before)
	}
	var done []store.Migration
	s, err := store.Open(t.Context(), path, store.Options{MustExist: true, Migrated: func(m store.Migration) { done = append(done, m) }})
	if err != nil {
		t.Fatal(err)
	}
	checkVersion1(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if len(done) != 1 || done[0].From != 1 || done[0].To < 2 || len(done[0].News) != done[0].To-1 {
		t.Fatalf("migrations %+v", done)
	}
	if after := content(t, path); after != before {
		t.Errorf("the content is now\n%s\nand was\n%s", after, before)
	}
	if kept := content(t, done[0].Backup); kept != before {
		t.Errorf("the copy holds\n%s\nwant\n%s", kept, before)
	}
	if info, err := os.Stat(done[0].Backup); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the copy: %v, %v", info, err)
	}
	if s, err = store.Open(t.Context(), path, store.Options{Migrated: func(store.Migration) { t.Error("migrated again") }}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkVersion1(t, s)
	// The copy is a store of version 1: it can be migrated in its turn, to a copy of another name.
	if err := os.WriteFile(done[0].Backup+".version1", []byte("in the way"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), done[0].Backup, store.Options{Migrated: func(m store.Migration) {
		if filepath.Base(m.Backup) != "studies.db.version1.version1-2" {
			t.Errorf("the copy is called %s", m.Backup)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	checkVersion1(t, again)
}

// checkVersion1 checks that the studies of the stored file are there, and go on.
func checkVersion1(t *testing.T, s store.Store) {
	t.Helper()
	infos, err := s.Studies(t.Context())
	if err != nil || len(infos) != 2 || infos[0].Name != "closed" || infos[1].Name != "pressure" || infos[1].Events < 8 {
		t.Fatalf("studies %+v, %v", infos, err)
	}
	x, err := study.Open(t.Context(), s.Log("pressure"), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x.View(func(st *study.State) {
		best, _ := st.Best()
		if len(st.Trials) != 5 || len(st.Records) != 6 || !st.Records[0].Retracted || best.Value != 2.2 || st.Trials[1].Note != "the manhole is flooded" {
			t.Errorf("the study is %+v", st)
		}
	})
	if packed, err := s.Graph(t.Context(), x.Settings().Graph); err != nil || len(packed) == 0 {
		t.Errorf("its graph: %d bytes, %v", len(packed), err)
	}
	if kept, err := s.Checkpoints("pressure").Load(t.Context()); err != nil || !json.Valid(kept) {
		t.Errorf("its checkpoint: %q, %v", kept, err)
	}
}

// A store of a newer program is refused and stays as it is.
func TestNewerVersion(t *testing.T) {
	for _, to := range []string{"99", "0", "none"} {
		path := version1(t)
		setVersion(t, path, to)
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), path, store.Options{}); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "version "+to) {
			t.Errorf("version %s: %v", to, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("version %s: the file was changed (%v)", to, err)
		}
	}
}

// If the copy cannot be made, nothing is changed.
func TestMigrationNeedsItsCopy(t *testing.T) {
	path := version1(t)
	before := content(t, path)
	if err := os.MkdirAll(filepath.Join(path+".version1.part", "full"), 0o700); err != nil { // in the way of the copy
		t.Fatal(err)
	}
	if _, err := store.Open(t.Context(), path, store.Options{}); err == nil || !strings.Contains(err.Error(), "a copy of the store") {
		t.Fatalf("opened without a copy: %v", err)
	}
	if err := os.RemoveAll(path + ".version1.part"); err != nil {
		t.Fatal(err)
	}
	if after := content(t, path); after != before {
		t.Error("the content was changed")
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var version string
	if err := db.QueryRow(`SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil || version != "1" {
		t.Errorf("version %s, %v", version, err)
	}
}

// migrates puts a store of version 1 into a database, which Open brings to the version of
// this program.
func migrates(t *testing.T, server string, admin *pgx.Conn) {
	ctx := context.Background()
	at := place(t, server, "older", admin)
	c, err := pgx.Connect(ctx, at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	for _, statement := range []string{
		`CREATE TABLE grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE grfgp_events (study TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (study, seq))`,
		`CREATE TABLE grfgp_graphs (id TEXT COLLATE "C" PRIMARY KEY, size BIGINT NOT NULL, body BYTEA NOT NULL)`,
		`CREATE TABLE grfgp_learned (study TEXT COLLATE "C" PRIMARY KEY, body BYTEA NOT NULL)`,
		`INSERT INTO grfgp_meta VALUES ('version', '1'), ('mark:pressure', '{"work":"fit","times":1}')`,
	} {
		if _, err := c.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	old, err := sql.Open("sqlite", "testdata/version1.db?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	rows, err := old.Query(`SELECT study, seq, at, body FROM grfgp_events`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var study, body string
		var seq, when int64
		if err := rows.Scan(&study, &seq, &when, &body); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Exec(ctx, `INSERT INTO grfgp_events VALUES ($1, $2, $3, $4)`, study, seq, when, body); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		s, err := store.Open(ctx, at, store.Options{MustExist: true})
		if err != nil {
			t.Fatal(err)
		}
		if infos, err := s.Studies(ctx); err != nil || len(infos) != 2 {
			t.Errorf("studies %v, %v", infos, err)
		}
		if marks, err := s.Marks(ctx); err != nil || len(marks) != 1 {
			t.Errorf("marks %v, %v", marks, err)
		}
		if _, err := study.Open(ctx, s.Log("pressure"), study.Options{}); err != nil {
			t.Error(err)
		}
		s.Close()
	}
	var version string
	if err := c.QueryRow(ctx, `SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil || version == "1" {
		t.Errorf("version %s, %v", version, err)
	}
}
