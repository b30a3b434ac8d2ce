package cli

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"
)

// fakeTalk is a talk whose clock stands still until pass is called.
type fakeTalk struct {
	*Talk
	out  bytes.Buffer
	time time.Time
}

func newFakeTalk(terminal, quiet bool) *fakeTalk {
	f := &fakeTalk{time: time.Unix(1e9, 0)}
	f.Talk = NewTalk(&f.out, quiet)
	f.terminal, f.now = terminal, func() time.Time { return f.time }
	f.Talk.end = make(chan struct{}) // nobody else draws
	return f
}

// pass lets time pass, and draws as the ticker does.
func (f *fakeTalk) pass(d time.Duration) {
	for ; d > 0; d -= redrawEvery {
		f.time = f.time.Add(redrawEvery)
		f.mu.Lock()
		f.draw()
		f.mu.Unlock()
	}
}

// run is a stage of 60 seconds of steady work.
func (f *fakeTalk) run() {
	s := f.Stage("fitting")
	for n := range int64(60) {
		s.Work().Count(n, 60)
		if n == 30 {
			s.Work().Step("trying diffusion")
		}
		f.pass(time.Second)
	}
	s.Done("a kernel")
}

// TestProgressLines: where there is no terminal, a line every ten seconds has share,
// elapsed time and the time left.
func TestProgressLines(t *testing.T) {
	t.Parallel()
	f := newFakeTalk(false, false)
	f.run()
	lines := strings.Split(strings.TrimSpace(f.out.String()), "\n")
	if len(lines) != 7 {
		t.Fatalf("%d lines, want 6 and the result:\n%s", len(lines), f.out.String())
	}
	for k, want := range map[int]string{1: "fitting: 18 %, 12 s, about 50 s left",
		4: "fitting: 68 %, 42 s, about 20 s left (trying diffusion)", 6: "fitting: a kernel (1m0s)"} {
		if lines[k] != want {
			t.Errorf("line %d is %q, want %q", k, lines[k], want)
		}
	}
}

// TestProgressOnTerminal: a terminal has one line, which is gone at the end, and notes go
// above it.
func TestProgressOnTerminal(t *testing.T) {
	t.Parallel()
	f := newFakeTalk(true, false)
	f.width = func() int { return 60 }
	f.run()
	shown := f.out.String()
	if n := strings.Count(shown, "\n"); n != 1 || !strings.HasSuffix(shown, "\r\x1b[Kfitting: a kernel (1m0s)\n") {
		t.Errorf("%d lines; %q", n, shown[max(0, len(shown)-120):])
	}
	for _, line := range strings.Split(shown, "\r\x1b[K") {
		if n := len([]rune(strings.TrimSpace(line))); n >= 60 {
			t.Errorf("a line of %d columns: %q", n, line)
		}
	}
	if !strings.Contains(shown, "██████████·········· fitting: 48 %, 29 s, about 30 s left\r") ||
		!strings.Contains(shown, "\x1b[Kfitting: 61 %, 37 s, about 25 s left (trying diffusion)\r") {
		t.Error("no line for the half, or none that is too long for a bar")
	}
	f.out.Reset()
	f.Stage("predicting")
	f.pass(3 * time.Second)
	f.Say("a note")
	if got := f.out.String(); !strings.HasSuffix(got, "predicting: 3 s\r\x1b[Ka note\n") {
		t.Errorf("%q", got)
	}
}

// TestShortAndQuiet: nothing is told of work of less than two seconds, nor if the user
// does not want to know.
func TestShortAndQuiet(t *testing.T) {
	t.Parallel()
	for _, terminal := range []bool{false, true} {
		f := newFakeTalk(terminal, false)
		s := f.Stage("fitting")
		f.pass(1800 * time.Millisecond)
		s.Done("a kernel")
		if f.out.String() != "fitting: a kernel (1.8s)\n" {
			t.Errorf("%q", f.out.String())
		}
		f = newFakeTalk(terminal, true)
		f.run()
		if f.out.Len() > 0 {
			t.Errorf("quiet, and yet %q", f.out.String())
		}
	}
}

// TestStages: stages may contain others, and errors may leave them unfinished.
func TestStages(t *testing.T) {
	t.Parallel()
	f := newFakeTalk(true, false)
	outer := f.Stage("outer")
	inner := f.Stage("inner")
	f.pass(3 * time.Second)
	inner.Done("done")
	f.pass(3 * time.Second)
	if got := f.out.String(); !strings.Contains(got, "inner: 3 s") || !strings.HasSuffix(got, "outer: 6 s") {
		t.Errorf("%q", got)
	}
	f.Stage("unfinished")
	outer.Done("done")
	if len(f.stages) != 0 || f.end != nil {
		t.Errorf("%d stages, end %v", len(f.stages), f.end)
	}
	f.Close()
}

// TestDurations: rough durations have one or two digits and rise.
func TestDurations(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "1 s", 9400 * time.Millisecond: "9 s", 12 * time.Second: "10 s",
		58 * time.Second: "1 min", 200 * time.Second: "3 min",
		80 * time.Minute: "1.5 h", 2 * time.Hour: "2 h", 26 * time.Hour: "26 h"} {
		if got := rough(d); got != want {
			t.Errorf("%v is about %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{59 * time.Second: "59 s", 61 * time.Second: "1 min 1 s", 3*time.Hour +
		5*time.Minute: "3 h 5 min"} {
		if got := wholeSeconds(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
	if bar(0) != strings.Repeat("·", barWidth) || strings.Count(bar(math.Nextafter(1, 0)), "█") != barWidth {
		t.Error(bar(0), bar(1))
	}
}
