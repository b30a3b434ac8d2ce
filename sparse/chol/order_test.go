package chol

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"grfgp/internal/rng"
	"grfgp/internal/testkit"
	"grfgp/sparse"
)

// TestThreads: order, factor, solutions, inverse and log-determinant are the same bytes at any number of threads.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := 200 * 260
	r := rand.New(rng.New(1, "threads"))
	for name, edges := range map[string][]edge{
		"grid":     gridEdges(200, 260),
		"shuffled": shuffled(gridEdges(200, 260), n, r),
		"parts":    append(gridEdges(100, 200), shift(gridEdges(130, 200), 20000)...),
	} {
		q := matrix(n, edges, 0.01, 1)
		other := q.Scaled(2)
		var first [][]float64
		for _, threads := range testkit.FewIfRaced(2, []int{1, 3, 2, 4}) {
			runtime.GOMAXPROCS(threads)
			a := must(Analyze(q))
			if threads == 3 && len(a.plan().subtrees) < 3 {
				t.Fatalf("%s: %d subtrees for %d threads", name, len(a.plan().subtrees), threads)
			}
			f := must(a.Factor(t.Context(), other))
			if err := f.Refactor(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			x, y := block(n, 1, 1), block(n, 5, 2)
			f.Solve(x, x)
			f.Solve(y, y)
			_, _, inverse := must(f.Inverse(t.Context())).Raw()
			diag := must(f.InverseDiag(t.Context()))
			nodes := make([]float64, n)
			for k, v := range a.order {
				nodes[k] = float64(v)
			}
			got := [][]float64{nodes, f.l, x.Data, y.Data, inverse, diag, {f.LogDet()}}
			if first == nil {
				first = got
			}
			for k := range got {
				if !slices.Equal(got[k], first[k]) {
					t.Errorf("%s: result %d differs at %d threads", name, k, threads)
				}
			}
		}
	}
}

// TestFill: a grid of n nodes fills no more than 1.9 n log₂ n; METIS and minimum degree by CHOLMOD 1.7 and 2.2 at 10⁶ nodes.
func TestFill(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	for _, side := range []int{30, 100, 300, testkit.Size(400, 1000)} {
		q := matrix(side*side, gridEdges(side, side), 1, 1)
		a := must(Analyze(q))
		n := float64(side * side)
		entries, flops := exactFill(q, a.Order())
		t.Logf("%d×%d: %d entries, %.3g n log₂ n, %d stored, %.3g operations", side, side, entries, float64(entries)/n/math.Log2(n),
			a.Entries(), flops)
		if most := 1.9 * n * math.Log2(n); float64(entries) > most {
			t.Errorf("%d×%d: %d entries, at most %.0f", side, side, entries, most)
		}
		if float64(a.Entries()) > 1.6*float64(entries) {
			t.Errorf("%d×%d: %d entries are stored for %d", side, side, a.Entries(), entries)
		}
	}
}

// TestSparseShapes: trees fill nothing but what makes supernodes wide, rings and hubs little, at any size and in time that
// hardly grows faster than they do; trees are shallow, so that updates are short.
func TestSparseShapes(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 100_000
	r := rand.New(rng.New(3, "shapes"))
	var tree, star, ring, legs []edge
	for i := 1; i < n; i++ {
		tree = append(tree, edge{r.IntN(i), i})
		star = append(star, edge{7, i})
		ring = append(ring, edge{i - 1, i})
		legs = append(legs, edge{i % 20, i})
	}
	star[6].v = 0
	ring = append(ring, edge{n - 1, 0})
	for name, g := range map[string]struct {
		edges []edge
		most  float64 // entries for each node
	}{"tree": {tree, 2.5}, "star": {star, 2}, "ring": {ring, 3}, "path": {ring[:n-1], 3}, "legs": {legs, 2.5}, "lone": {nil, 1},
		"shuffled ring": {shuffled(ring, n, r), 3}} {
		q := matrix(n, g.edges, 0.1, 1)
		a := must(Analyze(q))
		entries, _ := exactFill(q, a.Order())
		if float64(entries) > g.most*n {
			t.Errorf("%s: %d entries for %d nodes, at most %v for each", name, entries, n, g.most)
		}
		depth, deepest := make([]int, a.len()), 0
		for k := a.len() - 1; k >= 0; k-- {
			if p := a.parent[k]; p != none {
				depth[k] = depth[p] + 1
			}
			deepest = max(deepest, depth[k])
		}
		if deepest > 60 {
			t.Errorf("%s: the tree has %d levels", name, deepest)
		}
		f := must(a.Factor(t.Context(), q))
		x, y := block(n, 1, 1), block(n, 1, 1)
		f.Solve(x, x)
		checkSolution(t, name, q, x, y)
	}
}

