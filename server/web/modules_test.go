package web_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/server/web"
)

// Every module asks TypeScript to check it.
func TestModulesAskForTypes(t *testing.T) {
	for name, text := range files(t) {
		if !strings.HasPrefix(name, "assets/") || !strings.HasSuffix(name, ".js") {
			continue
		}
		if !strings.HasPrefix(text, "// @ts-check\n") {
			t.Errorf("%s: its first line is not // @ts-check", name)
		}
	}
}

// The page is index.html, worker.js and assets: no tests, and no tools.
func TestOnlyThePageIsServed(t *testing.T) {
	top, err := web.Files.ReadDir(".")
	if err != nil || len(top) != 3 || top[0].Name() != "assets" || top[1].Name() != "index.html" || top[2].Name() != "worker.js" {
		t.Errorf("%v %v", top, err)
	}
	for name := range files(t) {
		if strings.Contains(name, "test") || strings.Contains(name, "node_modules") {
			t.Errorf("%s is served", name)
		}
	}
}

// TestTypes has TypeScript check the modules.
func TestTypes(t *testing.T) {
	compiler := filepath.Join("node_modules", "typescript", "lib", "tsc.js")
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("types of the page were not checked: TypeScript is not here (npm ci in server/web)")
	}
	readConfiguration(t)
	for _, project := range []string{"tsconfig.json", "tsconfig.strict.json", "tsconfig.worker.json"} {
		if out, err := exec.Command(node(t), compiler, "--project", project, "--pretty", "false").CombinedOutput(); err != nil {
			t.Errorf("tsc: %v\n%s", err, out)
		}
	}
}

// TestUnits runs the unit tests of the modules.
func TestUnits(t *testing.T) {
	tests, err := filepath.Glob("test/*.test.js")
	if err != nil || len(tests) == 0 {
		t.Fatal(tests, err)
	}
	for _, file := range tests {
		if _, err := os.ReadFile(file); err != nil { // go test sees that it has changed
			t.Fatal(err)
		}
	}
	out, err := exec.Command(node(t), append([]string{"--test", "--test-reporter=spec"}, tests...)...).CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// node is the program that runs JavaScript, or the test is skipped.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err != nil {
		t.Skip("modules of the page were not tested: there is no node on this machine (apt-get install nodejs)")
	}
	return path
}

// readConfiguration reads what decides about the check, so that go test sees when it changes.
// The lock file has versions and hashes, and names no registry.
func readConfiguration(t *testing.T) {
	t.Helper()
	for _, name := range []string{"tsconfig.json", "tsconfig.strict.json", "tsconfig.worker.json", "worker.d.ts", "package.json",
		"package-lock.json"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if name == "package-lock.json" && strings.Contains(string(text), `"resolved"`) {
			t.Errorf("%s names the place that packages came from", name)
		}
	}
}
