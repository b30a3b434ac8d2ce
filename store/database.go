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

// database is a Store in SQL. One connection owns the store and writes; others read, so
// that nobody who reads keeps a writer waiting. The statements are common to SQLite and
// PostgreSQL; a dialect has the differences.
type database struct {
	db      *sql.DB // the connection that owns the store
	reads   *sql.DB // connections that read; db, if there can be no other
	dialect dialect
	group   group
	commits timer
}

// dialect has the differences between databases.
type dialect interface {
	// schema returns the statements that create the tables.
	schema() []string
	// last returns the number of the last event of each study, 0 if it has none.
	last(ctx context.Context, tx *sql.Tx, studies []string) (map[string]int64, error)
	// insert adds events.
	insert(ctx context.Context, tx *sql.Tx, rows []eventRow) error
	// summarize replaces the summaries of studies.
	summarize(ctx context.Context, tx *sql.Tx, rows []summaryRow) error
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
	// present returns an error if the files of the store are not those that were opened.
	present() error
	// size returns the bytes that the store takes.
	size(ctx context.Context, on *sql.DB) (int64, error)
	// copied makes a copy of the store as of one moment.
	copied(ctx context.Context, on *sql.DB) (fileReader, error)
}

// execer is a database or one connection to it.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// timeout limits a statement or a transaction.
const timeout = time.Minute

// prepare takes the lock of the store, creates the tables if need be, and checks their version.
func (d *database) prepare(ctx context.Context, opts Options) error {
	return d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		ours, others, err := d.dialect.tables(ctx, tx)
		switch {
		case err != nil:
			return err
		case !ours && (others || opts.MustExist):
			return fmt.Errorf("%w: it has no tables of studies; name another store", ErrForeign)
		case !ours:
			return d.makeTables(ctx, tx)
		}
		if err := checkVersion(ctx, tx); err != nil {
			return err
		}
		return renumber(ctx, tx)
	})
}

