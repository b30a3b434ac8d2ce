package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"grfgp/study"
)

// ErrGone is wrapped if the file of the store was removed or replaced by another while the
// store was open. What is written would be lost, so nothing is.
var ErrGone = errors.New("the file of the store was removed or replaced")

// Stats are figures of a store.
type Stats struct {
	Bytes   int64 // that the store takes on disk; of a database, its tables
	Commits Times // transactions that were written, or failed, since the store was opened
}

// Times is a histogram of durations.
type Times struct {
	Count, Failed uint64
	Sum           time.Duration
	Within        [len(timeBounds)]uint64 // how many took at most each of TimeBounds
}

// timeBounds are the bounds of Times.Within.
var timeBounds = [...]time.Duration{
	100 * time.Microsecond, 300 * time.Microsecond, time.Millisecond, 3 * time.Millisecond, 10 * time.Millisecond, 30 * time.Millisecond,
	100 * time.Millisecond, 300 * time.Millisecond, time.Second, 3 * time.Second, 10 * time.Second,
}

// TimeBounds returns the bounds of Times.Within.
func TimeBounds() []time.Duration { return timeBounds[:] }

// timer counts durations.
type timer struct {
	count, failed atomic.Uint64
	sum           atomic.Int64
	within        [len(timeBounds)]atomic.Uint64
}

// add counts what has taken so long. A transaction that was refused by what the store has is
// no failure of the store.
func (t *timer) add(took time.Duration, err error) {
	if errors.Is(err, study.ErrSequence) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrInUse) || errors.Is(err, ErrForeign) {
		return
	}
	if err != nil {
		t.failed.Add(1)
		return
	}
	t.count.Add(1)
	t.sum.Add(int64(took))
	for k, bound := range timeBounds {
		if took <= bound {
			t.within[k].Add(1)
		}
	}
}

func (t *timer) times() Times {
	v := Times{Count: t.count.Load(), Failed: t.failed.Load(), Sum: time.Duration(t.sum.Load())}
	for k := range timeBounds {
		v.Within[k] = t.within[k].Load()
	}
	return v
}

// checkTime limits Check.
const checkTime = 5 * time.Second

// checkedName is the name in grfgp_meta that Check writes.
const checkedName = "checked"

// Check implements Store.
func (d *database) Check(ctx context.Context, write bool) error {
	if err := d.dialect.present(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, checkTime)
	defer cancel()
	if !write {
		var one int
		return d.dialect.explain(d.reads.QueryRowContext(ctx, `SELECT 1`).Scan(&one))
	}
	err := d.writeWithin(ctx, checkTime, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = `+
			`excluded.value`, checkedName, time.Now().UTC().Format(time.RFC3339))
		return err
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// Stats implements Store.
func (d *database) Stats(ctx context.Context) (Stats, error) {
	bytes, err := d.dialect.size(ctx, d.reads)
	return Stats{Bytes: bytes, Commits: d.commits.times()}, err
}

// Present implements Store.
func (d *database) Present() error { return d.dialect.present() }

func (m *memory) Present() error { return nil }

func (m *memory) Check(context.Context, bool) error { return nil }

func (m *memory) Stats(context.Context) (Stats, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var s Stats
	for _, g := range m.graphs {
		s.Bytes += int64(len(g))
	}
	return s, nil
}

// sameFiles finds out whether the files of a store are those that were opened.
type sameFiles struct {
	path string
	log  bool // connections are open throughout, so that SQLite's log beside the file stays once it is there

	mu     sync.Mutex
	was    os.FileInfo // nil: present was not called yet
	logged bool        // the log was there
}

// present returns an error, which wraps ErrGone, if the file is not the one that it was when
// present was first called, or its log is gone.
func (f *sameFiles) present() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	now, err := os.Stat(f.path)
	switch {
	case err != nil && !os.IsNotExist(err):
		return fmt.Errorf("%w: %w", ErrAccess, err)
	case err != nil, f.was != nil && !os.SameFile(f.was, now):
		return f.gone(f.path)
	}
	f.was = now
	if _, err := os.Stat(f.path + "-wal"); err == nil {
		f.logged = true
	} else if f.log && f.logged && os.IsNotExist(err) {
		return f.gone(f.path + "-wal")
	}
	return nil
}

func (f *sameFiles) gone(name string) error {
	return fmt.Errorf("%w: %s is not the file that was opened; nothing is written any more: stop this process, put the file back or name a "+
		"backup, and start again", ErrGone, name)
}

// present implements dialect.
func (f *sqliteFile) present() error {
	if f.same == nil {
		return nil
	}
	return f.same.present()
}

// size implements dialect.
func (f *sqliteFile) size(context.Context, *sql.DB) (bytes int64, err error) {
	for _, name := range []string{f.path, f.path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	return bytes, nil
}

// present implements dialect: the database says so itself.
func (p *postgres) present() error { return nil }

// size implements dialect.
func (p *postgres) size(ctx context.Context, on *sql.DB) (bytes int64, err error) {
	ctx, cancel := detached(ctx, checkTime)
	defer cancel()
	err = on.QueryRowContext(ctx, `SELECT COALESCE(SUM(pg_total_relation_size(oid)), 0)::bigint FROM pg_class WHERE relkind = 'r' AND `+
		`relname LIKE 'grfgp\_%' AND relnamespace = current_schema()::regnamespace`).Scan(&bytes)
	return bytes, p.explain(err)
}
