package gp

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// A difference between two nodes is a functional: its posterior is that of Mean and
// Covariance, with both solvers.
func TestFunctionals(t *testing.T) {
	t.Parallel()
	g, err := graph.Grid(6, 6)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	var d Data
	for i := range 20 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, 50+7*math.Sin(float64(i)/3))
	}
	ctx := context.Background()
	for _, solver := range []Solver{Exact, Iterative} {
		m, _, err := Fit(ctx, k, d, FitOptions{Solver: solver, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		p, err := m.Condition(ctx, d)
		if err != nil {
			t.Fatal(err)
		}
		gram := mat.NewSymDense(g.Len(), nil)
		if err := p.Prior().Gram(ctx, gram, g.Nodes()); err != nil {
			t.Fatal(err)
		}
		pairs := [][2]int{{3, 30}, {8, 9}}
		cross, prior := mat.NewDense(d.Len(), 2, nil), mat.NewSymDense(2, nil)
		between := func(a, b [2]int) float64 {
			return gram.At(a[0], b[0]) - gram.At(a[0], b[1]) - gram.At(a[1], b[0]) + gram.At(a[1], b[1])
		}
		for f, q := range pairs {
			for r, i := range p.Measured() {
				cross.Set(r, f, gram.At(i, q[0])-gram.At(i, q[1]))
			}
			prior.SetSym(f, f, between(q, q))
		}
		prior.SetSym(0, 1, between(pairs[0], pairs[1]))
		mean, cov, err := p.Functionals(ctx, cross, prior)
		if err != nil {
			t.Fatal(err)
		}
		nodes := []int{3, 30, 8, 9}
		at, err := p.Mean(ctx, nodes)
		if err != nil {
			t.Fatal(err)
		}
		of, err := p.Covariance(ctx, nodes, nodes)
		if err != nil {
			t.Fatal(err)
		}
		for a := range 2 {
			if want := at[2*a] - at[2*a+1]; math.Abs(mean[a]-want) > 1e-6 {
				t.Errorf("%v: mean %.9g, want %.9g", solver, mean[a], want)
			}
			for b := range 2 {
				want := of.At(2*a, 2*b) - of.At(2*a, 2*b+1) - of.At(2*a+1, 2*b) + of.At(2*a+1, 2*b+1)
				if math.Abs(cov.At(a, b)-want) > 1e-3*math.Sqrt(cov.At(a, a)*cov.At(b, b)) {
					t.Errorf("%v: covariance %.9g, want %.9g", solver, cov.At(a, b), want)
				}
			}
		}
	}
	m, _, _ := Fit(ctx, k, d, FitOptions{})
	p, _ := m.Condition(ctx, d)
	if _, _, err := p.Functionals(ctx, mat.NewDense(3, 1, nil), nil); err == nil {
		t.Error("covariances with three of twenty measurements are taken")
	}
}
