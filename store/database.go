package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"grfgp/study"
)

// database is a Store in SQL, on the one connection that owns the store. Its
// statements are common to SQLite and PostgreSQL; a dialect has the differences.
type database struct {
	db      *sql.DB
	dialect dialect
}

// dialect has the differences between databases.
type dialect interface {
	// schema returns the statements that create the tables of version 1.
	schema() []string
	// types replaces the types of columns in a migration.
	types() *strings.Replacer
	// backup copies a store with tables of an older version, and returns where to; "" if
	// the database does not do it.
	backup(ctx context.Context, on execer, version int) (string, error)
	// tables reports whether there are tables of this program, and others that must
	// not be mixed with them.
	tables(ctx context.Context, tx *sql.Tx) (ours, others bool, err error)
	// explain wraps an error of the driver in one of this package or of study.
	explain(err error) error
	// leave releases the lock before the connection closes, if the database would
	// release it only some time later.
	leave(ctx context.Context, on execer)
	// release removes what closing the database leaves behind.
	release() error
}

// execer is a database or one connection to it.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// timeout limits a statement or a transaction.
const timeout = time.Minute

// prepare takes the lock of the store, creates the tables if need be, and brings them to
// the version of this program.
func (d *database) prepare(ctx context.Context, opts Options) error {
	was := 0
	err := d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ours, others, err := d.dialect.tables(ctx, tx)
		switch {
		case err != nil:
			return err
		case !ours && (others || opts.MustExist):
			return fmt.Errorf("%w: it has no tables of studies; name another store", ErrForeign)
		case !ours:
			if err := d.makeTables(ctx, tx); err != nil {
				return err
			}
		}
		was, err = version(ctx, tx)
		return err
	})
	if err != nil || was == schemaVersion() {
		return err
	}
	return d.upgrade(ctx, was, opts)
}

// makeTables creates the tables of a new store.
func (d *database) makeTables(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range append(d.dialect.schema(), `INSERT INTO grfgp_meta (name, value) VALUES ('version', '1')`) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return d.migrate(ctx, tx, 1)
}

// detached returns ctx with a time limit in place of its own end: cancelling a
// statement would close the one connection.
func detached(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// write runs a transaction.
func (d *database) write(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	return d.writeWithin(ctx, timeout, do)
}

func (d *database) writeWithin(ctx context.Context, limit time.Duration, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, limit)
	defer cancel()
	tx, err := d.db.BeginTx(ctx, nil)
	if err != nil {
		return d.dialect.explain(err)
	}
	defer tx.Rollback()
	if err := do(ctx, tx); err != nil {
		return d.dialect.explain(err)
	}
	if err := tx.Commit(); err != nil {
		return d.dialect.explain(err)
	}
	return nil
}

// one scans the row of a query; the error is sql.ErrNoRows if there is none.
func (d *database) one(ctx context.Context, to any, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, timeout)
	defer cancel()
	err := d.db.QueryRowContext(ctx, query, args...).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return d.dialect.explain(err)
}

// closeTimeout is how long Close waits for a statement that is under way.
const closeTimeout = 5 * time.Second

// Close releases the store after the statement that is under way.
func (d *database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if s := d.db.Stats(); s.InUse == 0 {
		if s.OpenConnections > 0 {
			d.dialect.leave(ctx, d.db)
		}
		return errors.Join(d.db.Close(), d.dialect.release())
	}
	last, wait := d.db.Conn(ctx)
	if wait == nil {
		d.dialect.leave(ctx, last)
	}
	err := d.db.Close()
	if wait == nil {
		err = errors.Join(err, last.Close()) // this closes the connection
	}
	return errors.Join(err, d.dialect.release())
}

// Log implements Store.
func (d *database) Log(name string) study.Log { return &log{d, name} }

// log is the event log of one study.
type log struct {
	*database
	study string
}

// perEvent extends timeout for each appended event: a round trip to a distant
// database.
const perEvent = 100 * time.Millisecond

