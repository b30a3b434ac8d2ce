package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// ErrNoBackup is wrapped if a store cannot be copied to a file.
var ErrNoBackup = errors.New("no copy of the store can be made")

// Backup implements Store.
func (d *database) Backup(ctx context.Context) (io.ReadCloser, int64, error) {
	if err := d.dialect.present(); err != nil {
		return nil, 0, err
	}
	file, err := d.dialect.copied(ctx, d.db)
	if err != nil {
		return nil, 0, d.dialect.explain(err)
	}
	info, err := file.Stat()
	if err != nil {
		file.Close()
		return nil, 0, err
	}
	return file, info.Size(), nil
}

// copied implements dialect. The copy is made beside the file by a connection of its own, if
// there may be one, so that writers need not wait.
func (f *sqliteFile) copied(ctx context.Context, on *sql.DB) (_ fileReader, err error) {
	part, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".backup-*") // mode 0600
	if err != nil {
		return nil, err
	}
	copied := temporary{part}
	defer func() {
		if err != nil {
			copied.Close()
		}
	}()
	if f.lock != nil {
		own, err := sql.Open("sqlite", sqliteURI(f.path, "busy_timeout(5000)"))
		if err != nil {
			return nil, err
		}
		defer own.Close()
		own.SetMaxOpenConns(1)
		on = own
	}
	if _, err := on.ExecContext(ctx, "VACUUM INTO $1", part.Name()); err != nil {
		return nil, err
	}
	return copied, nil
}

// fileReader is a file to read.
type fileReader interface {
	io.ReadCloser
	Stat() (os.FileInfo, error)
}

// temporary is a file that is removed when it is closed.
type temporary struct{ *os.File }

func (t temporary) Close() error { return errors.Join(t.File.Close(), os.Remove(t.Name())) }

// copied implements dialect: the database has tools of its own.
func (p *postgres) copied(context.Context, *sql.DB) (fileReader, error) {
	return nil, fmt.Errorf("%w: it is a PostgreSQL database; use pg_dump, which copies it as of one moment while it is in use", ErrNoBackup)
}

// Backup implements Store.
func (m *memory) Backup(context.Context) (io.ReadCloser, int64, error) {
	return nil, 0, fmt.Errorf("%w: it is in memory; export its studies", ErrNoBackup)
}
