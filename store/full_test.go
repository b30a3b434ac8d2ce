package store

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grfgp/study"
)

// A store that may only be read is said to be so, and what to do.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "studies.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.(*database).db.Exec("PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.PutGraph(t.Context(), []byte("graph")); !errors.Is(err, ErrAccess) ||
		!strings.Contains(err.Error(), "allow this user to write") {
		t.Errorf("%v", err)
	}
}

// When the disk is full a command fails and changes nothing; with room again the
// study goes on.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, err := Open(ctx, filepath.Join(t.TempDir(), "studies.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	log := s.Log("s")
	if _, err := study.Create(ctx, log, study.Settings{Name: "s", Graph: "g"}, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	x, err := study.Open(ctx, log, study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	limit := func(pages int) {
		t.Helper()
		if _, err := s.(*database).db.Exec("PRAGMA max_page_count = " + strings.Repeat("1", pages)); err != nil {
			t.Fatal(err)
		}
	}
	limit(2) // 11 pages
	note := strings.Repeat("x", 4000)
	full := 0
	for range 20 {
		if err = x.Pause(ctx, note, ""); err == nil {
			err = x.Resume(ctx, note[:200])
		}
		if errors.Is(err, ErrFull) {
			full++
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if full == 0 {
		t.Fatal("the disk was never full")
	}
	seq := x.Seq()
	if again, err := study.Open(ctx, log, study.Options{}); err != nil || again.Seq() != seq {
		t.Errorf("%d events are kept, and %d were taken: %v", again.Seq(), seq, err)
	}
	limit(6)
	if err := errors.Join(x.Resume(ctx, ""), x.Pause(ctx, note, "")); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
