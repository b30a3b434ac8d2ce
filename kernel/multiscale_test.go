package kernel_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/kernel/kerneltest"
	"grfgp/solve"
	"grfgp/space"
)

// scalesOf coarsens g until a scale has at most so many nodes.
func scalesOf(t testing.TB, g *graph.Graph, most int) []kernel.Scale {
	t.Helper()
	var scales []kernel.Scale
	for _, l := range g.Coarsen(most) {
		scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: sampled(t, l.Graph, nil, same)})
	}
	return scales
}

func newMultiscale(t testing.TB, g *graph.Graph, err error, m kernel.Modulation, most int) *kernel.Multiscale {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewMultiscale(newGRF(t, sampled(t, g, nil, same), m), m, scalesOf(t, g, most))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestMultiscaleContract(t *testing.T) {
	t.Run("ring", func(t *testing.T) {
		g, err := graph.Ring(120)
		k := newMultiscale(t, g, err, kernel.Diffusion{}, 10)
		if n := len(k.Sizes()); n < 2 {
			t.Fatalf("%d scales, want some", n)
		}
		kerneltest.Run(t, k, kerneltest.Options{})
	})
	t.Run("grid", func(t *testing.T) {
		g, err := graph.Grid(12, 12)
		kerneltest.Run(t, newMultiscale(t, g, err, kernel.Matern{Nu: 1.5}, 4), kerneltest.Options{})
	})
	t.Run("free coefficients", func(t *testing.T) {
		g, err := graph.Grid(9, 11)
		kerneltest.Run(t, newMultiscale(t, g, err, kernel.Free{Len: 4}, 5), kerneltest.Options{})
	})
	t.Run("scale-free", func(t *testing.T) {
		g, err := graph.BarabasiAlbert(150, 2, 1)
		kerneltest.Run(t, newMultiscale(t, g, err, kernel.Diffusion{}, 10), kerneltest.Options{})
	})
	t.Run("series below", func(t *testing.T) {
		g, err := graph.Grid(10, 10)
		if err != nil {
			t.Fatal(err)
		}
		fine, err := kernel.NewSeries(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}, 20)
		if err != nil {
			t.Fatal(err)
		}
		k, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scalesOf(t, g, 8))
		if err != nil {
			t.Fatal(err)
		}
		kerneltest.Run(t, k, kerneltest.Options{})
	})
}

// A product with many columns has the bits of one with few, in which the same columns come one by one.
func TestCrossOfManyColumns(t *testing.T) {
	t.Parallel()
	g, err := graph.Ring(400)
	cov := atStart(t, newMultiscale(t, g, err, kernel.Diffusion{}, 10))
	rows, cols := span(0, 90), span(80, 380)
	cross := func(lo, hi int) *mat.Dense {
		x, k := mat.NewDense(len(cols), hi-lo, nil), mat.NewDense(len(rows), hi-lo, nil)
		for j := lo; j < hi; j++ {
			x.Set(j, j-lo, 1)
		}
		if err := cov.Cross(rows, cols).Apply(t.Context(), k, x); err != nil {
			t.Fatal(err)
		}
		return k
	}
	all := cross(0, len(cols))
	for lo := 0; lo < len(cols); lo += 50 {
		if part := cross(lo, lo+50); !mat.Equal(part, all.Slice(0, len(rows), lo, lo+50)) {
			t.Errorf("columns %d to %d differ", lo, lo+50)
		}
	}
}

// The variance of a kernel is identified by Param.Variance, not by name or
// position.
func TestVarianceIsMarked(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(6, 6)
	if err != nil {
		t.Fatal(err)
	}
	grf := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	scales := scalesOf(t, g, 8)
	sum := func(fine kernel.Kernel) []kernel.Param {
		t.Helper()
		k, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales)
		if err != nil {
			t.Fatal(err)
		}
		return k.Params()
	}
	if n := len(sum(without{grf})); n != 1+len(scales) {
		t.Errorf("%d parameters over a kernel without any, want those of %d scales and one length", n, len(scales))
	}
	if p := sum(named{grf}); p[0].Start != 0.01 || p[0].Name != "height" {
		t.Errorf("the fine kernel's variance is %+v, want a start of 0.01", p[0])
	}
	if p := kernel.UnitVariance(named{grf}).Params(); len(p) != 2 {
		t.Errorf("parameters of a kernel of unit variance: %+v, want a variance and a length", p)
	}
}

