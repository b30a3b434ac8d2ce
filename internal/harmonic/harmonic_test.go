package harmonic

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/solve"
	"grfgp/sparse"
)

var background = context.Background()

// weighted returns the graph of some edges with random weights over so many
// decades.
func weighted(t *testing.T, n int, u, v []int, decades float64, seed uint64) *sparse.CSR {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 1))
	var e graph.Edges
	for k := range u {
		e.U, e.V = append(e.U, uint32(u[k])), append(e.V, uint32(v[k]))
		e.W = append(e.W, math.Pow(10, decades*(random.Float64()-0.5)))
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(n), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g.Adjacency()
}

// grid returns the edges of a grid.
func grid(rows, cols int) (n int, u, v []int) {
	for i := range rows * cols {
		if i%cols < cols-1 {
			u, v = append(u, i), append(v, i+1)
		}
		if i < (rows-1)*cols {
			u, v = append(u, i), append(v, i+cols)
		}
	}
	return rows * cols, u, v
}

// random returns edges that make a connected graph with hubs: node i joins so
// many of those before it.
func random(n, each int, seed uint64) (int, []int, []int) {
	var u, v []int
	r := rand.New(rand.NewPCG(seed, 2))
	for i := 1; i < n; i++ {
		for range each {
			u, v = append(u, i), append(v, int(float64(i)*math.Pow(r.Float64(), 3)))
		}
	}
	return n, u, v
}

// cliques returns so many sets of six nodes, each joined to all others of its set.
func cliques(count int) (n int, u, v []int) {
	for c := range count {
		for i := range 6 {
			for j := range i {
				u, v = append(u, 6*c+i), append(v, 6*c+j)
			}
		}
	}
	return 6 * count, u, v
}

// dense solves the same equations by a factor with pivots.
func dense(t *testing.T, weights *sparse.CSR, known []bool, value []float64, far float64) []float64 {
	t.Helper()
	n := len(known)
	a, b := mat.NewDense(n, n, nil), mat.NewDense(n, 1, nil)
	reach := slices.Clone(known)
	for range n {
		for i := range n {
			cols, _ := weights.Row(i)
			for _, j := range cols {
				reach[i] = reach[i] || reach[j]
			}
		}
	}
	for i := range n {
		if known[i] || !reach[i] {
			a.Set(i, i, 1)
			if b.Set(i, 0, far); known[i] {
				b.Set(i, 0, value[i])
			}
			continue
		}
		cols, vals := weights.Row(i)
		for p, j := range cols {
			if int(j) != i {
				a.Set(i, i, a.At(i, i)+vals[p]/vals[0])
				a.Set(i, int(j), a.At(i, int(j))-vals[p]/vals[0])
			}
		}
	}
	var x mat.Dense
	if err := x.Solve(a, b); err != nil {
		var bad mat.Condition
		if !errors.As(err, &bad) || bad > 1e13 {
			t.Fatal(err)
		}
	}
	return mat.Col(nil, 0, &x)
}

