package kernel_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/space"
	"grfgp/sparse"
)

// cells returns the rows of a table of every second node in some periods, in random
// order and without the given number of cells.
func cells(n, periods, gaps int, r *rand.Rand) []int {
	var rows []int
	for p := range periods {
		for i := 0; i < n; i += 2 {
			rows = append(rows, p*n+i)
		}
	}
	r.Shuffle(len(rows), func(a, b int) { rows[a], rows[b] = rows[b], rows[a] })
	return rows[gaps:]
}

// TestTableFactor compares the factor of a table, complete and with missing cells, with
// a dense one.
func TestTableFactor(t *testing.T) {
	t.Parallel()
	const n = 24
	times := []float64{0, 1, 2.5, 3, 7, 8}
	graph, err := kernel.NewDense(ringMatrix(t, n), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		k     kernel.Kernel
		theta []float64
	}{
		{"over time", kernel.OverTime(graph, times), []float64{1.3, 2, 1.7, 0.8}},
		{"each period", kernel.EachPeriod(graph, len(times)), []float64{1.3, 2}},
	} {
		for _, gaps := range []int{0, 1, 7} {
			for _, constant := range []float64{0, 1.5} {
				t.Run(fmt.Sprintf("%s, %d gaps, constant %v", c.name, gaps, constant), func(t *testing.T) {
					r := rand.New(rng.New(3, "table"))
					cov, err := c.k.At(c.theta)
					if err != nil {
						t.Fatal(err)
					}
					checkFactor(t, cov, cells(n, 5, gaps, r), constant, len(c.theta))
				})
			}
		}
	}
}

// checkFactor compares all results of Factor with those of a dense factor.
func checkFactor(t *testing.T, k kernel.Covariance, rows []int, constant float64, params int) {
	t.Helper()
	const noise = 0.07
	cov := kernel.WithConstant(k, constant)
	size := len(rows)
	noises := make([]float64, size)
	for a := range noises {
		noises[a] = noise
	}
	f, err := kernel.AbilitiesOf(cov).Factor(t.Context(), rows, 0, noises)
	if err != nil || f == nil {
		t.Fatalf("a table of %d cells has the factor %v, %v", size, f, err)
	}
	h := mat.NewSymDense(size, nil)
	if err := cov.Gram(t.Context(), h, rows); err != nil {
		t.Fatal(err)
	}
	for a := range rows {
		h.SetSym(a, a, h.At(a, a)+noise)
	}
	chol, err := solve.NewCholesky(h)
	if err != nil {
		t.Fatal(err)
	}
	near := func(got, want, size float64, what string) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-9*size) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	near(f.LogDet(), chol.LogDet(), float64(size), "the log determinant")
	b := mat.NewDense(size, 2, nil)
	for a := range rows {
		b.SetRow(a, []float64{math.Sin(float64(a)), 1})
	}
	want := mat.NewDense(size, 2, nil)
	chol.Solve(want, b)
	got := mat.DenseCopyOf(b)
	f.Solve(got, got)
	diag, wantDiag := make([]float64, size), make([]float64, size)
	f.InverseDiag(diag)
	chol.InverseDiag(wantDiag)
	alpha := make([]float64, size)
	for a := range rows {
		near(got.At(a, 0), want.At(a, 0), 1/noise, "a solution")
		near(got.At(a, 1), want.At(a, 1), 1/noise, "a solution")
		near(diag[a], wantDiag[a], 1/noise, "an element of the inverse")
		alpha[a] = want.At(a, 0)
	}

	g := mat.NewSymDense(size, nil)
	chol.Inverse(g)
	wantTrace := 0.0
	for a := range rows {
		for b := a; b < size; b++ {
			g.SetSym(a, b, (alpha[a]*alpha[b]-g.At(a, b))/2)
		}
		wantTrace += g.At(a, a)
	}
	grad, wantGrad := make([]float64, params), make([]float64, params)
	trace, err := f.Grad(t.Context(), grad, alpha)
	if err != nil {
		t.Fatal(err)
	}
	if err := cov.GramGrad(t.Context(), wantGrad, rows, g); err != nil {
		t.Fatal(err)
	}
	near(trace, wantTrace, math.Abs(wantTrace)+1, "the trace")
	for j := range grad {
		near(grad[j], wantGrad[j], 10*float64(size), fmt.Sprintf("derivative %d", j))
	}

	nodes := []int{0, 3, 24*5 + 7, 24*2 + 4, 24*5 + 7, 24*1 + 23} // also of a period without measurements
	cross := mat.NewDense(size, len(nodes), nil)
	one := mat.NewDense(len(nodes), len(nodes), nil)
	for k := range nodes {
		one.Set(k, k, 1)
	}
	if err := cov.Cross(rows, nodes).Apply(t.Context(), cross, one); err != nil {
		t.Fatal(err)
	}
	chol.SolveLower(cross, cross)
	explained := make([]float64, len(nodes))
	if err := f.Explained(t.Context(), explained, nodes); err != nil {
		t.Fatal(err)
	}
	for k := range nodes {
		v := mat.Norm(cross.ColView(k), 2)
		near(explained[k], v*v, 10, "an explained variance")
	}
}

