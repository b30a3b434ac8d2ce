//go:build mpi && linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A rank that is to fail by itself does so in the middle of its work.
func init() {
	how := os.Getenv("GRFGP_TEST_FAIL")
	if how == "" {
		return
	}
	go func() {
		time.Sleep(time.Second)
		switch how {
		case "panic":
			panic("a defect, for the test")
		case "memory":
			sink = make([]byte, 1<<42) // more than a machine gives
		}
	}()
}

var sink []byte

// launch returns mpirun of command lines, one for each group of ranks.
func launch(ctx context.Context, groups ...[]string) *exec.Cmd {
	args := []string{"--allow-run-as-root", "--oversubscribe", "--bind-to", "none"}
	for k, g := range groups {
		if k > 0 {
			args = append(args, ":")
		}
		args = append(args, g...)
	}
	cmd := exec.CommandContext(ctx, "mpirun", args...)
	cmd.Env = append(os.Environ(), "GRFGP_TEST_PROGRAM=1")
	return cmd
}

// group returns a number of ranks with a command line, and variables of their own.
func group(n int, variable string, line []string) []string {
	args := []string{"-n", strconv.Itoa(n)}
	if variable != "" {
		args = append(args, "-x", variable)
	}
	return append(append(args, os.Args[0], "-test.run=^TestProgram$", "--"), line...)
}

// ranksOf returns the processes of a launcher by their ranks, once all are there.
func ranksOf(t *testing.T, launcher, size int) []int {
	t.Helper()
	pids := make([]int, size)
	for range 600 {
		found := 0
		children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", launcher))
		for _, file := range children {
			list, _ := os.ReadFile(file)
			for _, field := range strings.Fields(string(list)) {
				environ, _ := os.ReadFile("/proc/" + field + "/environ")
				for _, v := range strings.Split(string(environ), "\x00") {
					if text, ok := strings.CutPrefix(v, "OMPI_COMM_WORLD_RANK="); ok {
						rank, _ := strconv.Atoi(text)
						pids[rank], _ = strconv.Atoi(field)
						found++
					}
				}
			}
		}
		if found == size && !slices.Contains(pids, 0) {
			return pids
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the ranks did not start")
	return nil
}

// running reports whether a process exists and is not a zombie.
func running(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// TestRanksFail: whatever happens to one rank ends them all, with a code other than 0, words that name the rank, and
// no file of the answer, whole or in part.
func TestRanksFail(t *testing.T) {
	if _, err := exec.LookPath("mpirun"); err != nil {
		t.Skip("needs mpirun")
	}
	var values strings.Builder
	values.WriteString("node,value\n")
	for i := 0; i < 90_000; i += 29 {
		fmt.Fprintf(&values, "%d,%d.5\n", i, i/7%5)
	}
	given := write(t, t.TempDir(), "values.csv", values.String())
	const size = 3
	for _, c := range []struct {
		name   string
		rank   int
		signal syscall.Signal
		own    string // failure of the rank itself
		code   []int
		words  []string
	}{
		{name: "killed", rank: 1, signal: syscall.SIGKILL, code: []int{137},
			words: []string{"process rank 1", "signal 9", "grfgp: interrupted; no file was left incomplete. If nobody stopped this run of 3 ranks"}},
		{name: "first killed", rank: 0, signal: syscall.SIGKILL, code: []int{137},
			words: []string{"process rank 0", "signal 9", "of 3: interrupted, as all are when one of them ends"}},
		{name: "terminated", rank: 2, signal: syscall.SIGTERM, code: []int{exitInterrupted, 143},
			words: []string{"rank 2 of 3: interrupted", "grfgp: interrupted; no file was left incomplete"}},
		{name: "panics", rank: 1, own: "GRFGP_TEST_FAIL=panic", code: []int{2},
			words: []string{"panic: a defect, for the test", "Exit code:    2"}},
		{name: "out of memory", rank: 2, own: "GRFGP_TEST_FAIL=memory", code: []int{2}, words: []string{"out of memory", "Exit code:    2"}},
		{name: "error", rank: 2, own: "GRFGP_TEST_NONE=1", code: []int{exitUsage},
			words: []string{"rank 2 of 3: grfgp: ", "missing.csv: there is no such file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if always, _ := os.ReadFile("/proc/sys/vm/overcommit_memory"); c.name == "out of memory" && strings.HasPrefix(string(always), "1") {
				t.Skip("this system gives any amount of memory")
			}
			out := t.TempDir()
			line := []string{"predict", "--generate", "grid:300x300", "--measurements", given, "-o", filepath.Join(out, "answer.csv")}
			groups := [][]string{group(size, "", line)}
			if c.own != "" {
				bad := line
				if c.name == "error" {
					bad = slices.Clone(line)
					bad[4] = filepath.Join(out, "missing.csv")
				}
				groups = [][]string{group(c.rank, "", line), group(1, c.own, bad)}
				if rest := size - 1 - c.rank; rest > 0 {
					groups = append(groups, group(rest, "", line))
				}
			}
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			cmd := launch(ctx, groups...)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var pids []int
			if c.own == "" {
				pids = ranksOf(t, cmd.Process.Pid, size)
				time.Sleep(time.Second)
				if err := syscall.Kill(pids[c.rank], c.signal); err != nil {
					t.Fatal(err)
				}
			}
			err := cmd.Wait()
			text := said.String()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || ctx.Err() != nil || !slices.Contains(c.code, exit.ExitCode()) {
				t.Errorf("ended with %v, want one of %v:\n%s", err, c.code, text)
			}
			for _, w := range c.words {
				if !strings.Contains(text, w) {
					t.Errorf("does not say %q:\n%s", w, text)
				}
			}
			// The launcher kills without waiting for the system to take a process down.
			soon := time.Now().Add(30 * time.Second)
			for rank, pid := range pids {
				for running(pid) && time.Now().Before(soon) {
					time.Sleep(10 * time.Millisecond)
				}
				if running(pid) {
					t.Errorf("rank %d goes on after its launcher", rank)
				}
			}
			left, err := os.ReadDir(out)
			if err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
		})
	}
}
