package atomicfile

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.csv")
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
	}
	if err := Write(path, text("one")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Write(path, text("two")); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("a private file became %v", info.Mode())
	}

	// Failure and panic leave the old file, and nothing else.
	broken := errors.New("broken")
	fail := func(w io.Writer) error { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)); return broken }
	if err := Write(path, fail); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
	func() {
		defer func() { _ = recover() }()
		_ = Write(path, func(io.Writer) error { panic("no") })
	}()
	if got, _ := os.ReadFile(path); string(got) != "two" {
		t.Errorf("the file holds %q after failures, want %q", got, "two")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("files left behind: %v", entries)
	}

	link := filepath.Join(dir, "link.csv")
	if err := os.Symlink(path, link); err != nil {
		t.Skip("no symbolic links here")
	}
	if err := Write(link, text("three")); err != nil {
		t.Fatal(err)
	}
	if got, _ := os.ReadFile(path); string(got) != "three" {
		t.Errorf("the target of the link holds %q", got)
	}
	if err := Write(dir, text("x")); !errors.Is(err, ErrPath) {
		t.Errorf("a directory: %v", err)
	}
	if err := Write(filepath.Join(dir, "none", "x"), text("x")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no such folder: %v", err)
	}
	if _, err := os.Stat("/dev/null"); err == nil {
		if err := Write("/dev/null", text("x")); err != nil {
			t.Errorf("a device: %v", err)
		}
	}
}

func TestRemoveUnfinished(t *testing.T) {
	dir := t.TempDir()
	err := Write(filepath.Join(dir, "a.csv"), func(io.Writer) error {
		RemoveUnfinished()
		return nil
	})
	if err == nil {
		t.Error("a file that was removed while it was written took its name")
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 0 {
		t.Errorf("files left behind: %v", entries)
	}
}
