package chol

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/sparse"
)

// edge joins two nodes.
type edge struct{ u, v int }

// matrix is κ²I + L of a graph with random weights, and zeros nowhere else.
func matrix(n int, edges []edge, kappa2 float64, seed uint64) *sparse.CSR {
	r := rand.New(rng.New(seed, "weights"))
	rows := make([]map[int]float64, n)
	for i := range rows {
		rows[i] = map[int]float64{i: kappa2}
	}
	for _, e := range edges {
		if e.u == e.v {
			continue
		}
		w := 0.5 + r.Float64()
		rows[e.u][e.u] += w
		rows[e.v][e.v] += w
		rows[e.u][e.v] -= w
		rows[e.v][e.u] -= w
	}
	ptr, col, val := []int{0}, []uint32(nil), []float64(nil)
	for _, row := range rows {
		first := len(col)
		for j := range row {
			col = append(col, uint32(j))
		}
		slices.Sort(col[first:])
		for _, j := range col[first:] {
			val = append(val, row[int(j)])
		}
		ptr = append(ptr, len(col))
	}
	return must(sparse.NewCSR(n, n, ptr, col, val))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func gridEdges(rows, cols int) (out []edge) {
	for i := range rows * cols {
		if i%cols+1 < cols {
			out = append(out, edge{i, i + 1})
		}
		if i+cols < rows*cols {
			out = append(out, edge{i, i + cols})
		}
	}
	return out
}

// shape is a graph.
type shape struct {
	name  string
	n     int
	edges []edge
}

// shapes are graphs of all kinds.
func shapes() (out []shape) {
	add := func(name string, n int, edges []edge) {
		out = append(out, shape{fmt.Sprint(name, " ", n, " ", len(out)), n, edges})
	}
	r := rand.New(rng.New(2, "shapes"))
	add("lone", 1, nil)
	add("lone", 5, nil)
	add("pair", 2, []edge{{0, 1}})
	for _, n := range []int{3, 4, 5, 8, 17, 64, 200, 333} {
		ring := []edge{{n - 1, 0}}
		var tree, star, full, hubs, random, dense []edge
		for i := 1; i < n; i++ {
			ring = append(ring, edge{i - 1, i})
			tree = append(tree, edge{r.IntN(i), i})
			star = append(star, edge{n / 2, i - 1}, edge{n / 2, i})
			hubs = append(hubs, edge{i, i % 3}, edge{i, (i * i) % min(n, 7)})
			for j := range i {
				if n < 70 || n == 333 {
					full = append(full, edge{i, j})
				}
				if r.Float64() < 0.2 {
					dense = append(dense, edge{i, j})
				}
			}
		}
		for range n * 3 / 2 {
			random = append(random, edge{r.IntN(n), r.IntN(n)})
		}
		add("ring", n, ring)
		add("path", n, ring[1:])
		add("tree", n, tree)
		add("star", n, star)
		add("full", n, full)
		add("hubs", n, hubs)
		add("random", n, random)
		add("dense", n, dense)
		add("two and lone nodes", 2*n+3, append(slices.Clone(tree), shift(ring, n)...))
		add("caterpillar", 2*n, append(slices.Clone(ring[1:]), pairs(n)...))
	}
	for _, sides := range [][2]int{{2, 2}, {3, 7}, {10, 10}, {1, 40}, {15, 21}, {25, 25}, {8, 60}, {30, 30}} {
		g := gridEdges(sides[0], sides[1])
		add("grid", sides[0]*sides[1], g)
		add("diagonals", sides[0]*sides[1], append(slices.Clone(g), diagonals(sides[0], sides[1])...))
		add("shuffled", sides[0]*sides[1], shuffled(g, sides[0]*sides[1], r))
	}
	return out
}

func shift(edges []edge, by int) (out []edge) {
	for _, e := range edges {
		out = append(out, edge{e.u + by, e.v + by})
	}
	return out
}

func pairs(n int) (out []edge) {
	for i := range n {
		out = append(out, edge{i, i + n})
	}
	return out
}

func diagonals(rows, cols int) (out []edge) {
	for i := range (rows - 1) * cols {
		if i%cols+1 < cols {
			out = append(out, edge{i, i + cols + 1}, edge{i + 1, i + cols})
		}
	}
	return out
}

func shuffled(edges []edge, n int, r *rand.Rand) (out []edge) {
	p := r.Perm(n)
	for _, e := range edges {
		out = append(out, edge{p[e.u], p[e.v]})
	}
	return out
}

func denseOf(q *sparse.CSR) *mat.SymDense {
	n, _ := q.Dims()
	out := mat.NewSymDense(n, nil)
	for i := range n {
		cols, vals := q.Row(i)
		for p, j := range cols {
			out.SetSym(i, int(j), vals[p])
		}
	}
	return out
}

func block(n, cols int, seed uint64) sparse.Block[float64] {
	r := rand.New(rng.New(seed, "sides"))
	b := sparse.Block[float64]{Rows: n, Cols: cols, Stride: cols + 1, Data: make([]float64, n*(cols+1))}
	for i := range b.Data {
		b.Data[i] = r.NormFloat64()
	}
	return b
}

func view(b sparse.Block[float64]) *mat.Dense {
	out := mat.NewDense(b.Rows, b.Cols, nil)
	for i := range b.Rows {
		for j := range b.Cols {
			out.Set(i, j, b.Data[i*b.Stride+j])
		}
	}
	return out
}

// near compares two matrices relative to the largest element.
func near(t *testing.T, what string, got, want mat.Matrix, within float64) {
	t.Helper()
	var diff mat.Dense
	diff.Sub(got, want)
	if worst := mat.Max(absolute(&diff)) / mat.Max(absolute(want)); !(worst <= within) {
		t.Errorf("%s: differs by %.3g of the largest element, more than %.3g", what, worst, within)
	}
}

func absolute(m mat.Matrix) *mat.Dense {
	var out mat.Dense
	out.Apply(func(_, _ int, v float64) float64 { return math.Abs(v) }, m)
	return &out
}

const within = 1e-10

func TestDense(t *testing.T) {
	t.Parallel()
	all := shapes()
	if len(all) < 100 {
		t.Fatalf("only %d graphs", len(all))
	}
	for k, g := range all {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			q := matrix(g.n, g.edges, 0.1, uint64(k))
			compare(t, q, must(Analyze(q)))
		})
	}
}

