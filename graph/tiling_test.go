package graph

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"grfgp/internal/rng"
)

// TestFillEqualsNaive: cells are those of nodes that join one after another, in the order of hops, turns and numbers,
// whether they have a choice or not.
func TestFillEqualsNaive(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	graphs := map[string]*Graph{
		"ring":           must[*Graph](t)(Ring(30_000)),
		"shuffled grid":  shuffled(t, must[*Graph](t)(Grid(130, 130)), 1),
		"many and hubs":  must[*Graph](t)(BarabasiAlbert(20_000, 3, 1)),
		"many and loops": randomGraph(t, 20_000, 50_000, 1),
	}
	for _, c := range coarsenCases(t) {
		graphs[c.name] = c.g
	}
	for name, g := range graphs {
		for reach := uint8(1); reach <= widestReach; reach++ {
			want := newTiling(g)
			want.seed(reach)
			f := filling{tiling: want, size: make([]int, len(want.seeds)), weight: make([]float64, len(want.seeds))}
			for c, i := range want.seeds {
				want.cell[i], f.size[c] = uint32(c), 1
			}
			for hops := uint8(1); hops <= reach; hops++ {
				for turn := range uint32(8) {
					for i, h := range want.hops {
						if h == hops && scramble(uint32(i))%8 == turn {
							f.join(i, hops)
						}
					}
				}
			}
			for c, i := range want.seeds {
				if f.size[c] == 1 && want.top[i] > 0 {
					f.size[c] = 0
					f.join(int(i), unseen)
				}
			}
			want.number()
			for _, threads := range []int{1, 3, 16} {
				runtime.GOMAXPROCS(threads)
				got := newTiling(g)
				got.seed(reach)
				got.fill()
				if !slices.Equal(got.cell, want.cell) || got.cells != want.cells || got.sure != want.sure {
					t.Errorf("%s, %d hops, %d threads: other cells", name, reach, threads)
				}
			}
		}
	}
}

// TestNth compares with sorting, for numbers that are all different, equal, sorted and few.
func TestNth(t *testing.T) {
	t.Parallel()
	random := rand.New(rng.New(1, "nth"))
	for _, n := range []int{1, 2, 16, 17, 100, 5000} {
		for _, kinds := range []int{1, 2, 7, 1 << 30} {
			x := make([]float64, n)
			for i := range x {
				x[i] = float64(random.IntN(kinds))
			}
			sorted := slices.Sorted(slices.Values(x))
			for _, k := range []int{0, n / 5, n / 2, n - 1} {
				for _, from := range [][]float64{x, sorted} {
					if got := nth(slices.Clone(from), k); got != sorted[k] {
						t.Errorf("place %d of %d numbers of %d kinds: %v, want %v", k, n, kinds, got, sorted[k])
					}
				}
			}
		}
	}
}