// All values are those of a dense solve, within 1e-8 of the range.
func TestExtendEqualsDense(t *testing.T) {
	t.Parallel()
	csr := func(n int, u, v []int) func(decades float64) *sparse.CSR {
		return func(decades float64) *sparse.CSR { return weighted(t, n, u, v, decades, 3) }
	}
	path := func(n int) (int, []int, []int) {
		var u, v []int
		for i := range n - 1 {
			u, v = append(u, i), append(v, i+1)
		}
		return n, u, v
	}
	for name, c := range map[string]struct {
		make    func(float64) *sparse.CSR
		decades float64
		known   int
	}{
		"path":                   {csr(path(300)), 0, 7},
		"path, one known":        {csr(path(50)), 1, 1},
		"tree":                   {csr(random(400, 1, 5)), 2, 12},
		"grid":                   {csr(grid(20, 25)), 0, 5},
		"grid, weighted":         {csr(grid(20, 25)), 4, 5},
		"grid, half known":       {csr(grid(20, 25)), 1, 250},
		"ladder":                 {csr(grid(2, 200)), 0, 3},
		"cliques apart":          {csr(cliques(350)), 1, 500},
		"hubs":                   {csr(random(600, 4, 6)), 0, 9},
		"hubs, weighted":         {csr(random(600, 3, 7)), 3, 9},
		"hubs, all known but 10": {csr(random(600, 3, 8)), 1, 590},
	} {
		t.Run(name, func(t *testing.T) {
			w := c.make(c.decades)
			n, _ := w.Dims()
			random := rand.New(rand.NewPCG(9, 9))
			known, value := make([]bool, n), make([]float64, n)
			for _, i := range random.Perm(n)[:c.known] {
				known[i], value[i] = true, 100+random.NormFloat64()
			}
			want := dense(t, w, known, value, 7)
			_, spread := span(known, value)
			if err := Extend(background, w, known, value, 7); err != nil {
				t.Fatal(err)
			}
			for i := range value {
				if math.Abs(value[i]-want[i]) > 1e-8*max(spread, 1e-3) {
					t.Fatalf("node %d: %.15g, want %.15g", i, value[i], want[i])
				}
			}
		})
	}
}

// Weights over many decades, for which a dense factor is too coarse: all values are
// those of an elimination of all nodes in their order, which subtracts nothing. That
// one agrees with a dense factor where weights are alike. Over 40 decades conjugate
// gradients give up, and the elimination takes over.
func TestExtendOverDecades(t *testing.T) {
	t.Parallel()
	n, u, v := grid(30, 30)
	for _, decades := range []float64{0, 6, 12, 40} {
		w := weighted(t, n, u, v, decades, 2)
		random := rand.New(rand.NewPCG(5, 5))
		known, value := make([]bool, n), make([]float64, n)
		for _, i := range random.Perm(n)[:n/20] {
			known[i], value[i] = true, random.NormFloat64()
		}
		want := slices.Clone(value)
		all, nodes := newElimination(w, known, value, 0).core()
		x := make([]float64, len(nodes))
		newWhole(all).solve(x, all.source)
		for k, i := range nodes {
			want[i] = x[k]
		}
		if decades == 0 {
			for i, v := range dense(t, w, known, value, 0) {
				if math.Abs(v-want[i]) > 1e-12 {
					t.Fatalf("node %d is %v by elimination, %v by a factor", i, want[i], v)
				}
			}
		}
		if err := Extend(background, w, known, value, 0); err != nil {
			t.Fatal(err)
		}
		for i := range value {
			if math.Abs(value[i]-want[i]) > 1e-8 {
				t.Errorf("%g decades: node %d is %v, want %v", decades, i, value[i], want[i])
				break
			}
		}
	}
}

// Loops change nothing, parts without a known node get the value for them, and a
// graph of known nodes stays as it is.
func TestExtendOddGraphs(t *testing.T) {
	t.Parallel()
	// 0–1–2 with a loop at 1; 3–4 apart; 5 alone.
	adj, err := sparse.NewCSR(6, 6, []int{0, 1, 4, 5, 6, 7, 7}, []uint32{1, 0, 1, 2, 1, 4, 3}, []float64{1, 1, 50, 3, 3, 1, 1})
	if err != nil {
		t.Fatal(err)
	}
	value := []float64{4, 0, 8, 0, 0, 0}
	if err := Extend(background, adj, []bool{true, false, true, false, false, false}, value, 6); err != nil ||
		!slices.Equal(value, []float64{4, 7, 8, 6, 6, 6}) {
		t.Errorf("%v, %v", value, err)
	}
	value = []float64{1, 2, 3, 4, 5, 6}
	if err := Extend(background, adj, []bool{true, true, true, true, true, true}, value, 0); err != nil ||
		!slices.Equal(value, []float64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("%v, %v", value, err)
	}
}

