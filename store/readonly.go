package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// openReadOnly opens a file that this process may not write: on a read-only disk, for example.
// SQLite then takes it for one that nobody changes, which a lock that readers share sees to.
func (f *sqliteFile) openReadOnly(ctx context.Context) (_ Store, err error) {
	if info, err := os.Stat(f.path + "-wal"); err == nil && info.Size() > 0 {
		return nil, fmt.Errorf("%w: the process that wrote %s was killed, and what it wrote last is in %s-wal: only a process that may write "+
			"can put both together; copy both files to a directory of your own", ErrAccess, f.path, f.path)
	}
	if f.lock, err = lockToRead(f.path); errors.Is(err, errLocked) {
		return nil, heldBy(f.path, f.holder())
	}
	defer func() {
		if err != nil {
			f.unlock()
		}
	}()
	f.owner = "" // it cannot be written
	db, err := sql.Open("sqlite", sqliteURI(f.path, "query_only(1)")+"&mode=ro&immutable=1")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readers)
	db.SetMaxIdleConns(readers)
	if err := f.checkReadOnly(ctx, db); err != nil {
		db.Close()
		return nil, f.explain(err)
	}
	f.same = &sameFiles{path: f.path}
	return &database{db: db, reads: db, dialect: f}, f.same.present()
}

// checkReadOnly checks that a file has the tables of this program.
func (f *sqliteFile) checkReadOnly(ctx context.Context, db *sql.DB) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	ours, _, err := f.tables(ctx, tx)
	switch {
	case err != nil:
		return err
	case !ours:
		return fmt.Errorf("%w: it has no tables of studies; name another store", ErrForeign)
	}
	return checkVersion(ctx, tx)
}
