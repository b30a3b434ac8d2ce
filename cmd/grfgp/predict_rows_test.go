package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// TestPredictionsInGroups: the rows of a large answer, which are written in groups, are
// in the order of the file, each once, and the same in JSON as in CSV.
func TestPredictionsInGroups(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const nodes = groupRows + 100
	dir := t.TempDir()
	data := filepath.Join(dir, "m.csv")
	if err := os.WriteFile(data, []byte("node,value\n0,1\n10,2\n20,1.5\n30,1\n10,4\n40,2\n65600,7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"predict", "--generate", fmt.Sprintf("ring:%d", nodes), "--measurements", data, "--family", "diffusion", "--scales",
		"one", "--method", "grf", "--hops", "2", "--roles", "none"}
	r := runLine(t, "", args...)
	if r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	if len(lines) != nodes+1 {
		t.Fatalf("%d lines for %d nodes", len(lines), nodes)
	}
	var answer predictAnswer
	if err := json.Unmarshal([]byte(runLine(t, "", append(args, "--json")...).out), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Nodes) != nodes {
		t.Fatalf("%d rows in JSON for %d nodes", len(answer.Nodes), nodes)
	}
	for k, row := range answer.Nodes {
		if cells := strings.Split(lines[1+k], ","); cells[0] != row.Node || (cells[7] == "true") != row.Measured {
			t.Fatalf("row %d is %+v in JSON and %q in CSV", k, row, lines[1+k])
		}
		if k > 0 && row.Node == answer.Nodes[k-1].Node {
			t.Fatalf("node %s twice", row.Node)
		}
	}
	if row := answer.Nodes[10]; row.Node != "10" || row.N != 2 || *row.Value != 3 {
		t.Errorf("node 10 has %+v, want two measurements with the mean 3", row)
	}
}
