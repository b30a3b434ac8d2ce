package grfgp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// The README's program is built and run in a module of its own, outside this
// repository, by the steps of docs/library.md.
func TestUseFromAnotherModule(t *testing.T) {
	t.Parallel()
	if testkit.Raced {
		t.Skip("the program is built without the race detector")
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, program, found := strings.Cut(string(readme), "```go\npackage main")
	program, _, closed := strings.Cut(program, "```")
	if !found || !closed {
		t.Fatal("the README has no program")
	}
	repository, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile("go.sum")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"main.go":    "package main" + program,
		"go.sum":     string(sums),
		"roads.csv":  "source,target\na,b\nb,c\nc,d\nd,e\ne,f\nf,g\n",
		"speeds.csv": "node,value,sd\na,30,1\nb,32,1\nc,35,1\ne,44,1\ng,50,1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return string(out)
	}
	run("mod", "init", "example.test/roads")
	run("mod", "edit", "-require=grfgp@v0.0.0", "-replace=grfgp="+repository)
	out := run("run", ".")
	if !strings.Contains(out, "a: 30.") || strings.Count(out, "±") != 3 {
		t.Errorf("the program prints\n%s", out)
	}
}
