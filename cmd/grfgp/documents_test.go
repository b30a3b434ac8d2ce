package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"grfgp/internal/testkit"
	"grfgp/internal/version"
)

// block is a piece of a document in a fence.
type block struct{ kind, text string }

var fences = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// fenced returns the blocks of a document.
func fenced(t *testing.T, file string) (all []block) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range fences.FindAllStringSubmatch(string(text), -1) {
		all = append(all, block{m[1], m[2]})
	}
	return all
}

// documentRun is what the commands of a document did.
type documentRun struct {
	printed []string // by each block of commands, on standard output
	talk    string   // all that went to standard error
}

// allBlocks says that every block of a document runs as it stands, also in the quick suite.
const allBlocks = 1000

// runDocument runs every block "sh" of a document, in order, in one shell in the folder dir,
// and checks that each prints all lines of the blocks "text" that follow it. Before it runs, words of the document are
// replaced. Blocks of the kinds in others are left to other tests. In the quick suite only the first blocks run as they
// stand: after them the variable model of the shell has flags of a model that takes no search, and what is printed is
// not compared.
func runDocument(t *testing.T, file, dir, before string, words *strings.Replacer, first int, others ...string) documentRun {
	t.Helper()
	if testkit.IsFull() {
		first = allBlocks
	}
	for _, tool := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s on this machine to run %s with", tool, file)
		}
	}
	programs := t.TempDir()
	wrapper := fmt.Sprintf("#!/bin/sh\nGRFGP_TEST_PROGRAM=1 exec %q '-test.run=^TestProgram$' -- \"$@\"\n", os.Args[0])
	if err := os.WriteFile(filepath.Join(programs, "grfgp"), []byte(wrapper), 0o700); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(file); err != nil || strings.Contains(string(text), "grfgp-lab ") {
		if testkit.IsFull() {
			buildLab(t, programs)
		} else if err := os.WriteFile(filepath.Join(programs, "grfgp-lab"), []byte("#!/bin/sh\n"), 0o700); err != nil { // linking takes long
			t.Fatal(err)
		}
	}
	const mark = "@@@ end of block"
	script := "set -e -o pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\nmodel=\n" + before
	want := map[int]string{} // by number of block
	ran := 0
	for _, b := range fenced(t, file) {
		switch b.kind {
		case "sh":
			script += words.Replace(b.text) + "\necho; echo '" + mark + "'\n"
			if ran++; ran == first {
				script += "model='--family diffusion --method grf --hops 3 --scales one --roles none'\n"
			}
		case "text":
			if ran <= first {
				want[ran-1] += b.text
			}
		default:
			if !strings.Contains(" "+strings.Join(others, " ")+" ", " "+b.kind+" ") {
				t.Errorf("%s: a block of the kind %q", file, b.kind)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+programs+string(os.PathListSeparator)+os.Getenv("PATH"), storeEnv+"=", tokenEnv+"=", "USER=tester")
	var talk strings.Builder
	cmd.Stderr = &talk
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s\n%s", file, err, out, talk.String())
	}
	printed := strings.Split(string(out), mark)
	if len(printed) != ran+1 {
		t.Fatalf("%s: %d blocks of %d ran\n%s\n%s", file, len(printed)-1, ran, out, talk.String())
	}
	for k, lines := range want {
		for line := range strings.Lines(lines) {
			if !strings.Contains(printed[k], strings.TrimSpace(line)) {
				t.Errorf("%s: block %d prints no %q but\n%s", file, k+1, line, printed[k])
			}
		}
	}
	t.Logf("%s\n%s", out, talk.String())
	return documentRun{printed[:ran], talk.String()}
}

