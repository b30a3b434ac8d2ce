package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// The life of a study on the command line: its budget is changed, a node of one's own choice
// is queued and another one taken, it is archived, taken back and deleted.
func TestStudyLifeCycle(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.store = filepath.Join(t.TempDir(), "life.db")
	d.ok("create a --generate ring:12 --goal maximize --budget 2")
	d.ok("ask a -n 2")
	if r := d.run("ask a"); r.code != exitNothing {
		t.Errorf("beyond the budget: %d", r.code)
	}
	if r := d.ok("change a --budget 6 --lease 2h --note money"); !strings.Contains(r.out, "budget 6, lease 2h0m0s") {
		t.Errorf("%s", r.out)
	}
	if r := d.run("change a"); r.code != exitUsage {
		t.Errorf("no change: %d", r.code)
	}
	if r := d.run(`change a --settings {"graph":"x"}`); r.code != exitUsage || !strings.Contains(r.err, "keeps its graph") {
		t.Errorf("another graph: %d %s", r.code, r.err)
	}
	free := func() string { // a node that no trial has
		taken := map[string]bool{}
		for _, trial := range d.shown("a").AllTrials {
			taken[trial.Node] = true
		}
		for _, node := range []string{"0", "1", "2", "3", "4", "5", "6", "7"} {
			if !taken[node] {
				return node
			}
		}
		return ""
	}
	node := free()
	d.ok("queue a " + node + " --note valve")
	if r := d.ok("queue a"); !strings.Contains(r.out, "anna") || !strings.Contains(r.out, "valve") {
		t.Errorf("%s", r.out)
	}
	if r := d.ok("ask a"); !strings.Contains(r.out, "queued by anna: valve") {
		t.Errorf("%s", r.out)
	}
	if r := d.run("queue a nowhere"); r.code != exitBadData {
		t.Errorf("no node: %d %s", r.code, r.err)
	}
	node = free()
	if r := d.ok("ask a --node " + node + ""); !strings.Contains(r.out, "chosen by anna") {
		t.Errorf("%s", r.out)
	}
	d.ok("queue a " + free())
	if r := d.ok("unqueue a " + free()); !strings.Contains(r.out, "empty") {
		t.Errorf("%s", r.out)
	}
	d.ok("verify a --suggestions")
	d.ok("archive a --note done")
	if r := d.run("tell a 1=2"); r.code != exitConflict || !strings.Contains(r.err, "archived") {
		t.Errorf("%d %s", r.code, r.err)
	}
	if r := d.ok("list"); strings.Contains(r.out, "maximize") {
		t.Errorf("%s", r.out)
	}
	if r := d.ok("list --archived"); !strings.Contains(r.out, "archived") {
		t.Errorf("%s", r.out)
	}
	d.ok("restore a")
	d.ok("tell a 1=2")
	if r := d.run("graphs --delete-unused"); r.code != 0 || strings.Contains(r.out, "deleted") {
		t.Errorf("%d %s", r.code, r.out)
	}
	if r := d.run("delete a"); r.code != exitUsage || !strings.Contains(r.err, "--confirm a") {
		t.Errorf("%d %s", r.code, r.err)
	}
	d.ok("delete a --confirm a")
	if r := d.run("show a"); r.code != exitUsage {
		t.Errorf("%d", r.code)
	}
	if r := d.ok("graphs --delete-unused"); !strings.Contains(r.out, "is deleted") {
		t.Errorf("%s", r.out)
	}
}