// TestNoTable: rows without the structure of a table have no factor.
func TestNoTable(t *testing.T) {
	t.Parallel()
	const n = 24
	graph, err := kernel.NewDense(ringMatrix(t, n), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.OverTime(graph, []float64{0, 1, 2, 3, 4, 5})
	cov, err := k.At([]float64{1, 2, 3, 1})
	if err != nil {
		t.Fatal(err)
	}
	whole := cells(n, 6, 0, rand.New(rng.New(3, "table")))
	equal := func(rows []int) []float64 {
		noise := make([]float64, len(rows))
		for a := range noise {
			noise[a] = 0.1
		}
		return noise
	}
	uneven := equal(whole)
	uneven[3] = 0.2
	scattered := []int{}
	for i := range 60 {
		scattered = append(scattered, i*7%(6*n))
	}
	for _, c := range []struct {
		name  string
		rows  []int
		noise []float64
	}{
		{"a repeated cell", append(whole[:len(whole)-1:len(whole)-1], whole[0]), equal(whole)},
		{"uneven noise", whole, uneven},
		{"no noise", whole, make([]float64, len(whole))},
		{"one period", whole[:0], nil},
		{"scattered places", scattered, equal(scattered)},
	} {
		f, err := kernel.AbilitiesOf(cov).Factor(t.Context(), c.rows, 0, c.noise)
		if f != nil || err != nil {
			t.Errorf("%s: the factor is %v, %v; want none", c.name, f, err)
		}
	}
}

// ringMatrix is the normalised matrix of a ring.
func ringMatrix(t *testing.T, n int) *sparse.CSR {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	return g.Normalized(graph.NormalizedAdjacency)
}

// TestCompletedTable: the inverse of the whole table is exact for a complete table with
// equal noise. With a fifth of the cells missing and uneven noise, conjugate gradients find
// the same solution as a dense factor, in at most half of the iterations that they take
// with the diagonal.
func TestCompletedTable(t *testing.T) {
	t.Parallel()
	const n, constant = 24, 1.5
	graph, err := kernel.NewDense(ringMatrix(t, n), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	k := kernel.OverTime(graph, []float64{0, 1, 2.5, 3, 7, 8})
	base, err := k.At([]float64{1.3, 2, 1.7, 0.8})
	if err != nil {
		t.Fatal(err)
	}
	cov := kernel.WithConstant(base, constant)
	for _, gaps := range []int{0, 12} {
		rows := cells(n, 5, gaps, rand.New(rng.New(3, "table")))
		size := len(rows)
		noise, h := make([]float64, size), mat.NewSymDense(size, nil)
		if err := cov.Gram(t.Context(), h, rows); err != nil {
			t.Fatal(err)
		}
		diag := make([]float64, size)
		for a := range rows {
			noise[a], diag[a] = 0.02, h.At(a, a)
			if gaps > 0 {
				noise[a] += 0.01 * float64(a%3)
			}
			h.SetSym(a, a, h.At(a, a)+noise[a])
		}
		chol, err := solve.NewCholesky(h)
		if err != nil {
			t.Fatal(err)
		}
		b, want := mat.NewDense(size, 1, nil), mat.NewDense(size, 1, nil)
		for a := range rows {
			b.Set(a, 0, math.Sin(float64(a)))
		}
		chol.Solve(want, b)
		near, err := kernel.AbilitiesOf(cov).Approximate(t.Context(), rows, 0, noise)
		if err != nil || near == nil {
			t.Fatalf("%d gaps: the approximate inverse is %v, %v", gaps, near, err)
		}
		for a, v := range noise {
			diag[a] += v
		}
		jacobi, err := solve.NewJacobi(space.Host(), space.Rows(size), diag)
		if err != nil {
			t.Fatal(err)
		}
		iterations := func(p solve.Preconditioner) int {
			got := mat.NewDense(size, 1, nil)
			stats, err := solve.CG(t.Context(), got, cov.Cross(rows, rows), noise, b, p, solve.Options{Tol: 1e-10, MaxIter: 1000})
			if err != nil {
				t.Fatal(err)
			}
			for a := range rows {
				if d := got.At(a, 0) - want.At(a, 0); math.Abs(d) > 1e-6*mat.Max(want) {
					t.Errorf("%d gaps: solution %d differs by %v from that of a dense factor", gaps, a, d)
				}
			}
			return stats.Iterations
		}
		plain, own := iterations(jacobi), iterations(near)
		if t.Logf("%d gaps: %d iterations, %d with the diagonal", gaps, own, plain); own > plain/2 || gaps == 0 && own > 2 {
			t.Errorf("%d gaps: conjugate gradients take %d iterations with the whole table and %d with the diagonal", gaps, own, plain)
		}
	}
	if p, err := kernel.AbilitiesOf(cov).Approximate(t.Context(), []int{0, n, n, 2 * n}, 0, []float64{1, 1, 1, 1}); p != nil || err != nil {
		t.Errorf("a repeated cell has the approximate inverse %v, %v; want none", p, err)
	}
}
