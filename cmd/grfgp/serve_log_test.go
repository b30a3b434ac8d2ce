package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// startWithLog runs 'grfgp serve' with a pipe for its log.
func startWithLog(t *testing.T, store string, log *os.File) *process {
	t.Helper()
	p := &process{t: t, cmd: program("serve", "--listen", "127.0.0.1:0", "--store", store, "--verbose"), err: new(bytes.Buffer)}
	p.cmd.Stderr = log
	out, err := p.cmd.StdoutPipe()
	if err := errors.Join(err, p.cmd.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.cmd.Process.Kill(); p.cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p.url = strings.TrimSpace(line)
	return p
}

// Nobody reads the log, or its reader has gone: every request is answered, and the server
// ends in order.
func TestLogUnread(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} {
		d := newDesk(t)
		d.ok("create s --goal maximize --edges " + d.edges)
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		p := startWithLog(t, d.store, w)
		w.Close()
		if gone {
			r.Close()
		}
		const told = 800 // more lines than a pipe holds
		for k := range told {
			if !observeOnce(p.url, 1, k) {
				t.Fatalf("reader gone: %v; value %d is not answered", gone, k)
			}
		}
		if code := p.end(syscall.SIGTERM); code != exitOK {
			t.Errorf("reader gone: %v; exit %d", gone, code)
		}
		if n := len(d.shown("s").Observations); n != told {
			t.Errorf("%d values", n)
		}
	}
}

// stopper is a writer that can be stopped, or fail.
type stopper struct {
	mu    sync.Mutex
	fails bool
	text  bytes.Buffer
}

func (s *stopper) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fails {
		return 0, os.ErrClosed
	}
	return s.text.Write(p)
}

// A log that is not read takes a bounded number of bytes, and says afterwards how many
// lines are missing.
func TestLogDropsLines(t *testing.T) {
	t.Parallel()
	var w stopper
	p := newLogPipe(&w, time.Hour) // only the order of writes decides, not the machine
	w.mu.Lock()
	line := []byte(strings.Repeat("x", 99) + "\n")
	const lines = 3 * logBuffer / 100
	for range lines {
		p.Write(line)
	}
	p.mu.Lock()
	if p.size > logBuffer {
		t.Errorf("%d bytes wait", p.size)
	}
	p.mu.Unlock()
	dropped := p.Dropped()
	if want := lines - logBuffer/100; dropped != want {
		t.Errorf("%d lines dropped, want %d", dropped, want)
	}
	w.mu.Unlock()
	p.end()
	p.Write([]byte("last words\n"))
	text := w.text.String()
	if strings.Count(text, string(line)) != lines-dropped || !strings.HasSuffix(text, "last words\n") ||
		!strings.Contains(text, "lines of the log are missing here") {
		t.Errorf("%d lines, %d dropped; the end is %q", strings.Count(text, string(line)), dropped, text[max(0, len(text)-200):])
	}

	w.mu.Lock()
	w.fails = true
	w.mu.Unlock()
	p.Write(line)
	p.Write(line)
	if got := p.Dropped() - dropped; got != 2 {
		t.Errorf("%d lines that could not be written are counted, want 2", got)
	}
	w.mu.Lock()
	w.fails = false
	w.mu.Unlock()
	p.Write([]byte("again\n"))
	p.flush()
	if text := w.text.String(); !strings.Contains(text, "again\n2 lines of the log are missing") || p.Dropped() != dropped+2 {
		t.Errorf("%q, %d", text[max(0, len(text)-200):], p.Dropped())
	}
}

// The end does not wait for a reader that never reads.
func TestLogEndsUnread(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		block := make(chan struct{})
		p := &logPipe{w: writerFunc(func(b []byte) (int, error) { <-block; return len(b), nil }), most: grace, busy: true}
		p.changed.L = &p.mu
		p.end()
		close(block)
	})
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }
