package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"grfgp/client"
	"grfgp/store"
	"grfgp/study"
)

// Delete implements client.Studies.
func (l *Studies) Delete(ctx context.Context, name, _ string) error {
	err := l.need(ctx, true)
	if err == nil {
		err = l.store.DeleteStudy(ctx, name)
	}
	if errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("%w: %w", study.ErrNotFound, err)
	}
	return err
}

// Graphs implements client.Studies.
func (l *Studies) Graphs(ctx context.Context) ([]client.Graph, error) {
	if err := l.need(ctx, true); err != nil {
		return nil, err
	}
	infos, err := l.store.Graphs(ctx)
	if err != nil {
		return nil, err
	}
	uses, err := l.store.GraphStudies(ctx)
	if err != nil {
		return nil, err
	}
	all := []client.Graph{}
	for _, g := range infos {
		all = append(all, client.Graph{ID: g.ID, Size: g.Size, Studies: append([]string{}, uses[g.ID]...)})
	}
	return all, nil
}

// DeleteGraph implements client.Studies.
func (l *Studies) DeleteGraph(ctx context.Context, id string) error {
	err := l.need(ctx, true)
	if err == nil {
		err = l.store.DeleteGraph(ctx, id)
	}
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w: %w", study.ErrConflict, err)
	}
	return err
}

// Change implements client.Study.
func (s *storedStudy) Change(ctx context.Context, patch []byte, note, by string) (study.Settings, error) {
	was := s.Settings()
	to, err := was.Merge(patch)
	if err != nil {
		return was, err
	}
	if !was.SameEngine(to) {
		net, err := s.Network(ctx)
		if err != nil {
			return was, err
		}
		if err := to.CheckOn(net.Graph, net.Nodes); err != nil {
			return was, err
		}
		e, err := study.NewModelEngineOn(s.of.device(), net.Graph, net.Nodes, to)
		if err != nil {
			return was, err
		}
		if err := s.affordable(ctx, e, to); err != nil {
			return was, err
		}
	}
	return s.Study.Change(ctx, was, to, note, by)
}

// Queue implements client.Study.
func (s *storedStudy) Queue(ctx context.Context, nodes []string, note, by string) (queue []study.QueuedNode, err error) {
	if len(nodes) > 0 {
		return s.Study.Queue(ctx, nodes, note, by)
	}
	s.View(func(st *study.State) { queue = slices.Clone(st.Queue) })
	return queue, nil
}

// Backup implements client.Studies.
func (l *Studies) Backup(ctx context.Context, w io.Writer) error {
	if err := l.need(ctx, true); err != nil {
		return err
	}
	copied, _, err := l.store.Backup(ctx)
	if errors.Is(err, store.ErrNoBackup) {
		return fmt.Errorf("%w: %w", client.ErrNoBackup, err)
	}
	if err != nil {
		return err
	}
	defer copied.Close()
	_, err = io.Copy(w, copied)
	return err
}
