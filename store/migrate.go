package store

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// migration changes the tables of one version to those of the next.
type migration struct {
	about      string   // what is new, for people
	statements []string // SQL for both databases, with the types {text}, {integer} and {bytes}
}

// migrations lead from version 1, the tables of dialect.schema, to the version of this
// program: the first to version 2, and so on. They are never changed, only added to. A
// new store runs them all, so that it has the tables of one that was migrated.
var migrations = []migration{
	{
		about: "a summary of each study, so that a list of them reads no events",
		// A row whose seq is not that of the last event is out of date.
		statements: []string{`CREATE TABLE grfgp_summaries (study {text} PRIMARY KEY, seq {integer} NOT NULL, body {text} NOT NULL)`},
	},
}

// schemaVersion returns the version of the tables of this program.
func schemaVersion() int { return 1 + len(migrations) }

// Migration says that Open has changed the tables of a store to those of this program.
type Migration struct {
	From, To int
	News     []string // what the new versions have
	Backup   string   // file with the store as it was; empty: the database makes no copy
}

// version returns the version of the tables.
func version(ctx context.Context, tx *sql.Tx) (int, error) {
	var text string
	if err := tx.QueryRowContext(ctx, `SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&text); err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > schemaVersion() {
		return 0, fmt.Errorf("%w: its tables have version %s, and this program knows versions up to %d; use a newer program", ErrForeign, text, schemaVersion())
	}
	return n, nil
}

// migrate runs the migrations from a version on.
func (d *database) migrate(ctx context.Context, tx *sql.Tx, from int) error {
	for k, m := range migrations[from-1:] {
		for _, statement := range m.statements {
			if _, err := tx.ExecContext(ctx, d.dialect.types().Replace(statement)); err != nil {
				return fmt.Errorf("changing the tables to version %d (%s): %w", from+k+1, m.about, err)
			}
		}
	}
	_, err := tx.ExecContext(ctx, `UPDATE grfgp_meta SET value = $1 WHERE name = 'version'`, fmt.Sprint(schemaVersion()))
	return err
}

// upgrade changes tables of an older version, in one transaction, after a copy of the
// store was made. This process owns the store already.
func (d *database) upgrade(ctx context.Context, from int, opts Options) error {
	m := Migration{From: from, To: schemaVersion()}
	for _, step := range migrations[from-1:] {
		m.News = append(m.News, step.about)
	}
	var err error
	if m.Backup, err = d.dialect.backup(ctx, d.db, from); err != nil {
		return fmt.Errorf("a copy of the store, before its tables are changed to version %d: %w", m.To, d.dialect.explain(err))
	}
	err = d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		now, err := version(ctx, tx)
		if err != nil || now == schemaVersion() {
			return err
		}
		return d.migrate(ctx, tx, now)
	})
	if err == nil && opts.Migrated != nil {
		opts.Migrated(m)
	}
	return err
}

// backup implements dialect: a copy beside the file, which has its permissions.
func (f *sqliteFile) backup(ctx context.Context, on execer, version int) (string, error) {
	to := fmt.Sprintf("%s.version%d", f.path, version)
	for k := 2; ; k++ {
		if _, err := os.Lstat(to); os.IsNotExist(err) {
			break
		}
		to = fmt.Sprintf("%s.version%d-%d", f.path, version, k)
	}
	return to, copyTo(ctx, on, to)
}

// copyTo writes the content of an SQLite file to another, readable by its owner only. It
// appears when it is whole and on disk.
func copyTo(ctx context.Context, on execer, path string) error {
	part := path + ".part"
	if err := os.Remove(part); err != nil && !os.IsNotExist(err) {
		return err
	}
	file, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(part) // nothing, once it has its name
	defer file.Close()
	if _, err := on.ExecContext(ctx, "VACUUM INTO $1", part); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil { // its name is on disk too, where directories can be synced
		_ = dir.Sync()
		dir.Close()
	}
	return nil
}

// types implements dialect.
func (f *sqliteFile) types() *strings.Replacer {
	return strings.NewReplacer("{text}", "TEXT", "{integer}", "INTEGER", "{bytes}", "BLOB")
}

// backup implements dialect. The database has tools of its own, and changes tables in a
// transaction.
func (p *postgres) backup(context.Context, execer, int) (string, error) { return "", nil }

// types implements dialect. Names of studies are sorted by bytes, as in SQLite.
func (p *postgres) types() *strings.Replacer {
	return strings.NewReplacer("{text}", `TEXT COLLATE "C"`, "{integer}", "BIGINT", "{bytes}", "BYTEA")
}
