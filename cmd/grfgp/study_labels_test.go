package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"grfgp/study"
)

// A study of classes: created from labels or a list, told by name, observed from arguments
// and a file, exported and imported, and made again suggestion by suggestion.
func TestStudyOfClasses(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(file, []byte("node,class\na1,oak\na2,\nb2,beech\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	d.ok("create s --family diffusion --scales one --edges " + d.edges + " --labels " + file)
	shown := d.shown("s")
	if s := shown.Settings; !s.Labels || s.Classes != nil || s.Goal != "learn" ||
		!slices.Equal(shown.Classes, []study.ClassCount{{Class: "oak", Count: 1}, {Class: "beech", Count: 1}}) {
		t.Fatalf("%+v, classes %v", s, shown.Classes)
	}
	if out := d.ok("ask s -n 2").out; !strings.Contains(out, "most probable") || !strings.Contains(out, "could be") {
		t.Error(out)
	}
	if out := d.ok("tell s 1=oak 2=failed").out; !strings.Contains(out, "done, oak (observation 3)") {
		t.Error(out)
	}
	d.ok("observe s b1=pine")
	if r := d.run("observe s --measurements " + file); r.code != exitUsage || !strings.Contains(r.err, "--labels FILE") {
		t.Errorf("a file of values: %+v", r)
	}
	d.ok("observe s --labels " + file)
	if out := d.ok("show s --observations").out; !strings.Contains(out, "classes: oak 3, beech 2, pine 1") || !strings.Contains(out, "pine") {
		t.Error(out)
	}
	d.ok("verify s --suggestions")
	archive := d.dir + "/s.jsonl"
	d.ok("export s -o " + archive)
	d.ok("import " + archive + " --name copy")
	if copied := d.shown("copy"); fmt.Sprint(copied.Classes) != fmt.Sprint(d.shown("s").Classes) {
		t.Errorf("%v after import", copied.Classes)
	}

	d.ok("create fixed --edges " + d.edges + " --classes oak,beech")
	d.ok("create open --edges " + d.edges + " --classes any")
	if fixed, open := d.shown("fixed").Settings, d.shown("open").Settings; !slices.Equal(fixed.Classes, []string{"oak", "beech"}) ||
		!open.Labels || open.Classes != nil {
		t.Errorf("%+v and %+v", fixed, open)
	}
	for _, c := range []struct{ command, words string }{
		{"observe fixed a1=pine", "no class of this study"},
		{"create bad --classes oak --edges " + d.edges, "2 to 100"},
		{"create bad --classes oak,beech --goal maximize --edges " + d.edges, "goal learn"},
		{"create bad --classes oak,beech --values count --edges " + d.edges, "is for values"},
		{"create bad --labels " + file + " --measurements " + file + " --edges " + d.edges, "is for values"},
	} {
		if r := d.run(c.command); r.code == 0 || !strings.Contains(r.err, c.words) {
			t.Errorf("%s: %+v", c.command, r)
		}
	}
	d.ok("create numbers --goal learn --edges " + d.edges)
	if r := d.run("observe numbers --labels " + file); r.code != exitUsage || !strings.Contains(r.err, "--measurements FILE") {
		t.Errorf("labels in a study of values: %+v", r)
	}
}
