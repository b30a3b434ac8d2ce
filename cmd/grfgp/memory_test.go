package main

import (
	"strings"
	"testing"
)

// TestGarbage: small programs are collected as always, large ones more often.
func TestGarbage(t *testing.T) {
	for live, want := range map[uint64]int{0: 100, 1 << 20: 100, 64 << 20: 100, 256 << 20: 25, 1 << 30: 6, 1 << 40: 5} {
		if got := percentFor(live); got != want {
			t.Errorf("%d %% of %d bytes, want %d", got, live, want)
		}
	}
}

// TestTooLarge: a run that would take more memory than it may says so before it fits a
// model, and names what would fit.
func TestTooLarge(t *testing.T) {
	var rows strings.Builder
	rows.WriteString("node,value\n")
	for range 200 { // an exact series would take too long
		rows.WriteString("1,2\n17,3\n40000,1\n")
	}
	file := write(t, t.TempDir(), "m.csv", rows.String())
	args := []string{"predict", "--generate", "grid:300x300", "--measurements", file, "--method", "grf"}
	r := runLine(t, "", append(args, "--memory", "200M")...)
	if r.code != exitTooLarge || strings.Contains(r.err, "fitting") || !strings.Contains(r.err, "predicting 90000 nodes takes about") {
		t.Errorf("%+v", r)
	}
	if r := runLine(t, "", append(args, "--memory", "20M")...); r.code != exitTooLarge || !strings.Contains(r.err, "nodes would fit") {
		t.Errorf("%+v", r)
	}
}
