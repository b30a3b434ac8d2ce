package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"grfgp/study"
)

// group gathers the events of several studies while others are being written: one
// transaction, with one sync of the disk, takes them all.
type group struct {
	mu      sync.Mutex
	waiting []*write
	writing bool // a goroutine writes those who wait
	commits int  // transactions so far
}

// write is what one study wants to have written.
type write struct {
	ctx     context.Context
	study   string
	events  []study.Event
	rows    []eventRow
	summary *summaryRow // nil: none
	err     error
	done    chan struct{}
}

// eventRow is a row of grfgp_events, and summaryRow one of grfgp_summaries.
type (
	eventRow struct {
		study string
		seq   int64
		at    int64 // microseconds
		body  string
	}
	summaryRow struct {
		study string
		seq   int64
		body  string
	}
)

// AppendSummary implements study.SummaryLog.
func (l *log) AppendSummary(ctx context.Context, summary *study.Summary, events ...study.Event) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &write{ctx: ctx, study: l.study, events: events, done: make(chan struct{})}
	for _, e := range events {
		body, err := json.Marshal(e)
		if err != nil {
			return fmt.Errorf("event %d: %w", e.Seq, err)
		}
		w.rows = append(w.rows, eventRow{l.study, e.Seq, e.Time.UnixMicro(), string(body)})
	}
	if summary != nil {
		body, err := json.Marshal(summary)
		if err != nil {
			return fmt.Errorf("a summary: %w", err)
		}
		w.summary = &summaryRow{l.study, summary.Seq, string(body)}
	}
	g := &l.group
	g.mu.Lock()
	if g.waiting = append(g.waiting, w); !g.writing {
		g.writing = true
		go l.writeGroups()
	}
	g.mu.Unlock()
	<-w.done
	return w.err
}

// groupRows bounds the events of a transaction, if several studies write.
const groupRows = 2000

// writeGroups writes until nobody waits.
func (d *database) writeGroups() {
	g := &d.group
	for {
		g.mu.Lock()
		n, rows := 0, 0
		for n < len(g.waiting) && (n == 0 || rows+len(g.waiting[n].rows) <= groupRows) {
			rows += len(g.waiting[n].rows)
			n++
		}
		all := g.waiting[:n:n]
		if g.waiting = g.waiting[n:]; n == 0 {
			g.waiting, g.writing = nil, false
			g.mu.Unlock()
			return
		}
		g.mu.Unlock()
		d.writeGroup(all)
		for _, w := range all {
			close(w.done)
		}
	}
}

// perEvent extends timeout for each appended event, for distant databases.
const perEvent = 10 * time.Millisecond

// writeGroup writes all in one transaction, and sets their errors. If one of them cannot be
// written, the others are.
func (d *database) writeGroup(all []*write) {
	limit := timeout
	for _, w := range all {
		limit += time.Duration(len(w.rows)) * perEvent
	}
	committing := false
	err := safely(func() error {
		return d.writeWithin(context.WithoutCancel(all[0].ctx), limit, func(ctx context.Context, tx *sql.Tx) error {
			err := d.insertAll(ctx, tx, all)
			committing = err == nil
			return err
		})
	})
	switch {
	case err == nil:
		d.group.mu.Lock()
		d.group.commits++
		d.group.mu.Unlock()
	case len(all) > 1 && !committing && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrHeld) && !errors.Is(err, ErrGone):
		// nothing was written
		for _, w := range all {
			d.writeGroup([]*write{w})
		}
	default:
		if errors.Is(err, ErrGone) { // a file without a name can still be read
			err = fmt.Errorf("%w: %w", err, study.ErrNotDurable)
		}
		for _, w := range all {
			w.err = err
		}
	}
}

// safely turns a panic, of a driver for example, into an error.
func safely(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v", v)
		}
	}()
	return f()
}

