package store

import (
	"context"
	"errors"
)

// Setting returns a setting of a store's connection to PostgreSQL.
func Setting(ctx context.Context, s Store, name string) (value string, err error) {
	err = s.(*database).db.QueryRowContext(ctx, `SELECT current_setting($1)`, name).Scan(&value)
	return value, err
}

// Pragma returns a setting of the connection that writes to an SQLite file.
func Pragma(ctx context.Context, s Store, name string) (text string, err error) {
	err = s.(*database).db.QueryRowContext(ctx, "PRAGMA "+name).Scan(&text)
	return text, err
}

// CloseAnyway ends the connections of a store whose file is gone, which Close leaves to the end
// of the process.
func CloseAnyway(s Store) error {
	d := s.(*database)
	return errors.Join(d.reads.Close(), d.db.Close())
}