// checkSolution checks that Q·x is b.
func checkSolution(t *testing.T, name string, q *sparse.CSR, x, b sparse.Block[float64]) {
	t.Helper()
	for i := range x.Rows {
		cols, vals := q.Row(i)
		sum, scale := 0.0, 1.0
		for p, j := range cols {
			v := vals[p] * x.Data[int(j)*x.Stride]
			sum += v
			scale += math.Abs(v)
		}
		if math.Abs(sum-b.Data[i*b.Stride]) > 1e-12*scale {
			t.Fatalf("%s: row %d of Q·x is %v, want %v", name, i, sum, b.Data[i*b.Stride])
		}
	}
}

// TestCosts: what is said before is what the factor takes.
func TestCosts(t *testing.T) {
	t.Parallel()
	q := matrix(6, []edge{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, 1, 1)
	a := must(Analyze(q))
	f := must(a.Factor(t.Context(), q))
	factor, work := a.Bytes()
	if got := 8 * (len(f.l) - 16); got != factor {
		t.Errorf("a factor takes %d bytes, %d were said", got, factor)
	}
	entries := 0
	for _, v := range f.l {
		if v != 0 {
			entries++
		}
	}
	if entries > a.Entries() || a.Entries() > 21 || work <= 0 || a.Flops() < float64(a.Entries()) {
		t.Errorf("%d entries, %d were said, %g operations, %d bytes of work", entries, a.Entries(), a.Flops(), work)
	}
}

// TestOrdered: an order that has been kept gives the analysis that it came from; what is no order is refused.
func TestOrdered(t *testing.T) {
	t.Parallel()
	for k, g := range shapes() {
		q := matrix(g.n, g.edges, 0.1, uint64(k))
		a := must(Analyze(q))
		again := must(AnalyzeOrdered(q, a.Order()))
		if !slices.Equal(again.order, a.order) || !slices.Equal(again.first, a.first) || !slices.Equal(again.Order(), a.Order()) {
			t.Errorf("%s: another order", g.name)
		}
	}
	q := matrix(4, gridEdges(2, 2), 0.1, 1)
	for _, order := range [][]int32{{0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {0, 1, 2, -1}, {0, 1, 2, 3, 3}} {
		if _, err := AnalyzeOrdered(q, order); !errors.Is(err, ErrPattern) {
			t.Errorf("%v: %v", order, err)
		}
	}
}

// TestEnded: work ends with its context.
func TestEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	q := matrix(900, gridEdges(30, 30), 0.1, 1)
	f := must(must(Analyze(q)).Factor(ctx, q))
	cancel()
	if err := f.Refactor(ctx, q); !errors.Is(err, context.Canceled) {
		t.Errorf("factor: %v", err)
	}
	if _, err := f.Inverse(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("inverse: %v", err)
	}
}

// TestNoSeparators: graphs in which everything is near everything are factored all the same.
func TestNoSeparators(t *testing.T) {
	t.Parallel()
	r := rand.New(rng.New(4, "thick"))
	const n = 1600
	var thick, expander, clique []edge
	for i := range n {
		for j := range i {
			if i < 300 {
				clique = append(clique, edge{i, j})
			}
			if r.Float64() < 0.1 {
				thick = append(thick, edge{i, j})
			}
		}
		for range 6 {
			expander = append(expander, edge{i, r.IntN(n)})
		}
	}
	for name, g := range map[string]shape{"thick": {n: n, edges: thick}, "expander": {n: n, edges: expander},
		"clique beside grid": {n: n + 300, edges: append(clique, shift(gridEdges(40, 40), 300)...)}} {
		q := matrix(g.n, g.edges, 0.1, 1)
		f := must(must(Analyze(q)).Factor(t.Context(), q))
		x, b := block(g.n, 1, 1), block(g.n, 1, 1)
		f.Solve(x, b)
		checkSolution(t, name, q, x, b)
	}
}
