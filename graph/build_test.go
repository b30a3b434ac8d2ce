package graph

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/internal/rng"
)

func TestFromEdgesRejects(t *testing.T) {
	t.Parallel()
	ab, _ := IDsOf([]string{"a", "b"})
	one, two := []uint32{0}, []uint32{0, 1}
	for _, c := range []struct {
		name string
		e    Edges
		opts BuildOptions
		says string
	}{
		{"ends of different length", Edges{U: two, V: one}, BuildOptions{}, "different lengths 2, 1, 0"},
		{"weights of different length", Edges{U: one, V: one, W: []float64{1, 2}}, BuildOptions{}, "different lengths 1, 1, 2"},
		{"no weights but not nil", Edges{U: one, V: one, W: []float64{}}, BuildOptions{}, "different lengths 1, 1, 0"},
		{"first end unknown", Edges{U: []uint32{0, 2}, V: two}, BuildOptions{}, "edge 1 joins nodes 2 and 1 of 2"},
		{"second end unknown", Edges{U: one, V: []uint32{math.MaxUint32}}, BuildOptions{}, "edge 0 joins"},
		{"negative", Edges{U: one, V: []uint32{1}, W: []float64{-1}}, BuildOptions{}, `weight -1 between nodes "a" and "b"`},
		{"not a number", Edges{U: one, V: []uint32{1}, W: []float64{math.NaN()}}, BuildOptions{}, "weight NaN"},
		{"infinite", Edges{U: one, V: []uint32{1}, W: []float64{math.Inf(1)}}, BuildOptions{}, "weight +Inf"},
		{"sum of repeats overflows", Edges{U: two, V: []uint32{1, 0}, W: []float64{1.7e308, 1.6e308}}, BuildOptions{},
			`weights at node "a" add up`},
		{"sum of a row overflows", Edges{U: two, V: []uint32{1, 1}, W: []float64{1e308, 1e308}}, BuildOptions{KeepLoops: true},
			`weights at node "b" add up`},
		{"no such rule", Edges{}, BuildOptions{Parallel: 3}, "no rule 3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, counts, err := FromEdges(ab, c.e, c.opts)
			rejected(t, err, c.says)
			if g != nil || counts != (BuildCounts{}) {
				t.Errorf("a rejected list gave %v and %+v", g, counts)
			}
		})
	}
}

