package mmap

import (
	"os"
	"path/filepath"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	for _, content := range []string{"", "x", "features of a graph"} {
		path := filepath.Join(dir, "f")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(f.Bytes()); got != content {
			t.Errorf("got %q, want %q", got, content)
		}
		for range 2 {
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a directory was mapped")
	}
	if _, err := Open(filepath.Join(dir, "missing")); !os.IsNotExist(err) {
		t.Errorf("missing file: %v", err)
	}
}
