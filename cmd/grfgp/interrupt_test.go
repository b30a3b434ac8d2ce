package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/internal/testkit"
)

// lateWriter tells when the first byte is written.
type lateWriter struct {
	mu    sync.Mutex
	text  bytes.Buffer
	first chan struct{}
}

func (w *lateWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.text.Len() == 0 {
		close(w.first)
	}
	return w.text.Write(p)
}

// TestInterrupts interrupts every command in the middle of its work: it ends with code
// 130 and a message, and leaves no file but those that it names. The quick suite interrupts
// two of them, as soon as they say something; GRFGP_STUDY=1 all of them, at many points.
func TestInterrupts(t *testing.T) {
	dir := t.TempDir()
	var values, labels strings.Builder
	values.WriteString("node,value\n")
	labels.WriteString("node,class\n")
	for i := 0; i < 90_000; i += 83 {
		fmt.Fprintf(&values, "%d,%d.5\n", i, i/7%5)
		fmt.Fprintf(&labels, "%d,c%d\n", i, i/7%3)
	}
	given, classes := write(t, dir, "values.csv", values.String()), write(t, dir, "labels.csv", labels.String())
	const grid = " --generate grid:300x300"
	points := []time.Duration{0}
	switch {
	case testkit.IsStudy():
		points = []time.Duration{0, 100 * time.Millisecond, 300 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second,
			8 * time.Second}
	case testkit.IsFull():
		points = []time.Duration{0, 400 * time.Millisecond}
	}
	for k, line := range []string{
		"predict" + grid + " --measurements " + given + " -o OUT/answer --save-model OUT/model",
		"predict" + grid + " --method series --scales one --measurements " + given + " -o OUT/answer",
		"predict --generate ba:3000,5 --method dense --measurements " + write(t, dir, "few.csv", "node,value\n1,1.5\n2,2\n3,1\n4,4\n") +
			" -o OUT/answer",
		"classify" + grid + " --labels " + classes + " -o OUT/answer",
		"validate" + grid + " --measurements " + given,
		"suggest" + grid + " --goal maximize --measurements " + given + " -o OUT/answer",
		"simulate" + grid + " --goal maximize --truth " + given + " -o OUT/answer",
		"report" + grid + " --measurements " + given + " -o OUT/answer.html",
		"check --generate ba:200000,6",
		"pack --generate ba:400000,6 -o OUT/graph",
	} {
		name, _, _ := strings.Cut(line, " ")
		if quick := name == "pack" || k == 0; !quick && !testkit.IsFull() && !testkit.IsStudy() {
			continue
		}
		for _, point := range points {
			t.Run(fmt.Sprintf("%d %s after %v", k, name, point), func(t *testing.T) {
				t.Parallel()
				interrupt(t, line, point)
			})
		}
	}
}

// interrupt runs a command and interrupts it some time after its first message.
func interrupt(t *testing.T, line string, after time.Duration) {
	out := t.TempDir()
	said := &lateWriter{first: make(chan struct{})}
	cmd := program(strings.Fields(strings.ReplaceAll(line, "OUT", out))...)
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case <-said.first:
	case err := <-done:
		t.Fatalf("ended at once: %v; %s", err, said.text.String())
	}
	select {
	case err := <-done:
		if err != nil {
			t.Fatalf("%v; %s", err, said.text.String())
		}
		t.Skip("done before it was interrupted")
	case <-time.After(after):
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := <-done
	var exit *exec.ExitError
	if err == nil {
		t.Skip("done when it was interrupted")
	}
	if !errors.As(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v; %s", err, said.text.String())
	}
	lines := strings.Split(strings.TrimSpace(said.text.String()), "\n")
	last := lines[len(lines)-1]
	if !strings.HasPrefix(last, "grfgp: interrupted; no file was left incomplete") {
		t.Errorf("the last words are %q", last)
	}
	files, err := filepath.Glob(out + "/*")
	hidden, err2 := filepath.Glob(out + "/.*")
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	for _, file := range slices.Concat(files, hidden) {
		if !strings.Contains(last, file) {
			t.Errorf("%s is left, but the message is %q", file, last)
		}
	}
}