// makeTables creates the tables of a new store.
func (d *database) makeTables(ctx context.Context, tx *sql.Tx) error {
	for _, statement := range d.dialect.schema() {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_meta (name, value) VALUES ('version', $1)`, thisVersion)
	return err
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

// writeWithin runs a transaction within a time limit. It is not run if the files of the store
// are gone, and has failed if they are gone afterwards.
func (d *database) writeWithin(ctx context.Context, limit time.Duration, do func(ctx context.Context, tx *sql.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	began := time.Now()
	defer func() { d.commits.add(time.Since(began), err) }()
	if err := d.dialect.present(); err != nil {
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
	return d.dialect.present()
}

// one scans the row of a query; the error is sql.ErrNoRows if there is none.
func (d *database) one(ctx context.Context, to any, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, timeout)
	defer cancel()
	err := d.reads.QueryRowContext(ctx, query, args...).Scan(to)
	if errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return d.dialect.explain(err)
}

// closeTimeout is how long Close waits for a statement that is under way.
const closeTimeout = 5 * time.Second

// Close releases the store after the statement that is under way. If its files are gone it
// leaves the connections to the end of the process: closing them would remove files by name
// that may be those of another store.
func (d *database) Close() error {
	if err := d.dialect.present(); errors.Is(err, ErrGone) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if d.reads != nil && d.reads != d.db {
		_ = d.reads.Close() // nothing of it is to be written
	}
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

// Append implements study.Log.
func (l *log) Append(ctx context.Context, events ...study.Event) error {
	return l.AppendSummary(ctx, nil, events...)
}

// page is the number of events read at once, if they have no more than pageBytes.
const (
	page      = 512
	pageBytes = 1 << 20
)

// Events implements study.Log.
func (l *log) Events(ctx context.Context, after int64) iter.Seq2[study.Event, error] {
	return func(yield func(study.Event, error) bool) {
		for {
			bodies, err := l.page(ctx, after, pageBytes)
			for _, body := range bodies {
				if err != nil {
					break
				}
				var e study.Event
				if e, err = l.decode(body, after+1); err == nil && !yield(e, nil) {
					return
				}
				after++
			}
			if err != nil {
				yield(study.Event{}, err)
				return
			}
			if len(bodies) == 0 {
				return
			}
		}
	}
}

// restore says what to do about damaged events.
const restore = "restore the store from a backup, or import an export of the study under another name"

// decode decodes an event, which has the number want.
func (l *log) decode(body []byte, want int64) (e study.Event, err error) {
	if err := json.Unmarshal(body, &e); err != nil {
		return e, fmt.Errorf("%w: %q, event %d: %v; %s", study.ErrCorrupt, l.study, want, err, restore)
	}
	if e.Seq != want {
		return e, l.misnumbered(want, e.Seq, want)
	}
	return e, nil
}

func (l *log) misnumbered(seq, inside, want int64) error {
	return fmt.Errorf("%w: %q has event %d, numbered %d in its body, where %d is next; %s", study.ErrCorrupt, l.study, seq, inside, want,
		restore)
}

// page returns the bodies of the next events, at least one if there is any. Nothing is decoded
// while the connection is in use.
func (l *log) page(ctx context.Context, after int64, most int) (bodies [][]byte, err error) {
	size := 0
	err = l.rows(ctx, func(scan func(...any) error) error {
		var seq int64
		var body []byte
		if err := scan(&seq, &body); err != nil {
			return err
		}
		if want := after + 1 + int64(len(bodies)); seq != want {
			return l.misnumbered(seq, seq, want)
		}
		bodies = append(bodies, body)
		if size += len(body); size >= most {
			return errEnough
		}
		return nil
	}, `SELECT seq, body FROM grfgp_events WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3`, l.study, after, page)
	return bodies, err
}

// errEnough ends the rows of a query.
var errEnough = errors.New("enough rows")

// Encoded implements study.EncodedLog.
func (l *log) Encoded(ctx context.Context, after int64, most int) ([]study.Encoded, error) {
	bodies, err := l.page(ctx, after, most)
	if err != nil {
		return nil, err
	}
	all := make([]study.Encoded, len(bodies))
	for k, body := range bodies {
		kind, err := study.KindOf(body)
		if err != nil {
			return nil, fmt.Errorf("%w: %q, event %d: %v; %s", study.ErrCorrupt, l.study, after+1+int64(k), err, restore)
		}
		all[k] = study.Encoded{Seq: after + 1 + int64(k), Kind: kind, JSON: body}
	}
	return all, nil
}

// rows runs a query and calls each for every row.
func (d *database) rows(ctx context.Context, each func(scan func(...any) error) error, query string, args ...any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := detached(ctx, timeout)
	defer cancel()
	rows, err := d.reads.QueryContext(ctx, query, args...)
	if err != nil {
		return d.dialect.explain(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); errors.Is(err, errEnough) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return d.dialect.explain(rows.Err())
}

// Studies implements Store. It steps from name to name in the index, and reads the first and
// the last event's row of each.
func (d *database) Studies(ctx context.Context) ([]StudyInfo, error) {
	all := []StudyInfo{}
	var summaries [][]byte
	err := d.rows(ctx, func(scan func(...any) error) error {
		var i StudyInfo
		var created sql.NullInt64 // not there if the study is damaged
		var updated int64
		var summary []byte
		if err := scan(&i.Name, &i.Events, &created, &updated, &summary); err != nil {
			return err
		}
		i.Created, i.Updated = time.UnixMicro(updated).UTC(), time.UnixMicro(updated).UTC()
		if created.Valid {
			i.Created = time.UnixMicro(created.Int64).UTC()
		} else {
			summary = nil
		}
		all, summaries = append(all, i), append(summaries, summary)
		return nil
	}, `WITH RECURSIVE names (study) AS (
			SELECT MIN(study) FROM grfgp_events
			UNION ALL SELECT (SELECT MIN(e.study) FROM grfgp_events AS e WHERE e.study > names.study) FROM names WHERE names.study IS NOT NULL
		), ends (study, last) AS (
			SELECT study, (SELECT MAX(e.seq) FROM grfgp_events AS e WHERE e.study = names.study) FROM names WHERE study IS NOT NULL
		)
		SELECT ends.study, ends.last, f.at, l.at, s.body FROM ends
		LEFT JOIN grfgp_events AS f ON f.study = ends.study AND f.seq = 1
		JOIN grfgp_events AS l ON l.study = ends.study AND l.seq = ends.last
		LEFT JOIN grfgp_summaries AS s ON s.study = ends.study AND s.seq = ends.last
		ORDER BY ends.study`)
	for k, text := range summaries {
		m := new(study.Summary)
		if len(text) > 0 && json.Unmarshal(text, m) == nil && m.Seq == all[k].Events {
			all[k].Summary = m
		}
	}
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
		if err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM grfgp_events WHERE study = $1)`, k.study).Scan(&there); err != nil ||
			!there {
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_learned (study, body) VALUES ($1, $2) ON CONFLICT (study) DO UPDATE SET body = `+
			`excluded.body`, k.study, checkpoint)
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
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_graphs (id, size, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`, id,
			len(packed), body)
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
