package main

import (
	"context"

	"github.com/spf13/cobra"

	"grfgp/internal/cli"
	"grfgp/internal/ranks"
)

// app is what the verbs of this program share.
type app struct {
	cli.App
	memory cli.Size        // most that the run may take; 0: 80 % of what is free
	asking *cli.Stage      // of an ask for many nodes; nil: none is under way
	told   map[string]bool // reasons that were printed
}

// Run executes one command line and returns its exit code.
func Run(ctx context.Context, args []string, streams cli.Streams) int {
	return run(ctx, args, streams, nil, nil)
}

// run executes a command line together with other ranks.
func run(ctx context.Context, args []string, streams cli.Streams, group *ranks.Group, kept *cli.Kept) int {
	a := newApp(streams)
	a.Ranks, a.Kept = group, kept
	return a.Run(ctx, args, a.program())
}

func newApp(streams cli.Streams) *app { return &app{App: cli.App{Name: "grfgp", Streams: streams}} }

const about = `grfgp fits Gaussian processes to measurements at the nodes of a graph.

Give it a network and a few costly, noisy measurements at its nodes. It accounts for
every line of your files, predicts the value at every node with its uncertainty, and
suggests nodes to measure next. One machine is enough for millions of nodes.

A word @FILE is replaced by the flags in that file, so that they need not be typed
again: grfgp predict @roads.args. Blanks and line ends separate words, quotes keep
blanks, # begins a comment, paths are relative to the current folder, and @@ stands for
an @ at the beginning of a word.`

// program are the words and commands of grfgp; each command is in the file of its name.
func (a *app) program() cli.Program {
	return cli.Program{
		Short: "Gaussian processes on the nodes of a graph",
		Long:  about,
		Summary: "grfgp predicts the value at every node of a network from measurements at some of them,\nwith intervals, and suggests " +
			"where to measure next.",
		Examples: `  grfgp demo                                                              try it, without files of your own
  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv   mean and interval at every node`,
		Groups: []cli.Group{
			{Title: "Your data", Commands: []*cobra.Command{
				checkVerb(a), predictVerb(a), classifyVerb(a), validateVerb(a), suggestVerb(a), simulateVerb(a), reportVerb(a)}},
			{Title: "Getting started", Commands: []*cobra.Command{demoVerb(a), versionVerb(a), manualVerb(a)}, Start: true},
			{Title: "Teams that measure", Commands: []*cobra.Command{studyVerb(a), serveVerb(a), tokenVerb(a)}},
			{Title: "Large graphs, programs", Commands: append([]*cobra.Command{packVerb(a), schemaVerb(a)}, movedVerbs("grfgp")...)},
		},
		Shared: []string{"predict", "suggest", "validate"},
		Begin: func(cmd *cobra.Command) error {
			if f := cmd.Flags().Lookup("memory"); f != nil {
				a.memory = *f.Value.(*cli.Size)
			}
			return a.checkDevice(cmd.Flags())
		},
		End: a.tellLoss,
	}
}
