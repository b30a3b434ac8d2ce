package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPack: commands answer the same bytes from a packed graph as from its text, and
// refuse one that is damaged.
func TestPack(t *testing.T) {
	edges, measurements := ladder(t)
	packed := filepath.Join(t.TempDir(), "ladder.packed")
	var answer packAnswer
	r := runLine(t, "", "pack", "--edges", edges, "-o", packed, "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitOK || answer.Nodes != 82 || answer.Edges != 119 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, verb := range [][]string{{"predict", "--measurements", measurements}, {"validate", "--measurements", measurements, "--json"}, {"features", "--show", "b7"}} {
		a := runLine(t, "", append(verb, "--edges", edges)...)
		b := runLine(t, "", append(verb, "--edges", packed)...)
		if a.code != exitOK || b.code != exitOK || a.out != b.out {
			t.Errorf("%s: another answer from the packed graph:\n%s%s\n%s%s", verb[0], a.err, a.out, b.err, b.out)
		}
	}
	if r := runLine(t, "", "check", "--edges", packed, "--measurements", measurements); r.code != exitOK || !strings.Contains(r.out, "packed graph") {
		t.Errorf("check of a packed graph: %+v", r)
	}
	if r := runLine(t, "", "pack", "--edges", edges); r.code != exitUsage {
		t.Errorf("pack without a file to write: %+v", r)
	}
	whole, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	half := filepath.Join(t.TempDir(), "half.packed")
	if err := os.WriteFile(half, whole[:len(whole)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if r := runLine(t, "", "predict", "--edges", half, "--measurements", measurements); r.code != exitBadData || !strings.Contains(r.err, "cut off") || !strings.Contains(r.err, "half.packed") {
		t.Errorf("half a packed graph: %+v", r)
	}
}
