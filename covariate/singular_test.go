package covariate

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/graph"
	"grfgp/internal/eigen"
	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// made returns a generated graph.
func made(t testing.TB) func(*graph.Graph, error) *graph.Graph {
	t.Helper()
	return func(g *graph.Graph, err error) *graph.Graph {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
}

// fromEdges returns the graph of n nodes with the given edges, loops included; nil
// weights are ones.
func fromEdges(t testing.TB, n int, pairs [][2]int, weights []float64) *graph.Graph {
	t.Helper()
	e := graph.Edges{W: weights}
	for _, p := range pairs {
		e.U, e.V = append(e.U, uint32(p[0])), append(e.V, uint32(p[1]))
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{KeepLoops: true})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// reweighted gives the edges of g weights over the given number of decades.
func reweighted(t testing.TB, g *graph.Graph, decades float64, seed uint64) *graph.Graph {
	t.Helper()
	random := rand.New(rng.New(seed, "weights"))
	var pairs [][2]int
	var weights []float64
	for i := range g.Len() {
		cols, _ := g.Adjacency().Row(i)
		for _, j := range cols {
			if int(j) > i {
				pairs, weights = append(pairs, [2]int{i, int(j)}), append(weights, math.Pow(10, decades*random.Float64()))
			}
		}
	}
	return fromEdges(t, g.Len(), pairs, weights)
}

// renumbered gives the nodes of g other numbers: node i of the result is order[i] of g.
func renumbered(t testing.TB, g *graph.Graph, seed uint64) (h *graph.Graph, order []int) {
	t.Helper()
	order = rand.New(rng.New(seed, "numbers")).Perm(g.Len())
	place := make([]int, g.Len())
	for i, old := range order {
		place[old] = i
	}
	var pairs [][2]int
	var weights []float64
	for i := range g.Len() {
		cols, vals := g.Adjacency().Row(i)
		for p, j := range cols {
			if int(j) >= i {
				pairs, weights = append(pairs, [2]int{place[i], place[j]}), append(weights, vals[p])
			}
		}
	}
	return fromEdges(t, g.Len(), pairs, weights), order
}

// exact decomposes a by gonum, falling by magnitude.
func exact(t testing.TB, a *sparse.CSR) (values []float64, u *mat.Dense) {
	t.Helper()
	n, _ := a.Dims()
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		cols, vals := a.Row(i)
		for p, j := range cols {
			sym.SetSym(i, int(j), vals[p])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sym, true) {
		t.Fatal("gonum does not converge")
	}
	var all mat.Dense
	e.VectorsTo(&all)
	values = e.Values(nil)
	unordered := slices.Clone(values)
	slices.SortFunc(values, eigen.Magnitude)
	u = mat.NewDense(n, n, nil)
	for to, v := range values { // equal ones are in the same order
		from := slices.Index(unordered, v)
		unordered[from] = math.NaN()
		u.SetCol(to, mat.Col(nil, from, &all))
	}
	return values, u
}

// outside returns how far the span of the first m columns of v is from that of u, which
// are orthonormal: the sine of the largest angle between them.
func outside(u, v *mat.Dense, m int) float64 {
	n, _ := u.Dims()
	q, x := u.Slice(0, n, 0, m), v.Slice(0, n, 0, m)
	var c, part, left mat.Dense
	c.Mul(q.T(), x)
	part.Mul(q, &c)
	left.Sub(x, &part)
	return mat.Norm(&left, 2)
}

// TestLeadingPairs compares the block method with a dense decomposition: singular values,
// and the space spanned by vectors at the widest gaps. Spans are compared, as single
// vectors of equal singular values are arbitrary.
func TestLeadingPairs(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ok := made(t)
	preferential := ok(graph.BarabasiAlbert(340, 3, 1))
	for _, c := range []struct {
		name string
		g    *graph.Graph
		want int
		tol  float64 // of the span
	}{
		{"preferential", preferential, 40, 1e-2},
		{"one vector", preferential, 1, 1e-2},
		{"weighted", reweighted(t, preferential, 1, 2), 40, 1e-2},
		{"six decades", reweighted(t, preferential, 6, 3), 40, 1e-2},
		{"ring: all values twice or more", ok(graph.Ring(340)), 30, 0.1}, // gaps of 1e-3
		{"grid", ok(graph.Grid(17, 20)), 30, 2e-2},
		{"blocks", ok(graph.StochasticBlock([]int{110, 110, 110}, func(a, b int) float64 {
			if a == b {
				return 0.2
			}
			return 0.01
		}, 4)), 40, 1e-2},
	} {
		for name, a := range map[string]*sparse.CSR{"A": c.g.Adjacency(), "D^-½AD^-½": c.g.Normalized(graph.NormalizedAdjacency)} {
			p, err := leadingPairs(context.Background(), a, c.g.Nodes(), c.want)
			if err != nil || p == nil {
				t.Fatal(c.name, name, err)
			}
			values, u := exact(t, a)
			for k := range c.want {
				// By Weyl, |θ| never exceeds the exact value; unconverged ones are lower.
				if d := math.Abs(values[k]) - math.Abs(p.values[k]); d > 5e-3*math.Abs(values[0]) || d < -1e-9*math.Abs(values[0]) {
					t.Errorf("%s, %s: singular value %d is %v, want %v", c.name, name, k, p.values[k], values[k])
				}
			}
			m, widest := 0, 0.0
			for k := 1; k <= c.want; k++ {
				if gap := math.Abs(values[k-1]) - math.Abs(values[k]); gap >= widest {
					m, widest = k, gap
				}
			}
			if d := outside(u, p.v, m); d > c.tol {
				t.Errorf("%s, %s: the first %d vectors are %.2g outside their span", c.name, name, m, d)
			}
			if n, w := p.v.Dims(); w > 0 {
				var gram mat.Dense
				gram.Mul(p.v.T(), p.v)
				for i := range w {
					gram.Set(i, i, gram.At(i, i)-1)
				}
				if e := mat.Norm(&gram, 2); e > 1e-12 {
					t.Errorf("%s, %s: %d vectors of %d nodes are %.2g from orthonormal", c.name, name, w, n, e)
				}
			}
		}
	}
}

// TestLowRank: where a has fewer singular values than are wanted, all are found.
func TestLowRank(t *testing.T) {
	t.Parallel()
	var star [][2]int
	for leaf := 1; leaf < 500; leaf++ {
		star = append(star, [2]int{0, leaf})
	}
	var bipartite [][2]int
	for i := range 3 {
		for j := 3; j < 403; j++ {
			bipartite = append(bipartite, [2]int{i, j})
		}
	}
	for name, c := range map[string]struct {
		g    *graph.Graph
		want []float64
	}{
		"star":               {fromEdges(t, 500, star, nil), []float64{math.Sqrt(499), -math.Sqrt(499)}},
		"complete bipartite": {fromEdges(t, 403, bipartite, nil), []float64{math.Sqrt(1200), -math.Sqrt(1200)}},
	} {
		v, err := singularVectors(context.Background(), c.g.Adjacency(), c.g.Nodes(), 50)
		if err != nil || v == nil {
			t.Fatal(name, v, err)
		}
		slices.SortFunc(v.Values, func(a, b float64) int { return int(b - a) })
		if len(v.Values) != 2 || math.Abs(v.Values[0]-c.want[0]) > 1e-9 || math.Abs(v.Values[1]-c.want[1]) > 1e-9 {
			t.Errorf("%s: singular values %v, want %v", name, v.Values, c.want)
		}
		if v.Group[0] != v.Group[1] {
			t.Errorf("%s: equal singular values are not a group: %v", name, v.Group)
		}
	}
}

// TestGroups: vectors of equal singular values are taken or left out together.
func TestGroups(t *testing.T) {
	t.Parallel()
	p := &pairs{values: []float64{3, -2, 2, 1, 1, 1, 0.5}, residuals: make([]float64, 7)}
	for want, left := range []int{0, 1, 1, 3, 3, 3, 6, 7} {
		q := *p
		if q.take(want); len(q.kept) != left {
			t.Errorf("%d wanted: %d taken, not %d", want, len(q.kept), left)
		}
	}
	zero := &pairs{values: []float64{1, 1e-12}, residuals: make([]float64, 2)}
	if zero.take(2); len(zero.kept) != 1 {
		t.Errorf("a singular value of zero is taken: %v", zero.kept)
	}
	unfinished := &pairs{values: []float64{4, 3, 2, 1}, residuals: []float64{0, 0.2, 0.01, math.NaN()}}
	if unfinished.take(4); !slices.Equal(unfinished.kept, []int{0, 2}) {
		t.Errorf("vectors that have not converged are taken: %v", unfinished.kept)
	}
}

// TestScaled: columns have mean 0 and sd 1/√k, large entries are bounded, nodes outside have zeros, and a
// rotation within a group rotates the result and nothing else.
func TestScaled(t *testing.T) {
	t.Parallel()
	random := rand.New(rng.New(5, "scaled"))
	const n, inside = 400, 380
	v := mat.NewDense(n, 3, nil)
	var nodes []int
	for i := range inside {
		nodes = append(nodes, i)
		for c := range 3 {
			v.Set(i, c, random.NormFloat64()/math.Sqrt(inside)/100)
		}
	}
	v.Set(7, 0, 0.9)
	v.Set(9, 1, -0.7)
	v.Set(9, 2, 0.7)
	s, c := math.Sincos(1)
	turned := mat.NewDense(n, 3, nil)
	turned.Mul(v, mat.NewDense(3, 3, []float64{-1, 0, 0, 0, c, s, 0, -s, c}))
	values := []float64{2, 1, -1}
	scaled := func(v *mat.Dense) *Vectors {
		p := &pairs{values: values, v: v, residuals: make([]float64, 3)}
		p.take(3)
		return p.scaled(nodes)
	}
	a, b := scaled(v), scaled(turned)
	if !slices.Equal(a.Group, []int{0, 1, 1}) {
		t.Fatalf("groups %v", a.Group)
	}
	if math.Abs(a.X.At(7, 0)-4) > 1e-12 {
		t.Errorf("an entry of %v is bounded to %v, want 4", 0.9*math.Sqrt(inside), a.X.At(7, 0))
	}
	weight := 1 / math.Sqrt(2.5) // of places 2 and 3
	if r := math.Hypot(a.X.At(9, 1), a.X.At(9, 2)); math.Abs(r-4*math.Sqrt2*weight) > 1e-12 {
		t.Errorf("the norm in a group of two is bounded to %v, want %v", r, 4*math.Sqrt2*weight)
	}
	for i := range n {
		x, y := a.X.RawRowView(i), b.X.RawRowView(i)
		if x[0] != -y[0] || math.Abs(x[1]*c-x[2]*s-y[1]) > 1e-12 || math.Abs(x[1]*s+x[2]*c-y[2]) > 1e-12 {
			t.Fatalf("node %d: %v becomes %v under a rotation", i, x, y)
		}
		if i >= inside && (x[0] != 0 || x[1] != 0 || x[2] != 0) {
			t.Fatalf("node %d is outside and has %v", i, x)
		}
	}
}

// TestCompressed compares a column without large entries with its definition.
func TestCompressed(t *testing.T) {
	t.Parallel()
	v := mat.NewDense(4, 2, []float64{0.1, 0.5, -0.5, 0.5, 0.5, -0.5, 0.7, -0.5})
	p := &pairs{values: []float64{3, 2}, v: v, residuals: make([]float64, 2)}
	p.take(2)
	got := p.scaled([]int{0, 1, 2, 3})
	for c, weight := range []float64{1, 1 / math.Sqrt2} {
		var want []float64
		for i := range 4 {
			u := 2 * v.At(i, c)
			want = append(want, math.Copysign(math.Log(1+math.Abs(u)/0.3), u))
		}
		mean, sd := stat.PopMeanStdDev(want, nil)
		for i, w := range want {
			if math.Abs(got.X.At(i, c)-weight*(w-mean)/sd) > 1e-12 {
				t.Errorf("column %d, node %d: %v, want %v", c, i, got.X.At(i, c), weight*(w-mean)/sd)
			}
		}
	}
	same := &pairs{values: []float64{3}, v: mat.NewDense(4, 1, []float64{0.5, 0.5, 0.5, 0.5}), residuals: make([]float64, 1)}
	same.take(1)
	if x := same.scaled([]int{0, 1, 2, 3}).X; mat.Norm(x, 2) != 0 {
		t.Errorf("a constant vector becomes %v", mat.Formatted(x))
	}
}

// TestSingularVectorsThreads: the same bits on one processor and on several.
func TestSingularVectorsThreads(t *testing.T) { // sets the number of threads, so runs alone
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	g := made(t)(graph.BarabasiAlbert(6000, 4, 1))
	want, err := singularVectors(context.Background(), g.Adjacency(), g.Nodes(), 40)
	if err != nil {
		t.Fatal(err)
	}
	for _, procs := range testkit.FewIfRaced(1, []int{5, 2}) {
		runtime.GOMAXPROCS(procs)
		got, err := singularVectors(context.Background(), g.Adjacency(), g.Nodes(), 40)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Values, want.Values) || !slices.Equal(got.X.RawMatrix().Data, want.X.RawMatrix().Data) {
			t.Errorf("singular vectors on %d processors differ from those on one", procs)
		}
	}
}

// TestSingularVectorsRenumbered: another numbering of the nodes, which changes the start
// as well, changes the span of the leading vectors by little.
func TestSingularVectorsRenumbered(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g := made(t)(graph.BarabasiAlbert(2000, 4, 3))
	h, order := renumbered(t, g, 1)
	const want, compared = 64, 24
	a, err := leadingPairs(context.Background(), g.Adjacency(), g.Nodes(), want)
	if err != nil {
		t.Fatal(err)
	}
	b, err := leadingPairs(context.Background(), h.Adjacency(), h.Nodes(), want)
	if err != nil {
		t.Fatal(err)
	}
	back := mat.NewDense(g.Len(), compared, nil)
	for i, old := range order {
		back.SetRow(old, b.v.RawRowView(i)[:compared])
	}
	if d := outside(a.v, back, compared); d > 1e-3 {
		t.Errorf("the span of %d vectors moves by %.2g under another numbering; singular values %v", compared, d, a.values[:compared+1])
	}
}

func TestSingularVectorsCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	g := made(t)(graph.BarabasiAlbert(1000, 4, 3))
	if _, err := singularVectors(ctx, g.Adjacency(), g.Nodes(), 10); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

// BenchmarkRoles is on a graph of the size of the English streamers.
func BenchmarkRoles(b *testing.B) {
	g := made(b)(graph.BarabasiAlbert(7126, 5, 1)).Ordered()
	for b.Loop() {
		r, err := RolesOf(context.Background(), g, RolesOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(max(r.Adjacency.Residual, r.Normalized.Residual), "residual")
	}
}
