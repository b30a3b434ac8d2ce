package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Measurements of a node at different times are averaged only if the user says so.
func TestTimes(t *testing.T) {
	dir := t.TempDir()
	edges, values := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "values.csv")
	for file, text := range map[string]string{
		edges:  "source,target\na,b\nb,c\nc,d\nd,e\ne,a\n",
		values: "node,date,value\na,2024-01-01,1\nb,2024-01-01,2\na,2024-02-01,9\nc,2024-01-15,4\n",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base := []string{"predict", "--edges", edges, "--measurements", values, "--mean", "3", "--noise-sd", "0.1"}
	r := runLine(t, "", base...)
	if want := `node "a" was measured before, on line 2, at another time (column date); take the latest of each node with --times latest, or take them as repeats of one value with --times ignore`; r.code != exitUsage || !strings.Contains(r.err, want) {
		t.Errorf("code %d, %s, want %s", r.code, r.err, want)
	}
	for _, c := range []struct{ times, says string }{
		{"latest", "of each node the latest values are used: 3 of 4, from 2024-01-01 to 2024-02-01"},
		{"ignore", "repeated measurements of a node: 1"},
	} {
		if r := runLine(t, "", append(base, "--times", c.times)...); r.code != exitOK || !strings.Contains(r.err, c.says) {
			t.Errorf("--times %s: code %d, %s, want %s", c.times, r.code, r.err, c.says)
		}
	}
}
