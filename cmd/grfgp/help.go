package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"
)

// section is a part of the help of a command: flags that belong together, in the order in
// which they are shown. A flag of one name means the same in every command.
type section struct {
	title string
	flags []string
}

// sections are those of commands with many flags. A flag that is in none of them is special
// to its command, and shown first.
var sections = []section{
	{"Common flags", []string{
		"edges", "nodes", "measurements", "labels", "truth", "goal", "count", "covariates", "values", "exposure", "tested", "time", "folds", "out", "plot",
	}},
	{"Limits", []string{"allowed", "exclude", "pending", "cost", "budget", "group", "group-cap", "again"}},
	{"Files and columns", []string{
		"column", "weights", "knn", "repeats", "time-model", "on-bad-row", "on-unknown", "rejects", "delimiter", "header", "decimal", "parallel-edges", "keep-loops",
	}},
	{"Model", []string{"transform", "mean", "noise-sd", "family", "nu", "scales", "trend", "variance", "roles", "classifier", "policy", "leave-out"}},
	{"Output", []string{"at", "level", "reading", "new-exposure", "above", "csv", "title", "unit", "save-model", "model"}},
	{"Advanced", []string{"generate", "method", "laplacian", "alpha", "hops", "walks", "rank", "solver", "device", "memory", "checkpoints", "ranks"}},
}

// global is the title of the flags that every command has.
const global = "All commands"

// many is the number of flags from which on they are shown in sections.
const many = 12

// flagGroup are the flags under one title.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// flagGroups returns the flags of a command as its help shows them.
func flagGroups(cmd *cobra.Command) []flagGroup {
	own := map[string]*pflag.Flag{}
	var names []string
	cmd.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" && cmd.HasParent() {
			own[f.Name] = f
			names = append(names, f.Name)
		}
	})
	var groups []flagGroup
	add := func(title string, names []string, of func(string) *pflag.Flag) {
		set := pflag.NewFlagSet(title, pflag.ContinueOnError)
		set.SortFlags = false
		for _, name := range names {
			if f := of(name); f != nil {
				set.AddFlag(f)
			}
		}
		if set.HasFlags() {
			groups = append(groups, flagGroup{title, set})
		}
	}
	mine := func(name string) *pflag.Flag { return own[name] }
	if len(names) < many {
		add("Flags", names, mine)
	} else {
		for k, s := range sections {
			shown := s.flags
			if k == 0 {
				shown = slices.Concat(shown, slices.DeleteFunc(names, func(name string) bool { return sectionOf(name) >= 0 }))
			}
			add(s.title, shown, mine)
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
	return slices.IndexFunc(sections, func(s section) bool { return slices.Contains(s.flags, flag) })
}

// widthOfHelp is the width of help where there is no terminal.
const widthOfHelp = 100

// flagHelp is the help on the flags of a command.
func flagHelp(cmd *cobra.Command) string {
	width := widthOfHelp
	if f, ok := cmd.OutOrStdout().(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 40 {
			width = min(columns, 120)
		}
	}
	var b strings.Builder
	for _, g := range flagGroups(cmd) {
		fmt.Fprintf(&b, "\n%s:\n%s", g.title, g.flags.FlagUsagesWrapped(width))
	}
	return b.String()
}

// commandGroup are the commands of one purpose.
type commandGroup struct {
	id, title string
	verbs     []func(*app) *cobra.Command
}

// commandGroups are all commands; each is in the file of its name. Cobra adds help and
// completion to the second group.
var commandGroups = []commandGroup{
	{"data", "Your data", []func(*app) *cobra.Command{checkVerb, predictVerb, classifyVerb, validateVerb, suggestVerb, simulateVerb, reportVerb}},
	{"start", "Getting started", []func(*app) *cobra.Command{demoVerb, versionVerb, manualVerb}},
	{"team", "Teams that measure", []func(*app) *cobra.Command{studyVerb, serveVerb, tokenVerb}},
	{"research", "Large graphs, research", []func(*app) *cobra.Command{featuresVerb, packVerb, datasetVerb, reproduceVerb, benchVerb, schemaVerb}},
}

// setUpCobra makes settings of cobra that hold for all commands of the process, once: command lines of several
// ranks may run in one process.
var setUpCobra = sync.OnceFunc(func() {
	cobra.EnableCommandSorting = false // groups have an order of their own
	cobra.AddTemplateFunc("flagHelp", flagHelp)
})

// addVerbs adds all commands, in their groups.
func (a *app) addVerbs(root *cobra.Command) {
	setUpCobra()
	for _, g := range commandGroups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title + ":"})
		for _, verb := range g.verbs {
			cmd := verb(a)
			cmd.GroupID = g.id
			if cmd.ValidArgs == nil && cmd.Args == nil {
				cmd.Args = noArguments
			}
			root.AddCommand(cmd)
		}
	}
	root.SetHelpCommand(helpVerb())
	root.SetHelpCommandGroupID("start")
	root.SetCompletionCommandGroupID("start")
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	root.SetUsageTemplate(usageTemplate)
}

// overview is the answer to a command line without words.
func overview(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString("grfgp predicts the value at every node of a network from measurements at some of them,\nwith intervals, and suggests where to measure next.\n\n")
	for _, g := range root.Groups() {
		var names []string
		for _, cmd := range root.Commands() {
			if cmd.GroupID == g.ID && cmd.IsAvailableCommand() || cmd.GroupID == g.ID && cmd.Name() == "help" {
				names = append(names, cmd.Name())
			}
		}
		fmt.Fprintf(&b, "  %-23s %s\n", g.Title, strings.Join(names, ", "))
	}
	b.WriteString(`
  grfgp demo                                                              try it, without files of your own
  grfgp predict --edges roads.csv --measurements speeds.csv -o pred.csv   mean and interval at every node

Help on a command: grfgp COMMAND --help`)
	return b.String()
}

const usageTemplate = `Usage:
  {{if .Runnable}}{{.UseLine}}{{else}}{{.CommandPath}} COMMAND{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$all := .Commands}}{{if .Groups}}{{range $group := .Groups}}

{{.Title}}{{range $all}}{{if and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help"))}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{else}}

Commands:{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}}  {{.Short}}{{end}}{{end}}{{end}}{{end}}
{{flagHelp .}}{{if .HasAvailableSubCommands}}
Help on a command: {{.CommandPath}} COMMAND --help
{{end}}`
