package graph

import (
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"
)

// bandwidth returns the largest distance of two neighbours in the order of the
// nodes.
func bandwidth(g *Graph) int {
	width := 0
	for i := range g.Len() {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			width = max(width, i-int(j))
		}
	}
	return width
}

func TestOrderBandwidth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		g    *Graph
		most int // what a good order reaches, times 1.1 or so
	}{
		{"path", must[*Graph](t)(Grid(1, 50)), 1},
		{"ring", must[*Graph](t)(Ring(1000)), 2},
		{"ring ±3", must[*Graph](t)(RingK(1000, 3)), 9},
		{"grid", must[*Graph](t)(Grid(30, 200)), 33},
		{"square", must[*Graph](t)(Grid(60, 60)), 66},
	} {
		mixed := shuffled(t, c.g, 1)
		if before, after := bandwidth(mixed), bandwidth(mixed.Ordered()); after > c.most {
			t.Errorf("%s: bandwidth %d, shuffled %d, want at most %d", c.name, after, before, c.most)
		}
	}
}

// Every order is a permutation, component by component, lone nodes last.
func TestOrderKeepsComponentsTogether(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		g := randomGraph(t, 200, int(20*seed), seed)
		order := g.Order()
		if !slices.Equal(slices.Sorted(slices.Values(order)), numbers(200)) {
			t.Fatalf("seed %d: not a permutation: %v", seed, order)
		}
		comp, sizes := g.Components()
		for k := 0; k < len(order); {
			c := comp[order[k]]
			for _, i := range order[k : k+sizes[c]] {
				if comp[i] != c {
					t.Fatalf("seed %d: component %d is not in one piece", seed, c)
				}
			}
			k += sizes[c]
			if k < len(order) && sizes[comp[order[k]]] > sizes[c] {
				t.Fatalf("seed %d: a component of %d nodes before one of %d", seed, sizes[c], sizes[comp[order[k]]])
			}
		}
	}
}

func numbers(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	return p
}

// A graph is ordered once, remembers the numbers that nodes had, and is the same
// whatever they were.
func TestOrdered(t *testing.T) {
	t.Parallel()
	grid := must[*Graph](t)(Grid(7, 9))
	want := grid.Ordered()
	if want.Ordered() != want {
		t.Error("an ordered graph is ordered again")
	}
	if slices.IsSorted(grid.Order()) || !slices.IsSorted(want.Order()) {
		t.Error("a grid is in order, or an ordered one is not")
	}
	if !slices.Equal(grid.InputOrder(), numbers(grid.Len())) {
		t.Errorf("a graph as given has the input order %v", grid.InputOrder())
	}
	for seed := range uint64(5) {
		mixed := shuffled(t, grid, seed)
		got := mixed.Ordered()
		if got.Hash() != want.Hash() {
			t.Errorf("seed %d: another graph", seed)
		}
		for k, i := range got.InputOrder() {
			if got.IDs().At(i) != mixed.IDs().At(k) {
				t.Fatalf("seed %d: node %d is %q, and was %q", seed, i, got.IDs().At(i), mixed.IDs().At(k))
			}
		}
	}
	if part := must[*Graph](t)(want.Subgraph([]int{5, 3, 4})); !slices.Equal(part.InputOrder(), numbers(3)) {
		t.Errorf("a part of an ordered graph has the input order %v", part.InputOrder())
	}
}

func TestOrderOfFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g    *Graph
		want []int
	}{
		{build(t, 0, false), []int{}},
		{build(t, 1, false), []int{0}},
		{build(t, 2, false, [3]float64{0, 1, 1}), []int{1, 0}},
		{build(t, 5, true, [3]float64{1, 3, 1}, [3]float64{2, 2, 1}), []int{3, 1, 0, 4, 2}},
		// A star: from a leaf to the hub to the other leaves, reversed.
		{build(t, 4, false, [3]float64{2, 0, 1}, [3]float64{2, 1, 1}, [3]float64{2, 3, 1}), []int{3, 0, 2, 1}},
	} {
		if got := c.g.Order(); !slices.Equal(got, c.want) {
			t.Errorf("order %v, want %v", got, c.want)
		}
	}
}

