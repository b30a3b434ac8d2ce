package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/cli"
	"grfgp/internal/testkit"
)

// The city with a cheaper model than the verb's own, which takes seconds.
func TestDemo(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := newDemo(1)
	r.validation.Folds, r.Spec.Family, r.Spec.Method, r.Spec.Hops, r.Spec.Rank = 2, "diffusion", "lowrank", 8, 300
	dir := t.TempDir()
	out := filepath.Join(dir, "report.html")
	var answer bytes.Buffer
	a := newApp(Streams{Out: &answer, Err: io.Discard})
	a.Talk = cli.NewTalk(io.Discard, true)
	if err := a.run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if err := a.writePage(context.Background(), out, r.Write); err != nil {
		t.Fatal(err)
	}
	if err := a.printDemo(r, dir, demoFiles(1)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"km/h (RMSE) at held-out sensors", "junctions without a sensor", "The folder " + dir, "cases.csv"} {
		if !strings.Contains(answer.String(), want) {
			t.Errorf("no %q in\n%s", want, answer.String())
		}
	}
	page, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(page, []byte("The truth is known here.")) ||
		!bytes.Contains(page, []byte("Nodes are at their x and y.")) {
		t.Errorf("%v: no truth in %d bytes", err, len(page))
	}
	// The means are better than the overall mean, and 95 % intervals hold most.
	if facts := r.AgainstTruth(); facts.RMSE > 0.8*r.Validation.BaselineRMSE["overall mean"] || facts.Coverage < 0.8 {
		t.Errorf("against the truth: %+v", facts)
	}
}

func TestDemoInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	dir := t.TempDir()
	r := runLineContext(t, ctx, "", "demo", "-o", dir)
	if _, err := os.Stat(filepath.Join(dir, "report.html")); r.code != exitInterrupted || err == nil {
		t.Errorf("%+v", r)
	}
}

// The files are those of the seed, and are read as they are meant. Files that somebody has
// changed are not replaced.
func TestDemoFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	for range 2 { // the second finds them
		if err := leaveFiles(nil, dir, demoFiles(1)); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--edges", at("roads.csv"), "--nodes", at("places.csv"), "--measurements", at("speeds.csv")}, "150 of 1167 nodes"},
		{[]string{"--edges", at("roads.csv"), "--measurements", at("truth.csv")}, "1167 of 1167 nodes"},
		{[]string{"--edges", at("borders.csv"), "--nodes", at("areas.csv"), "--measurements", at("cases.csv")}, "of 140 nodes"},
		{[]string{"--edges", at("citations.csv")}, "400 nodes"},
	} {
		r := runLine(t, "", append([]string{"check", "-q"}, c.args...)...)
		if r.code != exitOK || !strings.Contains(r.out, c.want) {
			t.Errorf("%q: exit %d, %s\n%s\nwant %q", c.args, r.code, r.err, r.out, c.want)
		}
	}
	if err := os.WriteFile(at("speeds.csv"), []byte("node,speed\nA001,30\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := leaveFiles(nil, dir, demoFiles(1)); err == nil || !strings.Contains(err.Error(), "speeds.csv has other contents") {
		t.Error(err)
	}
	if err := leaveFiles(nil, at("roads.csv"), demoFiles(1)); err == nil {
		t.Error("a file is no folder")
	}
}
