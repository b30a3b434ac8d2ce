package graph

import (
	"math"
	"slices"
	"testing"

	"grfgp/sparse"
)

func TestRingAndGrid(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		g       *Graph
		edges   int
		degrees []int
	}{
		{"ring of 1", must[*Graph](t)(Ring(1)), 0, []int{0}},
		{"ring of 2", must[*Graph](t)(Ring(2)), 1, []int{1, 1}},
		{"ring of 3", must[*Graph](t)(Ring(3)), 3, []int{2, 2, 2}},
		{"ring of 5", must[*Graph](t)(Ring(5)), 5, []int{2, 2, 2, 2, 2}},
		{"ring of 5 ±2", must[*Graph](t)(RingK(5, 2)), 10, []int{4, 4, 4, 4, 4}},
		{"ring of 4 ±2", must[*Graph](t)(RingK(4, 2)), 6, []int{3, 3, 3, 3}},
		{"grid 1×1", must[*Graph](t)(Grid(1, 1)), 0, []int{0}},
		{"grid 1×3", must[*Graph](t)(Grid(1, 3)), 2, []int{1, 2, 1}},
		{"grid 3×1", must[*Graph](t)(Grid(3, 1)), 2, []int{1, 2, 1}},
		{"grid 2×3", must[*Graph](t)(Grid(2, 3)), 7, []int{2, 3, 2, 2, 3, 2}},
	} {
		if c.g.Edges() != c.edges || !slices.Equal(c.g.Degrees(), c.degrees) {
			t.Errorf("%s: %d edges, degrees %v, want %d, %v", c.name, c.g.Edges(), c.g.Degrees(), c.edges, c.degrees)
		}
	}
	ring := must[*Graph](t)(RingK(20, 3)).Adjacency()
	for i := range 20 {
		for j := range 20 {
			apart := min((i-j+20)%20, (j-i+20)%20)
			if joined := ring.At(i, j) == 1; joined != (apart >= 1 && apart <= 3) {
				t.Errorf("ring ±3: nodes %d and %d joined: %v", i, j, joined)
			}
		}
	}
	grid := must[*Graph](t)(Grid(4, 5)).Adjacency()
	for i := range 20 {
		for j := range 20 {
			apart := math.Abs(float64(i/5-j/5)) + math.Abs(float64(i%5-j%5))
			if joined := grid.At(i, j) == 1; joined != (apart == 1) {
				t.Errorf("grid: nodes %d and %d joined: %v", i, j, joined)
			}
		}
	}
}

