package graph

import (
	"slices"
	"testing"
)

// naiveComponents merges the sets of both ends of every edge.
func naiveComponents(g *Graph) []int {
	set := make([]int, g.Len())
	for i := range set {
		set[i] = i
	}
	for i := range set {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if a, b := set[i], set[j]; a != b {
				for k := range set {
					if set[k] == a || set[k] == b {
						set[k] = min(a, b)
					}
				}
			}
		}
	}
	return set // the smallest node of every node's component
}

func TestComponentsEqualNaive(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		n := 60
		g := randomGraph(t, n, int(2*seed), seed)
		comp, sizes := g.Components()
		first := naiveComponents(g)
		count := make([]int, len(sizes))
		firsts := make([]int, len(sizes))
		for i := n - 1; i >= 0; i-- {
			if comp[i] != comp[first[i]] {
				t.Fatalf("seed %d: nodes %d and %d are joined but not together", seed, i, first[i])
			}
			count[comp[i]]++
			firsts[comp[i]] = i
		}
		if !slices.Equal(count, sizes) {
			t.Fatalf("seed %d: sizes %v, counted %v", seed, sizes, count)
		}
		slices.Sort(first)
		if different := len(slices.Compact(first)); different != len(sizes) {
			t.Fatalf("seed %d: %d components, want %d", seed, len(sizes), different)
		}
		for c := range len(sizes) - 1 {
			if sizes[c] < sizes[c+1] || sizes[c] == sizes[c+1] && firsts[c] > firsts[c+1] {
				t.Fatalf("seed %d: components of sizes %v and first nodes %v are out of order", seed, sizes, firsts)
			}
		}
	}
}

func TestComponentsOfFew(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		g     *Graph
		comp  []int32
		sizes []int
	}{
		{build(t, 0, false), []int32{}, []int{}},
		{build(t, 1, false), []int32{0}, []int{1}},
		{build(t, 3, true, [3]float64{1, 1, 1}), []int32{0, 1, 2}, []int{1, 1, 1}},
		{build(t, 5, false, [3]float64{1, 4, 1}, [3]float64{2, 4, 1}, [3]float64{0, 3, 1}), []int32{1, 0, 0, 1, 0}, []int{3, 2}},
	} {
		comp, sizes := c.g.Components()
		if !slices.Equal(comp, c.comp) || !slices.Equal(sizes, c.sizes) {
			t.Errorf("components %v, sizes %v, want %v, %v", comp, sizes, c.comp, c.sizes)
		}
	}
}

func TestLargestComponent(t *testing.T) {
	t.Parallel()
	g := build(t, 6, true, [3]float64{5, 1, 0.5}, [3]float64{1, 3, 2}, [3]float64{3, 3, 4}, [3]float64{0, 2, 1})
	largest, nodes := g.LargestComponent()
	if want := []int{1, 3, 5}; !slices.Equal(nodes, want) {
		t.Fatalf("nodes %v, want %v", nodes, want)
	}
	if largest.Len() != 3 || largest.Edges() != 3 || largest.IDs().At(2) != "5" || largest.Adjacency().At(0, 2) != 0.5 {
		t.Errorf("%d nodes, %d edges, ids %q", largest.Len(), largest.Edges(), largest.IDs().At(2))
	}
	ring := must[*Graph](t)(Ring(5))
	if whole, nodes := ring.LargestComponent(); whole.Hash() != ring.Hash() || len(nodes) != 5 {
		t.Error("a connected graph is not its own largest component")
	}
	if none, nodes := build(t, 0, false).LargestComponent(); none.Len() != 0 || len(nodes) != 0 {
		t.Error("the empty graph has a component")
	}
}

func TestSubgraphEqualsNaive(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 300, 3000, 7) // rows both short and long enough to sort
	full := dense(g.Adjacency())
	for _, nodes := range [][]int{{}, {7}, {299, 0, 150, 3}, shuffleOf(300)[:120], shuffleOf(300)} {
		sub := must[*Graph](t)(g.Subgraph(nodes))
		if _, err := New(sub.Adjacency(), sub.IDs()); err != nil {
			t.Fatal(err)
		}
		entries := 0
		for a, i := range nodes {
			if sub.IDs().At(a) != g.IDs().At(i) {
				t.Fatalf("node %d is called %q, want %q", a, sub.IDs().At(a), g.IDs().At(i))
			}
			for b, j := range nodes {
				if got := sub.Adjacency().At(a, b); got != full.At(i, j) {
					t.Fatalf("weight %v between %d and %d, want %v", got, a, b, full.At(i, j))
				}
				if full.At(i, j) != 0 {
					entries++
				}
			}
		}
		if sub.Adjacency().NNZ() != entries {
			t.Fatalf("%d entries, want %d", sub.Adjacency().NNZ(), entries)
		}
	}
}

// shuffleOf is a fixed permutation of n nodes, n not a multiple of 7919.
func shuffleOf(n int) []int {
	p := make([]int, n)
	for i := range p {
		p[i] = i * 7919 % n
	}
	return p
}

func TestSubgraphRejects(t *testing.T) {
	t.Parallel()
	g := must[*Graph](t)(Ring(4))
	for _, c := range []struct {
		nodes []int
		says  string
	}{
		{[]int{0, 4}, "node 1 of the list is 4"},
		{[]int{-1}, "node 0 of the list is -1"},
		{[]int{2, 1, 2}, `node 2 of the list is "2", which was there already`},
	} {
		_, err := g.Subgraph(c.nodes)
		rejected(t, err, c.says)
	}
	_, err := g.Permute([]int{0, 1, 2})
	rejected(t, err, "an order of 3 nodes for a graph of 4")
	_, err = g.Permute([]int{0, 1, 2, 2})
	rejected(t, err, "there already")
}

func TestPermuteThereAndBack(t *testing.T) {
	t.Parallel()
	g := randomGraph(t, 500, 2000, 8)
	order := shuffleOf(500)
	back := make([]int, len(order))
	for k, i := range order {
		back[i] = k
	}
	there := must[*Graph](t)(g.Permute(order))
	if there.Hash() == g.Hash() {
		t.Error("the order changed nothing")
	}
	if must[*Graph](t)(there.Permute(back)).Hash() != g.Hash() {
		t.Error("there and back is another graph")
	}
}

func TestSubgraphIsDeterministic(t *testing.T) {
	g := randomGraph(t, 20_000, 100_000, 9)
	sameAtAnyProcs(t, func() *Graph { return must[*Graph](t)(g.Permute(shuffleOf(20_000))) })
}

func BenchmarkComponents(b *testing.B) {
	g := must[*Graph](b)(BarabasiAlbert(1<<20, 3, 1))
	for b.Loop() {
		g.Components()
	}
}
