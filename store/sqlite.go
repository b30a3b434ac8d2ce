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
		return nil, err
	}
	f := &sqliteFile{path: path, owner: path + ".owner"}
	if err := f.prepare(opts); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", sqliteURI(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the one that holds the lock
	db.SetConnMaxLifetime(0)
	d := &database{db, f}
	if err := d.prepare(ctx, opts); err != nil {
		db.Close()
		return nil, err
	}
	// The file stays as it was until it is known to be a store.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		db.Close()
		return nil, f.explain(err)
	}
	if err := os.WriteFile(f.owner, []byte(self(opts.URL)+"\n"), 0o600); err != nil {
		d.Close()
		return nil, f.explain(err)
	}
	return d, nil
}

// prepare makes a file that only its owner can read, where there is none. One
// without bytes is as good as none.
func (f *sqliteFile) prepare(opts Options) error {
	if info, err := os.Stat(f.path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%w: %s is a folder; name a file in it", ErrNotFound, f.path)
		case opts.MustExist && info.Mode().IsRegular() && info.Size() == 0:
			return fmt.Errorf("%w: %s is empty; name another file", ErrForeign, f.path)
		}
	}
	flag := os.O_RDWR
	if !opts.MustExist {
		flag |= os.O_CREATE
	}
	file, err := os.OpenFile(f.path, flag, 0o600)
	switch {
	case errors.Is(err, fs.ErrNotExist) && opts.MustExist:
		return fmt.Errorf("%w: there is no store %s; 'grfgp study create' makes one", ErrNotFound, f.path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no folder %s; make it first", ErrNotFound, filepath.Dir(f.path))
	case err != nil:
		return f.explain(err)
	}
	return file.Close()
}

// sqliteURI names the file so that no character of it means anything else, and
// says how it is used: synced at every commit, by one process.
func sqliteURI(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	q := url.Values{"_txlock": {"immediate"}}
	for _, pragma := range []string{"busy_timeout(200)", "locking_mode(EXCLUSIVE)", "synchronous(FULL)"} {
		q.Add("_pragma", pragma)
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

func (f *sqliteFile) schema() []string {
	return []string{
		`CREATE TABLE grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE grfgp_events (study TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (study, seq))`,
		`CREATE TABLE grfgp_graphs (id TEXT PRIMARY KEY, size INTEGER NOT NULL, body BLOB NOT NULL)`,
		`CREATE TABLE grfgp_learned (study TEXT PRIMARY KEY, body BLOB NOT NULL)`,
	}
}

// tables looks at the file. One that holds anything else is somebody's.
func (f *sqliteFile) tables(ctx context.Context, tx *sql.Tx) (ours, others bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(name = 'grfgp_meta'), 0), COUNT(*) > 0 FROM sqlite_master`).Scan(&ours, &others)
	return ours, others, err
}

// mayWrite is what to do where the file or its folder is closed to this process.
const mayWrite = "let this user write the file and its folder, or copy the file to a folder of your own"

func (f *sqliteFile) explain(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w; %s", ErrAccess, err, mayWrite)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the rest says more of the same
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return heldBy(f.path, f.holder())
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: %s: %w; make room on that disk", ErrFull, f.path, err)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("%w: %s: %w; %s", ErrAccess, f.path, err, mayWrite)
	case codes.SQLITE_IOERR:
		return fmt.Errorf("%w: %s: %w; make room on that disk if it is full, and check it if not", ErrAccess, f.path, err)
	case codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s is no SQLite file; name another", ErrForeign, f.path)
	case codes.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %s: %w; restore it from a backup", study.ErrCorrupt, f.path, err)
	case codes.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", study.ErrSequence, err)
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// holder says who owns the store.
func (f *sqliteFile) holder() string {
	text, err := os.ReadFile(f.owner)
	if err != nil || len(text) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(text))
}

func (f *sqliteFile) leave(context.Context, execer) {}

// release takes the owner's name away.
func (f *sqliteFile) release() error {
	if err := os.Remove(f.owner); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