func TestGeneratorsReject(t *testing.T) {
	t.Parallel()
	half := func(a, b int) float64 { return 0.5 }
	const tooMany = sparse.MaxCols + 1
	for _, c := range []struct {
		name string
		make func() (*Graph, error)
		says string
	}{
		{"ring of none", func() (*Graph, error) { return Ring(0) }, "0 nodes"},
		{"ring of -1", func() (*Graph, error) { return Ring(-1) }, "-1 nodes"},
		{"ring too large", func() (*Graph, error) { return Ring(tooMany) }, "at most 2147483647"},
		{"no neighbours", func() (*Graph, error) { return RingK(5, 0) }, "want 1 to 2"},
		{"more neighbours than nodes", func() (*Graph, error) { return RingK(5, 3) }, "want 1 to 2"},
		{"too many edges", func() (*Graph, error) { return RingK(1<<30, 1<<20) }, "edges"},
		{"grid without rows", func() (*Graph, error) { return Grid(0, 3) }, "0×3"},
		{"grid without columns", func() (*Graph, error) { return Grid(3, 0) }, "3×0"},
		{"grid too large", func() (*Graph, error) { return Grid(1<<16, 1<<15) }, "65536×32768"},
		{"no blocks", func() (*Graph, error) { return StochasticBlock(nil, half, 1) }, "0 nodes"},
		{"negative block", func() (*Graph, error) { return StochasticBlock([]int{3, -1}, half, 1) }, "block 1 has -1"},
		{"blocks too large", func() (*Graph, error) { return StochasticBlock([]int{sparse.MaxCols, 1}, half, 1) }, "block 1 has 1"},
		{"too dense", func() (*Graph, error) { return StochasticBlock([]int{1 << 30}, half, 1) }, "edges"},
		{"probability above 1", func() (*Graph, error) {
			return StochasticBlock([]int{2, 2}, func(a, b int) float64 { return float64(a + b) }, 1)
		}, "probability 2 between blocks 1 and 1"},
		{"probability below 0", func() (*Graph, error) {
			return StochasticBlock([]int{2}, func(a, b int) float64 { return -0.1 }, 1)
		}, "probability -0.1"},
		{"probability not a number", func() (*Graph, error) {
			return StochasticBlock([]int{2}, func(a, b int) float64 { return math.NaN() }, 1)
		}, "probability NaN"},
		{"Barabási–Albert of none", func() (*Graph, error) { return BarabasiAlbert(0, 1, 1) }, "0 nodes"},
		{"Barabási–Albert without edges", func() (*Graph, error) { return BarabasiAlbert(5, 0, 1) }, "0 edges for each new one"},
		{"Barabási–Albert with too many", func() (*Graph, error) { return BarabasiAlbert(5, 5, 1) }, "want 1 to 4"},
		{"Barabási–Albert too large", func() (*Graph, error) { return BarabasiAlbert(1<<30, 1<<29, 1) }, "edges"},
		{"R-MAT scale below 0", func() (*Graph, error) { return RMAT(-1, 1, 1, 0, 0, 0, 1) }, "2^-1"},
		{"R-MAT scale too large", func() (*Graph, error) { return RMAT(31, 1, 1, 0, 0, 0, 1) }, "2^31"},
		{"R-MAT edges below 0", func() (*Graph, error) { return RMAT(3, -1, 1, 0, 0, 0, 1) }, "-1 edges"},
		{"R-MAT not 1 together", func() (*Graph, error) { return RMAT(3, 1, 0.5, 0.5, 0.5, 0, 1) }, "1 together"},
		{"R-MAT negative", func() (*Graph, error) { return RMAT(3, 1, 1.5, -0.5, 0, 0, 1) }, "1 together"},
		{"R-MAT not a number", func() (*Graph, error) { return RMAT(3, 1, math.NaN(), 0, 0, 1, 1) }, "1 together"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := c.make()
			rejected(t, err, c.says)
		})
	}
}

// near fails if a count of n trials of probability p is off by more than five
// standard deviations.
func near(t *testing.T, what string, count, n int, p float64) {
	t.Helper()
	mean, sd := float64(n)*p, math.Sqrt(float64(n)*p*(1-p))
	if math.Abs(float64(count)-mean) > 5*sd {
		t.Errorf("%s: %d of %d, want %.1f ± 5·%.1f", what, count, n, mean, sd)
	}
}

func TestStochasticBlockCounts(t *testing.T) {
	t.Parallel()
	sizes := []int{300, 0, 500, 200}
	p := func(a, b int) float64 { return []float64{0.1, 0.02, 0.005, 0.3}[b] / float64(1+b-a) }
	g := must[*Graph](t)(StochasticBlock(sizes, p, 3))
	block := make([]int, 0, g.Len())
	for b, size := range sizes {
		for range size {
			block = append(block, b)
		}
	}
	var count [4][4]int
	for i := range g.Len() {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if i <= int(j) {
				count[block[i]][block[j]]++
			}
		}
	}
	for a := range sizes {
		near(t, "within a block", count[a][a], sizes[a]*(sizes[a]-1)/2, p(a, a))
		for b := a + 1; b < len(sizes); b++ {
			near(t, "between blocks", count[a][b], sizes[a]*sizes[b], p(a, b))
		}
	}
}

