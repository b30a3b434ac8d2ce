package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Section is a part of the help of a command: flags that belong together, in the order in
// which they are shown. A flag of one name means the same in every command.
type Section struct {
	Title string
	Flags []string
}

// sections are those of commands with many flags. A flag that is in none of them is special
// to its command, and shown first.
var sections = []Section{
	{"Common flags", []string{
		"edges", "nodes", "measurements", "labels", "truth", "goal", "count", "covariates", "values", "exposure", "tested", "time", "folds",
		"out", "plot",
	}},
	{"Limits", []string{"allowed", "exclude", "pending", "cost", "budget", "group", "group-cap", "again"}},
	{"Files and columns", []string{
		"column", "weights", "knn", "repeats", "time-model", "on-bad-row", "on-unknown", "rejects", "delimiter", "header", "decimal",
		"parallel-edges", "keep-loops",
	}},
	{"Model", []string{"transform", "mean", "noise-sd", "family", "nu", "scales", "trend", "variance", "roles", "classifier", "policy",
		"leave-out"}},
	{"Output", []string{"at", "level", "new-exposure", "above", "csv", "title", "unit", "save-model", "model"}},
	{"Advanced", []string{"generate", "method", "laplacian", "alpha", "hops", "walks", "rank", "solver", "device", "memory", "checkpoints",
		"ranks"}},
}

// Sections returns the sections of commands with many flags.
func Sections() []Section { return slices.Clone(sections) }

// global is the title of the flags that every command has.
const global = "All commands"

// many is the number of flags from which on they are shown in sections.
const many = 12

// FlagGroup are the flags under one title.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups returns the flags of a command as its help shows them.
func FlagGroups(cmd *cobra.Command) []FlagGroup {
	own := map[string]*pflag.Flag{}
	var names []string
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && cmd.HasParent() {
			own[f.Name] = f
			names = append(names, f.Name)
		}
	})
	var groups []FlagGroup
	add := func(title string, names []string, of func(string) *pflag.Flag) {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range names {
			if f := of(name); f != nil {
				set.AddFlag(f)
			}
		}
		if set.HasFlags() {
			groups = append(groups, FlagGroup{title, set})
		}
	}
	mine := func(name string) *pflag.Flag { return own[name] }
	if len(names) < many {
		add("Flags", names, mine)
	} else {
		for k, s := range sections {
			shown := s.Flags
			if k == 0 {
				shown = slices.Concat(shown, slices.DeleteFunc(names, func(name string) bool { return sectionOf(name) >= 0 }))
			}
			add(s.Title, shown, mine)
		}
	}
	var inherited []string
	cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if cmd.Root().PersistentFlags().Lookup(f.Name) == nil {
			inherited = append(inherited, f.Name)
		}
	})
	if len(inherited) > 0 {
		add("All "+cmd.Parent().Name()+" commands", inherited, cmd.Flag)
	}
	add(global, []string{"json", "quiet", "verbose", "seed", "threads", "help", "version"}, cmd.Flag)
	return groups
}

// sectionOf returns the number of the section of a flag, −1 if it is in none.
func sectionOf(flag string) int {
	return slices.IndexFunc(sections, func(s Section) bool { return slices.Contains(s.Flags, flag) })
}

// setUpCobra makes settings of cobra that hold for all commands of the process, once: command lines of several
// ranks may run in one process.
var setUpCobra = sync.OnceFunc(func() {
	cobra.EnableCommandSorting = false // groups have an order of their own
})

// addGroups adds the commands of a program. Cobra adds help and completion.
func addGroups(root *cobra.Command, groups []Group) {
	setUpCobra()
	root.SetHelpCommand(helpVerb())
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.Title, Title: g.Title + ":"})
		if g.Start {
			root.SetHelpCommandGroupID(g.Title)
			root.SetCompletionCommandGroupID(g.Title)
		}
		for _, cmd := range g.Commands {
			cmd.GroupID = g.Title
			if cmd.ValidArgs == nil && cmd.Args == nil {
				cmd.Args = NoArguments
			}
			root.AddCommand(cmd)
		}
	}
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), usage(cmd))
		return err
	})
}

const widthOfHelp = 100

// usage is the help on a command below its description. It is no template: text/template would keep every exported
// method in the program.
func usage(cmd *cobra.Command) string {
	var b strings.Builder
	line := cmd.CommandPath() + " COMMAND"
	if cmd.Runnable() {
		line = cmd.UseLine()
	}
	fmt.Fprintf(&b, "Usage:\n  %s\n", line)
	if cmd.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", cmd.Example)
	}
	list := func(title string, shown func(*cobra.Command) bool) {
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, c := range cmd.Commands() {
			if shown(c) {
				fmt.Fprintf(&b, "  %-*s  %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	if cmd.HasAvailableSubCommands() {
		for _, g := range cmd.Groups() {
			list(g.Title, func(c *cobra.Command) bool { return inGroup(c, g) })
		}
		if len(cmd.Groups()) == 0 {
			list("Commands:", (*cobra.Command).IsAvailableCommand)
		}
	}
	for _, g := range FlagGroups(cmd) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.Title, g.Flags.FlagUsagesWrapped(widthOfHelp))
	}
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nHelp on a command: %s COMMAND --help\n", cmd.CommandPath())
	}
	return b.String()
}

// inGroup reports whether a command is listed in a group. The command help is not available to cobra.
func inGroup(cmd *cobra.Command, g *cobra.Group) bool {
	return cmd.GroupID == g.ID && (cmd.IsAvailableCommand() || cmd.Name() == "help")
}

// overview lists the commands by their groups.
func overview(root *cobra.Command) string {
	var b strings.Builder
	for _, g := range root.Groups() {
		var names []string
		for _, cmd := range root.Commands() {
			if inGroup(cmd, g) {
				names = append(names, cmd.Name())
			}
		}
		fmt.Fprintf(&b, "  %-23s %s\n", g.Title, strings.Join(names, ", "))
	}
	return b.String()
}
