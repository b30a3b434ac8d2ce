package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"grfgp/internal/argsfile"
	"grfgp/internal/printable"
	"grfgp/internal/ranks"
	"grfgp/internal/version"
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
	verbose bool
	args    []argsfile.Word // of the command line
	memory  size            // most that the run may take; 0: 80 % of what is free
	asking  *stage          // of an ask for many nodes; nil: none is under way
	again   []byte          // standard input that is read twice; nil: it is not
	told    map[string]bool // reasons that were printed
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
	a := &app{Streams: streams, ranks: group}
	if err := a.setArgs(args); err != nil {
		return a.report(ctx, err)
	}
	root := a.root()
	root.SetArgs(a.words())
	err := root.ExecuteContext(ctx)
	if err != nil && a.talk == nil {
		err = &exitError{exitUsage, err} // no verb has begun
	}
	if err == nil {
		a.tellLoss()
	}
	a.talk.close()
	return a.report(ctx, err)
}

// setArgs takes a command line. What a shell wants completed is left as it is.
func (a *app) setArgs(args []string) (err error) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		for _, word := range args {
			a.args = append(a.args, argsfile.Word{Text: word})
		}
		return nil
	}
	if a.args, err = argsfile.Expand(args); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// words returns the texts of the command line.
func (a *app) words() []string {
	words := make([]string, len(a.args))
	for k, word := range a.args {
		words[k] = word.Text
	}
	return words
}

const about = `grfgp fits Gaussian processes to measurements at the nodes of a graph.

Give it a network and a few costly, noisy measurements at its nodes. It accounts for
every line of your files, predicts the value at every node with its uncertainty, and
suggests nodes to measure next. One machine is enough for millions of nodes.

A word @FILE is replaced by the flags in that file, so that they need not be typed
again: grfgp predict @roads.args. Blanks and line ends separate words, quotes keep
blanks, # begins a comment, paths are relative to the current folder, and @@ stands for
an @ at the beginning of a word.`

func (a *app) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "grfgp",
		Short:         "Gaussian processes on the nodes of a graph",
		Long:          about,
		Version:       version.Current().String(),
		SilenceErrors: true, // report prints them, once
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.quiet && a.verbose {
				return usagef("--quiet and --verbose: give only one")
			}
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
			a.talk.verbose = a.verbose
			if err := a.checkRanks(cmd.Name()); err != nil {
				return err
			}
			if err := a.checkDevice(cmd.Flags()); err != nil {
				return err
			}
			return a.checkFiles(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return noVerb(cmd, args[0])
			}
			_, err := fmt.Fprintln(a.Out, overview(cmd))
			return err
		},
	}
	flags := root.PersistentFlags()
	flags.Uint64Var(&a.seed, "seed", 1, "seed of all random numbers; the same seed gives the same bytes")
	flags.IntVar(&a.threads, "threads", 0, "number of processors (0: all); results do not depend on it")
	flags.BoolVar(&a.json, "json", false, "print results as JSON")
	flags.BoolVarP(&a.quiet, "quiet", "q", false, "print only results and errors")
	flags.BoolVarP(&a.verbose, "verbose", "v", false, "also print how each file was read and why the model was chosen")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 { // its flags are not known either
			return noVerb(root, words[0])
		}
		return usagef("%s%s; %s'%s --help' lists the flags", a.placeOf(err), flagWords(err), otherFlag(cmd, err), cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("{{.Name}} {{.Version}}\n")
	root.SetIn(a.In)
	root.SetOut(a.Out) // before completion is added, which takes it
	root.SetErr(a.Err)
	a.addVerbs(root)
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

// placeOf says where the flag of an error is, if it is in a file of arguments.
func (a *app) placeOf(err error) string {
	var none *pflag.NotExistError
	var bad *pflag.InvalidValueError
	var bare *pflag.ValueRequiredError
	var names []string
	switch {
	case errors.As(err, &none):
		names = []string{none.GetSpecifiedName()}
	case errors.As(err, &bad):
		names = []string{bad.GetFlag().Name, bad.GetFlag().Shorthand}
	case errors.As(err, &bare):
		names = []string{bare.GetSpecifiedName()}
	}
	for _, name := range names {
		if place := argsfile.PlaceOf(a.args, name); name != "" && place != "" {
			return place + ": "
		}
	}
	return ""
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
	if none.GetSpecifiedName() == "labels" {
		return "classify, validate, report and suggest take --labels FILE; "
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
