package formats

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "modernc.org/sqlite" // the driver
)

// sqliteFormat is a table or a view of an SQLite database.
var sqliteFormat = &Format{
	Name:   "SQLite",
	Detect: func(_ string, head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) },
	Read:   readSQLite,
	ByPath: true,
}

func readSQLite(ctx context.Context, in Input, opts Options) (*File, error) {
	path := in.Path
	if path == "" {
		kept, err := keep(in.Data)
		if err != nil {
			return nil, err
		}
		defer os.Remove(kept)
		path = kept
	} else if err := settled(path); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", readOnly(path))
	if err != nil {
		return nil, sqliteError(ctx, err)
	}
	defer db.Close()
	tables, err := sqliteTables(ctx, db)
	if err != nil {
		return nil, sqliteError(ctx, err)
	}
	k, err := chooseTable(tables, opts.Table, "table")
	if err != nil {
		return nil, err
	}
	f, err := sqliteRows(ctx, db, tables[k].name)
	if err != nil {
		return nil, sqliteError(ctx, err)
	}
	return f, nil
}

// keep writes a stream to a file of its own, as SQLite reads files only.
func keep(data []byte) (path string, err error) {
	f, err := os.CreateTemp("", "grfgp-*.db")
	if err == nil {
		_, err = f.Write(data)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		if f != nil {
			os.Remove(f.Name())
		}
		return "", &Error{Kind: Damaged, What: "a database from a stream needs a temporary file, which could not be written",
			Remedies: []Remedy{{Do: "give the name of the file"}}, Err: err}
	}
	return f.Name(), nil
}

// settled returns an error about a database whose last changes are not in its file yet.
func settled(path string) error {
	for _, log := range []string{"-wal", "-journal"} {
		if info, err := os.Stat(path + log); err == nil && info.Size() > 0 {
			return fail(Damaged, fmt.Sprintf("the database is in use, or was not closed: its last changes are in %s, not in the file",
				filepath.Base(path)+log),
				"close the program that writes it", "write its changes into the file: sqlite3 FILE 'PRAGMA wal_checkpoint(TRUNCATE)'")
		}
	}
	return nil
}

// readOnly is the address of a database that is only read, and not locked.
func readOnly(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/…
	}
	return "file://" + strings.NewReplacer("%", "%25", "?", "%3f", "#", "%23").Replace(slashed) +
		"?mode=ro&immutable=1&_pragma=query_only(1)&_pragma=trusted_schema(0)"
}

// sqliteTables returns the tables and views, without those that programs keep for
// themselves.
func sqliteTables(ctx context.Context, db *sql.DB) ([]named, error) {
	var tables []named
	rows, err := db.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
		AND name NOT LIKE 'gpkg\_%' ESCAPE '\' AND name NOT LIKE 'rtree\_%' ESCAPE '\' ORDER BY name`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var t named
		if err := rows.Scan(&t.name); err != nil {
			return nil, err
		}
		tables = append(tables, t)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for k := range tables {
		columns, err := db.QueryContext(ctx, "SELECT * FROM "+sqlName(tables[k].name)+" LIMIT 0")
		if err != nil {
			continue // a view of what is gone; it is refused if it is asked for
		}
		tables[k].columns, _ = columns.Columns() // none if they cannot be had
		columns.Close()
	}
	return tables, nil
}

// sqlName quotes the name of a table.
func sqlName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

func sqliteRows(ctx context.Context, db *sql.DB, table string) (*File, error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+sqlName(table))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	types, err := rows.ColumnTypes()
	if err != nil {
		return nil, err
	}
	t := &Table{Names: names, Unit: "row"}
	cells, blobs, size := make([]any, len(names)), make([]bool, len(names)), budget(0)
	into := make([]any, len(names))
	for j := range cells {
		into[j] = &cells[j]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		row := make([]string, len(names))
		for j, v := range cells {
			text, blob := sqliteText(v, types[j].DatabaseTypeName())
			row[j], blobs[j] = text, blobs[j] || blob
		}
		if err := size.take(row); err != nil {
			return nil, err
		}
		t.Rows = append(t.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return &File{Rows: t, Notes: t.without(blobs, "binary data")}, nil
}

// sqliteText returns a value as text; blob says that it is binary.
func sqliteText(v any, declared string) (text string, blob bool) {
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), false
	case float64:
		return shortest(v, 64), false
	case string:
		return v, false
	case bool:
		return map[bool]string{true: "1", false: "0"}[v], false
	case []byte:
		return "", true
	case time.Time: // of a column that is declared as one of times
		if strings.EqualFold(declared, "DATE") {
			return v.Format(time.DateOnly), false
		}
		return instant(v, true), false
	}
	return "", false
}

// instant is a time as text. Zoned says that it is an instant, and no time of a clock.
func instant(t time.Time, zoned bool) string {
	form := "2006-01-02 15:04:05.999999999"
	if zoned && t.Location() != time.UTC {
		form += "Z07:00"
	}
	return t.Format(form)
}

// without removes columns, and returns the note about them.
func (t *Table) without(columns []bool, what string) []string {
	var names, gone []string
	for j, name := range t.Names {
		if columns[j] {
			gone = append(gone, name)
		} else {
			names = append(names, name)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	for i, row := range t.Rows {
		var rest []string
		for j, cell := range row {
			if !columns[j] {
				rest = append(rest, cell)
			}
		}
		t.Rows[i] = rest
	}
	t.Names = names
	return leftOut(gone, what)
}

// sqliteError makes an *Error of one of the database.
func sqliteError(ctx context.Context, err error) error {
	var e *Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e):
		return err
	}
	return &Error{Kind: Damaged, What: fmt.Sprintf("the database cannot be read (%v)", err),
		Remedies: []Remedy{{Do: "check it: sqlite3 FILE 'PRAGMA integrity_check'"}}, Err: err}
}
