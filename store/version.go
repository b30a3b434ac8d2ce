package store

import (
	"context"
	"database/sql"
	"fmt"
)

// The version of the tables, in grfgp_meta. Programs before the first release wrote 2 for the
// tables that are version 1 now, so the next version is 3: prepare, which renumbers them, is
// the place to change tables, in one transaction and after a copy of the store was made.
const (
	thisVersion       = "1"
	unreleasedVersion = "2"
)

// checkVersion refuses tables that this program does not know.
func checkVersion(ctx context.Context, tx *sql.Tx) error {
	var version string
	if err := tx.QueryRowContext(ctx, `SELECT value FROM grfgp_meta WHERE name = 'version'`).Scan(&version); err != nil {
		return err
	}
	if version != thisVersion && version != unreleasedVersion {
		return fmt.Errorf("%w: its tables have version %s, and this program knows version %s; use a newer program", ErrForeign, version,
			thisVersion)
	}
	return nil
}

// renumber gives tables of an unreleased program their present version.
func renumber(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `UPDATE grfgp_meta SET value = $1 WHERE name = 'version' AND value = $2`, thisVersion, unreleasedVersion)
	return err
}
