package grfgp_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The import graph is the architecture: what may not be imported, and by whom.
// An entry of the form "pkg" forbids pkg and everything below it.
var forbidden = map[string][]string{
	"progress":       {"grfgp"},
	"sparse":         {"grfgp/graph", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"graph":          {"grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"formats":        {"grfgp/sparse", "grfgp/graph", "grfgp/covariate", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"covariate":      {"grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"graphio":        {"grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"walk":           {"grfgp/graph", "grfgp/graphio", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"partition":      {"grfgp/graphio", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"solve":          {"grfgp/sparse", "grfgp/graph", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/gp"},
	"kernel":         {"grfgp/graph", "grfgp/graphio", "grfgp/gp"},
	"gp":             {"grfgp/sparse", "grfgp/graph", "grfgp/graphio", "grfgp/walk"},
	"bayesopt":       {"grfgp/sparse", "grfgp/graph", "grfgp/graphio", "grfgp/walk"},
	"grfgp":          {"grfgp/crossval", "grfgp/replay", "grfgp/graphio", "grfgp/study", "grfgp/store", "grfgp/server"},
	"crossval":       {"grfgp/graphio", "grfgp/study", "grfgp/store", "grfgp/server", "grfgp/replay"},
	"replay":         {"grfgp/graphio", "grfgp/study", "grfgp/store", "grfgp/server", "grfgp/crossval"},
	"study":          {"grfgp/store", "grfgp/server"},
	"store":          {"grfgp/server", "grfgp/graph", "grfgp/graphio", "grfgp/bayesopt", "grfgp/gp"},
	"client":         {"grfgp/server", "grfgp/store", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"server/pmtiles": {"grfgp"},
	"server":         {"grfgp/client", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},

	"internal/geometry": {"grfgp"},
	"internal/table":    {"grfgp"},

	"internal/paper/dataset":    {"grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"internal/paper/experiment": {"grfgp/study", "grfgp/store", "grfgp/server"},
}

// drawers are names that say nothing of what is in a package.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "config", "models", "pkg"}

// Packages that may use the root package, files, a log, and the network.
var (
	mayUseRoot = []string{"crossval", "replay", "report", "cmd/grfgp", "internal/paper/experiment", "internal/paper/bench", "server", "study"}
	mayUseOS   = []string{"internal/argsfile", "internal/machine", "formats", "graphio", "internal/paper/dataset", "internal/paper/output", "store", "store/storetest", "cmd/grfgp", "internal/atomicfile", "internal/mmap", "internal/mutate", "internal/release", "internal/peer", "internal/load", "server/tokens"}
	mayLog     = []string{"cmd/grfgp", "server"}
	mayUseHTTP = []string{"client", "internal/peer", "internal/load", "internal/paper/dataset", "store", "store/storetest", "server", "cmd/grfgp"}
)

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	unseen := maps.Clone(forbidden)
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
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
			banned = append(banned, "os")
		}
		if !slices.Contains(mayLog, name) {
			banned = append(banned, "log")
		}
		if !slices.Contains(mayUseHTTP, name) {
			banned = append(banned, "net")
		}
		if isDrawer(name) {
			t.Errorf("%s is a drawer, not a package", name)
		}
		for _, dep := range p.Imports {
			if dep == "grfgp" && !slices.Contains(mayUseRoot, name) || strings.HasPrefix(dep, "grfgp/cmd/") {
				t.Errorf("%s imports %s, which is above all", p.ImportPath, dep)
			}
			if isPaper(dep) && !isPaper(p.ImportPath) && name != "cmd/grfgp" {
				t.Errorf("%s imports %s: only the program's verbs may use the paper's packages", p.ImportPath, dep)
			}
			for _, b := range banned {
				if dep == b || strings.HasPrefix(dep, b+"/") {
					t.Errorf("%s imports %s", p.ImportPath, dep)
				}
			}
		}
		delete(unseen, name)
	}
	for name := range unseen {
		t.Errorf("there is no package %s to look at", name)
	}
}

// isPaper reports whether a package serves only the paper's experiments. Such
// packages may use the library; the library never uses them.
func isPaper(path string) bool { return strings.HasPrefix(path, "grfgp/internal/paper/") }

// TestPaperVerbs checks that only three verbs of the program use the paper's packages.
func TestPaperVerbs(t *testing.T) {
	files, err := filepath.Glob("cmd/grfgp/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		verb, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
		if slices.Contains([]string{"reproduce", "bench", "dataset"}, verb) {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			if isPaper(strings.Trim(i.Path.Value, `"`)) {
				t.Errorf("%s imports %s: only reproduce, bench and dataset may", file, i.Path.Value)
			}
		}
	}
}

// isDrawer reports whether any part of a package's path is a drawer.
func isDrawer(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(drawers, part) })
}

func TestDrawers(t *testing.T) {
	for name, want := range map[string]bool{"util": true, "internal/util": true, "graph/helpers": true, "graph": false, "internal/rng": false} {
		if isDrawer(name) != want {
			t.Errorf("%s is a drawer: %v", name, !want)
		}
	}
}
