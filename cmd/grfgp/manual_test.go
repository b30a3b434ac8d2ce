package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// Every command that help lists has a man page with its flags, and every shell a completion.
func TestManual(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if r := runLine(t, "", "manual", dir); r.code != exitOK || r.out != "" {
		t.Fatalf("%+v", r)
	}
	pages, err := filepath.Glob(filepath.Join(dir, "man/man1/*.1"))
	if err != nil || len(pages) < 30 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	predict := read("man/man1/grfgp-predict.1")
	for _, want := range []string{`.TH "GRFGP-PREDICT" 1`, ".SH COMMON FLAGS\n.TP\n\\fB\\-\\-edges\\fR",
		".SH ADVANCED\n.TP\n\\fB\\-\\-generate\\fR", "\\fB\\-o\\fR, \\fB\\-\\-out\\fR \\fIfile\\fR", ".BR grfgp (1)"} {
		if !strings.Contains(predict, want) {
			t.Errorf("no %q in\n%s", want, predict)
		}
	}
	if main := read("man/man1/grfgp.1"); !strings.Contains(main, ".BR grfgp-study (1)") || strings.Contains(main, "manual") {
		t.Errorf("%s", main)
	}
	for _, name := range []string{"grfgp.bash", "_grfgp", "grfgp.fish", "grfgp.ps1"} {
		if !strings.Contains(read("completions/"+name), "grfgp") {
			t.Errorf("%s says nothing of grfgp", name)
		}
	}
	if r := runLine(t, "", "manual"); r.code != exitUsage || !strings.Contains(r.err, "give one folder") {
		t.Errorf("%+v", r)
	}
	tool, err := exec.LookPath("man")
	if err != nil {
		t.Skip("there is no man on this machine to check the pages with")
	}
	if !testkit.IsFull() {
		pages = pages[:3]
	}
	for _, page := range pages {
		cmd := exec.Command(tool, "--warnings", "-l", page)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8", "MANROFFSEQ=", "MANWIDTH=100")
		var warnings strings.Builder
		cmd.Stderr = &warnings
		if out, err := cmd.Output(); err != nil || len(out) < 100 || warnings.Len() > 0 {
			t.Errorf("%s: %v %s", page, err, warnings.String())
		}
	}
}

func TestTroff(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"a-b": `a\-b`, ".x\n'y\n.z": "\\&.x\n\\&'y\n\\&.z", `a\b`: `a\eb`} {
		if got := troff(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
