package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A backup of a running server is a store; one that was cut off is found out.
func TestStudyBackup(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "team.db")
	d.store = file
	d.ok("create a --generate ring:12 --goal maximize")
	d.ok("ask a -n 3")
	p := startServer(t, "--store "+file)
	d.store = p.url
	d.ok("tell a 1=2.5")
	out := filepath.Join(dir, "monday.db")
	if r := d.ok("backup -o " + out); !strings.Contains(r.out, "1 study, 3 events") {
		t.Errorf("%s", r.out)
	}
	if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if r := d.run("backup -o " + out); r.code != exitUsage || !strings.Contains(r.err, "never replaces") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := d.ok("verify --all"); !strings.Contains(r.out, "all good") {
		t.Errorf("%s", r.out)
	}
	d.store = out
	if s := d.shown("a"); s.Values != 1 || s.Events != 3 {
		t.Errorf("%+v", s.Summary)
	}
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(dir, "cut.db")
	if err := os.WriteFile(cut, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	d.store = cut
	if r := d.run("verify --all"); r.code != exitBadData {
		t.Errorf("half a backup: %+v", r)
	}
}
