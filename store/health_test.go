package store_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/store"
	"grfgp/study"
)

// newFile opens a store in a new file, with a study "s".
func newFile(t *testing.T) (store.Store, string, *study.Study) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "team.db")
	s, err := store.Open(t.Context(), path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := study.Create(t.Context(), s.Log("s"), study.Settings{Name: "s", Graph: "g"}, "", time.Now()); err != nil {
		t.Fatal(err)
	}
	x, err := study.Open(t.Context(), s.Log("s"), study.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s, path, x
}

// A store whose file is removed or replaced takes nothing any more, and says so when it is
// closed; what was answered before is in the file that was put back.
func TestFileGone(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, path string){
		"removed":     func(t *testing.T, path string) { remove(t, path, path+"-wal", path+"-shm") },
		"moved":       func(t *testing.T, path string) { move(t, path, path+".away") },
		"replaced":    func(t *testing.T, path string) { move(t, path, path+".away"); write(t, path, "another") },
		"log removed": func(t *testing.T, path string) { remove(t, path+"-wal") },
	} {
		t.Run(name, func(t *testing.T) {
			s, path, x := newFile(t)
			if err := errors.Join(x.Pause(t.Context(), "", ""), s.Present(), s.Check(t.Context(), true)); err != nil {
				t.Fatal(err)
			}
			lose(t, path)
			seq := x.Seq()
			if err := x.Resume(t.Context(), ""); !errors.Is(err, store.ErrGone) || x.Seq() != seq {
				t.Errorf("a change: %v", err)
			}
			if _, err := s.PutGraph(t.Context(), []byte("graph")); !errors.Is(err, store.ErrGone) {
				t.Errorf("a graph: %v", err)
			}
			if err := s.Present(); !errors.Is(err, store.ErrGone) {
				t.Errorf("present: %v", err)
			}
			if err := s.Check(t.Context(), true); !errors.Is(err, store.ErrGone) {
				t.Errorf("check: %v", err)
			}
			if _, _, err := s.Backup(t.Context()); !errors.Is(err, store.ErrGone) {
				t.Errorf("backup: %v", err)
			}
			if err := s.Close(); !errors.Is(err, store.ErrGone) {
				t.Errorf("close: %v", err)
			}
			defer store.CloseAnyway(s)
			if name == "replaced" {
				if text, err := os.ReadFile(path); err != nil || string(text) != "another" {
					t.Errorf("the other file is %q, %v", text, err)
				}
			}
		})
	}
}

// A file that is put back is written again.
func TestFileBack(t *testing.T) {
	t.Parallel()
	s, path, x := newFile(t)
	defer s.Close()
	move(t, path, path+".away")
	if err := x.Pause(t.Context(), "", ""); !errors.Is(err, store.ErrGone) {
		t.Errorf("%v", err)
	}
	move(t, path+".away", path)
	if err := x.Pause(t.Context(), "", ""); err != nil {
		t.Errorf("%v", err)
	}
}

func remove(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
	}
}

func move(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A backup that is made while others write has what was answered before it began, is whole,
// and leaves nothing behind.
func TestBackup(t *testing.T) {
	t.Parallel()
	s, path, _ := newFile(t)
	defer s.Close()
	const writers, most = 4, 150
	counts := make([]int64, writers)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for k := range writers {
		name := fmt.Sprint("w", k)
		if _, err := study.Create(t.Context(), s.Log(name), study.Settings{Name: name, Graph: "g"}, "", time.Now()); err != nil {
			t.Fatal(err)
		}
		x, err := study.Open(t.Context(), s.Log(name), study.Options{})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			for range most {
				if err := errors.Join(x.Pause(t.Context(), strings.Repeat("x", 500), ""), x.Resume(t.Context(), "")); err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				counts[k] = x.Seq()
				mu.Unlock()
			}
		})
	}
	var before [][]int64
	var files []string
	for k := range 5 {
		mu.Lock()
		before = append(before, append([]int64{}, counts...))
		mu.Unlock()
		copied, size, err := s.Backup(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(copied)
		if err := errors.Join(err, copied.Close()); err != nil || int64(len(text)) != size {
			t.Fatalf("%d bytes of %d, %v", len(text), size, err)
		}
		files = append(files, filepath.Join(t.TempDir(), fmt.Sprint(k)))
		write(t, files[k], string(text))
	}
	wg.Wait()
	for k, file := range files {
		b, err := store.Open(t.Context(), file, store.Options{MustExist: true})
		if err != nil {
			t.Fatal(err)
		}
		for w, seq := range before[k] {
			x, err := study.Open(t.Context(), b.Log(fmt.Sprint("w", w)), study.Options{})
			if err != nil || x.Seq() < seq {
				t.Errorf("backup %d: study %d has %d events, and %d were answered before: %v", k, w, x.Seq(), seq, err)
			}
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range left {
		if strings.Contains(entry.Name(), "backup") {
			t.Errorf("%s is left", entry.Name())
		}
	}
	stats, err := s.Stats(t.Context())
	if c := stats.Commits; err != nil || stats.Bytes == 0 || c.Count == 0 || c.Failed != 0 || c.Within[len(c.Within)-1] == 0 || c.Sum <= 0 {
		t.Errorf("%+v, %v", stats, err)
	}
}
