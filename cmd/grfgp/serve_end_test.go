package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"grfgp/internal/testkit"
)

// A server that is told to end while it still works on a graph leaves one file that is whole:
// a copy of it is a backup.
func TestServeEndsWithWholeFile(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "team.db")
	p := startServer(t, "--store "+file)
	d.store = p.url
	d.ok(fmt.Sprintf("create s --goal maximize --generate ring:%d", testkit.Size(100_000, 1_000_000)))
	d.ok("observe s 0=1 1=2 5=3 70=5 900=8 1000=2")
	if code := p.end(syscall.SIGTERM); code != exitOK {
		t.Errorf("exit %d; %s", code, p.err)
	}
	if info, err := os.Stat(file + "-wal"); err == nil && info.Size() > 0 {
		t.Errorf("%d bytes are left beside the file", info.Size())
	}
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	d.store = filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(d.store, body, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := d.ok("show s").out; !strings.Contains(out, "6 observations") {
		t.Errorf("the copy shows\n%s", out)
	}
}

func TestWithoutPassword(t *testing.T) {
	t.Parallel()
	for place, want := range map[string]string{
		"team.db":                          "team.db",
		"postgres://u:secret@h/db":         "postgres://u:xxxxx@h/db",
		"postgres://u@h/db?password=pass":  "postgres://u@h/db",
		"postgres:///db?password=p#q":      "postgres:///db",
		"postgres://u:p/a%s@h/db?x=secret": "postgres://…@h/db",
	} {
		if got := withoutPassword(place); got != want {
			t.Errorf("%s is shown as %s, want %s", place, got, want)
		}
	}
}