// without is a kernel without parameters; named calls its variance otherwise.
type (
	without struct{ *kernel.GRF }
	named   struct{ *kernel.GRF }
)

func (without) Params() []kernel.Param { return nil }

func (k named) Params() []kernel.Param {
	p := k.GRF.Params()
	p[0].Name = "height"
	return p
}

// TestMultiscaleSum: K agrees with its definition, computed by dense matrices.
func TestMultiscaleSum(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(11, 13)
	if err != nil {
		t.Fatal(err)
	}
	fine := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	scales := scalesOf(t, g, 6)
	k, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales)
	if err != nil {
		t.Fatal(err)
	}
	const beta, coarse = 3, 2
	theta := []float64{0.7, beta, coarse}
	for k := range scales {
		theta = append(theta, 0.3+0.4*float64(k))
	}
	want := gramOfAll(t, fine, []float64{0.7, beta})
	var p mat.Matrix
	for k, s := range scales {
		n, m := s.Prolong.Dims()
		q := mat.NewDense(n, m, nil)
		for i := range n {
			cols, vals := s.Prolong.Row(i)
			for e, j := range cols {
				q.Set(i, int(j), vals[e])
			}
		}
		if p == nil {
			p = q
		} else {
			var next mat.Dense
			next.Mul(p, q)
			p = &next
		}
		c := gramOfAll(t, newGRF(t, s.Features, kernel.Diffusion{}), []float64{1, coarse})
		var unit mat.Dense
		unit.Apply(func(i, j int, v float64) float64 { return v / math.Sqrt(c.At(i, i)*c.At(j, j)) }, c)
		var part mat.Dense
		part.Product(p, &unit, p.T())
		part.Scale(theta[3+k], &part)
		var sum mat.Dense
		sum.Add(want, &part)
		want = &sum
	}
	got := gramOfAll(t, k, theta)
	if !mat.EqualApprox(got, want, 1e-12) {
		t.Error("Gram is not the sum of its parts")
	}
}

func gramOfAll(t *testing.T, k kernel.Kernel, theta []float64) mat.Matrix {
	t.Helper()
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	dst := mat.NewSymDense(k.Nodes(), nil)
	if err := cov.Gram(t.Context(), dst, upTo(k.Nodes())); err != nil {
		t.Fatal(err)
	}
	return dst
}

func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// TestMultiscalePrecondition: the preconditioner is the exact coarse part of K,
// the constant, and the diagonal of the rest.
func TestMultiscalePrecondition(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(14, 14)
	k := newMultiscale(t, g, err, kernel.Diffusion{}, 4)
	theta := []float64{0.7, 3, 2}
	for k := range k.Sizes() {
		theta = append(theta, 0.3+0.4*float64(k))
	}
	rows := []int{3, 190, 77, 77, 12, 140}
	noise := []float64{0.1, 0.2, 0.1, 0.3, 0.1, 0.1}
	gram := func(fine float64) *mat.SymDense {
		cov, err := k.At(append([]float64{fine}, theta[1:]...))
		if err != nil {
			t.Fatal(err)
		}
		dst := mat.NewSymDense(len(rows), nil)
		if err := cov.Gram(t.Context(), dst, rows); err != nil {
			t.Fatal(err)
		}
		return dst
	}
	whole, want := gram(0.7), gram(1e-300)
	const constant = 0.4
	for a := range rows {
		rest := whole.At(a, a) - want.At(a, a)
		for b := range a + 1 {
			want.SetSym(a, b, want.At(a, b)+constant)
		}
		want.SetSym(a, a, want.At(a, a)+rest+noise[a])
	}
	p := preconditionerOf(t, k, theta, rows, constant, noise)
	var one mat.Dense
	one.Mul(want, preconditioned(p, eye(len(rows))))
	if !mat.EqualApprox(&one, eye(len(rows)), 1e-9) {
		t.Errorf("P⁻¹ is not the inverse of the coarse part and the diagonal of the rest:\n%.3g", mat.Formatted(&one))
	}
}

// preconditionerOf returns that of the root.
func preconditionerOf(t *testing.T, k kernel.Kernel, theta []float64, rows []int, constant float64, noise []float64) solve.Factored {
	t.Helper()
	r, err := kernel.RootOf(t.Context(), k, space.Host(), rows, kernel.RootOptions{})
	if err == nil {
		err = r.Set(t.Context(), theta)
	}
	if err != nil {
		t.Fatal(err)
	}
	p, own, err := r.Precondition(t.Context(), constant, noise)
	if err != nil || !own {
		t.Fatalf("a preconditioner, of its own: %t, %v", own, err)
	}
	return p
}