// insertAll inserts the rows of those whose events follow the last one in the log, and sets
// the errors of the others.
func (d *database) insertAll(ctx context.Context, tx *sql.Tx, all []*write) error {
	var names []string
	known := map[string]bool{}
	for _, w := range all {
		if !known[w.study] {
			names = append(names, w.study)
			known[w.study] = true
		}
	}
	last, err := d.dialect.last(ctx, tx, names)
	if err != nil {
		return err
	}
	var rows []eventRow
	summaries := map[string]summaryRow{}
	for _, w := range all {
		if w.err = follow(last[w.study], w.rows); w.err != nil {
			continue
		}
		rows = append(rows, w.rows...)
		last[w.study] += int64(len(w.rows))
		if m := w.summary; m != nil && m.seq == last[w.study] {
			summaries[w.study] = *m
		}
	}
	const most = 5000 // rows in a statement
	for k := 0; k < len(rows); k += most {
		if err := d.dialect.insert(ctx, tx, rows[k:min(k+most, len(rows))]); err != nil {
			return err
		}
	}
	var kept []summaryRow
	for _, name := range names {
		if m, ok := summaries[name]; ok {
			kept = append(kept, m)
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return d.dialect.summarize(ctx, tx, kept)
}

// follow checks the numbers of events that are to follow the last one.
func follow(last int64, rows []eventRow) error {
	for _, r := range rows {
		if last++; r.seq != last {
			return fmt.Errorf("%w: event %d where %d is next", study.ErrSequence, r.seq, last)
		}
	}
	return nil
}

func (f *sqliteFile) last(ctx context.Context, tx *sql.Tx, studies []string) (map[string]int64, error) {
	last := make(map[string]int64, len(studies))
	for _, name := range studies {
		var seq int64
		if err := tx.QueryRowContext(ctx, `SELECT COALESCE(MAX(seq), 0) FROM grfgp_events WHERE study = $1`, name).Scan(&seq); err != nil {
			return nil, err
		}
		last[name] = seq
	}
	return last, nil
}

// insert implements dialect. Many rows in one statement are faster than a statement for each.
func (f *sqliteFile) insert(ctx context.Context, tx *sql.Tx, rows []eventRow) error {
	const most = 64
	for len(rows) > 0 {
		n := min(most, len(rows))
		args := make([]any, 0, 4*n)
		for _, r := range rows[:n] {
			args = append(args, r.study, r.seq, r.at, r.body)
		}
		values := strings.Repeat(", (?, ?, ?, ?)", n)[2:]
		if _, err := tx.ExecContext(ctx, `INSERT INTO grfgp_events (study, seq, at, body) VALUES `+values, args...); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// replaceSummary keeps a summary in place of an older one.
const replaceSummary = ` ON CONFLICT (study) DO UPDATE SET seq = excluded.seq, body = excluded.body`

func (f *sqliteFile) summarize(ctx context.Context, tx *sql.Tx, rows []summaryRow) error {
	for _, r := range rows {
		if _, err := tx.ExecContext(ctx, `INSERT INTO grfgp_summaries (study, seq, body) VALUES ($1, $2, $3)`+replaceSummary, r.study, r.seq,
			r.body); err != nil {
			return err
		}
	}
	return nil
}

// last implements dialect; like insert and summarize it is one round trip.
func (p *postgres) last(ctx context.Context, tx *sql.Tx, studies []string) (map[string]int64, error) {
	rows, err := tx.QueryContext(ctx, `SELECT n, (SELECT COALESCE(MAX(seq), 0) FROM grfgp_events WHERE study = n COLLATE "C") FROM `+
		`unnest($1::text[]) AS n`, studies)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	last := make(map[string]int64, len(studies))
	for rows.Next() {
		var name string
		var seq int64
		if err := rows.Scan(&name, &seq); err != nil {
			return nil, err
		}
		last[name] = seq
	}
	return last, rows.Err()
}

func (p *postgres) insert(ctx context.Context, tx *sql.Tx, rows []eventRow) error {
	n := len(rows)
	studies, bodies, seqs, times := make([]string, n), make([]string, n), make([]int64, n), make([]int64, n)
	for k, r := range rows {
		studies[k], seqs[k], times[k], bodies[k] = r.study, r.seq, r.at, r.body
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_events (study, seq, at, body) SELECT * FROM unnest($1::text[], $2::bigint[], `+
		`$3::bigint[], $4::text[])`, studies, seqs, times, bodies)
	return err
}

func (p *postgres) summarize(ctx context.Context, tx *sql.Tx, rows []summaryRow) error {
	n := len(rows)
	studies, bodies, seqs := make([]string, n), make([]string, n), make([]int64, n)
	for k, r := range rows {
		studies[k], seqs[k], bodies[k] = r.study, r.seq, r.body
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_summaries (study, seq, body) SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[])`+
		replaceSummary, studies, seqs, bodies)
	return err
}