// A hub of 10^5 leaves, which are chained by ten.
func TestOrderOfHub(t *testing.T) {
	t.Parallel()
	const n = 100_000
	var e Edges
	for i := range n {
		e.add(n, i)
		if i%10 > 0 {
			e.add(i, i-1)
		}
	}
	g, _, err := FromEdges(NumberIDs(n+1), e, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	order := g.Order()
	if !slices.Equal(order, g.Order()) {
		t.Error("two orders of one graph")
	}
	// The hub is a neighbour of the node that the search begins with, and all
	// others are its own.
	if at := slices.Index(order, n); at < len(order)-3 {
		t.Errorf("the hub comes at %d of %d, before its leaves", at, len(order))
	}
}

// The same graph with its nodes numbered in another way is the same ordered graph;
// with other ids as well, unless nodes cannot be told apart by anything else.
func TestOrderIsCanonical(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		g := randomGraph(t, 300, 400, seed)
		want := g.Ordered().Hash()
		if mixed := shuffled(t, g, seed+1); mixed.Ordered().Hash() != want {
			t.Errorf("seed %d: nodes in another order, and another ordered graph", seed)
		}
	}
	g := must[*Graph](t)(BarabasiAlbert(2000, 4, 1)) // no two nodes look alike
	rowPtr, col, val := g.Ordered().Adjacency().Raw()
	renamed := must[*Graph](t)(New(shuffled(t, g, 2).Adjacency(), nil))
	ptr, c, v := renamed.Ordered().Adjacency().Raw()
	if !slices.Equal(ptr, rowPtr) || !slices.Equal(c, col) || !slices.Equal(v, val) {
		t.Error("other ids, and another ordered graph")
	}
}

func TestCompareIDs(t *testing.T) {
	t.Parallel()
	want := []string{"0", "7", "10", "123", "007", "a", "a1", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, func(a, b string) int { return compareIDs([]byte(a), []byte(b)) })
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Weights of repeated edges are added up to the same bits in any order.
func TestRepeatsInAnyOrder(t *testing.T) {
	t.Parallel()
	weights := []float64{0.1, 0.2, 0.3, 1e-9, 7}
	sum := func(weights []float64) float64 {
		e := newEdges(len(weights))
		for range weights {
			e.add(0, 1)
		}
		e.W = weights
		g, _, err := FromEdges(NumberIDs(2), e, BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		_, vals := g.Adjacency().Row(0)
		return vals[0]
	}
	want := sum(slices.Clone(weights))
	slices.Reverse(weights)
	if got := sum(weights); got != want {
		t.Errorf("%v one way and %v the other", want, got)
	}
}

func TestOrderIsDeterministic(t *testing.T) {
	g := must[*Graph](t)(BarabasiAlbert(5000, 3, 1))
	sameAtAnyProcs(t, func() *Graph { return g.Ordered() })
}

func BenchmarkOrder(b *testing.B) {
	for _, c := range []struct {
		name string
		g    *Graph
	}{
		{"grid", must[*Graph](b)(Grid(1<<10, 1<<10))},
		{"barabasi-albert", must[*Graph](b)(BarabasiAlbert(1<<20, 3, 1))},
	} {
		g := shuffled(b, c.g, 1)
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				g.Order()
			}
		})
		b.Run(c.name+"/permute", func(b *testing.B) {
			order := g.Order()
			for b.Loop() {
				if _, err := g.Permute(order); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkProductByOrder times products with 16 right-hand sides over a grid,
// shuffled and then ordered, within one run.
func BenchmarkProductByOrder(b *testing.B) {
	grid := shuffled(b, must[*Graph](b)(Grid(1000, 1000)), 1)
	good := grid.Ordered()
	x, y := mat.NewDense(grid.Len(), 16, nil), mat.NewDense(grid.Len(), 16, nil)
	for i := range grid.Len() {
		x.Set(i, 0, 1) // or all rows would be one page of zeros
	}
	product := func(g *Graph) time.Duration {
		start := time.Now()
		g.Adjacency().Mul(y, x)
		return time.Since(start)
	}
	var slow, fast time.Duration
	for b.Loop() {
		slow += product(grid)
		fast += product(good)
	}
	entries := float64(b.N * grid.Adjacency().NNZ())
	b.ReportMetric(float64(slow.Nanoseconds())/entries, "shuffled-ns/entry")
	b.ReportMetric(float64(fast.Nanoseconds())/entries, "ordered-ns/entry")
	b.ReportMetric(float64(slow)/float64(fast), "speed-up")
	b.ReportMetric(float64(bandwidth(grid)), "shuffled-bandwidth")
	b.ReportMetric(float64(bandwidth(good)), "ordered-bandwidth")
}