func eye(n int) *mat.DiagDense {
	d := mat.NewDiagDense(n, nil)
	for i := range n {
		d.SetDiag(i, 1)
	}
	return d
}

// TestMultiscaleIterations: conjugate gradients take several times fewer steps
// with the kernel's own preconditioner than with the diagonal.
func TestMultiscaleIterations(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	g, err := graph.Grid(60, 60)
	k := newMultiscale(t, g, err, kernel.Diffusion{}, 20)
	theta := []float64{0.05, 3, 4}
	for range k.Sizes() {
		theta = append(theta, 1)
	}
	cov, err := k.At(theta)
	if err != nil {
		t.Fatal(err)
	}
	rows := upTo(k.Nodes())
	noise, diag := make([]float64, len(rows)), make([]float64, len(rows))
	b := mat.NewDense(len(rows), 1, nil)
	for i := range rows {
		noise[i] = 0.01
		b.Set(i, 0, math.Sin(0.7*float64(i)*float64(i)))
	}
	if err := cov.Diag(t.Context(), diag, rows); err != nil {
		t.Fatal(err)
	}
	floats.Add(diag, noise)
	jacobi, err := solve.NewJacobi(space.Host(), space.Rows(len(rows)), diag)
	if err != nil {
		t.Fatal(err)
	}
	own := preconditionerOf(t, k, theta, rows, 0, noise)
	steps := func(p solve.Preconditioner) int {
		x := mat.NewDense(len(rows), 1, nil)
		stats, err := solve.CG(t.Context(), x, cov.Cross(rows, rows), noise, b, p, solve.Options{Tol: 1e-3, MaxIter: 2000})
		if err != nil {
			t.Fatal(err)
		}
		return stats.Iterations
	}
	without, with := steps(jacobi), steps(own)
	t.Logf("%d iterations with the diagonal, %d with the coarse part", without, with)
	if 3*with > without {
		t.Errorf("%d iterations with the coarse part, %d with the diagonal", with, without)
	}
}

// TestMultiscaleFair: the variance of a scale hardly depends on which cell a node
// is in. From a length of β = 8 on, nine nodes of ten are within 15 % of each
// other, and all within 35 %: corners of a grid have few cells around them.
func TestMultiscaleFair(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ring, err0 := graph.Ring(3000)
	grid, err1 := graph.Grid(40, 40)
	free, err2 := graph.BarabasiAlbert(2000, 3, 1)
	for name, g := range map[string]*graph.Graph{"ring": ring, "grid": grid, "scale-free": free} {
		k := newMultiscale(t, g, errors.Join(err0, err1, err2), kernel.Diffusion{}, 20)
		for s := range k.Sizes() {
			theta := []float64{1e-12, 1, 8}
			for range k.Sizes() {
				theta = append(theta, 1e-12)
			}
			theta[3+s] = 1
			cov, err := k.At(theta)
			if err != nil {
				t.Fatal(err)
			}
			diag := make([]float64, k.Nodes())
			if err := cov.Diag(t.Context(), diag, upTo(len(diag))); err != nil {
				t.Fatal(err)
			}
			slices.Sort(diag)
			n := len(diag)
			t.Logf("%s, scale %d of %d nodes: variance %.3f to %.3f, of nine in ten nodes %.3f to %.3f", name, s+1, k.Sizes()[s], diag[0], diag[n-1],
				diag[n/20], diag[n-1-n/20])
			if diag[n/20] < 0.85*diag[n-1-n/20] || diag[0] < 0.65*diag[n-1] {
				t.Errorf("%s, scale %d: the variance is not the same at every node", name, s+1)
			}
		}
	}
}

// TestMultiscaleRejects: scales must fit together.
func TestMultiscaleRejects(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(12, 12)
	if err != nil {
		t.Fatal(err)
	}
	fine := newGRF(t, sampled(t, g, nil, same), kernel.Diffusion{})
	scales := scalesOf(t, g, 4)
	for name, scales := range map[string][]kernel.Scale{
		"none":                      nil,
		"out of step":               scales[1:],
		"features of another scale": {{Prolong: scales[0].Prolong, Features: scales[1].Features}},
	} {
		if _, err := kernel.NewMultiscale(fine, kernel.Diffusion{}, scales); !errors.Is(err, kernel.ErrScales) {
			t.Errorf("%s: error %v, want %v", name, err, kernel.ErrScales)
		}
	}
}
