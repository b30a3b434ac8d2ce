package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/lab/load"
)

func soakVerb(a *app) *cobra.Command {
	var product productFlag
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
		Example: "  grfgp-lab soak --time 1h",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts.Disturbed, opts.Watched = whole*3/5, whole*2/5
			return product.with(cmd.Context(), a, func(program string) error { return a.soak(cmd.Context(), opts, program, place) })
		},
	}
	flags := cmd.Flags()
	flags.DurationVar(&whole, "time", whole, "time of the load")
	flags.IntVar(&opts.Clients, "clients", 8, "number of clients")
	flags.StringVar(&place, "store", "", "store, which must be empty: a `file`, or a postgres:// URL (default: a file in the folder)")
	product.flag(cmd)
	flags.StringVar(&opts.Folder, "folder", "", "`folder` for the store and the log of the server (default: a temporary one, removed "+
		"unless something is wrong)")
	return cmd
}

func (a *app) soak(ctx context.Context, opts load.SoakOptions, program, place string) (err error) {
	if opts.Disturbed < time.Second || opts.Clients < 1 {
		return cli.Usagef("give a time of 2s or more, and 1 client or more")
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
	opts.Server = func(address, clock string) *exec.Cmd {
		return exec.Command(program, load.ServerArguments(place, address, clock)...)
	}
	opts.Seed = a.Seed
	opts.Begin = func(stage string) func(string) {
		s := a.Talk.Stage(stage)
		return func(result string) { s.Done("%s", result) }
	}
	r, err := load.Soak(ctx, opts)
	if err != nil {
		return fmt.Errorf("%w; the files are in %s", err, opts.Folder)
	}
	if err := a.Answer(struct {
		Version int `json:"version"`
		load.Soaked
	}{1, r}, func(w io.Writer) error { return soakTable(w, r) }); err != nil {
		return err
	}
	if len(r.Faults) > 0 {
		return cli.Exit(cli.ExitInternal, fmt.Errorf("%s; the log of the server is in %s", strings.Join(r.Faults, "\n"), opts.Folder))
	}
	if temporary {
		return os.RemoveAll(opts.Folder)
	}
	return nil
}

func soakTable(w io.Writer, r load.Soaked) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range []struct {
		what string
		n    any
	}{
		{"seconds", fmt.Sprintf("%.0f", r.Seconds)}, {"results acknowledged", r.Told}, {"asks", r.Asked}, {"groups of measurements", r.Observed},
		{"other changes", r.Other},
		{"reads", r.Read}, {"events streamed", r.Streamed}, {"studies filled and deleted", r.Studies}, {"kills", r.Kills}, {"shutdowns", r.Stops},
		{"pauses", r.Pauses}, {"jumps of the clock", r.Jumps},
		{"stretches with a busy disk", r.Slow}, {"backups", r.Backups}, {"comparisons", r.Compared},
		{"lost, twice or otherwise wrong", len(r.Faults)},
		{"memory, first and last third", fmt.Sprintf("%d and %d MB", r.Memory[0]>>20, r.Memory[1]>>20)},
		{"goroutines, first and last third", fmt.Sprintf("%d and %d", r.Goroutines[0], r.Goroutines[1])},
	} {
		fmt.Fprintf(t, "%s\t%v\n", row.what, row.n)
	}
	return t.Flush()
}
