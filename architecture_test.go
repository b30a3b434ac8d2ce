package grfgp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The import graph is the architecture: what may not be imported, and by whom.
// An entry of the form "pkg" forbids pkg and everything below it.
var forbidden = map[string][]string{
	"progress":    {"grfgp"},
	"plan":        {"grfgp"},
	"sparse":      {"grfgp/plan", "grfgp/graph", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"sparse/chol": {"grfgp/plan", "grfgp/graph", "grfgp/graphio", "grfgp/walk", "grfgp/space", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"graph":       {"grfgp/plan", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"formats": {"grfgp/plan", "grfgp/sparse", "grfgp/graph", "grfgp/covariate", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve",
		"grfgp/gp"},
	"covariate":      {"grfgp/plan", "grfgp/graphio", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"graphio":        {"grfgp/plan", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
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

	"internal/eigen":      {"grfgp/sparse", "grfgp/graph", "grfgp/covariate", "grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"internal/exposition": {"grfgp/server"},
	"internal/geometry":   {"grfgp"},
	"internal/parquet":    {"grfgp"},
	"internal/table":      {"grfgp/graph", "grfgp/graphio", "grfgp/formats"},

	"lab/dataset":    {"grfgp/walk", "grfgp/kernel", "grfgp/solve", "grfgp/gp"},
	"lab/experiment": {"grfgp/study", "grfgp/store", "grfgp/server"},
}

// drawers are names that say nothing of what is in a package.
var drawers = []string{"util", "utils", "common", "helper", "helpers", "misc", "shared", "types", "config", "models", "pkg"}

// Packages that may use the root package, files, a log, and the network.
var (
	mayUseRoot = []string{"crossval", "replay", "report", "cmd/grfgp", "cmd/grfgp-lab", "lab/experiment", "lab/bench", "server",
		"server/servertest", "study"}
	mayUseOS = []string{"internal/argsfile", "internal/machine", "formats", "graphio", "lab/dataset", "lab/output", "store",
		"store/storetest", "cmd/grfgp", "cmd/grfgp-lab", "internal/cli", "internal/atomicfile", "internal/mmap", "lab/mutants",
		"internal/release", "internal/peer", "lab/load", "server/tokens", "internal/testkit", "internal/size"}
	mayLog     = []string{"cmd/grfgp", "server", "server/servertest"}
	mayUseHTTP = []string{"client", "internal/testkit", "internal/peer", "lab/load", "lab/dataset", "store", "store/storetest", "server",
		"server/servertest",
		"cmd/grfgp"}
)

func TestImports(t *testing.T) {
	t.Parallel()
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
			if isLab(dep) && !isLab(p.ImportPath) {
				t.Errorf("%s imports %s: the lab studies the product, and is no part of it", p.ImportPath, dep)
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

// isLab reports whether a package studies the product: experiments, benchmarks, load tests. Such
// packages may use the product; it never uses them.
func isLab(path string) bool {
	return strings.HasPrefix(path, "grfgp/lab/") || path == "grfgp/cmd/grfgp-lab"
}

// productModules are all modules that are linked into the program grfgp. Each costs time to build, size, and
// trust: add one only if the product cannot do without it.
var productModules = strings.Fields(`
	github.com/dustin/go-humanize
	github.com/google/uuid
	github.com/jackc/pgpassfile
	github.com/jackc/pgservicefile
	github.com/jackc/pgx/v5
	github.com/jackc/puddle/v2
	github.com/klauspost/compress
	github.com/remyoudompheng/bigfft
	github.com/spf13/cobra
	github.com/spf13/pflag
	golang.org/x/sync
	golang.org/x/sys
	golang.org/x/term
	golang.org/x/text
	gonum.org/v1/gonum
	google.golang.org/protobuf
	modernc.org/libc
	modernc.org/mathutil
	modernc.org/memory
	modernc.org/sqlite`)

// TestProductModules: what the product is built from is known, and the lab's figures are not in it.
func TestProductModules(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/grfgp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	found = slices.DeleteFunc(slices.Compact(found), func(module string) bool { return module == "grfgp" })
	for _, module := range found {
		if !slices.Contains(productModules, module) {
			t.Errorf("the program grfgp now has the module %s; 'go mod why -m %[1]s' says through which package", module)
		}
	}
	for _, module := range productModules {
		if !slices.Contains(found, module) {
			t.Errorf("the program grfgp does not need the module %s any more: take it off the list", module)
		}
	}
}

// templates are functions of cobra that link text/template.
var templates = regexp.MustCompile(`\.(Set(Usage|Help|Version)Template|AddTemplateFuncs?)\(`)

// TestNoTemplates: the program has no templates. They call methods by a name that is known only when they run, so the
// linker keeps every exported method of every type, 5 MB of them. Cobra imports text/template, but it is linked only if
// a template is set.
func TestNoTemplates(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Imports,Dir,GoFiles", "./cmd/grfgp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64", "GOFLAGS=")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	own := 0
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p struct {
			ImportPath, Dir  string
			Imports, GoFiles []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for _, dep := range p.Imports {
			if dep == "html/template" || dep == "text/template" && p.ImportPath != "github.com/spf13/cobra" {
				t.Errorf("%s imports %s", p.ImportPath, dep)
			}
		}
		if !strings.HasPrefix(p.ImportPath, "grfgp/") {
			continue
		}
		own++
		for _, name := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if found := templates.Find(source); found != nil {
				t.Errorf("%s/%s calls %s)", p.ImportPath, name, found)
			}
		}
	}
	if own == 0 {
		t.Error("no package of the program was looked at")
	}
}

// isDrawer reports whether any part of a package's path is a drawer.
func isDrawer(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return slices.Contains(drawers, part) })
}

func TestDrawers(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"util": true, "internal/util": true, "graph/helpers": true, "graph": false,
		"internal/rng": false} {
		if isDrawer(name) != want {
			t.Errorf("%s is a drawer: %v", name, !want)
		}
	}
}
