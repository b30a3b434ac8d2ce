//go:build mpi

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestClusterCommands runs the command lines of docs/cluster.md in their order, on a small graph: all succeed, and whoever writes the same
// file writes the same bytes.
func TestClusterCommands(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("needs mpirun")
	}
	dir := t.TempDir()
	var edges, speeds strings.Builder
	edges.WriteString("from,to\n")
	speeds.WriteString("node,value\n")
	const side = 65 // a block of rows for each of four ranks
	for i := range side * side {
		if (i+1)%side > 0 {
			fmt.Fprintf(&edges, "j%d,j%d\n", i, i+1)
		}
		if i+side < side*side {
			fmt.Fprintf(&edges, "j%d,j%d\n", i, i+side)
		}
		if i%190 == 0 {
			fmt.Fprintf(&speeds, "j%d,%d.5\n", i, 30+i/side%7)
		}
	}
	write(t, dir, "roads.csv", edges.String())
	write(t, dir, "speeds.csv", speeds.String())
	script := fmt.Sprintf("#!/bin/sh\nexec %s -test.run='^TestProgram$' -- \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(dir, "grfgp"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	buildLab(t, dir, "-tags", "mpi")
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	var first []byte
	for _, line := range clusterLines(t) {
		cmd := exec.CommandContext(ctx, "sh", "-c", strings.Replace(line, "mpirun ", "mpirun --allow-run-as-root --oversubscribe ", 1))
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GRFGP_TEST_PROGRAM=1", "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		if !strings.Contains(line, " predict ") {
			continue
		}
		pred, err := os.ReadFile(filepath.Join(dir, "pred.csv"))
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = pred
		}
		if !bytes.Equal(first, pred) {
			t.Errorf("%s: another answer than from the first command line", line)
		}
	}
	if first == nil {
		t.Error("no prediction was made")
	}
}