func TestFromEdgesRules(t *testing.T) {
	t.Parallel()
	loops := BuildOptions{KeepLoops: true}
	for _, c := range []struct {
		name  string
		e     Edges
		opts  BuildOptions
		want  [][3]float64 // upper triangle
		count BuildCounts
	}{
		{"nothing", Edges{}, BuildOptions{}, nil, BuildCounts{}},
		{"weights add up", Edges{U: []uint32{0, 0}, V: []uint32{1, 1}, W: []float64{0.5, 0.25}}, BuildOptions{},
			[][3]float64{{0, 1, 0.75}}, BuildCounts{Edges: 1, Repeats: 1, WeightsAdd: true}},
		{"reversed weights that differ add up", Edges{U: []uint32{0, 1}, V: []uint32{1, 0}, W: []float64{0.5, 0.25}}, BuildOptions{},
			[][3]float64{{0, 1, 0.75}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1, WeightsAdd: true}},
		{"both ways counts once", Edges{U: []uint32{0, 1}, V: []uint32{1, 0}, W: []float64{0.5, 0.5}}, BuildOptions{},
			[][3]float64{{0, 1, 0.5}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1, BothWays: true}},
		{"both ways, backward first", Edges{U: []uint32{1, 0}, V: []uint32{0, 1}, W: []float64{0.5, 0.5}}, BuildOptions{},
			[][3]float64{{0, 1, 0.5}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1, BothWays: true}},
		{"both ways, summed on request", Edges{U: []uint32{0, 1}, V: []uint32{1, 0}, W: []float64{0.5, 0.5}}, BuildOptions{Parallel: ParallelSum},
			[][3]float64{{0, 1, 1}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1, BothWays: true, WeightsAdd: true}},
		{"both ways and parallel", Edges{U: []uint32{0, 1, 0, 1}, V: []uint32{1, 0, 1, 0}, W: []float64{0.1, 0.2, 0.2, 0.1}}, BuildOptions{},
			[][3]float64{{0, 1, 0.30000000000000004}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 3, BothWays: true, WeightsAdd: true}},
		{"one pair is not both ways", Edges{U: []uint32{0, 1, 1}, V: []uint32{1, 0, 2}, W: []float64{2, 2, 2}}, BuildOptions{},
			[][3]float64{{0, 1, 4}, {1, 2, 2}}, BuildCounts{Reversed: 1, Edges: 2, Repeats: 1, WeightsAdd: true}},
		{"unweighted counts once", Edges{U: []uint32{0, 1, 0}, V: []uint32{1, 0, 1}}, BuildOptions{},
			[][3]float64{{0, 1, 1}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 2}},
		{"unweighted both ways", Edges{U: []uint32{2, 1}, V: []uint32{1, 2}}, BuildOptions{},
			[][3]float64{{1, 2, 1}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1, BothWays: true}},
		{"unweighted summed", Edges{U: []uint32{0, 1, 0}, V: []uint32{1, 0, 1}}, BuildOptions{Parallel: ParallelSum},
			[][3]float64{{0, 1, 3}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 2, WeightsAdd: true}},
		{"the first one stays", Edges{U: []uint32{1, 0}, V: []uint32{0, 1}, W: []float64{5, 7}}, BuildOptions{Parallel: ParallelOnce},
			[][3]float64{{0, 1, 5}}, BuildCounts{Reversed: 1, Edges: 1, Repeats: 1}},
		{"loops are dropped", Edges{U: []uint32{0, 1, 1}, V: []uint32{0, 1, 2}}, BuildOptions{},
			[][3]float64{{1, 2, 1}}, BuildCounts{Edges: 1, Loops: 2}},
		{"loops are kept", Edges{U: []uint32{0, 0, 1}, V: []uint32{0, 0, 2}, W: []float64{1, 2, 4}}, loops,
			[][3]float64{{0, 0, 3}, {1, 2, 4}}, BuildCounts{Edges: 2, Repeats: 1, KeptLoops: 1, WeightsAdd: true}},
		{"loops are no direction", Edges{U: []uint32{0}, V: []uint32{0}}, loops,
			[][3]float64{{0, 0, 1}}, BuildCounts{Edges: 1, KeptLoops: 1}},
		{"a dropped loop of weight zero", Edges{U: []uint32{0}, V: []uint32{0}, W: []float64{0}}, BuildOptions{},
			nil, BuildCounts{Loops: 1}},
		{"a kept loop of weight zero is none", Edges{U: []uint32{0}, V: []uint32{0}, W: []float64{0}}, loops,
			nil, BuildCounts{Zero: 1}},
		{"weight zero is no edge", Edges{U: []uint32{0, 0}, V: []uint32{1, 2}, W: []float64{0, 1}}, BuildOptions{},
			[][3]float64{{0, 2, 1}}, BuildCounts{Edges: 1, Zero: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, counts, err := FromEdges(NumberIDs(3), c.e, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			if counts != c.count {
				t.Errorf("counts %+v, want %+v", counts, c.count)
			}
			var got [][3]float64
			for i := range 3 {
				cols, vals := g.Adjacency().Row(i)
				for p, j := range cols {
					if int(j) >= i {
						got = append(got, [3]float64{float64(i), float64(j), vals[p]})
					}
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("edges %v, want %v", got, c.want)
			}
		})
	}
}

// naive builds by the rules as they are written, with a map. Weights must add up
// without rounding.
func naive(e Edges, opts BuildOptions) (map[[2]uint32]float64, BuildCounts) {
	type pair struct{ forward, back, all []float64 }
	var c BuildCounts
	pairs := map[[2]uint32]*pair{}
	total := func(w []float64) (s float64) {
		for _, x := range w {
			s += x
		}
		return s
	}
	for k, u := range e.U {
		v, w := e.V[k], 1.0
		if e.W != nil {
			w = e.W[k]
		}
		if u == v && !opts.KeepLoops {
			c.Loops++
			continue
		}
		if w == 0 {
			c.Zero++
			continue
		}
		key := [2]uint32{min(u, v), max(u, v)}
		if pairs[key] == nil {
			pairs[key] = &pair{}
			c.Edges++
			if u == v {
				c.KeptLoops++
			}
		} else {
			c.Repeats++
		}
		p := pairs[key]
		p.all = append(p.all, w)
		if u <= v {
			p.forward = append(p.forward, w)
		} else {
			p.back = append(p.back, w)
		}
	}
	one := false
	c.BothWays = true
	for key, p := range pairs {
		if key[0] != key[1] {
			one = true
			if len(p.forward) > 0 && len(p.back) > 0 {
				c.Reversed++
			}
			c.BothWays = c.BothWays && len(p.forward) == len(p.back) && total(p.forward) == total(p.back)
		}
	}
	c.BothWays = c.BothWays && one
	weights := map[[2]uint32]float64{}
	for key, p := range pairs {
		add := p.all
		switch {
		case opts.Parallel == ParallelOnce || opts.Parallel == ParallelAuto && e.W == nil:
			add = p.all[:1]
		case opts.Parallel == ParallelAuto && c.BothWays:
			add = p.forward
		}
		weights[key] = total(add)
		c.WeightsAdd = c.WeightsAdd || len(add) > 1
	}
	return weights, c
}

// someEdges is a short list with everything that the rules are about; weights
// are multiples of 1/4.
func someEdges(draw *rand.Rand) (n int, e Edges) {
	n = 1 + draw.IntN(9)
	weighted := draw.IntN(3) > 0
	add := func(u, v int, w float64) {
		e.add(u, v)
		if weighted {
			e.W = append(e.W, w)
		}
	}
	bothWays := draw.IntN(3) == 0
	for range draw.IntN(30) {
		u, v, w := draw.IntN(n), draw.IntN(n), float64(draw.IntN(5))/4
		add(u, v, w)
		if bothWays {
			add(v, u, w)
		}
	}
	return n, e
}

func TestFromEdgesEqualsNaive(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(1, "naive"))
	for range 5000 {
		n, e := someEdges(draw)
		compareWithNaive(t, n, e, BuildOptions{Parallel: Parallel(draw.IntN(3)), KeepLoops: draw.IntN(2) == 0})
	}
}

// Enough edges for several chunks, nodes for many buckets, and long rows.
func TestFromEdgesEqualsNaiveAtSize(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(2, "naive"))
	const n, m = 3000, 150_000
	for _, weighted := range []bool{false, true} {
		var e Edges
		for range m {
			// A quarter of the ends fall on few nodes: hubs.
			u := draw.IntN(n)
			if draw.IntN(4) == 0 {
				u = draw.IntN(5) * 600
			}
			e.add(u, draw.IntN(n))
			if weighted {
				e.W = append(e.W, float64(draw.IntN(9))/4)
			}
		}
		for _, rule := range []Parallel{ParallelAuto, ParallelSum, ParallelOnce} {
			compareWithNaive(t, n, e, BuildOptions{Parallel: rule, KeepLoops: true})
		}
	}
}