// compare compares all that a factor gives with a dense factor.
func compare(t *testing.T, q *sparse.CSR, a *Analysis) {
	t.Helper()
	n, _ := q.Dims()
	seen := make([]bool, n)
	for _, v := range a.order {
		if seen[v] {
			t.Fatalf("node %d is twice in the order", v)
		}
		seen[v] = true
	}
	f := must(a.Factor(t.Context(), q))
	compareFactor(t, f, denseOf(q))
}

func compareFactor(t *testing.T, f *Factor, h *mat.SymDense) {
	t.Helper()
	n := h.SymmetricDim()
	var chol mat.Cholesky
	if !chol.Factorize(h) {
		t.Fatal("no dense factor")
	}
	if got, want := f.LogDet(), chol.LogDet(); math.Abs(got-want) > within*max(1, math.Abs(want)) {
		t.Errorf("log-determinant %v, want %v", got, want)
	}
	for _, sides := range []int{1, 5, 30} {
		b := block(n, sides, 1)
		x := block(n, sides, 2)
		f.Solve(x, b)
		var want mat.Dense
		if err := chol.SolveTo(&want, view(b)); err != nil {
			t.Fatal(err)
		}
		near(t, fmt.Sprint("solution of ", sides), view(x), &want, within)
		f.SolveLower(x, b)
		f.SolveUpper(x, x)
		near(t, fmt.Sprint("solution by both roots of ", sides), view(x), &want, within)
	}
	var inverse mat.SymDense
	if err := chol.InverseTo(&inverse); err != nil {
		t.Fatal(err)
	}
	got := must(f.Inverse(t.Context()))
	diag := must(f.InverseDiag(t.Context()))
	most := mat.Max(absolute(&inverse))
	for i := range n {
		if math.Abs(diag[i]-inverse.At(i, i)) > within*most {
			t.Fatalf("variance %d is %v, want %v", i, diag[i], inverse.At(i, i))
		}
		cols, vals := got.Row(i)
		for p, j := range cols {
			if want := inverse.At(i, int(j)); math.Abs(vals[p]-want) > within*most {
				t.Fatalf("element (%d, %d) of the inverse is %v, want %v", i, j, vals[p], want)
			}
		}
	}
	if n > 250 {
		return
	}
	// C·Cᵀ = Q for the root of draws: C⁻ᵀ·C⁻¹ = Q⁻¹ above, and C⁻¹·Q·C⁻ᵀ = I here.
	eye := sparse.Block[float64]{Rows: n, Cols: n, Stride: n, Data: make([]float64, n*n)}
	for i := range n {
		eye.Data[i*n+i] = 1
	}
	f.SolveUpper(eye, eye)
	var product mat.Dense
	product.Mul(h, view(eye))
	product.Mul(view(eye).T(), &product)
	one := mat.NewDiagDense(n, nil)
	for i := range n {
		one.SetDiag(i, 1)
	}
	near(t, "whitened", &product, one, 1e-9)
}
