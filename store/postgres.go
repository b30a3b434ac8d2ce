package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"grfgp/study"
)

// postgres is a store in a PostgreSQL database. An advisory lock of the one
// connection says who owns it: without the lock there is no connection, a new
// one after a break included.
type postgres struct{ where string }

func openPostgres(ctx context.Context, place string, opts Options) (Store, error) {
	config, err := pgx.ParseConfig(place)
	if err != nil {
		return nil, fmt.Errorf("%w: the URL of the database: %w", ErrNotFound, err)
	}
	p := &postgres{fmt.Sprintf("database %s on %s", config.Database, config.Host)}
	config.RuntimeParams["application_name"] = "grfgp, " + self(opts.URL)
	db := stdlib.OpenDB(*config, stdlib.OptionAfterConnect(p.own))
	db.SetMaxOpenConns(1)
	db.SetConnMaxLifetime(0)
	db.SetConnMaxIdleTime(0)
	d := &database{db, p}
	if err := d.prepare(ctx, opts); err != nil {
		db.Close()
		return nil, err
	}
	return d, nil
}

// lockClass is the first half of the number of the advisory lock; the second is
// that of the schema.
const lockClass = 0x67726670 // "grfp"

// own takes the lock, for as long as the connection lasts, or ends the
// connection.
func (p *postgres) own(ctx context.Context, c *pgx.Conn) error {
	err := p.lock(ctx, c)
	if err != nil {
		c.Close(ctx) // the driver leaves it open
	}
	return err
}

func (p *postgres) lock(ctx context.Context, c *pgx.Conn) error {
	var mine bool
	if err := c.QueryRow(ctx, `SELECT pg_try_advisory_lock($1, hashtext(current_schema()))`, lockClass).Scan(&mine); err != nil {
		return err
	}
	if mine {
		return nil
	}
	who := "another process"
	_ = c.QueryRow(ctx, `SELECT application_name || ', since ' || date_trunc('second', backend_start)
		FROM pg_locks JOIN pg_stat_activity USING (pid)
		WHERE locktype = 'advisory' AND granted AND classid = $1 AND objid = hashtext(current_schema())::bigint & 4294967295
			AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`, lockClass).Scan(&who)
	return heldBy(p.where, who)
}

func (p *postgres) schema() []string {
	return []string{
		`CREATE TABLE grfgp_meta (name TEXT PRIMARY KEY, value TEXT NOT NULL)`,
		`CREATE TABLE grfgp_events (study TEXT COLLATE "C" NOT NULL, seq BIGINT NOT NULL, at BIGINT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (study, seq))`,
		`CREATE TABLE grfgp_graphs (id TEXT COLLATE "C" PRIMARY KEY, size BIGINT NOT NULL, body BYTEA NOT NULL)`,
		`CREATE TABLE grfgp_learned (study TEXT COLLATE "C" PRIMARY KEY, body BYTEA NOT NULL)`,
	}
}

// tables looks at the schema. Others may have tables there too.
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
		return fmt.Errorf("%w: %s: %w; make room on that disk", ErrFull, p.where, err)
	case errors.As(err, &connect):
		return fmt.Errorf("%w: %s: %w; is it running, and are name and password right?", ErrNotFound, p.where, err)
	}
	return fmt.Errorf("store: %s: %w", p.where, err)
}

func (p *postgres) release() error { return nil }