// Over many seeds every single pair is joined as often as it should.
func TestStochasticBlockPairs(t *testing.T) {
	t.Parallel()
	const seeds = 2000
	var count [7][7]int
	for seed := range uint64(seeds) {
		g := must[*Graph](t)(StochasticBlock([]int{4, 3}, func(a, b int) float64 { return 0.3 + 0.2*float64(b-a) }, seed))
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				count[i][j]++
			}
		}
	}
	for i := range 7 {
		for j := range i {
			p := 0.3
			if i >= 4 && j < 4 {
				p = 0.5
			}
			near(t, "pair", count[i][j], seeds, p)
		}
	}
}

func TestStochasticBlockExtremes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in, between float64
		edges       int
	}{{0, 0, 0}, {1, 0, 3 + 6}, {0, 1, 12}, {1, 1, 21}, {5e-324, 5e-324, 0}} {
		g := must[*Graph](t)(StochasticBlock([]int{3, 4}, func(a, b int) float64 {
			if a == b {
				return c.in
			}
			return c.between
		}, 1))
		if g.Edges() != c.edges {
			t.Errorf("probabilities %v and %v: %d edges, want %d", c.in, c.between, g.Edges(), c.edges)
		}
	}
}

func TestBarabasiAlbert(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ n, m, edges int }{
		{1, 1, 0}, {2, 1, 1}, {3, 1, 2}, {3, 2, 2}, {10, 9, 9}, {10, 4, 24}, {1000, 1, 999}, {1000, 5, 4975},
	} {
		g := must[*Graph](t)(BarabasiAlbert(c.n, c.m, 1))
		if g.Len() != c.n || g.Edges() != c.edges {
			t.Errorf("n=%d m=%d: %d nodes, %d edges, want %d", c.n, c.m, g.Len(), g.Edges(), c.edges)
		}
		if _, sizes := g.Components(); len(sizes) != 1 {
			t.Errorf("n=%d m=%d: %d components", c.n, c.m, len(sizes))
		}
		for i, d := range g.Degrees() {
			if i >= c.m && d < c.m {
				t.Errorf("n=%d m=%d: node %d has %d neighbours", c.n, c.m, i, d)
			}
		}
	}
}

// The share of nodes with k neighbours or more is m(m+1)/(k(k+1)) in the limit.
func TestBarabasiAlbertTail(t *testing.T) {
	t.Parallel()
	const n, m = 50_000, 3
	degrees := must[*Graph](t)(BarabasiAlbert(n, m, 4)).Degrees()
	for _, k := range []int{4, 6, 10, 30, 60} {
		count := 0
		for _, d := range degrees {
			if d >= k {
				count++
			}
		}
		near(t, "tail", count, n, m*(m+1)/float64(k*(k+1)))
	}
	if most := slices.Max(degrees); float64(most) < math.Sqrt(n) {
		t.Errorf("the largest hub has %d neighbours, want about m√n = %.0f", most, m*math.Sqrt(n))
	}
}

// With m = 1 node 2 joins node 0 or 1, which have one edge each, and node 3 joins
// the middle of the path, which has two of four ends, half of the time.
func TestBarabasiAlbertPrefersHubs(t *testing.T) {
	t.Parallel()
	const seeds = 4000
	first, star := 0, 0
	for seed := range uint64(seeds) {
		g := must[*Graph](t)(BarabasiAlbert(4, 1, seed))
		if g.Adjacency().At(0, 2) == 1 {
			first++
		}
		if slices.Max(g.Degrees()) == 3 {
			star++
		}
	}
	near(t, "node 0 chosen", first, seeds, 0.5)
	near(t, "hub chosen", star, seeds, 0.5)
}

