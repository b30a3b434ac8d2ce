package main

import (
	"strings"
	"testing"
)

// Rows that cannot be used are refused with all others, unless they may be skipped.
func TestStudyMeasurementsLeftOut(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	file := write(t, d.dir, "v.csv", "node,value\na0,1\na1,2\na_O,3\na2,NaN\n")
	create := "create s --goal learn --edges " + d.edges + " --measurements " + file
	if r := d.run(create); r.code != exitBadData || !strings.Contains(r.err,
		`1 of 4 rows has an id that is not in the graph, such as "a_O"; `) {
		t.Errorf("%+v", r)
	}
	if r := d.run(create + " --on-unknown skip"); r.code != exitBadData ||
		!strings.Contains(r.err, "rows without a value: 1; nothing was added") {
		t.Errorf("%+v", r)
	}
	r := d.ok(create + " --on-bad-row skip --on-unknown skip --verbose")
	for _, want := range []string{"2 observations", `1 of 4 rows has an id that is not in the graph, such as "a_O"`,
		"rows without a value skipped: 1", `value: column 2 "value"`} {
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	for _, rows := range []string{"a0,1\na_O,3\n", "a0,1\na2,NaN\n"} {
		file := write(t, d.dir, "w.csv", "node,value\na1,2\n"+rows)
		if r := d.run("observe s --measurements " + file); r.code != exitBadData || r.err == "" || r.out != "" {
			t.Errorf("%+v", r)
		}
		if r := d.ok("observe s --on-bad-row skip --on-unknown skip --measurements " + file); strings.Count(r.out, "observation ") != 2 {
			t.Errorf("%+v", r)
		}
	}
	if r := d.run("observe s a0=1 a_O=2"); r.code != exitBadData || !strings.Contains(r.err, "nothing was added") {
		t.Errorf("%+v", r)
	}
	if s := d.shown("s"); s.Values != 6 {
		t.Errorf("%d values", s.Values)
	}
	other := write(t, d.dir, "other.csv", "node,value\na0,1\na1,3\n")
	if r := d.run("create s --goal learn --edges " + d.edges + " --measurements " + other); r.code != exitConflict ||
		!strings.Contains(r.err, "was created with other measurements; add these with 'grfgp study observe s") {
		t.Errorf("%+v", r)
	}
}

// A study keeps every reading of a node, says what it has no use for, and reads
// files as they are.
func TestStudyReadings(t *testing.T)       { studyReadings(t, newDesk(t)) }
func TestRemoteStudyReadings(t *testing.T) { studyReadings(t, remoteDesk(t)) }

func studyReadings(t *testing.T, d *desk) {
	const unused = "studies learn one noise level for all measurements; the column sd is not used"
	file := write(t, d.dir, "v.csv", "node,value,sd\na0,1,0.1\na0,2,0.1\na1,3,0.1\n")
	if r := d.ok("create s --goal learn --edges " + d.edges + " --measurements " + file); !strings.Contains(r.out, "3 observations") ||
		!strings.Contains(r.err, unused) {
		t.Errorf("%+v", r)
	}
	if r := d.run("create mean --goal learn --repeats mean --edges " + d.edges + " --measurements " + file); r.code != exitUsage ||
		!strings.Contains(r.err, "give keep, last or error") {
		t.Errorf("%+v", r)
	}
	wide := write(t, d.dir, "w.csv", "node;low;high;sd\na2;1,5;9;0\na2;2,5;9;0\n")
	r := d.ok("observe s --column value=low --delimiter semicolon --decimal comma --note rain --measurements " + wide)
	if strings.Count(r.out, "node a2") != 2 || !strings.Contains(r.err, unused) {
		t.Errorf("%+v", r)
	}
	s := d.shown("s")
	if last := s.Observations[len(s.Observations)-1]; s.Values != 5 || last.Value != 2.5 || last.Note != "rain" {
		t.Errorf("%d values, the last %+v", s.Values, last)
	}
	if got := d.asks("s -n 1"); len(got) != 1 || got[0].Mean == nil {
		t.Errorf("no suggestion by a model: %+v", got)
	}
}

// Why a study was paused or closed is shown to those who look and to those who ask.
func TestStudyStops(t *testing.T)       { studyStops(t, newDesk(t)) }
func TestRemoteStudyStops(t *testing.T) { studyStops(t, remoteDesk(t)) }

func studyStops(t *testing.T, d *desk) {
	d.ok("create s --goal learn --edges " + d.edges)
	for _, c := range []struct{ command, status string }{{"pause", "paused"}, {"close", "closed"}} {
		d.ok(c.command+" s", "--note", "the ice is thin")
		for _, r := range []result{d.ok("show s"), d.run("ask s")} {
			if text := r.out + r.err; !strings.Contains(text, c.status+" by anna on ") || !strings.Contains(text, ": the ice is thin") {
				t.Errorf("%s: %+v", c.command, r)
			}
		}
		if s := d.shown("s"); s.Stopped == nil || s.Stopped.By != "anna" || s.Stopped.Note != "the ice is thin" || s.Stopped.Time.IsZero() {
			t.Errorf("%s: %+v", c.command, s.Stopped)
		}
		if c.command == "pause" {
			if d.ok("resume s"); d.shown("s").Stopped != nil {
				t.Error("stopped after it was resumed")
			}
		}
	}
}

// Where one number of several is wrong nothing is done; where one is in conflict it
// is said how many were done before.
func TestStudySeveral(t *testing.T)       { studySeveral(t, newDesk(t)) }
func TestRemoteStudySeveral(t *testing.T) { studySeveral(t, remoteDesk(t)) }

func studySeveral(t *testing.T, d *desk) {
	d.ok("create several --goal learn --edges " + d.edges)
	d.asks("several -n 4")
	d.ok("tell several 1=0.5")
	events := d.shown("several").Events
	for _, line := range []string{"tell several 2=3 999=3", "abandon several 2 999", "release several 2 999", "retract several 1 99",
		"renew several 2 999 --lease 99h"} {
		if r := d.run(line); r.code != exitUsage || !strings.Contains(r.err, "nothing was done") || r.out != "" {
			t.Errorf("%s: %+v", line, r)
		}
	}
	for line, want := range map[string]string{
		"renew several 2 --lease 1h": "give a longer lease",
		"release several 1":          "retract observation 1",
		"abandon several 1":          "retract observation 1",
	} {
		if r := d.run(line); r.code == exitOK || !strings.Contains(r.err, want) {
			t.Errorf("%s: %+v", line, r)
		}
	}
	if now := d.shown("several").Events; now != events {
		t.Errorf("%d events of what was refused", now-events)
	}
	if r := d.run("tell several 2=3 1=7 3=4", "--json"); r.code != exitConflict ||
		!strings.Contains(r.err, "1 of 3 were processed before it") || !strings.Contains(r.out, `"not_done":2`) {
		t.Errorf("%+v", r)
	}
	d.ok("retract several 1 --note typo")
	if r := d.ok("show several --observations"); !strings.Contains(r.out, "observation  node") ||
		!strings.Contains(r.out, "retracted: typo") || !strings.Contains(r.out, "\n2            ") {
		t.Errorf("%+v", r)
	}
	d.ok("pause several")
	if r := d.run("ask several", "--json"); r.code != exitNothing || strings.Contains(r.out, "until") || strings.Contains(r.out, "seq") ||
		strings.Contains(r.out, "key") || !strings.Contains(r.out, `"holder":"anna"`) {
		t.Errorf("%+v", r)
	}
}
