package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"grfgp/internal/cli"
)

// rootCommand returns the command that has all others below it.
func rootCommand() *cobra.Command {
	a := newApp(Streams{})
	return a.Root(a.program())
}

// allCommands returns every command of the program.
func allCommands() []*cobra.Command { return documented(rootCommand()) }

// Help shows every flag once, those that most people need first, and those of experts last.
func TestFlagGroups(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, cmd := range allCommands() {
		cmd.InitDefaultHelpFlag()
		shown := map[string]int{}
		for _, g := range cli.FlagGroups(cmd) {
			g.Flags.VisitAll(func(f *pflag.Flag) { shown[f.Name]++ })
		}
		cmd.Flags().AddFlagSet(cmd.InheritedFlags())
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			known[f.Name] = true
			if want := map[bool]int{false: 1}[f.Hidden]; shown[f.Name] != want {
				t.Errorf("the help of %s shows --%s %d times, want %d", cmd.CommandPath(), f.Name, shown[f.Name], want)
			}
		})
		if line := cmd.UseLine(); len(line) > 90 {
			t.Errorf("a long usage line: %s", line)
		}
	}
	for _, s := range cli.Sections() {
		for _, flag := range s.Flags {
			if !known[flag] {
				t.Errorf("no command has the flag --%s of the section %s", flag, s.Title)
			}
		}
	}
	help := runLine(t, "", "predict", "--help").out
	for _, text := range []string{"Usage:", "\nCommon flags:", "--edges", "--measurements", "\nFiles and columns:", "--delimiter", "\nModel:",
		"--family", "\nOutput:", "\nAdvanced:", "--generate", "--rank", "\nAll commands:", "--verbose"} {
		_, after, ok := strings.Cut(help, text)
		if !ok {
			t.Fatalf("%q is not where it should be; the help goes on with\n%s", text, help)
		}
		help = after
	}
}

// The overview lists all commands, in at most twelve lines.
func TestOverview(t *testing.T) {
	t.Parallel()
	r := runLine(t, "")
	words := strings.FieldsFunc(r.out, func(c rune) bool { return strings.ContainsRune(" ,\n", c) })
	for _, cmd := range rootCommand().Commands() {
		if listed := slices.Contains(words, cmd.Name()); listed == cmd.Hidden {
			t.Errorf("%s is listed: %v", cmd.Name(), listed)
		}
	}
	for _, line := range strings.Split(r.out, "\n") {
		if len(line) > 110 {
			t.Errorf("a long line: %q", line)
		}
	}
}

// A file of flags stands for what is in it, and its errors say where they are.
func TestArgumentFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "ring.csv", "a,b\nb,c\nc,d\nd,a\n")
	file := write(t, dir, "ring.args", "# a ring\n--edges '"+edges+"'\n--quiet # no talk\n")
	if r := runLine(t, "", "check", "@"+file); r.code != exitOK || !strings.Contains(r.out, "4 nodes, 4 edges") || r.err != "" {
		t.Errorf("%+v", r)
	}
	other := filepath.Join(dir, "other.args")
	for text, want := range map[string]string{
		"--edges x\n--frob 3":                other + ":2: unknown flag: --frob",
		"--edges x\n\n--seed many":           other + ":3: --seed \"many\": give an integer",
		"--weights 'half":                    other + ":1: the quote ' is not closed",
		"--edges x --measurements":           other + ":1: flag needs an argument",
		"@" + filepath.Base(other):           other + ":1: ",
		"--edges x --weights heavy --seed 3": other + ":1: ",
	} {
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := runLine(t, "", "check", "@"+other); r.code != exitUsage || !strings.Contains(r.err, want) {
			t.Errorf("%q: exit %d, %s; want %q", text, r.code, r.err, want)
		}
	}
	if r := runLine(t, "", "check", "@"+filepath.Join(dir, "none")); r.code != exitUsage || !strings.Contains(r.err, "there is no file") {
		t.Errorf("%+v", r)
	}
}

// By default a run prints a line per file and what the user must know; --verbose adds how
// columns were understood and why the model was chosen.
func TestVerbose(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	edges := write(t, dir, "e.csv", "from,to\na,b\nb,c\nc,d\nd,a\n")
	values := write(t, dir, "m.csv", "node,value,colour\na,1.5,red\nb,2.5,red\nc,1.2,red\nb,2.6,blue\n")
	line := []string{"predict", "--edges", edges, "--measurements", values, "--family", "diffusion"}
	short, long := runLine(t, "", line...), runLine(t, "", append(line, "--verbose")...)
	if short.code != exitOK || long.code != exitOK || short.out != long.out {
		t.Fatalf("%+v\n%+v", short, long)
	}
	for _, want := range []string{"reading edges: 4 nodes and 4 edges from ", "reading measurements: ", "not used: colour",
		"note: repeated measurements", "fitting: "} {
		if !strings.Contains(short.err, want) {
			t.Errorf("no %q in\n%s", want, short.err)
		}
	}
	for _, want := range []string{"source:", "hyperparameters"} {
		if strings.Contains(short.err, want) || !strings.Contains(long.err, want) {
			t.Errorf("%q is not only in the long text:\n%s\n%s", want, short.err, long.err)
		}
	}
	labels := write(t, dir, "l.csv", "node,class\na,red\nc,blue\n")
	if r := runLine(t, "", "classify", "--edges", edges, "--labels", labels); r.code != exitOK ||
		!strings.Contains(r.err, "note: no class has two labels") {
		t.Errorf("nothing said of what limits the trust in probabilities: %+v", r)
	}
	if r := runLine(t, "", append(line, "-v", "-q")...); r.code != exitUsage || !strings.Contains(r.err, "--quiet and --verbose") {
		t.Errorf("%+v", r)
	}
}