func compareWithNaive(t *testing.T, n int, e Edges, opts BuildOptions) {
	t.Helper()
	g, c, err := FromEdges(NumberIDs(n), e, opts)
	if err != nil {
		t.Fatal(err)
	}
	want, wantCounts := naive(e, opts)
	if c != wantCounts || c.Given() != len(e.U) {
		t.Fatalf("counts %+v of %d edges, want %+v\nedges %v, options %+v", c, len(e.U), wantCounts, short(e), opts)
	}
	if _, err := New(g.Adjacency(), g.IDs()); err != nil {
		t.Fatalf("%v\nedges %v, options %+v", err, short(e), opts)
	}
	if g.Edges() != len(want) || c.Edges != len(want) {
		t.Fatalf("%d edges, counted %d, want %d", g.Edges(), c.Edges, len(want))
	}
	for i := range n {
		cols, vals := g.Adjacency().Row(i)
		for p, j := range cols {
			if w := want[[2]uint32{min(uint32(i), j), max(uint32(i), j)}]; vals[p] != w {
				t.Fatalf("weight %v between %d and %d, want %v\nedges %v, options %+v", vals[p], i, j, w, short(e), opts)
			}
		}
	}
}

// short leaves out lists that nobody wants to read.
func short(e Edges) any {
	if len(e.U) > 100 {
		return "(many)"
	}
	return e
}

