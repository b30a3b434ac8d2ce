package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/klauspost/compress/zstd"

	"grfgp/study"
)

// database is a Store in SQL. The statements are those that SQLite and PostgreSQL
// both know; dialect is where they differ. There is one connection, which owns
// the store.
type database struct {
	db      *sql.DB
	dialect dialect
}

// dialect is what differs between databases.
type dialect interface {
	// schema are the statements that make the tables where there are none.
	schema() []string
	// tables says whether there are tables of this program, and others that must
	// be left alone.
	tables(ctx context.Context, tx *sql.Tx) (ours, others bool, err error)
	// explain wraps an error of the driver in one of this package's or study's.
	explain(err error) error
	// leave gives up, by a last statement, what the end of a connection gives up
	// too late for who opens the store next.
	leave(ctx context.Context, on execer)
	// release gives up what Close of the database does not.
	release() error
}

// execer is a database or one connection to it.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// schemaVersion is that of the tables.
const schemaVersion = 1

// patience is how long the database may take for a statement or a transaction.
const patience = time.Minute

// prepare takes the store, and makes the tables where there are none and may be.
func (d *database) prepare(ctx context.Context, opts Options) error {
	return d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ours, others, err := d.dialect.tables(ctx, tx)
		switch {
		case err != nil:
			return err
		case !ours && (others || opts.MustExist):
			return fmt.Errorf("%w: it has no tables of studies; name another place, or make a store with 'grfgp study create'", ErrForeign)
		case !ours:
			if err := d.makeTables(ctx, tx); err != nil {
				return err
			}
		}
		var version string
		if err := tx.QueryRowContext(ctx, `SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil {
			return err
		}
		if version != fmt.Sprint(schemaVersion) {
			return fmt.Errorf("%w: its tables are of version %s, and this program knows %d; is there a newer one?", ErrForeign, version, schemaVersion)
		}
		return nil
	})
}

func (d *database) makeTables(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range d.dialect.schema() {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_meta (name, value) VALUES ('version', $1)`, fmt.Sprint(schemaVersion))
	return err
}

// steady is ctx without its end, but for a limit of its own: a caller who goes
// away in the middle of a statement would take the one connection along.
func steady(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// write runs a transaction.
func (d *database) write(ctx context.Context, do func(ctx context.Context, tx *sql.Tx) error) error {
	return d.writeWithin(ctx, patience, do)
}

func (d *database) writeWithin(ctx context.Context, limit time.Duration, do func(ctx context.Context, tx *sql.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := steady(ctx, limit)
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

// one scans the only row of a query; the error is sql.ErrNoRows if there is none.
func (d *database) one(ctx context.Context, to any, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := steady(ctx, patience)
	defer cancel()
	err := d.db.QueryRowContext(ctx, query, args...).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return d.dialect.explain(err)
}

// lastWord is how long Close waits for a statement that is under way.
const lastWord = 5 * time.Second

// Close gives the store up, after what is under way.
func (d *database) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), lastWord)
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
		err = errors.Join(err, last.Close()) // with which the connection itself ends
	}
	return errors.Join(err, d.dialect.release())
}

// Log returns the events of a study.
func (d *database) Log(name string) study.Log { return &log{d, name} }

// log is the events of one study.
type log struct {
	*database
	study string
}

// perEvent is what each of many events may take beside patience: a round trip to
// a database that is far away.
const perEvent = 100 * time.Millisecond

// Append implements study.Log.
func (l *log) Append(ctx context.Context, events ...study.Event) error {
	limit := patience + time.Duration(len(events))*perEvent
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

// page is how many events are read at once: the connection is free while the
// caller looks at them.
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

// restore is what to do about events that are damaged.
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
			return fmt.Errorf("%w: %q has event %d, called %d, where %d is next; %s", study.ErrCorrupt, l.study, seq, e.Seq, want, restore)
		}
		events = append(events, e)
		return nil
	}, `SELECT seq, body FROM grfgp_events WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3`, l.study, after, page)
	return events, err
}

// rows runs a query and hands on its rows.
func (d *database) rows(ctx context.Context, each func(scan func(...any) error) error, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := steady(ctx, patience)
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

// Checkpoints keeps what an engine of a study has learned.
func (d *database) Checkpoints(name string) study.CheckpointStore { return &keeper{d, name} }

// keeper has a row of its own for a study.
type keeper struct {
	*database
	study string
}

// Save implements study.Keeper.
func (k *keeper) Save(ctx context.Context, learned []byte) error {
	return k.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_learned (study, body) VALUES ($1, $2) ON CONFLICT (study) DO UPDATE SET body = excluded.body`, k.study, learned)
		return err
	})
}

// Load implements study.Keeper.
func (k *keeper) Load(ctx context.Context) ([]byte, error) {
	var learned []byte
	err := k.one(ctx, &learned, `SELECT body FROM grfgp_learned WHERE study = $1`, k.study)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return learned, err
}

// PutGraph implements Store. Graphs are compressed.
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
		return nil, fmt.Errorf("%w: graph %s is not what was put there: %v", study.ErrCorrupt, id, err)
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
