package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// talk prints notes and progress: on a terminal a bar per stage with the time left,
// elsewhere a line per finished stage.
type talk struct {
	w        io.Writer
	terminal bool
	quiet    bool
}

func newTalk(w io.Writer, quiet bool) *talk {
	t := &talk{w: w, quiet: quiet}
	if f, ok := w.(*os.File); ok {
		t.terminal = term.IsTerminal(int(f.Fd()))
	}
	return t
}

// Say prints one line.
func (t *talk) Say(format string, args ...any) {
	if !t.quiet {
		fmt.Fprintf(t.w, format+"\n", args...)
	}
}

// close clears an unfinished bar; t may be nil.
func (t *talk) close() {
	if t != nil && t.terminal && !t.quiet {
		fmt.Fprint(t.w, "\r\x1b[K")
	}
}

// stage is one named piece of work. Its methods may be called concurrently.
type stage struct {
	t     *talk
	name  string
	begin time.Time

	mu    sync.Mutex
	drawn time.Time
}

// Stage starts a piece of work and, on a terminal, shows its name at once.
func (t *talk) Stage(name string) *stage {
	s := &stage{t: t, name: name, begin: time.Now()}
	if t.terminal && !t.quiet {
		fmt.Fprintf(t.w, "\r\x1b[K%s…", name)
	}
	return s
}

const (
	redrawEvery = 100 * time.Millisecond
	barWidth    = 30
)

// Update redraws the bar, at most ten times a second.
func (s *stage) Update(done, total int64) {
	if s.t.quiet || !s.t.terminal || total <= 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if now.Sub(s.drawn) < redrawEvery {
		return
	}
	s.drawn = now
	share := min(1, float64(done)/float64(total))
	bar := make([]rune, barWidth)
	for i := range bar {
		bar[i] = '·'
		if float64(i) < share*barWidth {
			bar[i] = '█'
		}
	}
	left := ""
	if elapsed := now.Sub(s.begin); share > 0.02 && elapsed > time.Second {
		left = fmt.Sprintf(", %s left", (time.Duration(float64(elapsed) * (1 - share) / share)).Round(time.Second))
	}
	fmt.Fprintf(s.t.w, "\r\x1b[K%s %s %3.0f %%%s", s.name, string(bar), 100*share, left)
}

// Done replaces the bar by a line with the result of the stage.
func (s *stage) Done(format string, args ...any) {
	if s.t.quiet {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	clear := ""
	if s.t.terminal {
		clear = "\r\x1b[K"
	}
	fmt.Fprintf(s.t.w, "%s%s: %s (%s)\n", clear, s.name, fmt.Sprintf(format, args...), round(time.Since(s.begin)))
}

// round shortens a duration to three digits or so.
func round(d time.Duration) time.Duration {
	switch {
	case d > time.Minute:
		return d.Round(time.Second)
	case d > time.Second:
		return d.Round(10 * time.Millisecond)
	}
	return d.Round(time.Millisecond)
}
