package store_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"grfgp/store"
	"grfgp/study"
)

// A file has one owner, whatever name it is opened by.
func TestLinksAreHeld(t *testing.T) {
	t.Parallel()
	s, path, _ := newFile(t)
	defer s.Close()
	hard, soft := path+".hard", path+".soft"
	if err := errors.Join(os.Link(path, hard), os.Symlink(path, soft)); err != nil {
		t.Skip(err)
	}
	for _, name := range []string{path, hard, soft} {
		if _, err := store.Open(t.Context(), name, store.Options{}); !errors.Is(err, store.ErrHeld) {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
	}
}

// The connection that writes syncs at every commit.
func TestSQLiteSyncs(t *testing.T) {
	t.Parallel()
	s, _, _ := newFile(t)
	defer s.Close()
	for name, want := range map[string]string{"synchronous": "2", "journal_mode": "wal"} { // 2: FULL
		if got, err := store.Pragma(t.Context(), s, name); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

// Damage is refused with words, or is that of one study, and never taken for data.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	s, path, x := newFile(t)
	for range 40 {
		if err := errors.Join(x.Pause(t.Context(), strings.Repeat("p", 900), ""), x.Resume(t.Context(), "")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := study.Create(t.Context(), s.Log("other"), study.Settings{Name: "other", Graph: "g"}, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	want := x.Seq()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// read opens a file and replays the study: all of it, or an error of a known kind.
	read := func(t *testing.T, text []byte) error {
		t.Helper()
		file := filepath.Join(t.TempDir(), "d.db")
		write(t, file, string(text))
		s, err := store.Open(t.Context(), file, store.Options{MustExist: true})
		if err != nil {
			return known(t, err)
		}
		defer s.Close()
		y, err := study.Open(t.Context(), s.Log("s"), study.Options{})
		if err != nil {
			return known(t, err)
		}
		if y.Seq() != want {
			t.Errorf("%d events of %d, without an error", y.Seq(), want)
		}
		return nil
	}
	if err := read(t, whole); err != nil {
		t.Fatal(err)
	}
	for _, share := range []int{2, 3, 5} {
		if read(t, whole[:len(whole)/share]) == nil {
			t.Errorf("a file that was cut to 1/%d is read", share)
		}
	}
	const page = 4096
	found := 0
	for at := page; at+page <= len(whole); at += page { // one page each, all its bytes turned
		bad := bytes.Clone(whole)
		for k := range page {
			bad[at+k] ^= 0x5a
		}
		if read(t, bad) != nil {
			found++
		}
	}
	if found < 5 {
		t.Errorf("damage of %d pages of %d was found", found, len(whole)/page-1)
	}
}

// known reports an error that does not say what kind of damage there is.
func known(t *testing.T, err error) error {
	t.Helper()
	for _, kind := range []error{study.ErrCorrupt, store.ErrForeign, study.ErrNotFound} {
		if errors.Is(err, kind) {
			return err
		}
	}
	t.Errorf("no known kind of error: %v", err)
	return err
}

// An event of a kind that this program does not know makes that study damaged; others go on.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	s, path, x := newFile(t)
	if err := x.Pause(t.Context(), "", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := study.Create(t.Context(), s.Log("other"), study.Settings{Name: "other", Graph: "g"}, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Exec(`UPDATE grfgp_events SET body = replace(body, '"kind":"paused"', '"kind":"moved"') WHERE study = 's' AND seq = 2`)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	again, err := store.Open(t.Context(), path, store.Options{MustExist: true})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := study.Open(t.Context(), again.Log("s"), study.Options{}); !errors.Is(err, study.ErrCorrupt) ||
		!strings.Contains(fmt.Sprint(err), `"moved"`) {
		t.Errorf("%v", err)
	}
	if _, err := study.Open(t.Context(), again.Log("other"), study.Options{}); err != nil {
		t.Errorf("the other study: %v", err)
	}
}
