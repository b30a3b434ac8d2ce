package graphio_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"grfgp/graph"
	"grfgp/graphio"
)

// packedLevels packs a grid with its coarser graphs.
func packedLevels(t testing.TB, rows, cols int) (g *graph.Graph, path string) {
	t.Helper()
	g, err := graph.Grid(rows, cols)
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	g = g.WithLevels(g.Levels())
	var b bytes.Buffer
	if err := graphio.WritePacked(t.Context(), &b, &graphio.Network{Graph: g}); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "levels.packed")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return g, path
}

// TestPackedLevels: coarser graphs come back from the file with the bits that they are computed with.
func TestPackedLevels(t *testing.T) {
	t.Parallel()
	for _, side := range []int{3, 9, 60} {
		g, path := packedLevels(t, side, side+4)
		net, err := graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{})
		if err != nil {
			t.Fatal(err)
		}
		stored, ok := net.Graph.StoredLevels()
		want := g.Levels()
		if !ok || len(stored) != len(want) || net.Graph.Hash() != g.Hash() {
			t.Fatalf("grid of %d: %d levels from the file, %v, want %d", side, len(stored), ok, len(want))
		}
		for k := range want {
			if !reflect.DeepEqual(stored[k].Arrays(), want[k].Arrays()) {
				t.Errorf("grid of %d: level %d differs", side, k+1)
			}
		}
		var again bytes.Buffer
		if err := graphio.WritePacked(t.Context(), &again, net); err != nil {
			t.Fatal(err)
		}
		if whole, err := os.ReadFile(path); err != nil || !bytes.Equal(whole, again.Bytes()) {
			t.Errorf("grid of %d: packed again to other bytes: %v", side, err)
		}
	}
}

// TestPackedLevelsDamaged: a file that is changed anywhere is refused, coarser graphs included.
func TestPackedLevelsDamaged(t *testing.T) {
	t.Parallel()
	_, path := packedLevels(t, 12, 9)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	unnoticed := 0
	for at := 0; at < len(whole); at += 53 {
		damaged := slices.Clone(whole)
		damaged[at] ^= 0x41
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := graphio.ReadGraph(t.Context(), graphio.File(path), graphio.Options{})
		if err == nil && whole[at] == 0 { // between sections
			unnoticed++
		} else if !errors.Is(err, graphio.ErrData) {
			t.Fatalf("byte %d of %d changed: %v", at, len(whole), err)
		}
	}
	if sections := bytes.Count(whole, []byte(`"name":`)); 53*unnoticed > sections*64 {
		t.Errorf("%d bytes may change unnoticed", unnoticed)
	}
}

// TestPackedLevelsNeedOrder: coarser graphs of nodes that are numbered otherwise are not written.
func TestPackedLevelsNeedOrder(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(20, 20)
	if err != nil {
		t.Fatal(err)
	}
	g = g.WithLevels(g.Levels())
	if err := graphio.WritePacked(t.Context(), &bytes.Buffer{}, &graphio.Network{Graph: g}); err == nil ||
		!strings.Contains(err.Error(), "locality order") {
		t.Errorf("levels of a graph without order: %v", err)
	}
}
