package gp_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
)

// tableOverTime is a table of every second node of a ring in all periods, in random
// order and without some cells, with values from a smooth function and noise.
func tableOverTime(t *testing.T, n, periods, gaps int) (kernel.Kernel, gp.Data) {
	t.Helper()
	g, err := graph.Ring(n)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rng.New(5, "cells"))
	var d gp.Data
	times := make([]float64, periods)
	for p := range periods {
		times[p] = float64(p + p*p/9)
		for i := 0; i < n; i += 2 {
			a := 2 * math.Pi * float64(i) / float64(n)
			d.Nodes = append(d.Nodes, p*n+i)
			d.Y = append(d.Y, 3+math.Sin(2*a)+math.Cos(3*a+float64(p)/3)+0.2*r.NormFloat64())
		}
	}
	return kernel.OverTime(k, times), d.Select(r.Perm(d.Len())[gaps:])
}

// TestTableLikeDense: a table is learned from and predicts as a dense factor does, with
// and without missing cells, though the solver is the iterative one.
func TestTableLikeDense(t *testing.T) {
	t.Parallel()
	for _, gaps := range []int{0, 5} {
		k, d := tableOverTime(t, 40, 9, gaps)
		nodes := []int{1, 40*4 + 7, 40*8 + 20, 40*8 + 21}
		fit := func(solver gp.Solver) (*gp.Posterior, gp.FitReport) {
			m, r, err := gp.Fit(t.Context(), k, d, gp.FitOptions{Solver: solver})
			if err != nil {
				t.Fatal(err)
			}
			p, err := m.Condition(t.Context(), d)
			if err != nil {
				t.Fatal(err)
			}
			return p, r
		}
		_, dense := fit(gp.Exact)
		got, table := fit(gp.Iterative)
		if !table.Factored || got.SDError(len(nodes)) != 0 || got.Factored() {
			t.Fatalf("%d gaps: the table was not factored: %+v", gaps, table)
		}
		near := func(what string, a, b []float64, tol float64) {
			t.Helper()
			for i := range a {
				if !(math.Abs(a[i]-b[i]) <= tol*(1+math.Abs(b[i]))) {
					t.Errorf("%d gaps: %s %v, want %v", gaps, what, a, b)
					return
				}
			}
		}
		// The floors of the noise differ, so the optima do by a little.
		near("log likelihood", []float64{table.LogLikelihood, table.LOOScore}, []float64{dense.LogLikelihood, dense.LOOScore}, 1e-3)
		m, err := gp.NewModel(k, func() gp.State { s := got.Model().State(); s.Solver = gp.Exact; return s }())
		if err != nil {
			t.Fatal(err)
		}
		want, err := m.Condition(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		a, b := predicted(t, got, nodes), predicted(t, want, nodes)
		near("mean and variance", a, b, 1e-8)
		la, sa, err := got.LogMarginalLikelihood(t.Context())
		lb, sb, err2 := want.LogMarginalLikelihood(t.Context())
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		near("log marginal likelihood", []float64{la, sa}, []float64{lb, sb}, 1e-9)
		ma, da, err := got.LeaveOneOut()
		mb, db, err2 := want.LeaveOneOut()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		near("leave-one-out", slices.Concat(ma, da), slices.Concat(mb, db), 1e-7)
	}
}

// predicted returns means and variances.
func predicted(t *testing.T, p *gp.Posterior, nodes []int) []float64 {
	t.Helper()
	mean, variance := predict(t, p, nodes)
	return slices.Concat(mean, variance)
}