// buildLab builds the program grfgp-lab into a folder.
func buildLab(t *testing.T, dir string, flags ...string) string {
	t.Helper()
	program := filepath.Join(dir, "grfgp-lab")
	if out, err := exec.Command("go", append(append([]string{"build", "-o", program}, flags...),
		"../grfgp-lab")...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// inDemo lets a document run in the demo's folder, next to a folder that stands for the repository. The go
// command is played by the program that is tested, a server is stopped as soon as it is ready, and a model takes no
// search where the variable model says so.
const inDemo = `go() {
	case "$*" in
	"run ./cmd/grfgp demo") [ -n "$model" ] || (cd .. && grfgp demo) ;; # TestDemo has a quick one
	"test ./...") echo "this is one of its tests" ;;
	"install ./cmd/grfgp") grfgp version ;;
	"install ./cmd/grfgp-lab") grfgp-lab --version ;;
	*) echo "go $*: no test plays this command" >&2; exit 1 ;;
	esac
}
grfgp() {
	case "$1 $*" in
	serve*)
		mkfifo served
		command grfgp "$@" --listen 127.0.0.1:0 >served &
		read -r url <served
		kill -TERM $!
		wait $!
		echo "$url"
		;;
	*" --model "*) command grfgp "$@" ;;
	bench* | reproduce*) [ -n "$model" ] || command grfgp "$@" ;; # they have quick tests of their own
	predict* | validate* | suggest* | simulate* | report* | classify*) command grfgp "$@" $model ;;
	*) command grfgp "$@" ;;
	esac
}
`

// demoFolder returns a folder with the files of the demo.
func demoFolder(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "grfgp-demo")
	if err := leaveFiles(nil, dir, demoFiles(1)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Every command of the README runs on the files of the demo, and prints what the README
// shows: the quick suite leaves the numbers of learned models to the full one.
func TestReadme(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	r := runDocument(t, "../../README.md", demoFolder(t), inDemo, strings.NewReplacer(), 1, "go", "python")
	if len(r.printed) < 5 {
		t.Errorf("only %d blocks of commands in the README", len(r.printed))
	}
}

// So do those of the tutorials. The quick suite has two of them, and compares what their first commands print.
func TestTutorials(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../docs/tutorial-*.md")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d tutorials, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			if strings.Contains(file, "disease") { // models of counts take longer
				testkit.Full(t)
			}
			runDocument(t, file, demoFolder(t), inDemo, strings.NewReplacer(), 2, "python")
		})
	}
}

var (
	links    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	headings = regexp.MustCompile(`(?m)^#+ (.*)$`)
	code     = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]*`")
)

// anchors returns the names of the headings of a document, as they are in addresses.
func anchors(text string) map[string]bool {
	all := map[string]bool{}
	for _, m := range headings.FindAllStringSubmatch(text, -1) {
		name := strings.Map(func(c rune) rune {
			switch {
			case c == ' ':
				return '-'
			case c == '-' || c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c > 127:
				return c
			}
			return -1
		}, strings.ToLower(m[1]))
		all[name] = true
	}
	return all
}

// Links between documents lead somewhere.
func TestLinks(t *testing.T) {
	t.Parallel()
	var files []string
	for _, pattern := range []string{"../../*.md", "../../docs/*.md", "../../docs/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	checked, reached := 0, map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range links.FindAllStringSubmatch(code.ReplaceAllString(string(text), ""), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			checked++
			path := file
			if target != "" {
				path = filepath.Join(filepath.Dir(file), target)
			}
			if filepath.Base(file) == "README.md" {
				reached[path] = true
			}
			there, err := os.ReadFile(path)
			if info, dir := os.Stat(path); dir == nil && info.IsDir() {
				continue
			}
			if err != nil {
				t.Errorf("%s: %s leads nowhere", file, m[1])
			} else if anchor != "" && !anchors(string(there))[anchor] {
				t.Errorf("%s: %s: there is no such heading", file, m[1])
			}
		}
	}
	if checked < 50 {
		t.Errorf("only %d links", checked)
	}
	for _, file := range files {
		if strings.Contains(file, "docs") && filepath.Base(file) != "README.md" && !reached[file] {
			t.Errorf("neither README leads to %s", file)
		}
	}
}

// The steps of docs/install.md work with an archive as releases have it.
func TestInstallDocument(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pack := `mkdir -p grfgp-1.2.3-linux-amd64 home
cp "$(command -v grfgp)" grfgp-1.2.3-linux-amd64/
grfgp manual grfgp-1.2.3-linux-amd64
tar -czf grfgp-1.2.3-linux-amd64.tar.gz grfgp-1.2.3-linux-amd64
rm -r grfgp-1.2.3-linux-amd64
sha256sum *.tar.gz > SHA256SUMS
HOME=$PWD/home
`
	r := runDocument(t, "../../docs/install.md", dir, pack, strings.NewReplacer(), allBlocks)
	if len(r.printed) == 0 || !strings.Contains(r.printed[0], "linux-amd64.tar.gz: OK") ||
		!strings.Contains(r.printed[0], "grfgp "+version.Number()) {
		t.Errorf("%q", r.printed)
	}
	for _, name := range []string{".local/bin/grfgp", ".local/share/man/man1/grfgp-predict.1",
		".local/share/bash-completion/completions/grfgp"} {
		if _, err := os.Stat(filepath.Join(dir, "home", name)); err != nil {
			t.Error(err)
		}
	}
}
