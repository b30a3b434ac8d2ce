package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"grfgp/internal/printable"
	"grfgp/internal/ranks"
)

// Streams are the standard streams. Answers go to Out; progress, notes and errors to Err.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// app holds the streams and the global flags, for all verbs.
type app struct {
	Streams
	ranks   *ranks.Group // of several processes that share the work; nil: this one alone
	talk    *talk
	seed    uint64
	threads int
	json    bool
	quiet   bool
	memory  size   // most that the run may take; 0: 80 % of what is free
	asking  *stage // of an ask for many nodes; nil: none is under way
	args    []string
	again   []byte // standard input that is read twice; nil: it is not
}

// maxThreads is more than any machine has; with far more the runtime fails.
const maxThreads = 1024

// Run executes one command line and returns its exit code.
func Run(ctx context.Context, args []string, streams Streams) int {
	return run(ctx, args, streams, nil)
}

// run executes a command line together with other ranks.
func run(ctx context.Context, args []string, streams Streams, group *ranks.Group) int {
	// --threads sets GOMAXPROCS, which belongs to the process: put it back for
	// whoever calls Run twice.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))

	kept.reset()
	if f, ok := streams.Out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		streams.Out = printable.Writer(f) // ids and texts of others must not reach it as they are
	}
	a := &app{Streams: streams, ranks: group, args: args}
	root := a.root()
	root.SetArgs(args)
	root.SetIn(streams.In)
	root.SetOut(streams.Out)
	root.SetErr(streams.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && a.talk == nil {
		err = &exitError{exitUsage, err} // no verb has begun
	}
	a.talk.close()
	return a.report(ctx, err)
}

const about = `grfgp fits Gaussian processes to measurements at the nodes of a graph.

Give it a network and a few costly, noisy measurements at its nodes. It reads
both, accounts for every line, predicts every node with its uncertainty, and
suggests nodes to measure next. One machine is enough for millions of nodes.

  grfgp demo
  grfgp check --edges roads.csv --measurements speeds.csv
  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv

For help on a command: grfgp COMMAND --help.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "grfgp",
		Short:         "Gaussian processes on the nodes of a graph",
		Long:          about,
		Version:       version(),
		SilenceErrors: true, // report prints them, once
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.threads < 0 || a.threads > maxThreads {
				return usagef("--threads %d: give 1 to %d, or 0 for all processors", a.threads, maxThreads)
			}
			if a.threads > 0 {
				runtime.GOMAXPROCS(a.threads)
			}
			if f := cmd.Flags().Lookup("memory"); f != nil {
				a.memory = *f.Value.(*size)
			}
			a.talk = newTalk(a.Err, a.quiet)
			if err := a.checkRanks(cmd.Name()); err != nil {
				return err
			}
			return a.checkFiles(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noVerb(cmd, args[0])
			}
			fmt.Fprintln(a.Out, about)
			return nil
		},
	}
	flags := root.PersistentFlags()
	flags.Uint64Var(&a.seed, "seed", 1, "seed of all random numbers; the same seed gives the same bytes")
	flags.IntVar(&a.threads, "threads", 0, "number of processors (0: all); results do not depend on it")
	flags.BoolVar(&a.json, "json", false, "write the answer as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print answers and errors only")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 { // its flags are not known either
			return noVerb(root, words[0])
		}
		return usagef("%s; %s'%s --help' lists the flags", flagWords(err), otherFlag(cmd, err), cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.SetHelpCommand(helpVerb())
	for _, verb := range verbs {
		cmd := verb(a)
		if cmd.ValidArgs == nil {
			cmd.Args = noArguments
		}
		root.AddCommand(cmd)
	}
	return root
}

// noVerb says that a verb is unknown, and suggests a similar one.
func noVerb(root *cobra.Command, word string) error {
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return usagef("there is no command %q; did you mean %s? 'grfgp --help' lists the commands", word, near[0])
	}
	return usagef("there is no command %q; 'grfgp --help' lists the commands", word)
}

// helpVerb is cobra's help command with an error for unknown verbs.
func helpVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND]",
		Short: "Show help on a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noVerb(cmd.Root(), strings.Join(args, " "))
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
	}
}

// otherFlag names the flag that a verb has in place of --measurements, or the one of the
// nearest name.
func otherFlag(cmd *cobra.Command, err error) string {
	var none *pflag.NotExistError
	if !errors.As(err, &none) {
		return ""
	}
	if none.GetSpecifiedName() == "measurements" {
		for _, flag := range []string{"truth", "labels"} {
			if cmd.Flags().Lookup(flag) != nil {
				return fmt.Sprintf("%s takes --%s FILE; ", cmd.Name(), flag)
			}
		}
	}
	if near := nearestFlag(cmd, none.GetSpecifiedName()); near != "" && none.GetSpecifiedShortnames() == "" {
		return fmt.Sprintf("did you mean --%s? ", near)
	}
	return ""
}

// flagWords says what is wrong with the value of a flag.
func flagWords(err error) string {
	var bad *pflag.InvalidValueError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	next := ""
	switch bad.GetFlag().Value.Type() {
	case "duration":
		next = "give a duration such as 90m or 48h"
	case "int", "int64":
		next = "give an integer of at most 64 bits"
	case "uint64":
		next = "give an integer from 0 to 18446744073709551615"
	case "float64":
		next = "give a number, such as 0.52"
	default:
		return err.Error()
	}
	return fmt.Sprintf("--%s %q: %s", bad.GetFlag().Name, bad.GetValue(), next)
}

// noArguments refuses words that belong to no flag.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("edges") != nil {
		return usagef("%q belongs to no flag; did you mean --edges %s?", args[0], args[0])
	}
	return usagef("%q belongs to no flag; '%s --help' lists the flags", args[0], cmd.CommandPath())
}

// verbs are the commands; each is in the file of its name.
var verbs = []func(*app) *cobra.Command{checkVerb, predictVerb, classifyVerb, validateVerb, suggestVerb, simulateVerb, reportVerb, studyVerb, serveVerb, tokenVerb, demoVerb, featuresVerb, packVerb, datasetVerb, reproduceVerb, benchVerb, schemaVerb}

// built is the version that a build was told, as the Dockerfile does.
var built string

// version is the version that the build was told, or that of the module where the build
// knows it.
func version() string {
	if built != "" {
		return built
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
