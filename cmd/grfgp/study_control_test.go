package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/client/local"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/internal/printable"
	"grfgp/study"
)

// What people wrote moves no cursor and forges no line, on a server and in a file.
func TestControlCharacters(t *testing.T) {
	t.Parallel()
	for _, d := range []*desk{newDesk(t), remoteDesk(t)} {
		d.ok("create s --goal maximize --edges " + d.edges)
		evil := "\x1b[2J\x1b]0;owned\x07"
		d.ok("ask s -n 3", "--by", evil)
		for _, args := range [][]string{
			{"tell s 1=failed", "--by", evil, "--note", "x\n999 observations, best 42 at node a"},
			{"observe s a0=1", "--by", evil, "--note", evil},
			{"abandon s 2", "--by", evil, "--note", evil},
			{"pause s", "--by", evil, "--note", "x\n999 observations, best 42 at node a"},
			{"show s --trials --observations"},
			{"list"},
			{"ask s"},
		} {
			r := d.run(args[0], args[1:]...)
			if r.code != exitOK && r.code != exitNothing {
				t.Fatalf("%q: %+v", args, r)
			}
			for line := range strings.Lines(r.out + r.err) {
				if strings.ContainsFunc(strings.TrimSuffix(line, "\n"), printable.Odd) && !strings.Contains(line, "\t") ||
					strings.HasPrefix(line, "999") {
					t.Errorf("%q prints %q", args, line)
				}
			}
		}
	}
}

// A study of before, with such ids, is shown with them escaped; a new one is refused.
func TestControlCharactersInIDs(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	edges := write(t, d.dir, "odd.csv", "source,target\na\x1b[2J,b\nb,c\n")
	if r := d.run("create s --goal maximize --edges " + edges); r.code != exitBadData || !strings.Contains(r.err, "control characters") {
		t.Errorf("%+v", r)
	}
	ids, ok := graph.IDsOf([]string{"a\x1b[2J", "b", "c\nd"})
	g, _, err := graph.FromEdges(ids, graph.Edges{U: []uint32{0, 1}, V: []uint32{1, 2}}, graph.BuildOptions{})
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	packed, err := graphio.Encode(&graphio.Network{Graph: g, Nodes: &graphio.NodeTable{IDs: g.IDs()}})
	if err != nil {
		t.Fatal(err)
	}
	all, err := local.Open(t.Context(), d.store, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := all.Create(t.Context(), study.Settings{Name: "s"}, packed, ""); err != nil {
		t.Fatal(err)
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"ask s -n 3", "show s"} {
		if out := d.ok(line).out; strings.Contains(out, "\x1b") || strings.Contains(out, "\nd") || !strings.Contains(out, `c\nd`) {
			t.Errorf("%s: %q", line, out)
		}
	}
}

// An export has all the data: nobody else may read it.
func TestExportIsPrivate(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok("create s --goal maximize --edges " + d.edges)
	out := filepath.Join(d.dir, "s.jsonl")
	for range 2 {
		d.ok("export s -o " + out)
		if info, err := os.Stat(out); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info.Mode(), err)
		}
		if err := os.Chmod(out, 0o644); err != nil { // as before
			t.Fatal(err)
		}
	}
}
