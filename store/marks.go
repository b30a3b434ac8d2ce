package store

import (
	"context"
	"database/sql"
	"maps"
	"strings"
)

// markName is the beginning of the names in grfgp_meta under which marks are kept, before
// the name of a study.
const markName = "mark:"

// SetMark implements Store.
func (d *database) SetMark(ctx context.Context, name, text string) error {
	return d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		if text == "" {
			_, err := tx.ExecContext(ctx, `DELETE FROM grfgp_meta WHERE name = $1`, markName+name)
			return err
		}
		_, err := tx.ExecContext(ctx, `INSERT INTO grfgp_meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = `+
			`excluded.value`, markName+name, text)
		return err
	})
}

// Marks implements Store.
func (d *database) Marks(ctx context.Context) (map[string]string, error) {
	all := map[string]string{}
	err := d.rows(ctx, func(scan func(...any) error) error {
		var name, text string
		if err := scan(&name, &text); err != nil {
			return err
		}
		if of, ok := strings.CutPrefix(name, markName); ok {
			all[of] = text
		}
		return nil
	}, `SELECT name, value FROM grfgp_meta`)
	return all, err
}

func (m *memory) SetMark(_ context.Context, name, text string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if text == "" {
		delete(m.marks, name)
	} else {
		m.marks[name] = text
	}
	return nil
}

func (m *memory) Marks(context.Context) (map[string]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.marks), nil
}
