package graph

import (
	"slices"
	"testing"
)

// TestPart: a part has the range and all nodes within some hops of it, and its rows nearer than that are those
// of W to the last bit.
func TestPart(t *testing.T) {
	t.Parallel()
	for name, g := range map[string]*Graph{
		"grid": must[*Graph](t)(Grid(12, 17)).Ordered(), "random": randomGraph(t, 300, 500, 4).Ordered(),
		"loops": build(t, 6, true, [3]float64{0, 0, 1}, [3]float64{0, 1, 2}, [3]float64{1, 2, 3}, [3]float64{3, 3, 2}),
	} {
		n := g.Len()
		for _, r := range [][2]int{{0, n}, {0, n / 3}, {n / 3, n / 2}, {n / 2, n}, {n / 2, n / 2}} {
			for hops := range 4 {
				p := must[*Part](t)(g.Part(r[0], r[1], hops))
				far := g.Hops(g.Nodes()[r[0]:r[1]])
				var want []uint32
				for i, h := range far {
					if h >= 0 && h <= hops {
						want = append(want, uint32(i))
					}
				}
				if !slices.Equal(p.Numbers(), want) {
					t.Fatalf("%s: nodes within %d hops of %v are %v, want %v", name, hops, r, p.Numbers(), want)
				}
				for _, kind := range []Normalization{NormalizedAdjacency, NormalizedLaplacian, RawAdjacency} {
					w, v := must[interface {
						Row(int) ([]uint32, []float64)
					}](t)(p.Normalized(kind)), p.WalkScale(kind)
					whole, scale := g.Normalized(kind), g.WalkScale(kind)
					for k, i := range p.Numbers() {
						if p.Local(int(i)) != k || v != nil && v[k] != scale[i] {
							t.Fatalf("%s: node %d is row %d, want %d, or has another scale", name, i, p.Local(int(i)), k)
						}
						if h := far[i]; h >= hops && h > 0 {
							continue // the row may lack neighbours
						}
						cols, vals := w.Row(k)
						var numbers []uint32
						for _, j := range cols {
							numbers = append(numbers, p.Numbers()[j])
						}
						wantCols, wantVals := whole.Row(int(i))
						if hops > 0 && (!slices.Equal(numbers, wantCols) || !slices.Equal(vals, wantVals)) {
							t.Fatalf("%s, %v: the row of node %d is %v %v, want %v %v", name, kind, i, numbers, vals, wantCols, wantVals)
						}
					}
				}
				if hops > 0 {
					checkNearest(t, g, p, hops)
				}
			}
		}
	}
	g := must[*Graph](t)(Ring(5))
	if _, err := g.Part(3, 6, 1); err == nil {
		t.Error("a range beyond the last node, and no error")
	}
	p := must[*Part](t)(g.Part(0, 2, 1))
	if _, err := p.Normalized(RawDiffusion); err == nil {
		t.Error("a part does not know the largest strength, and no error")
	}
}

// checkNearest compares with distances from all nodes outside.
func checkNearest(t *testing.T, g *Graph, p *Part, hops int) {
	t.Helper()
	lo, hi := p.Range()
	var outside []int
	for i := range g.Len() {
		if i < lo || i >= hi {
			outside = append(outside, i)
		}
	}
	want := []int{}
	for i, h := range g.Hops(outside) {
		if i >= lo && i < hi && h > 0 && h <= hops {
			want = append(want, i)
		}
	}
	if got := p.Nearest(hops); !slices.Equal(got, want) && len(got)+len(want) > 0 {
		t.Fatalf("nodes of [%d, %d) within %d hops of others: %v, want %v", lo, hi, hops, got, want)
	}
}
