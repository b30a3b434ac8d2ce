package study

import (
	"context"
	"fmt"
)

// errArchived is the error of every command on an archived study but Restore.
var errArchived = fmt.Errorf("%w: the study is archived and read-only; restore it first", ErrConflict)

// shelved is what an archived study was before.
type shelved struct {
	Status  Status
	Stopped *Stop
}

// Archive makes the study read-only: no command but Restore changes it. Leases that run out
// meanwhile end when it is restored. Archiving again changes nothing.
func (s *Study) Archive(ctx context.Context, note, by string) error {
	return s.setStatus(ctx, by, StatusArchived, Archived{note})
}

// Restore takes an archived study back: it is open, paused or closed as before. Restoring
// again changes nothing.
func (s *Study) Restore(ctx context.Context, by string) error {
	return s.commit(ctx, by, func(st *State) (Payload, error) {
		if st.Status != StatusArchived {
			return nil, nil
		}
		return Restored{}, nil
	}, nil)
}

// errDeleted is the error of every command on a study that was deleted.
var errDeleted = fmt.Errorf("%w: the study was deleted", ErrNotFound)

// Delete runs remove, which deletes the log, while no command writes. If it succeeds, all
// later commands fail with an error that wraps ErrNotFound, and callers of Wait are woken.
func (s *Study) Delete(ctx context.Context, remove func(ctx context.Context) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	for s.flushing {
		s.written.Wait()
	}
	if s.isDeleted() {
		return errDeleted
	}
	if err := remove(ctx); err != nil {
		s.stale, s.ahead = true, nil
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deleted = true
	s.wake()
	return nil
}

func (s *Study) isDeleted() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.deleted
}
