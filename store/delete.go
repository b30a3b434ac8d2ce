package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"grfgp/study"
)

// ErrInUse is wrapped if a graph cannot be deleted because studies are on it.
var ErrInUse = errors.New("in use")

// noStudy is the error about a study that does not exist.
func noStudy(name string) error { return fmt.Errorf("%w: there is no study %q", ErrNotFound, name) }

// inUse is the error about a graph with studies on it.
func inUse(id string, by []string) error {
	const most = 5
	names := strings.Join(by[:min(len(by), most)], ", ")
	if len(by) > most {
		names += fmt.Sprintf(" and %d more", len(by)-most)
	}
	return fmt.Errorf("%w: graph %s is that of %s; delete them first", ErrInUse, id, names)
}

// DeleteStudy implements Store.
func (d *database) DeleteStudy(ctx context.Context, name string) error {
	return d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		gone, err := tx.ExecContext(ctx, `DELETE FROM grfgp_events WHERE study = $1`, name)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, noStudy(name))
		}
		for _, table := range []string{"grfgp_learned", "grfgp_summaries"} {
			if _, err := tx.ExecContext(ctx, `DELETE FROM `+table+` WHERE study = $1`, name); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `DELETE FROM grfgp_meta WHERE name = $1`, markName+name)
		return err
	})
}

// DeleteGraph implements Store.
func (d *database) DeleteGraph(ctx context.Context, id string) error {
	return d.write(ctx, func(ctx context.Context, tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, firstEvents)
		if err != nil {
			return err
		}
		defer rows.Close()
		uses := graphUses{}
		for rows.Next() {
			if err := uses.scan(rows.Scan); err != nil {
				return fmt.Errorf("%w; delete that study first", err)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		if by := uses[id]; by != nil {
			return inUse(id, by)
		}
		gone, err := tx.ExecContext(ctx, `DELETE FROM grfgp_graphs WHERE id = $1`, id)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == 0 {
			return errors.Join(err, noGraph(id))
		}
		return nil
	})
}

// GraphStudies implements Store. Studies whose first event is damaged are left out.
func (d *database) GraphStudies(ctx context.Context) (map[string][]string, error) {
	uses := graphUses{}
	err := d.rows(ctx, func(scan func(...any) error) error {
		if err := uses.scan(scan); err != nil && !errors.Is(err, study.ErrCorrupt) {
			return err
		}
		return nil
	}, firstEvents)
	return uses, err
}

// firstEvents selects the events that have the graphs of studies.
const firstEvents = `SELECT study, body FROM grfgp_events WHERE seq = 1 ORDER BY study`

// graphUses are the names of studies by graph.
type graphUses map[string][]string

// scan adds a row of firstEvents.
func (u graphUses) scan(scan func(...any) error) error {
	var name, body string
	if err := scan(&name, &body); err != nil {
		return err
	}
	var e struct {
		Data struct {
			Settings struct{ Graph string }
		}
	}
	if err := json.Unmarshal([]byte(body), &e); err != nil || e.Data.Settings.Graph == "" {
		return fmt.Errorf("%w: %q: its first event has no graph", study.ErrCorrupt, name)
	}
	u[e.Data.Settings.Graph] = append(u[e.Data.Settings.Graph], name)
	return nil
}

func (m *memory) DeleteStudy(ctx context.Context, name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := m.logs[name]
	if of == nil || of.Delete() == 0 {
		return noStudy(name)
	}
	delete(m.checkpoints, name)
	delete(m.marks, name)
	delete(m.summaries, name)
	return nil
}

func (m *memory) DeleteGraph(ctx context.Context, id string) error {
	uses, err := m.GraphStudies(ctx)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case uses[id] != nil:
		return inUse(id, uses[id])
	case m.graphs[id] == nil:
		return noGraph(id)
	}
	delete(m.graphs, id)
	return nil
}

func (m *memory) GraphStudies(ctx context.Context) (map[string][]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	uses := map[string][]string{}
	for name, log := range m.logs {
		for e, err := range log.Events(ctx, 0) {
			if err != nil {
				return nil, err
			}
			if p, ok := e.Data.(study.Created); ok {
				uses[p.Settings.Graph] = append(uses[p.Settings.Graph], name)
			}
			break
		}
	}
	for _, names := range uses {
		slices.Sort(names)
	}
	return uses, nil
}
