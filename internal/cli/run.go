package cli

import (
	"context"
	"encoding/json"
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

// App holds the streams and the global flags, for all verbs of a program.
type App struct {
	Streams
	Name    string       // of the program, as in "grfgp"
	Ranks   *ranks.Group // of several processes that share the work; nil: this one alone
	Kept    *Kept        // files that the run has written completely
	Talk    *Talk
	Seed    uint64
	Threads int
	JSON    bool
	Quiet   bool
	Verbose bool
	args    []argsfile.Word // of the command line
	again   []byte          // standard input that is read twice; nil: it is not
}

// Program is what one program has and another has not: its words and its commands.
type Program struct {
	Short, Long string                     // help on the program
	Summary     string                     // first lines of the answer to a command line without words; the commands follow
	Examples    string                     // and its last lines
	Groups      []Group                    // of commands
	Shared      []string                   // commands that several ranks can share
	Begin       func(*cobra.Command) error // before a command, once the flags of all commands are set; nil: nothing
	End         func()                     // after a command that succeeded; nil: nothing
}

// Group are the commands of one purpose.
type Group struct {
	Title    string
	Commands []*cobra.Command
	Start    bool // help and completion belong to this group
}

// maxThreads is more than any machine has; with far more the runtime fails.
const maxThreads = 1024

// Run executes one command line of a program and returns its exit code.
func (a *App) Run(ctx context.Context, args []string, p Program) int {
	if f, ok := a.Out.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		a.Out = printable.Writer(f) // ids and texts of others must not reach it as they are
	}
	if err := a.setArgs(args); err != nil {
		return a.Report(ctx, err)
	}
	root := a.Root(p)
	root.SetArgs(a.words())
	processors := runtime.GOMAXPROCS(0)
	err := root.ExecuteContext(ctx)
	if a.Threads > 0 { // it belongs to the process: put it back for whoever calls Run twice
		runtime.GOMAXPROCS(processors)
	}
	if err != nil && a.Talk == nil {
		err = Exit(ExitUsage, err) // no verb has begun
	}
	if err == nil && a.Talk != nil && p.End != nil {
		p.End()
	}
	a.Talk.Close()
	return a.Report(ctx, err)
}

// Redirect sends progress, notes and errors to w from now on.
func (a *App) Redirect(w io.Writer) { a.Err, a.Talk.w = w, w }

// setArgs takes a command line. What a shell wants completed is left as it is.
func (a *App) setArgs(args []string) (err error) {
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		for _, word := range args {
			a.args = append(a.args, argsfile.Word{Text: word})
		}
		return nil
	}
	if a.args, err = argsfile.Expand(args); err != nil {
		return Exit(ExitUsage, err)
	}
	return nil
}

// words returns the texts of the command line.
func (a *App) words() []string {
	words := make([]string, len(a.args))
	for k, word := range a.args {
		words[k] = word.Text
	}
	return words
}

// Root returns the command of a program, with all others below it.
func (a *App) Root(p Program) *cobra.Command {
	showVersion := false
	root := &cobra.Command{
		Use:           a.Name,
		Short:         p.Short,
		Long:          p.Long,
		SilenceErrors: true, // Report prints them, once
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if a.Quiet && a.Verbose {
				return Usagef("--quiet and --verbose: give only one")
			}
			if a.Threads < 0 || a.Threads > maxThreads {
				return Usagef("--threads %d: give 1 to %d, or 0 for all processors", a.Threads, maxThreads)
			}
			if a.Threads > 0 {
				runtime.GOMAXPROCS(a.Threads)
			}
			a.Talk = NewTalk(a.Err, a.Quiet)
			a.Talk.verbose = a.Verbose
			if err := a.checkRanks(cmd, p.Shared); err != nil {
				return err
			}
			if p.Begin != nil {
				if err := p.Begin(cmd); err != nil {
					return err
				}
			}
			return a.checkFiles(cmd.Flags())
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if showVersion {
				_, err := fmt.Fprintln(a.Out, a.Name, version.Current())
				return err
			}
			if len(args) > 0 {
				return noVerb(cmd, args[0])
			}
			_, err := fmt.Fprintf(a.Out, "%s\n\n%s\n%s\n\nHelp on a command: %s COMMAND --help\n", p.Summary, overview(cmd), p.Examples, a.Name)
			return err
		},
	}
	flags := root.PersistentFlags()
	flags.Uint64Var(&a.Seed, "seed", 1, "seed of all random numbers; the same seed gives the same bytes")
	flags.IntVar(&a.Threads, "threads", 0, "number of processors (0: all); results do not depend on it")
	flags.BoolVar(&a.JSON, "json", false, "print results as JSON")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print only results and errors")
	flags.BoolVarP(&a.Verbose, "verbose", "v", false, "also print how each file was read and why the model was chosen")
	root.Flags().BoolVar(&showVersion, "version", false, "version for "+a.Name)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if words := cmd.Flags().Args(); cmd == root && len(words) > 0 { // its flags are not known either
			return noVerb(root, words[0])
		}
		return Usagef("%s%s; %s'%s --help' lists the flags", a.placeOf(err), flagWords(err), otherFlag(cmd, err), cmd.CommandPath())
	})
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.In)
	root.SetOut(a.Out) // before completion is added, which takes it
	root.SetErr(a.Err)
	addGroups(root, p.Groups)
	return root
}

// noVerb says that a verb is unknown, and suggests a similar one.
func noVerb(root *cobra.Command, word string) error {
	if near := root.SuggestionsFor(word); len(near) > 0 {
		return Usagef("there is no command %q; did you mean %s? '%s --help' lists the commands", word, near[0], root.Name())
	}
	return Usagef("there is no command %q; '%s --help' lists the commands", word, root.Name())
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
func (a *App) placeOf(err error) string {
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

// NoArguments refuses words that belong to no flag.
func NoArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd.Flags().Lookup("edges") != nil {
		return Usagef("%q belongs to no flag; did you mean --edges %s?", args[0], args[0])
	}
	return Usagef("%q belongs to no flag; '%s --help' lists the flags", args[0], cmd.CommandPath())
}

// Named requires a name, such as that of a study, and perhaps more arguments.
func Named(least int, words string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			return Usagef("give %s, as in '%s %s'", words, cmd.CommandPath(), words)
		}
		if least == 1 && len(args) > 1 {
			return Usagef("%q is one argument too many: give one %s, as in '%s %s'", args[1], words, cmd.CommandPath(), words)
		}
		return nil
	}
}

// Answer writes v as JSON with --json, and else by text, without control characters.
func (a *App) Answer(v any, text func(w io.Writer) error) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(v)
	}
	return text(printable.Writer(a.Out))
}