func TestFromEdgesIgnoresOrder(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(3, "order"))
	for range 200 {
		n, e := someEdges(draw)
		a, countsA, _ := FromEdges(NumberIDs(n), e, BuildOptions{})
		draw.Shuffle(len(e.U), func(i, j int) {
			e.U[i], e.U[j] = e.U[j], e.U[i]
			e.V[i], e.V[j] = e.V[j], e.V[i]
			if e.W != nil {
				e.W[i], e.W[j] = e.W[j], e.W[i]
			}
		})
		b, countsB, _ := FromEdges(NumberIDs(n), e, BuildOptions{})
		if a.Hash() != b.Hash() || countsA != countsB {
			t.Fatalf("the order of the edges matters: %v", e)
		}
	}
}

func TestFromEdgesLeavesItsInput(t *testing.T) {
	t.Parallel()
	e := randomEdges(100, 1000, true, 4)
	u, v, w := slices.Clone(e.U), slices.Clone(e.V), slices.Clone(e.W)
	if _, _, err := FromEdges(NumberIDs(100), e, BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(u, e.U) || !slices.Equal(v, e.V) || !slices.Equal(w, e.W) {
		t.Error("the given edges were changed")
	}
}

func TestFromEdgesIsDeterministic(t *testing.T) {
	// Weights that round, and repeats whose order of summation would show.
	e := randomEdges(2000, 200_000, true, 5)
	sameAtAnyProcs(t, func() *Graph {
		g, _, err := FromEdges(NumberIDs(2000), e, BuildOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return g
	})
}

func TestSortRow(t *testing.T) {
	t.Parallel()
	draw := rand.New(rng.New(6, "rows"))
	var s rowSorter
	for _, size := range []int{0, 1, 2, 3, 24, 25, 26, 100, 1000} {
		type entry struct {
			col uint32
			val float64
		}
		want := make([]entry, size)
		for p := range want {
			want[p] = entry{uint32(draw.IntN(size)) | uint32(draw.IntN(2))<<31, float64(p)}
		}
		col, val := make([]uint32, size), make([]float64, size)
		for p, e := range want {
			col[p], val[p] = e.col, e.val
		}
		alone := slices.Clone(col)
		slices.SortStableFunc(want, func(a, b entry) int { return int(a.col&^reversed) - int(b.col&^reversed) })
		s.sort(col, val)
		s.sort(alone, nil)
		for p, e := range want {
			if col[p] != e.col || val[p] != e.val || alone[p] != e.col {
				t.Fatalf("size %d: entry %d is %d %v, without values %d, want %v", size, p, col[p], val[p], alone[p], e)
			}
		}
	}
}

func TestSortRowDoesNotAllocate(t *testing.T) {
	given := make([]uint32, 500)
	for p := range given {
		given[p] = uint32(p * 7919 % 500)
	}
	col, val := make([]uint32, 500), make([]float64, 500)
	var s rowSorter
	if n := testing.AllocsPerRun(10, func() {
		copy(col, given)
		s.sort(col, val)
		copy(col, given)
		s.sort(col[:20], val[:20])
	}); n != 0 {
		t.Errorf("%v allocations a row", n)
	}
}

// The number of allocations does not grow with edges, rows or their length.
func TestFromEdgesAllocatesLittle(t *testing.T) {
	const n, m = 5000, 200_000
	e, ids := randomEdges(n, m, true, 7), NumberIDs(n)
	if allocs := testing.AllocsPerRun(2, func() {
		if _, _, err := FromEdges(ids, e, BuildOptions{}); err != nil {
			t.Fatal(err)
		}
	}); allocs > 200 {
		t.Errorf("%v allocations for %d nodes and %d edges", allocs, n, m)
	}
}

func BenchmarkFromEdges(b *testing.B) {
	const n, m = 1 << 20, 3 << 20
	ids := NumberIDs(n)
	for _, weighted := range []bool{false, true} {
		e := randomEdges(n, m, weighted, 1)
		name := "unweighted"
		if weighted {
			name = "weighted"
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := FromEdges(ids, e, BuildOptions{}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*m), "ns/edge")
		})
	}
}
