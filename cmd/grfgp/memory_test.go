package main

import (
	"strings"
	"testing"
)

// TestTooLarge: a run that would take more memory than it may says so before it fits a
// model, and names what would fit.
func TestTooLarge(t *testing.T) {
	dir := t.TempDir()
	var rows strings.Builder
	rows.WriteString("node,value\n")
	for range 200 { // an exact series would take too long
		rows.WriteString("1,2\n17,3\n40000,1\n")
	}
	args := []string{"predict", "--generate", "grid:300x300", "--measurements", write(t, dir, "m.csv", rows.String()), "--method", "grf"}
	r := runLine(t, "", append(args, "--memory", "200M")...)
	if r.code != exitTooLarge || strings.Contains(r.err, "fitting") || !strings.Contains(r.err, "predicting 90000 nodes takes about") ||
		!strings.Contains(r.err, "--memory") {
		t.Errorf("%+v", r)
	}
	few := write(t, dir, "few.csv", "node,value\n1,2.5\n17,3\n30,1\n40,2\n50,7\n")
	labels := write(t, dir, "labels.csv", "node,class\n1,a\n17,b\n30,a\n40,b\n50,a\n")
	for _, line := range []string{
		"predict --measurements " + few,
		"predict --method series --measurements " + few,
		"predict --method dense --measurements " + few,
		"predict --method lowrank --measurements " + few,
		"validate --measurements " + few,
		"suggest --goal maximize --measurements " + few,
		"report --measurements " + few + " -o " + dir + "/r.html",
		"simulate --goal maximize --start 2 --steps 2 --truth " + few,
		"classify --labels " + labels,
		"validate --labels " + labels,
		"report --labels " + labels + " -o " + dir + "/r.html",
		"suggest --goal learn --labels " + labels,
	} {
		r := runLine(t, "", append(strings.Fields(line), "--generate", "grid:20x20", "--memory", "1M")...)
		if r.code != exitTooLarge || strings.Contains(r.err, "fitting:") || !strings.Contains(r.err, "may be taken") {
			t.Errorf("%s: %+v", line, r)
		}
	}
}
