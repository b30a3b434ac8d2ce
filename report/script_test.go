package report

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The script cannot end its element early, and every file asks TypeScript to check it.
func TestScript(t *testing.T) {
	t.Parallel()
	if strings.Contains(strings.ToLower(script), "</script") || strings.Contains(script, "<!--") {
		t.Error("the script ends its own element")
	}
	files, err := filepath.Glob("script/*.js")
	if err != nil || len(files) != 6 {
		t.Fatal(files, err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !strings.HasPrefix(string(text), "// @ts-check\n") || !strings.Contains(script, string(text)) {
			t.Errorf("%s: %v; it is not part of the script, or its first line is not // @ts-check", name, err)
		}
	}
}

// TestScriptTypes has TypeScript check the script, where the tools of the page are installed.
func TestScriptTypes(t *testing.T) {
	t.Parallel()
	compiler := filepath.Join("..", "server", "web", "node_modules", "typescript", "lib", "tsc.js")
	if _, err := os.Stat(compiler); err != nil {
		t.Skip("types of the script were not checked: TypeScript is not here (npm ci in server/web)")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("types of the script were not checked: there is no node (apt-get install nodejs)")
	}
	if out, err := exec.Command(node, compiler, "--project", "script/tsconfig.json", "--pretty", "false").CombinedOutput(); err != nil {
		t.Errorf("tsc: %v\n%s", err, out)
	}
}
