package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The city with a cheaper model than the verb's own, which takes seconds.
func TestDemo(t *testing.T) {
	r := newDemo(1)
	r.validation.Folds, r.Spec.Family, r.Spec.Method, r.Spec.Hops, r.Spec.Rank = 2, "diffusion", "lowrank", 8, 300
	out := filepath.Join(t.TempDir(), "demo.html")
	var answer bytes.Buffer
	a := &app{Streams: Streams{Out: &answer, Err: io.Discard}, talk: newTalk(io.Discard, true)}
	if err := a.run(context.Background(), r); err != nil {
		t.Fatal(err)
	}
	if err := a.writePage(context.Background(), out, r.Write); err != nil {
		t.Fatal(err)
	}
	if err := a.printDemo(r, out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"km/h (RMSE) at held-out sensors", "junctions without a sensor", out} {
		if !strings.Contains(answer.String(), want) {
			t.Errorf("no %q in\n%s", want, answer.String())
		}
	}
	page, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(page, []byte("The truth is known here.")) || !bytes.Contains(page, []byte("Nodes are at their x and y.")) {
		t.Errorf("%v: no truth in %d bytes", err, len(page))
	}
	// The means are better than the overall mean, and 95 % intervals hold most.
	if facts := r.AgainstTruth(); facts.RMSE > 0.8*r.Validation.BaselineRMSE["overall mean"] || facts.Coverage < 0.8 {
		t.Errorf("against the truth: %+v", facts)
	}
}

func TestDemoInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(t.TempDir(), "demo.html")
	r := runLineContext(t, ctx, "", "demo", "-o", out)
	if _, err := os.Stat(out); r.code != exitInterrupted || err == nil {
		t.Errorf("%+v", r)
	}
}
