package gp

import (
	"math"
	"testing"

	"grfgp/kernel"
)

// Draws at all nodes are those at a few nodes.
func TestDrawsOfSomeNodes(t *testing.T) {
	t.Parallel()
	g := smallGraph(t)
	zero := 4.0
	all := kernels(t, g)
	x := make([]float64, g.Len())
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	all["trend"] = kernel.Trend(all["grf"], x)
	for name, k := range all {
		for what, opts := range map[string]FitOptions{"unknown mean": {}, "known mean": {Mean: &zero},
			"iterative": {Solver: Iterative, Epochs: 2}} {
			d := someData(g.Len(), 9, 8)
			d.Nodes, d.Y = append(d.Nodes, d.Nodes[0]), append(d.Y, 5)
			m, _, err := Fit(background, k, d, opts)
			if err != nil {
				t.Fatal(err)
			}
			p := step[*Posterior](t)(m.Condition(background, d))
			nodes := []int{33, 2, 17}
			few, err := p.Sample(background, nodes, 40, 5)
			if err != nil {
				t.Fatal(err)
			}
			everywhere, err := p.Sample(background, allNodes(g.Len()), 40, 5)
			if err != nil {
				t.Fatal(err)
			}
			tol := 1e-9
			if opts.Solver == Iterative {
				tol = 0.1 // ten times that of solves
			}
			for r, i := range nodes {
				near(t, name+", "+what+": draw", everywhere.RawRowView(i), few.RawRowView(r), tol)
			}
		}
	}
}