// Append implements study.Log.
func (l *log) Append(ctx context.Context, events ...study.Event) error {
	limit := timeout + time.Duration(len(events))*perEvent
	return l.writeWithin(ctx, limit, func(ctx context.Context, tx *sql.Tx) error {
		var last int64
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM grfgp_events WHERE study = $1`, l.study).Scan(&last); err != nil {
			return err
		}
		for _, e := range events {
			if last++; e.Seq != last {
				return fmt.Errorf("%w: event %d where %d is next", study.ErrSequence, e.Seq, last)
			}
			body, err := json.Marshal(e)
			if err != nil {
				return fmt.Errorf("event %d: %w", e.Seq, err)
			}
			if _, err := tx.ExecContext(ctx, `INSERT INTO grfgp_events (study, seq, at, body) VALUES ($1, $2, $3, $4)`, l.study, e.Seq, e.Time.UnixMicro(), string(body)); err != nil {
				return err
			}
		}
		return nil
	})
}

// page is the number of events read at once. Between pages the connection is free for
// others.
const page = 512

// Events implements study.Log.
func (l *log) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	return func(yield func(study.Event, error) bool) {
		for {
			events, err := l.page(ctx, after)
			if err != nil {
				yield(study.Event{}, err)
				return
			}
			for _, e := range events {
				if !yield(e, nil) {
					return
				}
			}
			if len(events) < page {
				return
			}
			after += page
		}
	}
}

// restore says what to do about damaged events.
const restore = "restore the store from a backup, or import an export of the study under another name"

func (l *log) page(ctx context.Context, after int64) ([]study.Event, error) {
	var events []study.Event
	err := l.rows(ctx, func(scan func(...any) error) error {
		var seq int64
		var body string
		if err := scan(&seq, &body); err != nil {
			return err
		}
		var e study.Event
		if err := json.Unmarshal([]byte(body), &e); err != nil {
			return fmt.Errorf("%w: %q, event %d: %v; %s", study.ErrCorrupt, l.study, seq, err, restore)
		}
		if want := after + 1 + int64(len(events)); seq != want || e.Seq != want {
			return fmt.Errorf("%w: %q has event %d, numbered %d in its body, where %d is next; %s", study.ErrCorrupt, l.study, seq, e.Seq, want, restore)
		}
		events = append(events, e)
		return nil
	}, `SELECT seq, body FROM grfgp_events WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3`, l.study, after, page)
	return events, err
}

// rows runs a query and calls each for every row.
func (d *database) rows(ctx context.Context, each func(scan func(...any) error) error, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, timeout)
	defer cancel()
	rows, err := d.db.QueryContext(ctx, query, args...)
	if err != nil {
		return d.dialect.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return d.dialect.explain(rows.Err())
}

// Studies implements Store.
func (d *database) Studies(ctx context.Context) ([]StudyInfo, error) {
	all := []StudyInfo{}
	err := d.rows(ctx, func(scan func(...any) error) error {
		var i StudyInfo
		var created, updated int64
		if err := scan(&i.Name, &i.Events, &created, &updated); err != nil {
			return err
		}
		i.Created, i.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
		all = append(all, i)
		return nil
	}, `SELECT s.study, s.events, f.at, l.at
		FROM (SELECT study, MIN(seq) AS first, MAX(seq) AS events FROM grfgp_events GROUP BY study) AS s
		JOIN grfgp_events AS f ON f.study = s.study AND f.seq = s.first
		JOIN grfgp_events AS l ON l.study = s.study AND l.seq = s.events
		ORDER BY s.study`)
	return all, err
}

// Checkpoints implements Store.
func (d *database) Checkpoints(name string) study.CheckpointStore { return &checkpoints{d, name} }

// checkpoints is the row of grfgp_learned of one study.
type checkpoints struct {
	*database
	study string
}

// Save implements study.CheckpointStore. It saves nothing for a study that was deleted.
func (k *checkpoints) Save(ctx context.Context, checkpoint []byte) error {
	return k.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		var there bool
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM grfgp_events WHERE study = $1)`, k.study).Scan(&there); err != nil || !there {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_learned (study, body) VALUES ($1, $2) ON CONFLICT (study) DO UPDATE SET body = excluded.body`, k.study, checkpoint)
		return err
	})
}

// Load implements study.CheckpointStore.
func (k *checkpoints) Load(ctx context.Context) ([]byte, error) {
	var checkpoint []byte
	err := k.one(ctx, &checkpoint, `SELECT body FROM grfgp_learned WHERE study = $1`, k.study)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return checkpoint, err
}

// PutGraph implements Store. Graphs are compressed with zstd.
func (d *database) PutGraph(ctx context.Context, packed []byte) (string, error) {
	id := GraphID(packed)
	var there bool
	if err := d.one(ctx, &there, `SELECT EXISTS (SELECT 1 FROM grfgp_graphs WHERE id = $1)`, id); err != nil || there {
		return id, err
	}
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		return "", err
	}
	defer enc.Close()
	body := enc.EncodeAll(packed, nil)
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_graphs (id, size, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, id, len(packed), body)
		return err
	})
	return id, err
}

// Graph implements Store.
func (d *database) Graph(ctx context.Context, id string) ([]byte, error) {
	var body []byte
	err := d.one(ctx, &body, `SELECT body FROM grfgp_graphs WHERE id = $1`, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, noGraph(id)
	}
	if err != nil {
		return nil, err
	}
	dec, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer dec.Close()
	packed, err := dec.DecodeAll(body, nil)
	if err != nil || GraphID(packed) != id {
		return nil, fmt.Errorf("%w: graph %s does not have its checksum: %v", study.ErrCorrupt, id, err)
	}
	return packed, nil
}

// Graphs implements Store.
func (d *database) Graphs(ctx context.Context) ([]GraphInfo, error) {
	all := []GraphInfo{}
	err := d.rows(ctx, func(scan func(...any) error) error {
		var i GraphInfo
		if err := scan(&i.ID, &i.Size); err != nil {
			return err
		}
		all = append(all, i)
		return nil
	}, `SELECT id, size FROM grfgp_graphs ORDER BY id`)
	return all, err
}
