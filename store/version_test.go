package store_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"grfgp/store"
	"grfgp/study"
)

// unreleasedFile is a store of the last program that wrote version 2, by the commands of
// 'grfgp study': two studies on one graph, with a checkpoint.
const unreleasedFile = "testdata/version2.db"

func unreleased(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "studies.db")
	copyFile(t, unreleasedFile, path)
	return path
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	body, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, string(body))
}

// openSQL opens an SQLite file without a store.
func openSQL(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// A store that a program wrote before the first release has all that it held, takes new
// values, and has the version of this program afterwards.
func TestUnreleasedStore(t *testing.T) {
	path := unreleased(t)
	goesOn(t, path)
	var version string
	if err := openSQL(t, path).QueryRow(`SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil || version != "1" {
		t.Errorf("version %s, %v", version, err)
	}
}

// goesOn checks that the studies of unreleasedFile are at a place, adds a value, and finds it again.
func goesOn(t *testing.T, at string) {
	t.Helper()
	const told = 2.5
	for k := range 2 {
		s, err := store.Open(t.Context(), at, store.Options{MustExist: true})
		if err != nil {
			t.Fatal(err)
		}
		infos, err := s.Studies(t.Context())
		if err != nil || len(infos) != 2 || infos[0].Name != "closed" || infos[1].Name != "pressure" {
			t.Fatalf("studies %+v, %v", infos, err)
		}
		for _, i := range infos {
			if i.Summary == nil {
				t.Errorf("study %s has no summary", i.Name)
			}
		}
		x, err := study.Open(t.Context(), s.Log("pressure"), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		x.View(func(st *study.State) {
			best, _ := st.Best()
			if len(st.Trials) != 5 || len(st.Records) != 6+k || !st.Records[0].Retracted || best.Value != 2.2 ||
				st.Trials[1].Note != "the manhole is flooded" || k > 0 && st.Records[6].Value != told {
				t.Errorf("opened %d times before, the study is %+v", k, st)
			}
		})
		if packed, err := s.Graph(t.Context(), x.Settings().Graph); err != nil || store.GraphID(packed) != x.Settings().Graph {
			t.Errorf("its graph: %d bytes, %v", len(packed), err)
		}
		if kept, err := s.Checkpoints("pressure").Load(t.Context()); err != nil || !json.Valid(kept) {
			t.Errorf("its checkpoint: %q, %v", kept, err)
		}
		if _, err := x.Tell(t.Context(), 4, study.Outcome{Value: told}, "anna"); err != nil { // the second time it is known
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A store of a newer program is refused and stays as it is.
func TestNewerVersion(t *testing.T) {
	for _, to := range []string{"3", "99", "0", "none"} {
		path := unreleased(t)
		db := openSQL(t, path)
		if _, err := db.Exec(`UPDATE grfgp_meta SET value = ? WHERE name = 'version'`, to); err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := store.Open(t.Context(), path, store.Options{}); !errors.Is(err, store.ErrForeign) ||
			!strings.Contains(err.Error(), "version "+to) {
			t.Errorf("version %s: %v", to, err)
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
			t.Errorf("version %s: the file was changed (%v)", to, err)
		}
	}
}

// unreleasedTables puts the rows of unreleasedFile into a database, in the tables that
// programs before the first release made there, and opens it.
func unreleasedTables(t *testing.T, server string, admin *pgx.Conn) {
	at := place(t, server, "unreleased", admin)
	c, err := pgx.Connect(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	from := openSQL(t, unreleasedFile+"?mode=ro&immutable=1")
	for _, table := range []struct{ name, columns string }{
		{"grfgp_meta", `name TEXT PRIMARY KEY, value TEXT NOT NULL`},
		{"grfgp_events", `study TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, ` +
			`PRIMARY KEY (study, seq)`},
		{"grfgp_graphs", `id TEXT COLLATE "C" PRIMARY KEY, size BIGINT NOT NULL, body BYTEA NOT NULL`},
		{"grfgp_learned", `study TEXT COLLATE "C" PRIMARY KEY, body BYTEA NOT NULL`},
		{"grfgp_summaries", `study TEXT COLLATE "C" PRIMARY KEY, seq BIGINT NOT NULL, body TEXT COLLATE "C" NOT NULL`},
	} {
		if _, err := c.Exec(t.Context(), fmt.Sprintf(`CREATE TABLE %s (%s)`, table.name, table.columns)); err != nil {
			t.Fatal(err)
		}
		copyRows(t, from, c, table.name)
	}
	goesOn(t, at)
	var version string
	if err := c.QueryRow(t.Context(), `SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil || version != "1" {
		t.Errorf("version %s, %v", version, err)
	}
}

// copyRows copies a table of an SQLite file to one of PostgreSQL with the same columns.
func copyRows(t *testing.T, from *sql.DB, to *pgx.Conn, table string) {
	t.Helper()
	rows, err := from.Query(`SELECT * FROM ` + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var all [][]any
	for rows.Next() {
		row, cells := make([]any, len(columns)), make([]any, len(columns))
		for k := range row {
			cells[k] = &row[k]
		}
		if err := rows.Scan(cells...); err != nil {
			t.Fatal(err)
		}
		all = append(all, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if n, err := to.CopyFrom(t.Context(), pgx.Identifier{table}, columns, pgx.CopyFromRows(all)); err != nil || n == 0 {
		t.Fatalf("%d rows of %s, %v", n, table, err)
	}
}
