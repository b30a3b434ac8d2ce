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

// sqliteFile is the dialect of a store in one file. A lock of the file, which ends with the
// process, decides who owns it; a file beside it names the owner for error messages.
//
// With this lock SQLite's own locks let other connections read. Where the system has no such
// lock, or no memory that connections share (a full disk, some network disks), SQLite's
// exclusive lock decides, and one connection does all. Programs that know only that lock are
// kept out by either.
type sqliteFile struct {
	path  string
	owner string     // file
	same  *sameFiles // nil: it is not open yet
	lock  *os.File   // holds the lock; nil: SQLite's exclusive lock does. Closing it would end SQLite's locks too: it is closed last
}

func openSQLite(ctx context.Context, path string, opts Options) (Store, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	f := &sqliteFile{path: path, owner: path + ".owner"}
	if err := f.prepare(opts); err != nil {
		if opts.ReadOnly && errors.Is(err, ErrAccess) {
			return f.openReadOnly(ctx)
		}
		return nil, err
	}
	if f.lock, err = lockFile(path); errors.Is(err, errLocked) {
		return nil, heldBy(path, f.holder())
	}
	d, err := f.open(ctx, opts)
	if err != nil && f.lock != nil && !errors.Is(err, ErrForeign) {
		f.unlock()
		d, err = f.open(ctx, opts)
	}
	if err != nil {
		f.unlock()
		if opts.ReadOnly && errors.Is(err, ErrAccess) { // its directory cannot be written
			return f.openReadOnly(ctx)
		}
		return nil, err
	}
	f.same = &sameFiles{path: path, log: f.lock != nil}
	if err := f.same.present(); err != nil {
		d.Close()
		return nil, err
	}
	if err := os.WriteFile(f.owner, []byte(self(opts.URL)+"\n"), 0o600); err != nil {
		d.Close()
		return nil, f.explain(err)
	}
	return d, nil
}

// readers is the number of connections that read.
const readers = 4

// open opens the database, with connections to read if there is a lock.
func (f *sqliteFile) open(ctx context.Context, opts Options) (*database, error) {
	pragmas := []string{"busy_timeout(200)", "synchronous(FULL)"}
	if f.lock == nil {
		pragmas = append(pragmas, "locking_mode(EXCLUSIVE)")
	}
	db, err := sql.Open("sqlite", sqliteURI(f.path, pragmas...))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // the one that writes
	db.SetConnMaxLifetime(0)
	d := &database{db: db, reads: db, dialect: f}
	if err := d.prepare(ctx, opts); err != nil {
		db.Close()
		return nil, err
	}
	// After prepare, so that a file that is not a store stays unchanged.
	if _, err := db.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		db.Close()
		return nil, f.explain(err)
	}
	if f.lock == nil {
		return d, nil
	}
	reads, err := sql.Open("sqlite", sqliteURI(f.path, "busy_timeout(5000)", "query_only(1)"))
	if err == nil {
		reads.SetMaxOpenConns(readers)
		reads.SetMaxIdleConns(readers)
		_, err = reads.ExecContext(ctx, "SELECT COUNT(*) FROM grfgp_meta")
	}
	if err != nil {
		if reads != nil {
			reads.Close()
		}
		db.Close()
		return nil, f.explain(err)
	}
	d.reads = reads
	return d, nil
}

// unlock gives up the lock. No connection is open.
func (f *sqliteFile) unlock() {
	if f.lock != nil {
		f.lock.Close()
		f.lock = nil
	}
}

// prepare creates the file, readable by its owner only, if there is none. An empty
// file counts as none.
func (f *sqliteFile) prepare(opts Options) error {
	if info, err := os.Stat(f.path); err == nil {
		switch {
		case info.IsDir():
			return fmt.Errorf("%w: %s is a directory; name a file in it", ErrNotFound, f.path)
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
		return fmt.Errorf("%w: there is no store %s; it is created with its first study", ErrNotFound, f.path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no directory %s; create it first", ErrNotFound, filepath.Dir(f.path))
	case err != nil:
		return f.explain(err)
	}
	return file.Close()
}

// sqliteURI returns the URI of the file, with its name escaped, and settings.
func sqliteURI(path string, pragmas ...string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	q := url.Values{"_txlock": {"immediate"}}
	for _, pragma := range pragmas {
		q.Add("_pragma", pragma)
	}
	return (&url.URL{Scheme: "file", Path: slashed, RawQuery: q.Encode()}).String()
}

func (f *sqliteFile) schema() []string {
	return []string{
		`CREATE TABLE grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE grfgp_events (study TEXT NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY ` +
			`(study, seq))`,
		`CREATE TABLE grfgp_graphs (id TEXT PRIMARY KEY, size INTEGER NOT NULL, body BLOB NOT NULL)`,
		`CREATE TABLE grfgp_learned (study TEXT PRIMARY KEY, body BLOB NOT NULL)`,
		`CREATE TABLE grfgp_summaries (study TEXT PRIMARY KEY, seq INTEGER NOT NULL, body TEXT NOT NULL)`,
	}
}

// tables implements dialect. A file with any other table is not a store.
func (f *sqliteFile) tables(ctx context.Context, tx *sql.Tx) (ours, others bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(name = 'grfgp_meta'), 0), COUNT(*) > 0 FROM sqlite_master`).Scan(&ours, &others)
	return ours, others, err
}

// mayWrite says what to do about missing permissions.
const mayWrite = "allow this user to write the file and its directory, or copy the file to a directory of your own"

func (f *sqliteFile) explain(err error) error {
	if errors.Is(err, fs.ErrPermission) || isReadOnlyDisk(err) {
		return fmt.Errorf("%w: %w; %s", ErrAccess, err, mayWrite)
	}
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() & 0xff { // the primary result code
	case codes.SQLITE_BUSY, codes.SQLITE_LOCKED:
		return heldBy(f.path, f.holder())
	case codes.SQLITE_FULL:
		return fmt.Errorf("%w: %s: %w; free space on that disk", ErrFull, f.path, err)
	case codes.SQLITE_READONLY, codes.SQLITE_CANTOPEN, codes.SQLITE_PERM:
		return fmt.Errorf("%w: %s: %w; %s", ErrAccess, f.path, err, mayWrite)
	case codes.SQLITE_IOERR:
		return fmt.Errorf("%w: %s: %w; free space on the disk if it is full, and check it if not", ErrAccess, f.path, err)
	case codes.SQLITE_NOTADB:
		return fmt.Errorf("%w: %s is not an SQLite file; name another", ErrForeign, f.path)
	case codes.SQLITE_CORRUPT:
		return fmt.Errorf("%w: %w; restore it from a backup", study.ErrCorrupt, &fs.PathError{Op: "reading", Path: f.path, Err: err})
	case codes.SQLITE_CONSTRAINT:
		return fmt.Errorf("%w: %w", study.ErrSequence, err)
	}
	return fmt.Errorf("%s: %w", f.path, err)
}

// holder describes the process that owns the store.
func (f *sqliteFile) holder() string {
	text, err := os.ReadFile(f.owner)
	if err != nil || len(text) == 0 {
		return "another process"
	}
	return strings.TrimSpace(string(text))
}

func (f *sqliteFile) leave(context.Context, execer) {}

// release removes the file that names the owner, and gives up the lock.
func (f *sqliteFile) release() error {
	defer f.unlock()
	if f.owner == "" {
		return nil
	}
	if err := os.Remove(f.owner); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
