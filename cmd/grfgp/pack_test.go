package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"grfgp/internal/testkit"
)

// TestPack: commands answer the same bytes from a packed graph as from its text, and
// refuse one that is damaged.
func TestPack(t *testing.T) {
	t.Parallel()
	edges, measurements := ladder(t)
	packed := filepath.Join(t.TempDir(), "ladder.packed")
	var answer packAnswer
	r := runLine(t, "", "pack", "--edges", edges, "-o", packed, "--json")
	if err := json.Unmarshal([]byte(r.out), &answer); err != nil || r.code != exitOK || answer.Nodes != 82 || answer.Edges != 119 {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, verb := range [][]string{{"predict", "--measurements", measurements}, {"validate", "--measurements", measurements, "--json"}} {
		a := runLine(t, "", append(verb, "--edges", edges)...)
		b := runLine(t, "", append(verb, "--edges", packed)...)
		if a.code != exitOK || b.code != exitOK || a.out != b.out {
			t.Errorf("%s: another answer from the packed graph:\n%s%s\n%s%s", verb[0], a.err, a.out, b.err, b.out)
		}
	}
	if r := runLine(t, "", "check", "--edges", packed, "--measurements", measurements); r.code != exitOK ||
		!strings.Contains(r.out, "packed graph") {
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
	if r := runLine(t, "", "predict", "--edges", half, "--measurements", measurements); r.code != exitBadData ||
		!strings.Contains(r.err, "cut off") || !strings.Contains(r.err, "half.packed") {
		t.Errorf("half a packed graph: %+v", r)
	}
}

// TestPackedScales: a model of many scales on coarser graphs from the file answers the same bytes as on
// those that it computes.
func TestPackedScales(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	dir := t.TempDir()
	edges, values := filepath.Join(dir, "edges.csv"), filepath.Join(dir, "values.csv")
	var e, v strings.Builder
	e.WriteString("from,to\n")
	v.WriteString("node,value\n")
	for c := range 40 { // so many components that coarser graphs are used
		for i := range 50 {
			fmt.Fprintf(&e, "c%dn%d,c%dn%d\n", c, i, c, (i+1)%50)
			if (i+c)%9 == 0 {
				fmt.Fprintf(&v, "c%dn%d,%.2f\n", c, i, 0.3*float64((i/7)%5)+0.1*float64(c%4))
			}
		}
	}
	for name, text := range map[string]string{edges: e.String(), values: v.String()} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	with, without := filepath.Join(dir, "with.packed"), filepath.Join(dir, "without.packed")
	for path, flags := range map[string][]string{with: nil, without: {"--one-scale"}} {
		if r := runLine(t, "", append([]string{"pack", "--edges", edges, "-o", path}, flags...)...); r.code != exitOK {
			t.Fatalf("%+v", r)
		}
	}
	large, err := os.Stat(with)
	if err != nil {
		t.Fatal(err)
	}
	if small, err := os.Stat(without); err != nil || small.Size() >= large.Size() {
		t.Errorf("with coarser graphs %d bytes, without %d", large.Size(), small.Size())
	}
	line := []string{"predict", "--measurements", values, "--method", "grf", "--family", "diffusion", "--scales", "many"}
	want := runLine(t, "", append(line, "--edges", edges)...)
	for _, path := range []string{with, without} {
		if got := runLine(t, "", append(line, "--edges", path)...); got.code != exitOK || got.out != want.out {
			t.Errorf("%s: another answer: %s", path, got.err)
		}
	}
}
