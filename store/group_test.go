package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"grfgp/study"
)

func openFile(t *testing.T) *database {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "studies.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.(*database)
}

func note(seq int64, text string) study.Event {
	return study.Event{Seq: seq, Time: time.Now().UTC(), Data: study.Paused{Note: text}}
}

// atOnce appends an event to each of n logs while the connection is in use, so that all but
// the first are written by one transaction, and returns their errors.
func atOnce(t *testing.T, d *database, n int, event func(k int) study.Event) []error {
	t.Helper()
	busy, err := d.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	errs := make([]error, n)
	var wg sync.WaitGroup
	for k := range n {
		wg.Go(func() { errs[k] = d.Log(fmt.Sprint("s", k)).Append(t.Context(), event(k)) })
		for wait := true; wait; { // in this order
			d.group.mu.Lock()
			wait = !d.group.writing || len(d.group.waiting) < k
			d.group.mu.Unlock()
			runtime.Gosched()
		}
	}
	if err := busy.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return errs
}

// Events of many studies are written by one transaction.
func TestManyStudiesOneTransaction(t *testing.T) {
	t.Parallel()
	d := openFile(t)
	for k, err := range atOnce(t, d, 30, func(int) study.Event { return note(1, "") }) {
		if err != nil {
			t.Errorf("study %d: %v", k, err)
		}
	}
	if d.group.commits != 2 {
		t.Errorf("%d transactions", d.group.commits)
	}
	if all, err := d.Studies(t.Context()); err != nil || len(all) != 30 {
		t.Errorf("%d studies, %v", len(all), err)
	}
}

// One study of a group whose events cannot be written, for their numbers or for want of room,
// does not fail the others.
func TestOneOfAGroupFails(t *testing.T) {
	t.Parallel()
	d := openFile(t)
	if _, err := d.db.Exec("PRAGMA max_page_count = 40"); err != nil {
		t.Fatal(err)
	}
	errs := atOnce(t, d, 12, func(k int) study.Event {
		switch k {
		case 4:
			return note(7, "")
		case 8:
			return note(1, strings.Repeat("x", 400_000))
		}
		return note(1, "")
	})
	for k, err := range errs {
		want := map[int]error{4: study.ErrSequence, 8: ErrFull}[k]
		if !errors.Is(err, want) {
			t.Errorf("study %d: %v, want %v", k, err, want)
		}
	}
	if all, err := d.Studies(t.Context()); err != nil || len(all) != 10 {
		t.Errorf("%d studies, %v", len(all), err)
	}
}

// Who reads does not wait for a writer, and who writes does not wait for readers.
func TestReadersAndWriters(t *testing.T) {
	t.Parallel()
	d := openFile(t)
	log := d.Log("s")
	if err := log.Append(t.Context(), note(1, "first")); err != nil {
		t.Fatal(err)
	}
	busy, err := d.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := busy.ExecContext(t.Context(), "BEGIN IMMEDIATE; UPDATE grfgp_events SET body = '' WHERE seq = 1"); err != nil {
		t.Fatal(err)
	}
	for e, err := range log.Events(t.Context(), 0) {
		if p, ok := e.Data.(study.Paused); err != nil || !ok || p.Note != "first" {
			t.Errorf("while another writes: %+v, %v", e, err)
		}
	}
	if _, err := busy.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	busy.Close()
	var held []interface{ Close() error }
	for range readers {
		rows, err := d.reads.Query("SELECT body FROM grfgp_events") // and are not read
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, rows)
	}
	if err := log.Append(t.Context(), note(2, "second")); err != nil {
		t.Errorf("while others read: %v", err)
	}
	for _, rows := range held {
		rows.Close()
	}
}

// Where connections cannot share a file, one does all, and the store is held all the same.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "studies.db")
	f := &sqliteFile{path: path, owner: path + ".owner"}
	if err := f.prepare(Options{}); err != nil {
		t.Fatal(err)
	}
	d, err := f.open(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if d.reads != d.db {
		t.Error("there are connections to read")
	}
	log := d.Log("s")
	if err := log.Append(t.Context(), note(1, "")); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range log.Events(t.Context(), 0) {
		if n++; err != nil {
			t.Error(err)
		}
	}
	if all, err := d.Studies(t.Context()); err != nil || len(all) != 1 || n != 1 {
		t.Errorf("%v, %d events, %v", all, n, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.(*database).reads == s.(*database).db {
		t.Error("there are no connections to read")
	}
}

// BenchmarkAppend appends 40 events at once.
func BenchmarkAppend(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "studies.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.(*database).db.Exec("PRAGMA synchronous = OFF"); err != nil { // what the processor does
		b.Fatal(err)
	}
	seq := int64(0)
	for b.Loop() {
		var events []study.Event
		for range 40 {
			seq++
			events = append(events, note(seq, ""))
		}
		if err := s.Log("s").Append(b.Context(), events...); err != nil {
			b.Fatal(err)
		}
	}
}
