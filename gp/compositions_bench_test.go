package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/walk"
)

// BenchmarkCompositions fits 12,000 measurements on a grid of 22,500 nodes by features alone, and by features with what a
// composition adds: none of it should take the fit off the fast paths.
func BenchmarkCompositions(b *testing.B) {
	g, err := graph.Grid(150, 150)
	if err != nil {
		b.Fatal(err)
	}
	g = g.Ordered()
	w := g.Normalized(graph.NormalizedAdjacency)
	n := g.Len()
	opts := walk.Default()
	opts.MaxLen = 5
	f, err := walk.Sample(b.Context(), w, opts)
	if err != nil {
		b.Fatal(err)
	}
	grf, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		b.Fatal(err)
	}
	column := mat.NewDense(n, 1, nil)
	d := Data{}
	for i := range n {
		column.Set(i, 0, math.Cos(float64(i)))
		if (i*7919)%n < 12000 {
			d.Nodes = append(d.Nodes, i)
			d.Y = append(d.Y, math.Sin(float64(i)/900)+0.2*math.Cos(float64(i*i%1009)))
		}
	}
	for _, c := range []struct {
		name string
		k    kernel.Kernel
	}{
		{"features", grf},
		{"trend", kernel.Trend(grf, mat.Col(nil, 0, column))},
		{"unit", kernel.UnitVariance(grf)},
		{"lone", kernel.Lone(grf, []int{0, n - 1})},
		{"covariate", kernel.Sum(grf, kernel.Linear(column))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := Fit(b.Context(), c.k, d, FitOptions{Solver: Iterative, Seed: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
