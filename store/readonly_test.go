//go:build linux

package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grfgp/store"
	"grfgp/study"
)

// On a read-only disk a store is read, by several at once, and not written; one whose last
// changes are in SQLite's log is refused, with what to do.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	if err := syscall.Mount("none", disk, "tmpfs", 0, ""); err != nil {
		t.Skipf("no disk can be mounted here: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(disk, syscall.MNT_DETACH) })
	s, path, x := newFile(t)
	if err := x.Pause(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(disk, "killed.db")
	copyFile(t, path, killed)
	copyFile(t, path+"-wal", killed+"-wal")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(disk, "whole.db")
	copyFile(t, path, whole)
	old := filepath.Join(disk, "unreleased.db")
	copyFile(t, unreleasedFile, old)
	if err := syscall.Mount("none", disk, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("a disk cannot be made read-only here: %v", err)
	}
	opts := store.Options{MustExist: true, ReadOnly: true}
	if _, err := store.Open(t.Context(), whole, store.Options{MustExist: true}); !errors.Is(err, store.ErrAccess) ||
		!strings.Contains(err.Error(), "copy the file") {
		t.Errorf("to write: %v", err)
	}
	if _, err := store.Open(t.Context(), killed, opts); !errors.Is(err, store.ErrAccess) || !strings.Contains(err.Error(), "-wal") {
		t.Errorf("with a log: %v", err)
	}
	if r, err := store.Open(t.Context(), old, opts); err != nil {
		t.Errorf("of an unreleased version: %v", err)
	} else {
		r.Close()
	}
	for range 2 {
		r, err := store.Open(t.Context(), whole, opts)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}()
		y, err := study.Open(t.Context(), r.Log("s"), study.Options{})
		if err != nil || y.Seq() != 2 {
			t.Fatalf("%v", err)
		}
		if err := r.Check(t.Context(), false); err != nil {
			t.Error(err)
		}
		if err := y.Resume(t.Context(), ""); !errors.Is(err, store.ErrAccess) {
			t.Errorf("a change: %v", err)
		}
	}
}
