package covariate

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/testkit"
)

// TestRolesOfOddGraphs: no graph leads to a panic, to an error, or to a number that is not finite.
func TestRolesOfOddGraphs(t *testing.T) {
	t.Parallel()
	ok := made(t)
	var star, dimers, loops [][2]int
	for i := 1; i < 1000; i++ {
		star = append(star, [2]int{0, i})
	}
	for i := range 3000 {
		dimers = append(dimers, [2]int{2 * i, 2*i + 1})
	}
	for i := range 50 {
		loops = append(loops, [2]int{i, i}, [2]int{i, (i*i + 1) % 50})
	}
	mixed := slices.Clone(dimers) // and a large component behind them
	large := ok(graph.BarabasiAlbert(800, 3, 1))
	for i := range large.Len() {
		cols, _ := large.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) > i {
				mixed = append(mixed, [2]int{6000 + i, 6000 + int(j)})
			}
		}
	}
	huge := []float64{1e300, 1e-300, 1, 1e150, 1e-150}
	for name, g := range map[string]*graph.Graph{
		"none":             fromEdges(t, 0, nil, nil),
		"one":              fromEdges(t, 1, nil, nil),
		"one with a loop":  fromEdges(t, 1, [][2]int{{0, 0}}, nil),
		"two":              fromEdges(t, 2, [][2]int{{0, 1}}, nil),
		"no edges":         fromEdges(t, 700, nil, nil),
		"star":             fromEdges(t, 1000, star, nil),
		"small star":       fromEdges(t, 30, star[:29], nil),
		"ring":             ok(graph.Ring(1001)),
		"small ring":       ok(graph.Ring(12)),
		"complete":         ok(graph.RingK(401, 200)),
		"many components":  fromEdges(t, 6000, dimers, nil),
		"few large, many":  fromEdges(t, 6850, mixed, nil),
		"loops":            fromEdges(t, 50, loops, nil),
		"six decades":      reweighted(t, ok(graph.BarabasiAlbert(1000, 3, 2)), 6, 1),
		"six hundred":      fromEdges(t, 6, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, huge),
		"hundreds, larger": reweighted(t, ok(graph.BarabasiAlbert(500, 3, 2)), 200, 1),
		"grid":             ok(graph.Grid(30, 31)),
	} {
		if testkit.Raced && g.Len() > 100 {
			continue // of the same code
		}
		r, err := RolesOf(context.Background(), g, RolesOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for what, x := range map[string]*mat.Dense{"numbers": r.Numbers, "A": vectors(r.Adjacency), "D^-½AD^-½": vectors(r.Normalized)} {
			if x == nil {
				continue
			}
			rows, cols := x.Dims()
			if rows != g.Len() || cols == 0 || what != "numbers" && cols > g.Len()/4 {
				t.Errorf("%s, %s: %d×%d for %d nodes", name, what, rows, cols, g.Len())
			}
			if what == "numbers" && cols != len(r.Names) {
				t.Errorf("%s: %d names for %d columns", name, len(r.Names), cols)
			}
			for _, v := range x.RawMatrix().Data {
				if math.IsNaN(v) || math.Abs(v) > 4*math.Sqrt(float64(cols)) || what == "numbers" && math.Abs(v) > 4 {
					t.Errorf("%s, %s: entry %v", name, what, v)
					break
				}
			}
		}
		for _, v := range []*Vectors{r.Adjacency, r.Normalized} {
			if v != nil && (math.IsNaN(v.Residual) || slices.ContainsFunc(v.Values, math.IsNaN)) {
				t.Errorf("%s: residual %v, values %v", name, v.Residual, v.Values)
			}
		}
	}
}

func vectors(v *Vectors) *mat.Dense {
	if v == nil {
		return nil
	}
	return v.X
}

// TestRolesOfLargeComponent: thousands of pairs of nodes do not take the place of the
// vectors of a large component.
func TestRolesOfLargeComponent(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	large := made(t)(graph.BarabasiAlbert(800, 3, 1))
	var pairs [][2]int
	for i := range large.Len() {
		cols, _ := large.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) > i {
				pairs = append(pairs, [2]int{i, int(j)})
			}
		}
	}
	n := large.Len()
	for range 1000 {
		pairs = append(pairs, [2]int{n, n + 1})
		n += 2
	}
	g := fromEdges(t, n, pairs, nil)
	r, err := RolesOf(context.Background(), g, RolesOptions{Vectors: 40})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := RolesOf(context.Background(), large, RolesOptions{Vectors: 40})
	if err != nil {
		t.Fatal(err)
	}
	if r.Normalized == nil || len(r.Normalized.Values) != len(alone.Normalized.Values) {
		t.Fatalf("%v", r.Notes)
	}
	for k, v := range r.Normalized.Values {
		if math.Abs(v-alone.Normalized.Values[k]) > 1e-6 {
			t.Errorf("singular value %d is %v, want %v", k, v, alone.Normalized.Values[k])
		}
	}
	for i := large.Len(); i < n; i++ {
		if mat.Norm(r.Normalized.X.RowView(i), 2) != 0 {
			t.Fatalf("node %d of a pair has entries", i)
		}
	}
	if !strings.Contains(strings.Join(r.Notes, "\n"), "800 nodes in large components") {
		t.Errorf("notes %q", r.Notes)
	}
}

