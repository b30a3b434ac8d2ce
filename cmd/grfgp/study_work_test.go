package main

import (
	"strings"
	"testing"
)

// Rows that are left out of measurements are told of when a study is made, and
// refused where values are told all or none.
func TestStudyMeasurementsLeftOut(t *testing.T) {
	d := newDesk(t)
	file := write(t, d.dir, "v.csv", "node,value\na0,1\na1,2\na_O,3\na2,NaN\n")
	r := d.ok("create s --goal learn --edges " + d.edges + " --measurements " + file)
	for _, want := range []string{"2 values so far", `ids are not in the graph: 1, such as "a_O"`, "rows without a value left out: 1", `value: column 2 "value"`} {
		if !strings.Contains(r.out+r.err, want) {
			t.Errorf("no %q in %+v", want, r)
		}
	}
	for _, rows := range []string{"a0,1\na_O,3\n", "a0,1\na2,NaN\n"} {
		file := write(t, d.dir, "w.csv", "node,value\na1,2\n"+rows)
		if r := d.run("observe s --measurements " + file); r.code != exitBadData || !strings.Contains(r.err, "nothing was taken") || r.out != "" {
			t.Errorf("%+v", r)
		}
	}
	if r := d.run("observe s a0=1 a_O=2"); r.code != exitBadData || !strings.Contains(r.err, "nothing was taken") {
		t.Errorf("%+v", r)
	}
	if s := d.shown("s"); s.Values != 2 {
		t.Errorf("%d values", s.Values)
	}
	other := write(t, d.dir, "other.csv", "node,value\na0,1\na1,3\n")
	if r := d.run("create s --goal learn --edges " + d.edges + " --measurements " + other); r.code != exitConflict || !strings.Contains(r.err, "was made with other measurements; add these by 'grfgp study observe s") {
		t.Errorf("%+v", r)
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
	for _, line := range []string{"tell several 2=3 999=3", "abandon several 2 999", "release several 2 999", "retract several 1 99", "renew several 2 999 --lease 99h"} {
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
	if r := d.run("tell several 2=3 1=7 3=4", "--json"); r.code != exitConflict || !strings.Contains(r.err, "1 of 3 were done before") || !strings.Contains(r.out, `"not_done":2`) {
		t.Errorf("%+v", r)
	}
	d.ok("retract several 1 --note typo")
	if r := d.ok("show several --observations"); !strings.Contains(r.out, "observation  node") || !strings.Contains(r.out, "retracted: typo") || !strings.Contains(r.out, "\n2            ") {
		t.Errorf("%+v", r)
	}
	d.ok("pause several")
	if r := d.run("ask several", "--json"); r.code != exitNothing || strings.Contains(r.out, "until") || strings.Contains(r.out, "seq") || strings.Contains(r.out, "key") || !strings.Contains(r.out, `"holder":"anna"`) {
		t.Errorf("%+v", r)
	}
}
