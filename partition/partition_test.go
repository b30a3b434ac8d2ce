package partition

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/walk"
)

// bottleneck returns the smallest largest sum over contiguous ranges, by trying all cuts.
func bottleneck(work []float64, ranks int) float64 {
	total := 0.0
	for _, w := range work {
		total += w
	}
	if ranks == 1 || len(work) == 0 {
		return total
	}
	best, sum := total, 0.0
	for k, w := range work {
		sum += w
		best = min(best, max(sum, bottleneck(work[k+1:], ranks-1)))
	}
	return best
}

// TestSplit: ranges cover all nodes in order, with cuts between blocks, and no other cuts have a smaller
// largest work.
func TestSplit(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(1, "split"))
	for round := range 300 {
		blocks, ranks := draw.IntN(9), 1+draw.IntN(5)
		n := max(0, blocks*BlockRows-draw.IntN(BlockRows))
		work := make([]float64, blocks)
		for b := range work {
			work[b] = float64(draw.IntN(10))
		}
		ranges, err := Split(n, ranks, work)
		if err != nil || len(ranges) != ranks {
			t.Fatalf("round %d: %d ranges, %v", round, len(ranges), err)
		}
		at, most := 0, 0.0
		for _, r := range ranges {
			if r.Lo != at || r.Hi < r.Lo || r.Hi != n && r.Hi%BlockRows != 0 {
				t.Fatalf("round %d: range %v after %d", round, r, at)
			}
			sum := 0.0
			for b := (r.Lo + BlockRows - 1) / BlockRows; b*BlockRows < r.Hi; b++ {
				sum += work[b]
			}
			at, most = r.Hi, max(most, sum)
		}
		if want := bottleneck(work, ranks); at != n || most > want+1e-6 {
			t.Fatalf("round %d: the largest work is %v, want %v; %d of %d nodes", round, most, want, at, n)
		}
	}
	if _, err := Split(10, 0, []float64{1}); err == nil {
		t.Error("no ranks, and no error")
	}
	if _, err := Split(10, 1, []float64{math.NaN()}); err == nil {
		t.Error("work that is not a number, and no error")
	}
}

// cases are ordered graphs of some thousand nodes: a grid, a ring, hubs, unequal weights, lone nodes.
func cases(t testing.TB) map[string]*graph.Graph {
	t.Helper()
	must := func(g *graph.Graph, err error) *graph.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g.Ordered()
	}
	draw := rand.New(rng.New(2, "weights"))
	var e graph.Edges
	for range 9000 {
		e.U, e.V, e.W = append(e.U, uint32(draw.IntN(3000))), append(e.V, uint32(draw.IntN(3500))), append(e.W, draw.ExpFloat64())
	}
	weighted, _, err := graph.FromEdges(graph.NumberIDs(4000), e, graph.BuildOptions{KeepLoops: true})
	return map[string]*graph.Graph{
		"grid":  must(graph.Grid(60, 90)),
		"ring":  must(graph.Ring(5000)),
		"hubs":  must(graph.BarabasiAlbert(4000, 3, 1)),
		"mixed": must(weighted, err), // with self loops and 500 lone nodes
		"one":   must(graph.Grid(1, 1)),
	}
}

func options() walk.Options {
	opts := walk.Default()
	opts.MaxLen, opts.Walks, opts.Budget = 4, 20, 40
	return opts
}

// whole samples the features of all nodes.
func whole(t testing.TB, g *graph.Graph) *walk.Features {
	t.Helper()
	opts := options()
	opts.Scale = g.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(t.Context(), g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFeaturesOfShares: features that a process samples from its part of the graph are those of the whole
// graph, to the last bit.
func TestFeaturesOfShares(t *testing.T) {
	t.Parallel()
	for name, g := range cases(t) {
		want := whole(t, g)
		for _, ranks := range testkit.FewIfRaced(1, []int{3, 1, 2, 7}) {
			ranges, err := Split(g.Len(), ranks, evenWork(g.Len()))
			if err != nil {
				t.Fatal(err)
			}
			facts, err := Facts(g, ranges)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range ranges {
				got, err := Features(t.Context(), g, options(), r, facts)
				if err != nil {
					t.Fatal(err)
				}
				for i := r.Lo; i < r.Hi; i++ {
					same := slices.EqualFunc(slices.Collect(got.Row(i)), slices.Collect(want.Row(i)), func(a, b walk.Entry) bool {
						return a.Node == b.Node && slices.Equal(a.Lengths, b.Lengths) && slices.Equal(a.Values, b.Values)
					})
					if !same || got.ExactTo(i) != want.ExactTo(i) {
						t.Fatalf("%s, %d ranks: the row of node %d differs", name, ranks, i)
					}
				}
			}
		}
	}
}

// TestPlan: rims, what is lent and entries are those that the features of all nodes have.
func TestPlan(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for name, g := range cases(t) {
		f := whole(t, g)
		for _, ranks := range []int{1, 2, 4, 6} {
			p, err := New(t.Context(), g, options(), ranks)
			if err != nil {
				t.Fatal(err)
			}
			owner := func(i int) int {
				return slices.IndexFunc(p.Shares, func(s Share) bool { return i >= s.Lo && i < s.Hi })
			}
			lent, entries, estimated := make([]int, ranks), 0, 0.0
			for r, s := range p.Shares {
				needs := map[int]bool{}
				for i := s.Lo; i < s.Hi; i++ {
					for e := range f.Row(i) {
						entries++
						if e.Node < s.Lo || e.Node >= s.Hi {
							needs[e.Node] = true
						}
					}
				}
				estimated += s.Entries
				by := make([]int, ranks)
				for i := range needs {
					by[owner(i)]++
					lent[owner(i)]++
				}
				if len(needs) != s.Rim {
					t.Errorf("%s, %d ranks: the rim of %v has %d nodes, want %d", name, ranks, s.Range, s.Rim, len(needs))
				}
				for _, o := range s.Owners {
					by[o.Rank] -= o.Nodes
				}
				if slices.Max(by) != 0 || slices.Min(by) != 0 {
					t.Errorf("%s, %d ranks: owners of the rim of rank %d: %v", name, ranks, r, s.Owners)
				}
			}
			for r, s := range p.Shares {
				if s.Lent != lent[r] || s.Exchange != 16*int64(s.Rim+s.Lent) {
					t.Errorf("%s, %d ranks: rank %d lends %d values, want %d", name, ranks, r, s.Lent, lent[r])
				}
			}
			// One row of 1,024 is looked at: graphs whose rows are alike are estimated well.
			if name == "ring" && estimated != float64(entries) {
				t.Errorf("ring, %d ranks: %v entries, want %d", ranks, estimated, entries)
			}
		}
	}
}

// TestPlanOver: ranks that plan together get the plan that one process makes.
func TestPlanOver(t *testing.T) {
	t.Parallel()
	for name, g := range cases(t) {
		for _, size := range []int{1, 2, 5} {
			want, err := New(t.Context(), g, options(), size)
			if err != nil {
				t.Fatal(err)
			}
			if err := ranks.Together(t.Context(), size, func(ctx context.Context, group *ranks.Group) error {
				got, err := NewOver(ctx, group, g, options())
				if err == nil && !reflect.DeepEqual(got, want) {
					t.Errorf("%s, %d ranks: rank %d has another plan", name, size, group.Rank())
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
