package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"modernc.org/sqlite"
	codes "modernc.org/sqlite/lib"

	"grfgp/study"
)

// sqliteFile is a store in one file. SQLite's own exclusive lock says who owns
// it, and goes with the process however that ends; the owner's name in a file
// beside it is for people.
type sqliteFile struct {
	path  string
	owner string // file
}

func openSQLite(ctx context.Context, path string, opts Options) (Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if err := prepareFile(path, opts); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sqliteURI(path))
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	db.SetMaxOpenConns(1) // the one that holds the lock
	db.SetConnMaxLifetime(0)
	f := &sqliteFile{path: path, owner: path + ".owner"}
	d := &database{db, f}
	if err := d.prepare(ctx); err != nil {
		db.Close()
		return nil, err
	}
	if err := os.WriteFile(f.owner, []byte(self()+"\n"), 0o600); err != nil {
		d.Close()
		return nil, fmt.Errorf("store: %w", err)
	}
	return d, nil
}

// prepareFile makes a file that only its owner can read, where there is none.
func prepareFile(path string, opts Options) error {
	flag := os.O_RDWR
	if !opts.MustExist {
		flag |= os.O_CREATE
	}
	f, err := os.OpenFile(path, flag, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist) && opts.MustExist:
		return fmt.Errorf("%w: there is no store %s; 'grfgp study create' makes one", ErrNotFound, path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no folder %s; make it first", ErrNotFound, filepath.Dir(path))
	case err != nil:
		return fmt.Errorf("store: %w", err)
	}
	return f.Close()
}

// sqliteURI names the file so that no character of it means anything else, and
// says how it is used: a write-ahead log that is synced at every commit, by one
// process.
func sqliteURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	q := url.Values{"_txlock": {"immediate"}}
	for _, pragma := range []string{"busy_timeout(200)", "locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(FULL)"} {
		q.Add("_pragma", pragma)
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

func (f *sqliteFile) schema() []string {
	return []string{
		`CREATE TABLE IF NOT EXISTS grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS grfgp_events (study TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (study, seq))`,
		`CREATE TABLE IF NOT EXISTS grfgp_graphs (id TEXT PRIMARY KEY, size INTEGER NOT NULL, body BLOB NOT NULL)`,
		`CREATE TABLE IF NOT EXISTS grfgp_learned (study TEXT PRIMARY KEY, body BLOB NOT NULL)`,
	}
}

func (f *sqliteFile) explain(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the rest says more of the same
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return fmt.Errorf("%w: %s is used by %s; end that first, or talk to it", ErrHeld, f.path, f.holder())
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: %s: %w; make room on that disk", ErrFull, f.path, err)
	case codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s is no SQLite file; name another", ErrForeign, f.path)
	case codes.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %s: %w; restore it from a backup", study.ErrCorrupt, f.path, err)
	case codes.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", study.ErrSequence, err)
	}
	return fmt.Errorf("store: %s: %w", f.path, err)
}

// holder says who owns the store.
func (f *sqliteFile) holder() string {
	text, err := os.ReadFile(f.owner)
	if err != nil || len(text) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(text))
}

// release takes the owner's name away.
func (f *sqliteFile) release() error {
	if err := os.Remove(f.owner); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
