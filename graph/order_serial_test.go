package graph

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"testing"

	"grfgp/internal/parallel"
	"grfgp/internal/testkit"
)

// serialOrder is Order by the definition, node by node: reverse Cuthill–McKee of every
// component from a node at its end.
func serialOrder(g *Graph) []int {
	s := serialOrdering{NewSearch(g), g.Degrees(), g.colours()}
	comp, sizes := serialComponents(g)
	first := make([]int, len(sizes))
	for c := range first {
		first[c] = -1
	}
	for i, c := range comp {
		if r := first[c]; r < 0 || s.compare(uint32(i), uint32(r)) < 0 {
			first[c] = i
		}
	}
	all := numbers(len(sizes))
	slices.SortFunc(all, func(a, b int) int {
		return cmp.Or(sizes[b]-sizes[a], s.compare(uint32(first[a]), uint32(first[b])))
	})
	var order []int
	for _, c := range all {
		root := first[c]
		if sizes[c] > 2 {
			root = s.peripheral(root)
		}
		for _, i := range slices.Backward(s.cuthillMcKee(root)) {
			order = append(order, int(i))
		}
	}
	return order
}

type serialOrdering struct {
	*Search
	degree []int
	colour []uint64
}

func (s *serialOrdering) compare(i, j uint32) int {
	return cmp.Or(cmp.Compare(s.degree[i], s.degree[j]), cmp.Compare(s.colour[i], s.colour[j]),
		compareIDs([]byte(s.g.ids.At(int(i))), []byte(s.g.ids.At(int(j)))))
}

func (s *serialOrdering) levels(root int) (depth, last int) {
	for i, hops := range s.From(root) {
		if hops > depth || i == root || s.compare(uint32(i), uint32(last)) < 0 {
			depth, last = hops, i
		}
	}
	return depth, last
}

func (s *serialOrdering) peripheral(root int) int {
	depth, last := s.levels(root)
	for range 4 {
		d, l := s.levels(last)
		if d <= depth {
			break
		}
		depth, last = d, l
	}
	return last
}

func (s *serialOrdering) cuthillMcKee(root int) []uint32 {
	s.begin(root)
	for head := 0; head < len(s.queue); head++ {
		cols, _ := s.g.adj.Row(int(s.queue[head]))
		fresh := len(s.queue)
		for _, j := range cols {
			s.meet(j)
		}
		slices.SortFunc(s.queue[fresh:], s.compare)
	}
	return s.queue
}

// serialComponents numbers components by size, then by smallest node.
func serialComponents(g *Graph) (comp []int32, sizes []int) {
	comp = make([]int32, g.Len())
	for i := range comp {
		comp[i] = -1
	}
	search := NewSearch(g)
	for root := range comp {
		if comp[root] < 0 {
			size := 0
			for i := range search.From(root) {
				comp[i] = int32(len(sizes))
				size++
			}
			sizes = append(sizes, size)
		}
	}
	bySize := numbers(len(sizes))
	slices.SortStableFunc(bySize, func(a, b int) int { return sizes[b] - sizes[a] })
	rank, sorted := make([]int32, len(sizes)), make([]int, len(sizes))
	for r, c := range bySize {
		rank[c], sorted[r] = int32(r), sizes[c]
	}
	for i := range comp {
		comp[i] = rank[comp[i]]
	}
	return comp, sorted
}

// orderCases are graphs of every shape that matters for a search in levels: wide and
// narrow levels, hubs, lone nodes, many small components, self loops.
func orderCases(t testing.TB) map[string]*Graph {
	t.Helper()
	cases := map[string]*Graph{
		"ring":       must[*Graph](t)(Ring(5000)),
		"grid":       must[*Graph](t)(Grid(70, 90)),
		"hubs":       must[*Graph](t)(BarabasiAlbert(20_000, 3, 1)),
		"blocks":     must[*Graph](t)(StochasticBlock([]int{4000, 6000, 10}, func(a, b int) float64 { return 4e-4 }, 3)),
		"sparse":     randomGraph(t, 20_000, 9_000, 7), // thousands of components
		"components": randomGraph(t, 30_000, 40_000, 9),
		"nothing":    build(t, 9000, false),
		"loops":      build(t, 6, true, [3]float64{0, 0, 1}, [3]float64{0, 1, 1}, [3]float64{1, 2, 1}, [3]float64{3, 3, 2}),
	}
	var star Edges // with more leaves than are sorted as one
	for i := range 80_000 {
		star.add(80_000, i)
	}
	g, _, err := FromEdges(NumberIDs(80_001), star, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	cases["star"] = g
	for name, g := range cases {
		cases[name] = shuffled(t, g, 5)
	}
	return cases
}

// TestOrderIsCuthillMcKee: whatever the number of threads and the width from which levels are
// shared between them, the order is that of a search node by node.
func TestOrderIsCuthillMcKee(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for name, g := range orderCases(t) {
		want := serialOrder(g)
		comp, sizes := serialComponents(g)
		for _, procs := range testkit.FewIfRaced(1, []int{5, 1, 2}) {
			runtime.GOMAXPROCS(procs)
			if got := g.Order(); !slices.Equal(got, want) {
				t.Errorf("%s: another order with %d threads", name, procs)
			}
			c, z := g.Components()
			if !slices.Equal(c, comp) || !slices.Equal(z, sizes) {
				t.Errorf("%s: other components with %d threads", name, procs)
			}
		}
		_, sizes = g.Components()
		for _, wide := range testkit.FewIfRaced(1, []int{3, 1, math.MaxInt}) {
			s := newOrdering(g)
			s.team = parallel.NewTeam()
			defer s.team.Close()
			queue := make([]uint32, sizes[0])
			root := s.first(comp, len(sizes))[0]
			s.component(int(root), queue, wide)
			for k, i := range queue {
				if int(i) != want[k] && sizes[0] > 1 {
					t.Fatalf("%s: levels of %d nodes side by side: place %d is node %d, want %d", name, wide, k, i, want[k])
				}
			}
		}
	}
}
