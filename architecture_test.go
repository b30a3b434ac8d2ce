package grfgp_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// The import graph is the architecture: what may not be imported, and by whom.
// An entry of the form "pkg" forbids pkg and everything below it.
var forbidden = map[string][]string{
	"sparse": {"grfgp/graph", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/cmd"},
	"graph":  {"grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/cmd"},
	"walk":   {"grfgp/graph", "grfgp/graphio", "grfgp/kernel", "grfgp/cmd"},
	"kernel": {"grfgp/graph", "grfgp/graphio", "grfgp/cmd"},
}

// Packages that may touch files, and the network.
var (
	mayUseOS   = []string{"graphio", "cmd/grfgp", "internal/mmap"}
	mayUseHTTP = []string{"cmd/grfgp"}
)

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	packages := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; packages++ {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(p.ImportPath, "grfgp/")
		banned := slices.Clone(forbidden[name])
		if !slices.Contains(mayUseOS, name) {
			banned = append(banned, "os", "log")
		}
		if !slices.Contains(mayUseHTTP, name) {
			banned = append(banned, "net")
		}
		if slices.Contains([]string{"util", "common", "helpers", "types", "config", "models", "pkg"}, name) {
			t.Errorf("%s is a drawer, not a package", name)
		}
		for _, dep := range p.Imports {
			for _, b := range banned {
				if dep == b || strings.HasPrefix(dep, b+"/") {
					t.Errorf("%s imports %s", p.ImportPath, dep)
				}
			}
		}
	}
	if packages < 8 {
		t.Fatalf("only %d packages were looked at", packages)
	}
}