// TestStructuralNumbers compares the columns with their definitions on a small graph: a triangle
// 0, 1, 2 with a tail 2, 3, 4 and a node 5 of its own.
func TestStructuralNumbers(t *testing.T) {
	t.Parallel()
	g := fromEdges(t, 6, [][2]int{{0, 1}, {1, 2}, {0, 2}, {2, 3}, {3, 4}}, []float64{1, 2, 1, 1, 5})
	r, err := RolesOf(context.Background(), g, RolesOptions{Vectors: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Adjacency != nil || r.Normalized != nil {
		t.Error("vectors that were not asked for")
	}
	l2, l3, none := math.Log(2), math.Log(3), math.NaN()
	half := func(a, b float64) float64 { return math.Abs(a-b) / 2 }
	m0, m2 := (l2+l3)/2, 2*l2/3+l2/3 // means over neighbours: nodes 0 and 1 see 2, 3; node 2 sees 2, 2, 2
	m3 := l3 / 2
	for name, raw := range map[string][]float64{
		"log degree":                              {l2, l2, l3, l2, 0, 0},
		"mean log degree of neighbours":           {m0, m0, m2, m3, l2, none},
		"spread of the neighbours' log degrees":   {half(l2, l3), half(l2, l3), 0, half(l3, 0), 0, none},
		"mean log degree two hops away":           {(m0 + m2) / 2, (m0 + m2) / 2, (2*m0 + m3) / 3, (m2 + l2) / 2, m3, none},
		"log of the neighbours' degrees together": {math.Log(6), math.Log(6), math.Log(7), math.Log(5), math.Log(3), 0},
		"log core number":                         {l3, l3, l3, l2, l2, 0},
		"log number of triangles":                 {l2, l2, l2, 0, 0, 0},
		"log weighted degree":                     {l2, l3, math.Log(4), math.Log(6), math.Log(5), none},
	} {
		k := slices.Index(r.Names, name)
		if k < 0 {
			t.Errorf("there is no column %q in %q", name, r.Names)
			continue
		}
		var known []float64
		for _, v := range raw {
			if !math.IsNaN(v) {
				known = append(known, v)
			}
		}
		mean, sd := stat.PopMeanStdDev(known, nil)
		for i, v := range raw {
			want := 0.0
			if !math.IsNaN(v) {
				want = (v - mean) / sd
			}
			if got := r.Numbers.At(i, k); math.Abs(got-want) > 1e-12 {
				t.Errorf("%s of node %d is %v, want %v", name, i, got, want)
			}
		}
	}
}

// TestStructuralNumbersLeftOut: what does not differ, and what is nearly another column.
func TestStructuralNumbersLeftOut(t *testing.T) {
	t.Parallel()
	r, err := RolesOf(context.Background(), made(t)(graph.Ring(50)), RolesOptions{Vectors: -1})
	if err != nil {
		t.Fatal(err)
	}
	if r.Numbers != nil || r.Names != nil {
		t.Errorf("all nodes of a ring are alike, but there is %q", r.Names)
	}
	var star [][2]int
	for i := 1; i < 40; i++ {
		star = append(star, [2]int{0, i})
	}
	r, err = RolesOf(context.Background(), fromEdges(t, 40, star, nil), RolesOptions{Vectors: -1})
	if err != nil {
		t.Fatal(err)
	}
	// In a star, only the hub differs: one column says it.
	if !slices.Equal(r.Names, []string{"log degree"}) || !strings.Contains(strings.Join(r.Notes, "\n"), "nearly the same as log degree") {
		t.Errorf("columns %q of a star; %q", r.Names, r.Notes)
	}
	if most := r.Numbers.At(0, 0); most != 4 {
		t.Errorf("the hub, %v sds above the mean, is bounded to %v", math.Sqrt(39), most)
	}
}

func TestLogDegree(t *testing.T) {
	t.Parallel()
	g := fromEdges(t, 4, [][2]int{{0, 1}, {0, 2}}, nil)
	x, spread := LogDegree(g)
	mean := math.Log(2) / 4
	want := math.Sqrt(math.Log(2)*math.Log(2)/4 - mean*mean)
	if math.Abs(spread-want) > 1e-12 || math.Abs(x[0]-(math.Log(2)-mean)/want) > 1e-12 || x[1] != x[3] {
		t.Errorf("log degrees %v, spread %v, want %v", x, spread, want)
	}
	if _, spread := LogDegree(made(t)(graph.Ring(5))); spread > 1e-9 {
		t.Errorf("spread %v of equal degrees", spread)
	}
}

func TestVectorsBySize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 0, 1: 0, 3: 0, 4: 1, 100: 25, 512: 128, 7126: 128, 50_000: 128, 100_000: 64, 1_000_000: 16,
		10_000_000: 1, 1 << 30: 0} {
		if got := VectorsBySize(n); got != want {
			t.Errorf("%d vectors for %d nodes, want %d", got, n, want)
		}
	}
}
