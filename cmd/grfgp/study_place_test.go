package main

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"grfgp/store"
)

// Commands that look at a store make none, and leave files of others alone.
func TestStudyStoresOfOthers(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other, empty := filepath.Join(d.dir, "other.db"), write(t, d.dir, "empty.csv", "")
	d.alter(other, `CREATE TABLE bookmarks (url TEXT)`)
	for _, place := range []string{other, empty} {
		before, err := os.ReadFile(place)
		if err != nil {
			t.Fatal(err)
		}
		d.store = place
		for _, line := range []string{"list", "show q", "ask q"} {
			if r := d.run(line); r.code != exitBadData || !strings.Contains(r.err, "not a store of this program") {
				t.Errorf("%s, %s: %+v", place, line, r)
			}
		}
		if after, err := os.ReadFile(place); err != nil || !bytes.Equal(before, after) {
			t.Errorf("%s was changed, %v", place, err)
		}
	}
	missing := filepath.Join(d.dir, "missing.db")
	if r := runLine(t, "", "serve", "--read-only", "--store", missing, "--listen", "127.0.0.1:0"); r.code != exitUsage ||
		!strings.Contains(r.err, "there is no store") {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(missing); err == nil {
		t.Error("a store was made to be read")
	}
}

// alter runs a statement on a SQLite file behind the program's back.
func (d *desk) alter(file, statement string) {
	d.t.Helper()
	db, err := sql.Open("sqlite", file)
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = db.Exec(statement)
	if err := errors.Join(err, db.Close()); err != nil {
		d.t.Fatal(err)
	}
}

// Commands that fail leave no store behind.
func TestStudyLeavesNoStore(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok("create s --goal learn --edges " + d.edges)
	bare := filepath.Join(d.dir, "bare.jsonl")
	d.ok("export s --without-graph -o " + bare)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	d.store = filepath.Join(d.dir, "new.db")
	for _, r := range []result{
		d.run("import " + bare),
		d.run("import " + d.edges),
		d.run("create t --goal learn --edges nowhere.csv"),
		runLine(t, "", "serve", "--store", d.store, "--listen", taken.Addr().String()),
	} {
		if r.code == exitOK {
			t.Errorf("%+v", r)
		}
		if _, err := os.Stat(d.store); err == nil {
			t.Fatalf("a store is left by %+v", r)
		}
	}
}

// One damaged study does not hide the others.
func TestStudyDamaged(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, name := range []string{"a", "b", "c"} {
		d.ok("create " + name + " --goal learn --edges " + d.edges)
		d.ok("observe " + name + " a0=1")
		d.ok("observe " + name + " a1=1")
	}
	d.alter(d.store, `DELETE FROM grfgp_events WHERE study = 'b' AND seq = 2`)
	d.alter(d.store, `DELETE FROM grfgp_events WHERE study = 'c' AND seq = 1`)
	list := func(damaged int) {
		t.Helper()
		r := d.ok("list")
		if strings.Count(r.out, "damaged") != damaged || strings.Count(r.out, "open") != 3-damaged ||
			!strings.Contains(r.err, "restore the store from a backup") {
			t.Errorf("%+v", r)
		}
	}
	list(1) // a list reads no events: it is b's summary that is shown
	if r := d.run("show b"); r.code != exitBadData || !strings.Contains(r.err, "where 2 is next; restore the store") {
		t.Errorf("%+v", r)
	}
	d.store = startServer(t, "--store "+d.store).url
	list(1)
	if r := d.run("show b"); r.code == exitOK {
		t.Errorf("%+v", r)
	}
	list(2) // since somebody wanted to see it
}

// Commands on one file at the same time wait for each other.
func TestStudyWaits(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.ok("create s --goal learn --edges " + d.edges)
	var all sync.WaitGroup
	for k := range 3 {
		all.Go(func() {
			if r := d.run(fmt.Sprintf("observe s a%d=1", k)); r.code != exitOK {
				t.Errorf("%+v", r)
			}
		})
	}
	all.Wait()
	held, err := store.Open(t.Context(), d.store, store.Options{URL: "http://127.0.0.1:8080"})
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if r := d.run("list"); r.code != exitHeld || !strings.Contains(r.err, "give http://127.0.0.1:8080 as the store") {
		t.Errorf("%+v", r)
	}
}

// Without a name in the environment the machine is asked for one.
func TestStudyBy(t *testing.T) {
	t.Setenv("USER", "")
	t.Setenv("USERNAME", "")
	if who := new(studyFlags).who(); who == "" {
		t.Error("nobody")
	}
}
