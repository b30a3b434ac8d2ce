package store

import "context"

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
