package main

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"grfgp/internal/cli"
)

// buildProduct builds the program grfgp for all tests.
var buildProduct = sync.OnceValues(func() (string, error) {
	file := filepath.Join(productDir, "grfgp")
	out, err := exec.Command("go", "build", "-o", file, "grfgp/cmd/grfgp").CombinedOutput()
	os.Stderr.Write(out)
	return file, err
})

var productDir string

func TestMain(m *testing.M) {
	var err error
	if productDir, err = os.MkdirTemp("", "grfgp-lab-test"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(productDir)
	os.Exit(code)
}

// product returns the file of the program grfgp.
func product(t *testing.T) string {
	t.Helper()
	file, err := buildProduct()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Verbs that run grfgp take the program that a flag names; elsewhere than in the repository, that of the PATH; and say what to do if
// there is none.
func TestFindProduct(t *testing.T) {
	dir := t.TempDir()
	there := write(t, dir, "grfgp", "#!/bin/sh\n")
	if err := os.Chmod(there, 0o700); err != nil {
		t.Fatal(err)
	}
	find := func(f productFlag) (found string, err error) {
		a := newApp(cli.Streams{})
		a.Talk = cli.NewTalk(os.Stderr, true)
		err = f.with(context.Background(), a, func(program string) error { found = program; return nil })
		return found, err
	}
	if found, err := find(productFlag{"./other"}); found != "./other" || err != nil {
		t.Errorf("%s, %v", found, err)
	}
	t.Chdir(dir)
	t.Setenv("PATH", dir)
	if found, err := find(productFlag{}); found != there || err != nil {
		t.Errorf("%s, %v", found, err)
	}
	t.Setenv("PATH", t.TempDir())
	if found, err := find(productFlag{}); err == nil || !strings.Contains(err.Error(), "give --program FILE") ||
		cli.ExitCode(context.Background(), err) != cli.ExitUsage {
		t.Errorf("%s, %v", found, err)
	}
}
