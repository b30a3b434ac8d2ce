package grfgp_test

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"strings"
	"testing"
)

// TestMap: ARCHITECTURE.md is a page, and names every package.
func TestMap(t *testing.T) {
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	if most := 10 << 10; len(text) > most {
		t.Errorf("%d bytes, more than %d: decisions have pages in docs/decisions", len(text), most)
	}
	named := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9/-]+)`").FindAllStringSubmatch(string(text), -1) {
		named[path.Base(m[1])] = true
	}
	out, err := exec.Command("go", "list", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	for name := range strings.FieldsSeq(string(out)) {
		if !named[path.Base(name)] {
			t.Errorf("no line about the package %s", name)
		}
	}
}
