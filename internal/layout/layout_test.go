package layout

import (
	"cmp"
	"math"
	"runtime"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/rng"
)

func made(t testing.TB) func(*graph.Graph, error) *graph.Graph {
	return func(g *graph.Graph, err error) *graph.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// star joins n leaves to node 0: they are alike to every search.
func star(t testing.TB, n int) *graph.Graph {
	e := graph.Edges{U: make([]uint32, n), V: make([]uint32, n)}
	for k := range n {
		e.V[k] = uint32(k + 1)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n+1), e, graph.BuildOptions{})
	return made(t)(g, err)
}

func graphs(t testing.TB) map[string]*graph.Graph {
	must := made(t)
	apart, _, err := graph.FromEdges(graph.NumberIDs(12), graph.Edges{U: []uint32{0, 1, 4, 6, 6}, V: []uint32{1, 2, 5, 7, 6}},
		graph.BuildOptions{KeepLoops: true})
	return map[string]*graph.Graph{
		"grid":   must(graph.Grid(20, 30)),
		"ring":   must(graph.Ring(200)),
		"large":  must(graph.Grid(80, 80)), // beyond refined
		"hubs":   must(graph.BarabasiAlbert(800, 2, 1)),
		"star":   star(t, 300),
		"pieces": must(apart, err),
		"three":  must(graph.Ring(3)),
	}
}

// Neighbours lie nearer than nodes do on the whole.
func TestNeighboursAreNear(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]float64{"grid": 0.12, "ring": 0.12, "large": 0.06, "hubs": 0.8} {
		g := graphs(t)[name]
		p := Of(g, 1)
		between := func(i, j int) float64 { return math.Hypot(p.X[i]-p.X[j], p.Y[i]-p.Y[j]) }
		near, edges, far := 0.0, 0, 0.0
		draw := rng.New(1, "pairs")
		for i := range g.Len() {
			cols, _ := g.Adjacency().Row(i)
			for _, j := range cols {
				near += between(i, int(j))
				edges++
			}
			far += between(i, int(draw.Float64()*float64(g.Len()))) / float64(g.Len())
		}
		if ratio := near / float64(edges) / far; ratio > want {
			t.Errorf("%s: edges are %.3f as long as the distance of any two nodes, want %.3f", name, ratio, want)
		}
	}
}

func TestPlacesDiffer(t *testing.T) {
	t.Parallel()
	for name, g := range graphs(t) {
		p := Of(g, 1)
		seen := map[[2]float64]bool{}
		for i := range p.X {
			if math.IsNaN(p.X[i]-p.X[i]) || math.IsNaN(p.Y[i]-p.Y[i]) {
				t.Fatalf("%s: node %d is at %v, %v", name, i, p.X[i], p.Y[i])
			}
			seen[[2]float64{p.X[i], p.Y[i]}] = true
		}
		if len(seen) != g.Len() {
			t.Errorf("%s: %d places for %d nodes", name, len(seen), g.Len())
		}
	}
	if p := Of(made(t)(graph.New(made(t)(graph.Ring(3)).Adjacency(), nil)), 1); len(p.X) != 3 {
		t.Errorf("%d places", len(p.X))
	}
}

func TestComponentsDoNotOverlap(t *testing.T) {
	t.Parallel()
	g := graphs(t)["pieces"]
	p := Of(g, 1)
	comp, sizes := g.Components()
	boxes := make([][4]float64, len(sizes))
	for c := range boxes {
		boxes[c] = [4]float64{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	}
	for i, c := range comp {
		b := &boxes[c]
		b[0], b[1] = min(b[0], p.X[i]), min(b[1], p.Y[i])
		b[2], b[3] = max(b[2], p.X[i]), max(b[3], p.Y[i])
	}
	for c, a := range boxes {
		for d, b := range boxes[:c] {
			if a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3] {
				t.Errorf("components %d and %d overlap: %v and %v", c, d, a, b)
			}
		}
	}
}

// A few nodes far out leave the others most of the picture, and stay in order.
func TestTame(t *testing.T) {
	t.Parallel()
	draw := rng.New(3, "tame")
	v := make([]float64, 2000)
	for k := range v {
		v[k] = draw.Float64()
	}
	copy(v, []float64{-40, -9, 12, 50})
	order := func() []int {
		all := make([]int, len(v))
		for k := range all {
			all[k] = k
		}
		slices.SortFunc(all, func(a, b int) int { return cmp.Compare(v[a], v[b]) })
		return all
	}
	before := order()
	tame(v)
	if !slices.Equal(before, order()) {
		t.Error("the order has changed")
	}
	if low, high := slices.Min(v), slices.Max(v); high-low > 4 || high-low < 1 {
		t.Errorf("from %v to %v", low, high)
	}
}

// A giant component among many small ones has most of the picture, and the picture is no strip.
func TestGiantHasItsRoom(t *testing.T) {
	t.Parallel()
	const side, pairs = 60, 900
	giant := made(t)(graph.Grid(side, side))
	var e graph.Edges
	for i := range giant.Len() {
		cols, _ := giant.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) > i {
				e.U, e.V = append(e.U, uint32(i)), append(e.V, j)
			}
		}
	}
	for k := range uint32(pairs) {
		e.U, e.V = append(e.U, side*side+2*k), append(e.V, side*side+2*k+1)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(side*side+2*pairs), e, graph.BuildOptions{})
	p := Of(made(t)(g, err), 1)
	extent := func(x, y []float64) (w, h float64) {
		lowX, highX, lowY, highY := bounds(x, y)
		return highX - lowX, highY - lowY
	}
	comp, sizes := g.Components()
	large := slices.Index(sizes, slices.Max(sizes))
	var x, y []float64
	for i, c := range comp {
		if int(c) == large {
			x, y = append(x, p.X[i]), append(y, p.Y[i])
		}
	}
	w, h := extent(x, y)
	wide, high := extent(p.X, p.Y)
	if share := w * h / (wide * high); share < 0.5 {
		t.Errorf("two of three nodes have %.2f of the picture", share)
	}
	if shape := wide / high; shape < 0.6 || shape > 2.2 {
		t.Errorf("the picture is %.2f times as wide as high", shape)
	}
}

func TestSamePlacesAtAnyNumberOfThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for name, g := range graphs(t) {
		runtime.GOMAXPROCS(1)
		one := Of(g, 7)
		runtime.GOMAXPROCS(4)
		four := Of(g, 7)
		if !slices.Equal(one.X, four.X) || !slices.Equal(one.Y, four.Y) {
			t.Errorf("%s has other places with more threads", name)
		}
	}
}

func TestGeographic(t *testing.T) {
	t.Parallel()
	p := Geographic([]float64{60, 60, 62, math.NaN()}, []float64{179, -179, 179, 0})
	if got, want := p.X[1]-p.X[0], 2*math.Cos(61*math.Pi/180); math.Abs(got-want) > 1e-9 {
		t.Errorf("two degrees across the antimeridian are %v wide, want %v", got, want)
	}
	if got := p.Y[2] - p.Y[0]; got != 2 {
		t.Errorf("two degrees of latitude are %v high", got)
	}
	if !math.IsNaN(p.Y[3]) {
		t.Errorf("no latitude became %v", p.Y[3])
	}
}

func BenchmarkOf(b *testing.B) {
	for name, g := range map[string]*graph.Graph{"refined": made(b)(graph.Grid(70, 70)), "large": made(b)(graph.Grid(300, 300))} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				Of(g, 1)
			}
		})
	}
}
