//go:build mpi && linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A run of this test saves every epoch.
func init() {
	if os.Getenv("GRFGP_TEST_CHECKPOINTS") != "" {
		checkpointEvery = 0
	}
}

// TestRanksGoOn: of two ranks that share a fit of many scales one is killed while they learn.
// The same command goes on from the last epoch that both have saved, and ends with the bytes
// of one rank that was never interrupted.
func TestRanksGoOn(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("needs mpirun")
	}
	const side, size = 175, 2 // too large for layers by eigenvectors
	var values strings.Builder
	values.WriteString("node,value\n")
	for i := range side * side {
		if i%7 < 2 { // 8,750 measurements: enough to share
			fmt.Fprintf(&values, "%d,%.3f\n", i, math.Sin(float64(i/side)/20)+math.Cos(float64(i%side)/15)+float64(i*i%17)/40)
		}
	}
	dir := t.TempDir()
	given, states := write(t, dir, "values.csv", values.String()), filepath.Join(dir, "states")
	line := func(answer string, more ...string) []string {
		return append([]string{"predict", "--generate", fmt.Sprintf("grid:%dx%d", side, side), "--measurements", given, "--method", "grf",
			"--hops", "2", "--scales", "many",
			"--family", "diffusion", "--roles", "none", "--threads", "1", "-o", filepath.Join(dir, answer)}, more...)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	start := func(ranks int, line []string) (*exec.Cmd, *bytes.Buffer) {
		cmd, said := launch(ctx, group(ranks, "GRFGP_TEST_CHECKPOINTS=1", line)), new(bytes.Buffer)
		cmd.Stdout, cmd.Stderr = said, said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, said
	}

	cmd, said := start(size, line("answer.csv", "--checkpoints", states))
	ended := make(chan error, 1)
	pids := ranksOf(t, cmd.Process.Pid, size)
	go func() { ended <- cmd.Wait() }()
	saved := func(rank int) int {
		files, _ := filepath.Glob(filepath.Join(states, fmt.Sprintf("fit-*-rank-%d-*.state", rank)))
		return len(files)
	}
	for saved(0) == 0 || saved(1) == 0 {
		select {
		case err := <-ended:
			t.Fatalf("ended without a state: %v\n%s", err, said)
		case <-time.After(time.Millisecond):
		}
	}
	if err := syscall.Kill(pids[1], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := <-ended; !errors.As(err, &exit) || exit.ExitCode() != 137 {
		t.Fatalf("ended with %v, want 137\n%s", err, said)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "answer*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}

	cmd, said = start(size, line("answer.csv", "--checkpoints", states))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if text := said.String(); strings.Count(text, "continues from a checkpoint in "+states) != 1 {
		t.Errorf("does not say once that the fit goes on:\n%s", text)
	}
	if left, _ := os.ReadDir(states); len(left) > 0 {
		t.Errorf("states are left: %v", left)
	}
	cmd, said = start(1, line("alone.csv"))
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	got, err := os.ReadFile(filepath.Join(dir, "answer.csv"))
	want, errAlone := os.ReadFile(filepath.Join(dir, "alone.csv"))
	if err := errors.Join(err, errAlone); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || !bytes.Equal(got, want) {
		t.Error("the answer after an interruption has other bytes")
	}
}
