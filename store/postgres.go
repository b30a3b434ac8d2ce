package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"grfgp/study"
)

// postgres is the dialect of a store in a PostgreSQL database. An advisory lock
// decides who owns it. Every connection takes the lock first, also when it replaces
// one that broke.
type postgres struct {
	where string
	name  string      // application_name of the connections
	owned atomic.Bool // this process has owned the store before
}

func openPostgres(ctx context.Context, location string, opts Options) (Store, error) {
	config, err := pgx.ParseConfig(location)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of the database: %w", ErrNotFound, err)
	}
	p := &postgres{where: fmt.Sprintf("database %s on %s", config.Database, config.Host), name: "grfgp, " + self(opts.URL)}
	config.RuntimeParams["application_name"] = p.name
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(p.own))
	db.SetMaxOpenConns(1)
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	d := &database{db: db, reads: p.reader(location), dialect: p}
	err = p.explain(db.PingContext(ctx)) // unlike prepare, this can be cancelled
	if err == nil {
		err = d.prepare(ctx, opts)
	}
	if err != nil {
		d.reads.Close()
		db.Close()
		return nil, err
	}
	return d, nil
}

// reader returns connections that read. They take no lock, and cannot write.
func (p *postgres) reader(location string) *sql.DB {
	config, err := pgx.ParseConfig(location)
	if err != nil {
		panic(err) // it was parsed before
	}
	config.RuntimeParams["application_name"] = p.name
	config.RuntimeParams["default_transaction_read_only"] = "on"
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	db.SetConnMaxIdleTime(5 * time.Minute)
	return db
}

// lockClass is the first key of the advisory lock; the second is a hash of the
// schema.
const lockClass = 0x67726670 // "grfp"

// own takes the lock for the lifetime of the connection, or closes the connection.
func (p *postgres) own(ctx context.Context, c *pgx.Conn) error {
	err := p.lock(ctx, c)
	if err == nil {
		err = durable(ctx, c)
	}
	if err != nil {
		c.Close(ctx) // the driver would leave it open
	}
	return err
}

// durable turns synchronous_commit on if the database has turned it off.
func durable(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`)
	return err
}

// afterBreak is how long the database may hold the lock of a broken connection.
const afterBreak = 3 * time.Second

func (p *postgres) lock(ctx context.Context, c *pgx.Conn) error {
	const pause = 50 * time.Millisecond
	for end := time.Now().Add(afterBreak); ; {
		var mine bool
		if err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, hashtext(current_schema()))`, lockClass).Scan(&mine); err != nil {
			return err
		}
		if mine {
			p.owned.Store(true)
			return nil
		}
		who := p.holder(ctx, c)
		itself := p.owned.Load() && strings.HasPrefix(who, p.name[:min(len(p.name), longestName)])
		if !itself || time.Now().After(end) {
			return heldBy(p.where, who)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// leave releases the lock: the database would notice the end of the connection only
// after Close has returned.
func (p *postgres) leave(ctx context.Context, on execer) {
	_, _ = on.ExecContext(ctx, `SELECT pg_advisory_unlock_all()`) // after an error, the lock ends with the connection
}

// longestName is the length to which PostgreSQL cuts application_name, in bytes.
const longestName = 63

// holder describes the process that holds the lock.
func (p *postgres) holder(ctx context.Context, c *pgx.Conn) string {
	who := "another process"
	_ = c.QueryRow(ctx, `SELECT application_name || ', since ' || date_trunc('second', backend_start)
		FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = hashtext(current_schema())::bigint & 4294967295
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockClass).Scan(&who)
	return who
}

func (p *postgres) schema() []string {
	return []string{
		`CREATE TABLE grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE grfgp_events (study TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY ` +
			`(study, seq))`,
		`CREATE TABLE grfgp_graphs (id TEXT COLLATE "C" PRIMARY KEY, size BIGINT NOT NULL, body BYTEA NOT NULL)`,
		`CREATE TABLE grfgp_learned (study TEXT COLLATE "C" PRIMARY KEY, body BYTEA NOT NULL)`,
		`CREATE TABLE grfgp_summaries (study TEXT COLLATE "C" PRIMARY KEY, seq BIGINT NOT NULL, body TEXT COLLATE "C" NOT NULL)`,
	}
}

// tables implements dialect. Other programs may have tables in the same schema.
func (p *postgres) tables(ctx context.Context, tx *sql.Tx) (ours, others bool, err error) {
	err = tx.QueryRowContext(ctx, `SELECT to_regclass('grfgp_meta') IS NOT NULL`).Scan(&ours)
	return ours, false, err
}

func (p *postgres) explain(err error) error {
	var e *pgconn.PgError
	var connect *pgconn.ConnectError
	switch {
	case err == nil, errors.Is(err, ErrHeld), errors.Is(err, ErrForeign), errors.Is(err, study.ErrSequence):
		return err
	case errors.As(err, &e) && e.Code == "23505": // unique_violation
		return fmt.Errorf("%w: %w", study.ErrSequence, err)
	case errors.As(err, &e) && e.Code == "53100": // disk_full
		return fmt.Errorf("%w: %s: %w; free space on that disk", ErrFull, p.where, err)
	case errors.As(err, &connect):
		return fmt.Errorf("%w: %s: %w; check that it is running, and the user name and password", ErrUnavailable, p.where, err)
	case broken(err):
		return fmt.Errorf("%w: %s: %w", ErrUnavailable, p.where, err)
	}
	return fmt.Errorf("%s: %w", p.where, err)
}

// broken reports whether an error is about the connection, not about a statement.
func broken(err error) bool {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return strings.HasPrefix(e.Code, "57P0") || strings.HasPrefix(e.Code, "08") || e.Code == "53300" // shut down, connection lost, too many
	}
	var net net.Error
	return errors.As(err, &net) || pgconn.SafeToRetry(err) ||
		slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, driver.ErrBadConn, context.DeadlineExceeded},
			func(known error) bool { return errors.Is(err, known) })
}

func (p *postgres) release() error { return nil }
