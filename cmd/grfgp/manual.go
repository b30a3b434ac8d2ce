package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp/internal/cli"
	"grfgp/internal/version"
)

// manualVerb is hidden: packagers use it, and releases are made with it.
func manualVerb(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "manual FOLDER",
		Short: "Write man pages and shell completions into a folder",
		Long: "Manual writes the man pages of all commands into FOLDER/man/man1, and the completions for bash, zsh, fish and PowerShell " +
			"into FOLDER/completions.",
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("give one folder, as in grfgp manual share")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return writeManual(a.Kept, cmd.Root(), args[0]) },
	}
}

// writeManual writes the man pages and completions of a program.
func writeManual(kept *cli.Kept, root *cobra.Command, dir string) error {
	pages, completions := filepath.Join(dir, "man", "man1"), filepath.Join(dir, "completions")
	for _, d := range []string{pages, completions} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return cli.Usagef("%w; name another folder", err)
		}
	}
	for _, cmd := range documented(root) {
		page := manPage(cmd)
		write := func(w io.Writer) error { _, err := io.WriteString(w, page); return err }
		if err := kept.Write(filepath.Join(pages, pageName(cmd)+".1"), write); err != nil {
			return err
		}
	}
	for name, write := range map[string]func(io.Writer) error{
		"grfgp.bash": func(w io.Writer) error { return root.GenBashCompletionV2(w, true) },
		"_grfgp":     root.GenZshCompletion,
		"grfgp.fish": func(w io.Writer) error { return root.GenFishCompletion(w, true) },
		"grfgp.ps1":  root.GenPowerShellCompletionWithDesc,
	} {
		if err := kept.Write(filepath.Join(completions, name), write); err != nil {
			return err
		}
	}
	return nil
}

// documented returns a command and those below it that help lists.
func documented(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			all = append(all, documented(sub)...)
		}
	}
	return all
}

// pageName is the name of a command's man page: grfgp-study-ask.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manPage is the man page of a command, in the language of troff's man macros. It has the
// sections of the help.
func manPage(cmd *cobra.Command) string {
	cmd.InitDefaultHelpFlag()
	var b strings.Builder
	name := pageName(cmd)
	fmt.Fprintf(&b, ".TH %q 1 \"\" \"grfgp %s\" \"Manual of grfgp\"\n", strings.ToUpper(name), version.Number())
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", troff(name), troff(cmd.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n", troff(cmd.UseLine()))
	b.WriteString(".SH DESCRIPTION\n")
	for k, paragraph := range strings.Split(strings.TrimSpace(cmd.Long), "\n\n") {
		if k > 0 {
			b.WriteString(".PP\n")
		}
		if strings.HasPrefix(paragraph, "  ") || strings.Contains(paragraph, "\n  ") { // a list
			paragraph = ".nf\n" + troff(paragraph) + "\n.fi"
		} else {
			paragraph = troff(paragraph)
		}
		b.WriteString(paragraph + "\n")
	}
	for _, g := range cli.FlagGroups(cmd) {
		fmt.Fprintf(&b, ".SH %s\n", strings.ToUpper(g.Title))
		g.Flags.VisitAll(func(f *pflag.Flag) { manFlag(&b, f) })
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", troff(cmd.Example))
	}
	var others []string
	if cmd.HasParent() {
		others = append(others, pageName(cmd.Parent()))
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "completion" {
			others = append(others, pageName(sub))
		}
	}
	if len(others) > 0 {
		fmt.Fprintf(&b, ".SH SEE ALSO\n.BR %s (1)\n", strings.Join(others, " (1),\n.BR "))
	}
	return b.String()
}

// manFlag writes a flag with its help.
func manFlag(b *strings.Builder, f *pflag.Flag) {
	value, usage := pflag.UnquoteUsage(f)
	flag := `\fB` + troff("--"+f.Name) + `\fR`
	if f.Shorthand != "" {
		flag = `\fB` + troff("-"+f.Shorthand) + `\fR, ` + flag
	}
	if value != "" {
		flag += ` \fI` + troff(value) + `\fR`
	}
	fmt.Fprintf(b, ".TP\n%s\n%s", flag, troff(usage))
	if f.DefValue != "" && f.DefValue != "false" && f.DefValue != "0" && f.DefValue != "[]" && !strings.Contains(usage, "default") {
		fmt.Fprintf(b, " (default %s)", troff(f.DefValue))
	}
	b.WriteString("\n")
}

// troff escapes text.
func troff(text string) string {
	lines := strings.Split(strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text), "\n")
	for k, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[k] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
