package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"grfgp/internal/testkit"
	"grfgp/lab/load"
)

// A soak of a few seconds kills, compares, and finds nothing wrong.
func TestServeSoak(t *testing.T) {
	testkit.Full(t)
	folder := t.TempDir()
	found, err := load.Soak(t.Context(), load.SoakOptions{
		Disturbed: 3 * time.Second, Watched: 2 * time.Second, Clients: 4, Seed: 1, Folder: folder,
		Server: func(address, clock string) *exec.Cmd {
			return program(load.ServerArguments(filepath.Join(folder, "soak.db"), address, clock)...)
		},
		Begin: func(string) func(string) { return func(string) {} },
	})
	if err != nil {
		t.Fatal(err)
	}
	if found.Told == 0 || found.Asked == 0 || found.Compared < 3 || len(found.Faults) > 0 || found.Memory[1] == 0 {
		t.Errorf("%+v", found)
	}
}

// The clock of a server follows the file.
func TestWrongClock(t *testing.T) {
	if wrongClock("") != nil {
		t.Error("a clock of no file")
	}
	file := filepath.Join(t.TempDir(), "clock")
	now := wrongClock(file)
	if d := time.Since(now()).Abs(); d > time.Minute {
		t.Errorf("wrong by %v without a file", d)
	}
	if err := os.WriteFile(file, []byte("-7200\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	until(t, func() bool { return time.Until(now()) < -119*time.Minute })
}
