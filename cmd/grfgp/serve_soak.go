package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/load"
)

func serveSoak(a *app) *cobra.Command {
	opts, place, whole := load.SoakOptions{}, "", time.Hour
	cmd := &cobra.Command{
		Use:   "soak [--time 1h]",
		Short: "Test a server under mixed load while it is killed, its clock jumps and its disk is busy",
		Long: `Soak starts a server of its own, on a store of its own, and lets clients ask, tell, observe,
retract, queue, change and read. For three fifths of the time the server is killed, shut
down, paused, its clock jumps and its disk is busy, at random. After each disturbance
everything that was acknowledged is compared with what the server has: nothing may be
lost, and nothing there twice. Backups are made under load and compared too. For the rest
of the time memory and goroutines of one process are watched. Studies are deleted when they
are full. The exit code is 1 if anything is wrong.`,
		Example: "  grfgp serve soak --time 1h",
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Disturbed, opts.Watched = whole*3/5, whole*2/5
			return a.soak(cmd.Context(), opts, place)
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&whole, "time", whole, "time of the load")
	flags.IntVar(&opts.Clients, "clients", 8, "number of clients")
	flags.StringVar(&place, "store", "", "store, which must be empty: a `file`, or a postgres:// URL (default: a file in the folder)")
	flags.StringVar(&opts.Folder, "folder", "", "`folder` for the store and the log of the server (default: a temporary one, removed unless something is wrong)")
	return cmd
}

func (a *app) soak(ctx context.Context, opts load.SoakOptions, place string) (err error) {
	if opts.Disturbed < time.Second || opts.Clients < 1 {
		return usagef("give a time of 2s or more, and 1 client or more")
	}
	temporary := opts.Folder == ""
	if temporary {
		if opts.Folder, err = os.MkdirTemp("", "grfgp-soak-"); err != nil {
			return err
		}
	}
	if place == "" {
		place = filepath.Join(opts.Folder, "soak.db")
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	opts.Server = func(address, clock string) *exec.Cmd {
		return exec.Command(program, soakServer(place, address, clock)...)
	}
	opts.Seed = a.seed
	opts.Begin = func(stage string) func(string) {
		s := a.talk.Stage(stage)
		return func(result string) { s.Done("%s", result) }
	}
	r, err := load.Soak(ctx, opts)
	if err != nil {
		return fmt.Errorf("%w; the files are in %s", err, opts.Folder)
	}
	if err := a.answer(struct {
		Version int `json:"version"`
		load.Soaked
	}{1, r}, func(w io.Writer) error { return soakTable(w, r) }); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return &exitError{exitInternal, fmt.Errorf("%s; the log of the server is in %s", strings.Join(r.Faults, "\n"), opts.Folder)}
	}
	if temporary {
		return os.RemoveAll(opts.Folder)
	}
	return nil
}

// soakServer are the arguments of a server under soak.
func soakServer(place, address, clock string) []string {
	return []string{"serve", "--quiet", "--open", "--store", place, "--listen", address, "--clock-error", clock}
}

func soakTable(w io.Writer, r load.Soaked) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range []struct {
		what string
		n    any
	}{
		{"seconds", fmt.Sprintf("%.0f", r.Seconds)}, {"results acknowledged", r.Told}, {"asks", r.Asked}, {"groups of measurements", r.Observed}, {"other changes", r.Other},
		{"reads", r.Read}, {"events streamed", r.Streamed}, {"studies filled and deleted", r.Studies}, {"kills", r.Kills}, {"shutdowns", r.Stops}, {"pauses", r.Pauses}, {"jumps of the clock", r.Jumps},
		{"stretches with a busy disk", r.Slow}, {"backups", r.Backups}, {"comparisons", r.Compared}, {"lost, twice or otherwise wrong", len(r.Faults)},
		{"memory, first and last third", fmt.Sprintf("%d and %d MB", r.Memory[0]>>20, r.Memory[1]>>20)}, {"goroutines, first and last third", fmt.Sprintf("%d and %d", r.Goroutines[0], r.Goroutines[1])},
	} {
		fmt.Fprintf(t, "%s\t%v\n", row.what, row.n)
	}
	return t.Flush()
}

// wrongClock returns a clock that is wrong by the seconds in a file, which is read again as
// time passes; nil for no file: the clock of the machine.
func wrongClock(file string) func() time.Time {
	if file == "" {
		return nil
	}
	var mu sync.Mutex
	var read time.Time
	var wrong time.Duration
	return func() time.Time {
		now := time.Now().Round(0) // without its monotonic part
		mu.Lock()
		defer mu.Unlock()
		if now.Sub(read).Abs() > 50*time.Millisecond {
			read = now
			if text, err := os.ReadFile(file); err == nil {
				if seconds, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64); err == nil {
					wrong = time.Duration(seconds * float64(time.Second))
				}
			}
		}
		return now.Add(wrong)
	}
}