// Between two known nodes of a long path values lie on a line.
func TestExtendLongPath(t *testing.T) {
	t.Parallel()
	const n = 200_001
	g, err := graph.Grid(1, n)
	if err != nil {
		t.Fatal(err)
	}
	known, value := make([]bool, n), make([]float64, n)
	known[0], known[n-1], value[n-1] = true, true, 1
	if err := Extend(background, g.Adjacency(), known, value, 0); err != nil {
		t.Fatal(err)
	}
	for i, v := range value {
		if math.Abs(v-float64(i)/(n-1)) > 1e-9 {
			t.Fatalf("node %d of %d has %v", i, n, v)
		}
	}
}

// x² − y² is harmonic on a grid: given at its edge, the inside follows.
func TestExtendLargeGrid(t *testing.T) {
	t.Parallel()
	const side = 150
	g, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	want := make([]float64, side*side)
	known, value := make([]bool, side*side), make([]float64, side*side)
	for i := range want {
		x, y := i%side, i/side
		want[i] = float64(x*x - y*y)
		if x == 0 || y == 0 || x == side-1 || y == side-1 {
			known[i], value[i] = true, want[i]
		}
	}
	if err := Extend(background, g.Adjacency(), known, value, 0); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if math.Abs(value[i]-want[i]) > 1e-8*side*side {
			t.Fatalf("node %d has %v, want %v", i, value[i], want[i])
		}
	}
}

// The cycle is a symmetric preconditioner that makes the number of iterations
// small and nearly the same at any size.
func TestCycleIterations(t *testing.T) {
	t.Parallel()
	for _, side := range []int{30, 60, 120} {
		g, err := graph.Grid(side, side)
		if err != nil {
			t.Fatal(err)
		}
		known, value := make([]bool, side*side), make([]float64, side*side)
		known[side/2], known[side*side-side/3] = true, true
		e := newElimination(g.Adjacency(), known, value, 0)
		e.run()
		core, _ := e.core()
		size := len(core.ground)
		random := rand.New(rand.NewPCG(1, 1))
		pair, out := mat.NewDense(size, 2, nil), mat.NewDense(size, 2, nil)
		for i := range size {
			pair.SetRow(i, []float64{random.NormFloat64(), random.NormFloat64()})
		}
		op := newScaled(core)
		c := scaledCycle{newCycle(core), op.by}
		c.apply(out, pair)
		ab, ba := mat.Dot(out.ColView(0), pair.ColView(1)), mat.Dot(out.ColView(1), pair.ColView(0))
		if math.Abs(ab-ba) > 1e-9*mat.Norm(out.ColView(0), 2)*mat.Norm(pair.ColView(1), 2) {
			t.Errorf("side %d: not symmetric, %v and %v", side, ab, ba)
		}
		x, b := mat.NewDense(size, 1, nil), mat.NewDense(size, 1, mat.Col(nil, 0, pair))
		stats, err := solve.CG(background, x, op, make([]float64, size), b, c, solve.Options{Tol: 1e-5, MaxIter: 100})
		if err != nil || stats.Iterations > 20 {
			t.Errorf("side %d: %d iterations, %v", side, stats.Iterations, err)
		}
	}
}

// The same bytes at any number of threads.
func TestExtendDeterministic(t *testing.T) {
	n, u, v := grid(120, 130)
	w := weighted(t, n, u, v, 1, 4)
	run := func(procs int) []float64 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		known, value := make([]bool, n), make([]float64, n)
		for i := 5; i < n; i += 997 {
			known[i], value[i] = true, math.Sin(float64(i))
		}
		if err := Extend(background, w, known, value, 0); err != nil {
			t.Fatal(err)
		}
		return value
	}
	if !slices.Equal(run(1), run(3)) {
		t.Error("three threads give other bytes than one")
	}
}

// A context that has ended is an error.
func TestExtendStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(background)
	cancel()
	n, u, v := grid(30, 30)
	known, value := make([]bool, n), make([]float64, n)
	known[0], known[n-1], value[0] = true, true, 1
	if err := Extend(ctx, weighted(t, n, u, v, 0, 1), known, value, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
