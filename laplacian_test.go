package grfgp

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// weighted returns a small graph with weights of a unit, self loops, a lone node
// and two components.
func weighted(t testing.TB, unit float64) *graph.Graph {
	t.Helper()
	var e graph.Edges
	add := func(i, j int, w float64) {
		e.U, e.V, e.W = append(e.U, uint32(i)), append(e.V, uint32(j)), append(e.W, w*unit)
	}
	for i := range 24 {
		if i%6 < 5 {
			add(i, i+1, 1+float64(i%3))
		}
		if i+6 < 24 {
			add(i, i+6, 0.5)
		}
	}
	add(3, 3, 5)
	for i := range 7 {
		add(24+i, 24+(i+1)%8, 1)
	}
	g, _, err := graph.FromEdges(graph.NumberIDs(33), e, graph.BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// raw returns D − A in units of its mean over nodes with neighbours.
func raw(g *graph.Graph) *mat.Dense {
	n := g.Len()
	l := mat.NewDense(n, n, nil)
	sum, nodes := 0.0, 0
	for i := range n {
		cols, vals := g.Adjacency().Row(i)
		for p, j := range cols {
			if int(j) != i {
				l.Set(i, int(j), -vals[p])
				l.Set(i, i, l.At(i, i)+vals[p])
			}
		}
		if d := l.At(i, i); d > 0 {
			sum, nodes = sum+d, nodes+1
		}
	}
	l.Scale(float64(nodes)/sum, l)
	return l
}

// Kernels on the raw Laplacian are exp(−βL) and (1 + κ²L/2ν)^−ν, by every method
// and in every unit of the weights.
func TestRawLaplacian(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	for _, unit := range []float64{1, 1e-6, 1e9} {
		g := weighted(t, unit)
		w, err := NewTrainer(g, Spec{Expression: Expression{Hops: 60}, Walks: 500, Rank: 30000})
		if err != nil {
			t.Fatal(err)
		}
		l := raw(w.graph)
		n := g.Len()
		for _, c := range []struct {
			spec   Spec
			length float64
		}{
			{Spec{Expression: Expression{Family: "diffusion", Laplacian: "raw"}}, 1.5},
			{Spec{Expression: Expression{Family: "diffusion", Laplacian: "raw"}}, 6},
			{Spec{Expression: Expression{Family: "matern", Nu: 2, Laplacian: "raw"}}, 1.3},
			{Spec{Expression: Expression{Family: "matern", Nu: 1, Laplacian: "raw"}}, 0.8},
		} {
			want := mat.NewDense(n, n, nil)
			if c.spec.Family == "diffusion" {
				want.Scale(-c.length, l)
				want.Exp(want)
			} else {
				var base, inverse mat.Dense
				base.Scale(c.length*c.length/(2*c.spec.Nu), l)
				for i := range n {
					base.Set(i, i, base.At(i, i)+1)
				}
				if err := inverse.Inverse(&base); err != nil {
					t.Fatal(err)
				}
				want.Pow(&inverse, int(c.spec.Nu))
			}
			want.Scale(2.5, want)
			rows := make([]int, n)
			for i := range rows {
				rows[i] = i
			}
			for method, tolerance := range map[string]float64{
				"dense":  1e-12,
				"series": 1e-12,
				"grf":    1e-6, // float32
				// One entry of a projection to m dimensions has standard error
				// √((K_ij² + K_ii K_jj)/m); six of them for 33² entries.
				"lowrank": 6 * math.Sqrt(2./30000),
			} {
				name := fmt.Sprintf("%s, %s at %v in units of %v", c.spec.Family, method, c.length, unit)
				e := c.spec.Expression
				e.Method, e.Hops = method, 60
				k, err := w.fine(ctx, e)
				if err != nil {
					t.Fatal(err)
				}
				cov, err := k.At([]float64{2.5, c.length})
				if err != nil {
					t.Fatal(err)
				}
				got := mat.NewSymDense(n, nil)
				if err := cov.Gram(ctx, got, rows); err != nil {
					t.Fatal(err)
				}
				for i := range n {
					for j := range n {
						if gap := math.Abs(got.At(i, j) - want.At(i, j)); gap > tolerance*2.5 {
							t.Fatalf("%s: K[%d, %d] = %v, want %v", name, i, j, got.At(i, j), want.At(i, j))
						}
					}
				}
			}
		}
	}
}

// A Spec with a Laplacian or a power series is fitted by every method, with many
// scales and with a trend. The model reports it and can be saved and loaded. The
// same holds for classes.
func TestLaplacianAndPowerSpecs(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	ctx := context.Background()
	g, err := graph.Grid(15, 15)
	if err != nil {
		t.Fatal(err)
	}
	field := func(i int) float64 { return 5*math.Sin(float64(i%15)/4) + 3*math.Cos(float64(i/15)/3) }
	var d gp.Data
	l := gp.Labels{Classes: 2}
	for i := 0; i < g.Len(); i += 3 {
		v := field(i)
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, 20+v+0.3*math.Sin(float64(7*i)))
		class := 0
		if v > 0 {
			class = 1
		}
		l.Nodes, l.Class = append(l.Nodes, i), append(l.Class, class)
	}
	alpha := make([]float64, 25) // of exp(8(W − I))
	for r := range alpha {
		alpha[r] = math.Exp(-8) * math.Pow(8, float64(r)) / math.Gamma(float64(r+1))
	}
	specs := []Spec{
		{Expression: Expression{Laplacian: "raw", Scales: "one"}},
		{Expression: Expression{Laplacian: "raw", Family: "diffusion", Method: "series", Scales: "many"}},
		{Expression: Expression{Laplacian: "raw", Family: "matern", Nu: 2, Method: "grf", Trend: "degree"}},
		{Expression: Expression{Laplacian: "raw", Family: "free", Method: "grf", Scales: "one"}},
		{Expression: Expression{Family: "power"}, Alpha: alpha},
		{Expression: Expression{Family: "power", Method: "series", Scales: "one"}, Alpha: alpha},
		{Expression: Expression{Family: "power", Method: "grf", Scales: "many"}, Alpha: alpha},
		{Expression: Expression{Family: "power", Method: "lowrank"}, Alpha: alpha, Rank: 200},
		{Expression: Expression{Family: "power", Laplacian: "raw", Scales: "one"}, Alpha: alpha},
	}
	nodes := g.Nodes()
	for _, spec := range specs {
		m, err := Fit(ctx, g, d, spec)
		if err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
		if want := spec.Laplacian; want != "" && m.spec.Laplacian != want || !spec.Admits(m.spec.Expression) || !m.spec.complete() {
			t.Errorf("%+v: filled in as %+v", spec, m.spec)
		}
		p, err := m.Predict(ctx, nodes)
		if err != nil {
			t.Fatal(err)
		}
		squares := 0.0
		for i, mean := range p.Mean {
			squares += (mean - 20 - field(i)) * (mean - 20 - field(i)) / float64(len(p.Mean))
		}
		if rmse := math.Sqrt(squares); !(rmse < 1.2) { // the field has a standard deviation of 4
			t.Errorf("%+v: RMSE %.2f", spec, rmse)
		}
		if back := reload(t, g, m); !equalPredictions(t, back, m, nodes) {
			t.Errorf("%+v: the model from its file predicts otherwise", spec)
		}
	}
	for _, spec := range []Spec{{Expression: Expression{Laplacian: "raw", Scales: "one"}},
		{Expression: Expression{Family: "power", Scales: "one"}, Alpha: alpha}} {
		c, err := Classify(ctx, g, l, spec, gp.Dirichlet)
		if err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
		p, err := c.Probabilities(ctx, nodes)
		if err != nil {
			t.Fatal(err)
		}
		right := 0
		for i := range nodes {
			if (p.At(i, 1) > 0.5) == (field(i) > 0) {
				right++
			}
		}
		if right < 200 { // of 225
			t.Errorf("%+v: %d of 225 nodes have the right class", spec, right)
		}
	}
}

// reload saves a model and loads it.
func reload(t testing.TB, g *graph.Graph, m *Model) *Model {
	t.Helper()
	var file bytes.Buffer
	if err := m.Save(&file); err != nil {
		t.Fatal(err)
	}
	back, err := Load(context.Background(), &file, g)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// equalPredictions tells whether two models predict the same bits.
func equalPredictions(t testing.TB, a, b *Model, nodes []int) bool {
	t.Helper()
	pa, err := a.Predict(context.Background(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	pb, err := b.Predict(context.Background(), nodes)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Equal(pa.Mean, pb.Mean) && slices.Equal(pa.SD, pb.SD)
}
