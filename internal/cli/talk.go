package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/term"

	"grfgp/internal/printable"
	"grfgp/progress"
)

// Talk prints notes and progress. A stage of work that takes more than two seconds is
// told of while it lasts: on a terminal in one line that is rewritten, elsewhere in a
// line every ten seconds. A finished stage leaves a line with its result.
type Talk struct {
	w        io.Writer
	terminal bool
	quiet    bool
	verbose  bool
	width    func() int // columns of the terminal
	now      func() time.Time

	mu     sync.Mutex
	stages []*Stage      // under way, the innermost last
	end    chan struct{} // closed when nothing is to be shown any more; nil: nobody draws
	drawn  bool          // a line on the terminal is to be cleared
	told   time.Time     // last line, where there is no terminal
}

// NewTalk returns a Talk on w; a quiet one tells only what is printed anyway.
func NewTalk(w io.Writer, quiet bool) *Talk {
	t := &Talk{w: w, quiet: quiet, now: time.Now, width: func() int { return 80 }}
	if f, ok := w.(*os.File); ok {
		t.terminal = term.IsTerminal(int(f.Fd()))
		t.width = func() int {
			if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
				return columns
			}
			return 80
		}
	}
	return t
}

// clearLine removes the line of progress from a terminal.
func clearLine(f *os.File) {
	if term.IsTerminal(int(f.Fd())) {
		fmt.Fprint(f, "\r\x1b[K")
	}
}

// Say prints one line.
func (t *Talk) Say(format string, args ...any) {
	if !t.quiet {
		t.Warn(format, args...)
	}
}

// Detail prints one line if the user wants to know more.
func (t *Talk) Detail(format string, args ...any) {
	if t.verbose {
		t.Say(format, args...)
	}
}

// Warn prints one line, also where little is printed.
func (t *Talk) Warn(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	fmt.Fprintln(t.w, printable.Text(fmt.Sprintf(format, args...)))
}

// clear removes the line of progress. The caller holds the lock.
func (t *Talk) clear() {
	if t.drawn {
		fmt.Fprint(t.w, "\r\x1b[K")
		t.drawn = false
	}
}

// Close ends all stages; t may be nil.
func (t *Talk) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clear()
	t.stages = nil
	t.rest()
}

const (
	redrawEvery = 200 * time.Millisecond
	tellAfter   = 2 * time.Second  // from the beginning of a stage
	tellEvery   = 10 * time.Second // where there is no terminal
	barWidth    = 20
)

// watch draws until there is nothing to draw. The caller holds the lock.
func (t *Talk) watch() {
	if t.quiet || t.end != nil {
		return
	}
	end := make(chan struct{})
	t.end = end
	go func() {
		ticker := time.NewTicker(redrawEvery)
		defer ticker.Stop()
		for {
			select {
			case <-end:
				return
			case <-ticker.C:
				t.mu.Lock()
				if t.end == end {
					t.draw()
				}
				t.mu.Unlock()
			}
		}
	}()
}

// rest ends watch. The caller holds the lock.
func (t *Talk) rest() {
	if t.end != nil && len(t.stages) == 0 {
		close(t.end)
		t.end = nil
	}
}

// draw tells how far the innermost stage is. The caller holds the lock.
func (t *Talk) draw() {
	if len(t.stages) == 0 || t.quiet {
		return
	}
	s := t.stages[len(t.stages)-1]
	now := t.now()
	line, share, wait := s.line(now)
	if now.Sub(s.begin) < tellAfter {
		return
	}
	switch {
	case t.terminal:
		fmt.Fprintf(t.w, "\r\x1b[K%s", fitted(line, share, t.width()-1))
		t.drawn = true
	case now.Sub(t.told) >= tellEvery && wait:
		t.told = now
		fmt.Fprintln(t.w, line)
	}
}

// Stage is one named piece of work. Its methods may be called concurrently.
type Stage struct {
	t     *Talk
	name  string
	begin time.Time
	work  *progress.Work

	mu    sync.Mutex // guards state, which computations set
	state progress.State
	left  progress.Remaining
}

// Stage starts a piece of work.
func (t *Talk) Stage(name string) *Stage {
	s := &Stage{t: t, name: name, begin: t.now()}
	if t.quiet {
		return s
	}
	s.work = progress.New(func(now progress.State) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.state = now
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stages = append(t.stages, s)
	t.watch()
	return s
}

// Work returns the work of the stage, for the computation that it is; nil if nobody is
// told of it.
func (s *Stage) Work() *progress.Work { return s.work }

// Update reports that done of total pieces are done.
func (s *Stage) Update(done, total int64) { s.work.Count(done, total) }

// line says how far the stage is, and whether it may take two more seconds.
func (s *Stage) line(now time.Time) (line string, share float64, wait bool) {
	s.mu.Lock()
	state := s.state
	s.mu.Unlock()
	elapsed := now.Sub(s.begin)
	left, ok := s.left.At(elapsed, state.Share)
	line = s.name + ":"
	if state.Share > 0 {
		line += fmt.Sprintf(" %.0f %%,", 99*state.Share) // 100 is said when it is done
	}
	line += " " + wholeSeconds(elapsed)
	if ok {
		line += ", about " + rough(left) + " left"
	}
	if state.Step != "" {
		line += " (" + state.Step + ")"
	}
	return line, state.Share, !ok || left >= tellAfter
}

// fitted returns a line of at most the given number of columns, with a bar if there is
// room and a share to show.
func fitted(line string, share float64, columns int) string {
	r := []rune(line)
	if share > 0 && len(r)+1+barWidth <= columns {
		return bar(share) + " " + line
	}
	return string(r[:max(0, min(len(r), columns))])
}

func bar(share float64) string {
	line := make([]rune, barWidth)
	for i := range line {
		line[i] = '·'
		if float64(i) < share*barWidth {
			line[i] = '█'
		}
	}
	return string(line)
}

// Done replaces what was told by a line with the result of the stage.
func (s *Stage) Done(format string, args ...any) {
	t := s.t
	if t.quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s.remove()
	fmt.Fprintf(t.w, "%s: %s (%s)\n", s.name, fmt.Sprintf(format, args...), round(t.now().Sub(s.begin)))
}

// End ends a stage that has no result to tell of.
func (s *Stage) End() {
	s.t.mu.Lock()
	defer s.t.mu.Unlock()
	s.remove()
}

// remove ends the stage and those within it. The caller holds the lock.
func (s *Stage) remove() {
	if at := slices.Index(s.t.stages, s); at >= 0 {
		s.t.stages = s.t.stages[:at]
	}
	s.t.rest()
	s.t.clear()
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

// wholeSeconds says how long something has taken.
func wholeSeconds(d time.Duration) string {
	s := int(d / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}

// rough says how long something may take, in a number of one or two digits.
func rough(d time.Duration) string {
	up := func(unit time.Duration) int { return int((d + unit/2) / unit) }
	switch s := d.Seconds(); {
	case s < 9.5:
		return fmt.Sprintf("%d s", max(1, up(time.Second)))
	case s < 57.5:
		return fmt.Sprintf("%d s", 5*up(5*time.Second))
	case s < 57.5*60:
		return fmt.Sprintf("%d min", up(time.Minute))
	case s < 4.75*3600:
		return fmt.Sprintf("%.2g h", 0.5*float64(up(30*time.Minute)))
	}
	return fmt.Sprintf("%d h", up(time.Hour))
}
