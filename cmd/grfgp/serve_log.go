package main

import (
	"bytes"
	"fmt"
	"io"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// logBuffer is how many bytes of the log wait for a reader that is slow.
const logBuffer = 1 << 20

// logPipe passes the lines of a log on from a goroutine of its own. Writers never wait:
// lines that find no room are counted and dropped, and so are those that cannot be written.
type logPipe struct {
	w    io.Writer
	most time.Duration // how long the last words wait to be written

	mu      sync.Mutex
	changed sync.Cond // lines were added or passed on
	lines   [][]byte
	size    int  // bytes of lines, and of those being written
	busy    bool // lines are being written
	missing int  // lines dropped since the last that was written
	dropped int  // lines dropped in all
	failed  bool // the last line could not be written
	ended   bool // writers wait for their line, for a while
	running bool // the goroutine is there
}

// newLogPipe returns a pipe to w, whose last words wait for their reader for at most so long.
// A reader that goes away does not end the process from now on.
func newLogPipe(w io.Writer, most time.Duration) *logPipe {
	signal.Ignore(syscall.SIGPIPE)
	p := &logPipe{w: w, most: most, running: true}
	p.changed.L = &p.mu
	go p.run()
	return p
}

// Write takes a line.
func (p *logPipe) Write(line []byte) (int, error) {
	p.mu.Lock()
	if p.size+len(line) > logBuffer {
		p.missing++
		p.dropped++
	} else {
		p.lines = append(p.lines, bytes.Clone(line))
		p.size += len(line)
		p.changed.Broadcast()
	}
	ended := p.ended
	if ended && !p.running { // last words
		p.running = true
		go p.run()
	}
	p.mu.Unlock()
	if ended {
		p.flush()
	}
	return len(line), nil
}

// pending reports whether something is to be written: lines, or how many are missing. The
// latter waits for the next line where writing fails.
func (p *logPipe) pending() bool {
	return len(p.lines) > 0 || p.missing > 0 && !p.failed
}

// run passes lines on, until the pipe has ended and none is left.
func (p *logPipe) run() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		for !p.pending() {
			if p.ended {
				p.running = false
				p.changed.Broadcast()
				return
			}
			p.changed.Wait()
		}
		lines, missing := p.lines, p.missing
		p.lines, p.missing, p.busy = nil, 0, true
		p.mu.Unlock()
		size, lost := 0, 0
		for _, line := range lines {
			size += len(line)
			if _, err := p.w.Write(line); err != nil {
				lost++
			}
		}
		if missing > 0 && lost == 0 {
			const words = "%d lines of the log are missing here: they were written faster than they were read\n"
			if _, err := fmt.Fprintf(p.w, words, missing); err == nil {
				missing = 0
			}
		}
		p.mu.Lock()
		p.busy, p.failed = false, lost > 0 || missing > 0
		p.size -= size
		p.dropped += lost // missing ones are counted already
		p.missing += lost + missing
		p.changed.Broadcast()
	}
}

// Dropped is how many lines were dropped.
func (p *logPipe) Dropped() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped
}

// end makes writers wait for their line from now on, for a while, so that the last words of
// the process are written before it ends. The goroutine ends with its last line.
func (p *logPipe) end() {
	p.mu.Lock()
	p.ended = true
	p.changed.Broadcast()
	p.mu.Unlock()
	p.flush()
}

// flush waits until all lines are passed on, at most for the time of last words.
func (p *logPipe) flush() {
	late := false
	timer := time.AfterFunc(p.most, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !late && (p.busy || p.pending() || p.ended && p.running) {
		p.changed.Wait()
	}
}
