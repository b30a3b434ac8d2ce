package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"testing"
)

func levelGraphs(t *testing.T) map[string]*Graph {
	return map[string]*Graph{
		"ring": must[*Graph](t)(Ring(3000)), "grid": must[*Graph](t)(Grid(70, 50)).Ordered(),
		"hubs":   must[*Graph](t)(BarabasiAlbert(4000, 3, 5)).Ordered(),
		"pieces": pieces(t), "few": must[*Graph](t)(Ring(9)),
	}
}

// TestLevelsOfArrays: levels that are made of their arrays again are the same, and are what Levels returns.
func TestLevelsOfArrays(t *testing.T) {
	t.Parallel()
	for name, g := range levelGraphs(t) {
		want := g.Levels()
		var got []Level
		below := g.Len()
		for _, l := range want {
			back, err := LevelFromArrays(below, l.Arrays())
			if err != nil {
				t.Fatal(err)
			}
			got, below = append(got, back), back.Graph.Len()
		}
		stored := g.WithLevels(got)
		if back, ok := stored.StoredLevels(); !ok || len(back) != len(want) {
			t.Fatalf("%s: %d levels, want %d", name, len(back), len(want))
		}
		for k, l := range stored.Levels() {
			if !reflect.DeepEqual(l.Arrays(), want[k].Arrays()) || l.Graph.IDs().At(0) != "0" || l.Graph.Hash() != want[k].Graph.Hash() {
				t.Errorf("%s: level %d differs", name, k+1)
			}
		}
		if _, ok := g.StoredLevels(); ok {
			t.Errorf("%s: the graph itself has levels now", name)
		}
	}
}

// TestLevelRule: what Levels computes has not changed since LevelRule got its number. If you have
// changed it on purpose, raise LevelRule, so that levels in packed graphs are computed again.
func TestLevelRule(t *testing.T) {
	t.Parallel()
	if runtime.GOARCH != "amd64" {
		t.Skip("other processors fuse multiplications and additions")
	}
	h := sha256.New()
	graphs := levelGraphs(t)
	for _, name := range []string{"ring", "grid", "hubs", "pieces", "few"} {
		for _, l := range graphs[name].Levels() {
			a := l.Arrays()
			for _, part := range []any{a.Col, a.Val, a.Cell, a.Mass, a.FromCol, a.FromVal} {
				if err := binary.Write(h, binary.LittleEndian, part); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	const want = "0e9bbc0488999d42"
	if got := hex.EncodeToString(h.Sum(nil)[:8]); LevelRule != 1 || got != want {
		t.Errorf("rule %d gives levels of hash %s, want rule 1 and %s", LevelRule, got, want)
	}
}

// TestLevelArrays: arrays that lead outside each other are refused.
func TestLevelArrays(t *testing.T) {
	t.Parallel()
	l := must[*Graph](t)(Grid(20, 20)).Levels()[0]
	for name, spoil := range map[string]func(a *LevelArrays){
		"column":         func(a *LevelArrays) { a.Col[3] = 1e6 },
		"row":            func(a *LevelArrays) { a.RowPtr[2] = 1 << 40 },
		"weight":         func(a *LevelArrays) { a.Val[0] = -1 },
		"cell":           func(a *LevelArrays) { a.Cell[7] = uint32(len(a.Mass)) },
		"masses":         func(a *LevelArrays) { a.Mass = a.Mass[1:] },
		"cells":          func(a *LevelArrays) { a.Cell = a.Cell[1:] },
		"prolong row":    func(a *LevelArrays) { a.FromPtr[5] = -1 },
		"prolong column": func(a *LevelArrays) { a.FromCol[5] = uint32(len(a.Mass)) },
		"prolong weight": func(a *LevelArrays) { a.FromVal[5] = math.NaN() },
	} {
		a := l.Arrays()
		a.RowPtr, a.Col, a.Val, a.Cell = slices.Clone(a.RowPtr), slices.Clone(a.Col), slices.Clone(a.Val), slices.Clone(a.Cell)
		a.FromPtr, a.FromCol, a.FromVal = slices.Clone(a.FromPtr), slices.Clone(a.FromCol), slices.Clone(a.FromVal)
		spoil(&a)
		if _, err := LevelFromArrays(400, a); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
