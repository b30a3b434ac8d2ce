package gp

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/graph"
	"grfgp/kernel"
)

// Label spreading has converged: its chances are those of (I − αW)⁻¹Y, solved
// densely, within 2e-4 at the largest share that is tried, on a grid and on a path.
func TestSpreadingEqualsDense(t *testing.T) {
	t.Parallel()
	const share = 0.95
	for name, shape := range map[string][2]int{"grid": {12, 13}, "path": {1, 70}} {
		g := step[*graph.Graph](t)(graph.Grid(shape[0], shape[1]))
		n := g.Len()
		w := g.Normalized(graph.NormalizedAdjacency)
		k := step[*kernel.Series](t)(kernel.NewSeries(w, kernel.Matern{Nu: 1}, 254))
		l := Labels{Nodes: []int{0, 3, n - 1, n - 9}, Class: []int{0, 0, 1, 2}, Classes: 3}
		s := step[*spreading](t)(newSpreading(background, k, l, []float64{1, math.Sqrt(2 * share / (1 - share))}, nil))
		got := step[*mat.Dense](t)(s.Probabilities(background, allNodes(n), nil))

		a, y := mat.NewDense(n, n, nil), mat.NewDense(n, l.Classes, nil)
		for i := range n {
			a.Set(i, i, 1)
			cols, vals := w.Row(i)
			for p, j := range cols {
				a.Set(i, int(j), a.At(i, int(j))-share*vals[p])
			}
		}
		for k, i := range l.Nodes {
			y.Set(i, l.Class[k], 1)
		}
		var want mat.Dense
		if err := want.Solve(a, y); err != nil {
			t.Fatal(err)
		}
		s.normalise(&want)
		for i := range n {
			for c := range l.Classes {
				if math.Abs(got.At(i, c)-want.At(i, c)) > 2e-4 {
					t.Errorf("%s: node %d has class %d by %.8f, want %.8f", name, i, c, got.At(i, c), want.At(i, c))
				}
			}
		}
	}
}