func TestRMATQuadrants(t *testing.T) {
	t.Parallel()
	// So few edges among so many nodes that hardly any two coincide.
	const scale, edges = 18, 3000
	g := must[*Graph](t)(RMAT(scale, edges, 0.25, 0.3, 0.1, 0.35, 5))
	if lost := edges - g.Edges(); lost < 0 || lost > 10 {
		t.Fatalf("%d edges of %d", g.Edges(), edges)
	}
	for bit := range 2 {
		var both, none int
		mask := uint32(1) << (scale - 1 - bit)
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				switch {
				case uint32(i) > j:
				case uint32(i)&mask == 0 && j&mask == 0:
					none++
				case uint32(i)&mask != 0 && j&mask != 0:
					both++
				}
			}
		}
		near(t, "upper left", none, g.Edges(), 0.25)
		near(t, "lower right", both, g.Edges(), 0.35)
	}
}

func TestRMATExtremes(t *testing.T) {
	t.Parallel()
	if g := must[*Graph](t)(RMAT(0, 100, 0.25, 0.25, 0.25, 0.25, 1)); g.Len() != 1 || g.Edges() != 0 {
		t.Errorf("one node: %d nodes, %d edges", g.Len(), g.Edges())
	}
	// All in one corner: nodes 0 and 2^scale − 1.
	if g := must[*Graph](t)(RMAT(3, 100, 0, 1, 0, 0, 1)); g.Edges() != 1 || g.Adjacency().At(0, 7) != 1 {
		t.Errorf("one corner: %d edges", g.Edges())
	}
}

func TestGeneratorsAreDeterministic(t *testing.T) {
	for name, f := range map[string]func(seed uint64) (*Graph, error){
		"stochastic block": func(seed uint64) (*Graph, error) {
			return StochasticBlock([]int{3000, 4000}, func(a, b int) float64 { return 0.001 }, seed)
		},
		"Barabási–Albert": func(seed uint64) (*Graph, error) { return BarabasiAlbert(5000, 3, seed) },
		"R-MAT":           func(seed uint64) (*Graph, error) { return RMAT(14, 100_000, 0.57, 0.19, 0.19, 0.05, seed) },
	} {
		t.Run(name, func(t *testing.T) {
			sameAtAnyProcs(t, func() *Graph { return must[*Graph](t)(f(1)) })
			if must[*Graph](t)(f(1)).Hash() == must[*Graph](t)(f(2)).Hash() {
				t.Error("the seed does not matter")
			}
		})
	}
}

func BenchmarkGenerate(b *testing.B) {
	for _, c := range []struct {
		name string
		make func() (*Graph, error)
	}{
		{"ring", func() (*Graph, error) { return Ring(1 << 20) }},
		{"grid", func() (*Graph, error) { return Grid(1<<10, 1<<10) }},
		{"stochastic-block", func() (*Graph, error) {
			return StochasticBlock([]int{1 << 19, 1 << 19}, func(a, b int) float64 { return 6e-6 }, 1)
		}},
		{"barabasi-albert", func() (*Graph, error) { return BarabasiAlbert(1<<20, 3, 1) }},
		{"r-mat", func() (*Graph, error) { return RMAT(20, 3<<20, 0.57, 0.19, 0.19, 0.05, 1) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := c.make(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestGeneratedRows: rings and grids, made row by row, are those of their lists of edges.
func TestGeneratedRows(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 12; n++ {
		for k := 1; k <= max(1, n/2); k++ {
			var e Edges
			for i := range n {
				for d := 1; d <= k; d++ {
					e.add(i, (i+d)%n)
				}
			}
			if got, want := must[*Graph](t)(RingK(n, k)), must[*Graph](t)(fromPattern(n, e)); got.Hash() != want.Hash() {
				t.Errorf("ring of %d nodes with %d neighbours on each side", n, k)
			}
			e = Edges{}
			for i := range n * k {
				if i%k < k-1 {
					e.add(i, i+1)
				}
				if i/k < n-1 {
					e.add(i, i+k)
				}
			}
			if got, want := must[*Graph](t)(Grid(n, k)), must[*Graph](t)(fromPattern(n*k, e)); got.Hash() != want.Hash() {
				t.Errorf("grid of %d × %d", n, k)
			}
		}
	}
}
