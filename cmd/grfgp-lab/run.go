package main

import (
	"context"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/ranks"
)

// app is what the verbs of this program share.
type app struct{ cli.App }

// run executes a command line together with other ranks; nil: alone.
func run(ctx context.Context, args []string, streams cli.Streams, group *ranks.Group, kept *cli.Kept) int {
	a := newApp(streams)
	a.Ranks, a.Kept = group, kept
	return a.Run(ctx, args, a.program())
}

func newApp(streams cli.Streams) *app { return &app{cli.App{Name: "grfgp-lab", Streams: streams}} }

const about = `grfgp-lab studies grfgp: it reproduces the experiments of the paper, measures speed,
memory and accuracy, tests a running service, and tests the tests. Users of grfgp do not
need it.

A word @FILE is replaced by the flags in that file, as for grfgp.`

// program are the words and commands of grfgp-lab; each command is in the file of its name.
func (a *app) program() cli.Program {
	return cli.Program{
		Short:   "Experiments, benchmarks and tests of grfgp",
		Long:    about,
		Summary: "grfgp-lab studies grfgp: experiments of the paper, benchmarks, tests of the service and of the tests.",
		Examples: `  grfgp-lab reproduce ablation --quick         an experiment of the paper, in short
  grfgp-lab bench sampling product             speed, beside the limits of this machine
  grfgp-lab soak --time 1h                     a server under load that is killed again and again`,
		Groups: []cli.Group{
			{Title: "The paper", Commands: []*cobra.Command{reproduceVerb(a), datasetVerb(a), featuresVerb(a)}},
			{Title: "Speed", Commands: []*cobra.Command{benchVerb(a), loadVerb(a)}},
			{Title: "Soundness", Commands: []*cobra.Command{soakVerb(a), mutantsVerb(a)}},
			{Title: "This program", Start: true},
		},
		Shared: []string{"features", "ranks", "reproduce"},
	}
}
