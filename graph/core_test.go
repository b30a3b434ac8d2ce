package graph

import (
	"slices"
	"testing"
)

// naiveCores removes nodes with fewer than k neighbours until none is left, for every k.
func naiveCores(g *Graph) []int {
	core := make([]int, g.Len())
	alive := make([]bool, g.Len())
	for i := range alive {
		alive[i] = true
	}
	for k := 1; slices.Contains(alive, true); k++ {
		for changed := true; changed; {
			changed = false
			for i := range alive {
				if !alive[i] {
					continue
				}
				d := 0
				cols, _ := g.Adjacency().Row(i)
				for _, j := range cols {
					if int(j) != i && alive[j] {
						d++
					}
				}
				if d < k {
					alive[i], changed, core[i] = false, true, k-1
				}
			}
		}
	}
	return core
}

// structures are graphs on which brute force is affordable.
func structures(t *testing.T) map[string]*Graph {
	t.Helper()
	made := func(g *Graph, err error) *Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	all := map[string]*Graph{
		"none":         randomGraph(t, 0, 0, 0),
		"one":          randomGraph(t, 1, 0, 0),
		"isolated":     randomGraph(t, 5, 0, 0),
		"ring":         made(Ring(9)),
		"triangle":     made(Ring(3)),
		"ring, k = 3":  made(RingK(12, 3)),
		"grid":         made(Grid(4, 5)),
		"preferential": made(BarabasiAlbert(80, 4, 1)),
		"block":        made(StochasticBlock([]int{20, 30}, func(a, b int) float64 { return 0.5 - 0.45*float64(max(a, b)-min(a, b)) }, 3)),
	}
	for seed := range uint64(10) {
		all["random "+string(rune('0'+seed))] = randomGraph(t, 40, int(20+30*seed), seed)
	}
	return all
}

func TestCoreNumbers(t *testing.T) {
	t.Parallel()
	for name, g := range structures(t) {
		if got, want := g.CoreNumbers(), naiveCores(g); !slices.Equal(got, want) {
			t.Errorf("%s: core numbers %v, want %v", name, got, want)
		}
	}
}
