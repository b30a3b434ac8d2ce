package mutants

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"
)

// Every mutant still applies to the sources, to exactly one place, and is Go.
// Whether the tests see it, `grfgp-lab mutants` says.
func TestMutantsApply(t *testing.T) {
	seen := map[mutant]bool{}
	for _, m := range mutants {
		source, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(m.file)))
		if err != nil {
			t.Fatal(err)
		}
		changed, err := m.apply(string(source))
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, changed, 0); err != nil {
			t.Errorf("%s, %s: %v", m.file, m.what, err)
		}
		if seen[m] {
			t.Errorf("%s, %s: twice", m.file, m.what)
		}
		seen[m] = true
	}
	if len(mutants) < 50 {
		t.Errorf("only %d mutants", len(mutants))
	}
}

func TestApply(t *testing.T) {
	m := mutant{"a.go", "x + 1", "x", ""}
	if got, err := m.apply("y := x + 1"); got != "y := x" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	for _, source := range []string{"", "y := x", "x + 1 + x + 1"} {
		if got, err := m.apply(source); err == nil {
			t.Errorf("%q became %q", source, got)
		}
	}
	if _, err := (mutant{"a.go", "x", "x", ""}).apply("x"); err == nil {
		t.Error("a mutant that changes nothing was taken")
	}
}

func TestFirstFailure(t *testing.T) {
	for output, want := range map[string]string{
		"=== RUN x\n    --- FAIL: TestA/b (0.1s)\n--- FAIL: TestA (0.1s)\n--- FAIL: TestC (0s)\n": "TestA",
		"panic: test timed out after 5m0s\n\trunning tests:\n\t\tTestB (1s)\n":                    "by time",
		"panic: runtime error: index out of range\n":                                              "by a panic",
		"FAIL\n": "",
	} {
		if got := firstFailure(output); got != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
