package gp

import (
	"context"
	"math"
	"testing"

	"grfgp/graph"
	"grfgp/kernel"
)

// Learning may start from hyperparameters that are out of range, such as a variance
// that an earlier fit has made vanish.
func TestFitStartsOutOfRange(t *testing.T) {
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
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/3))
	}
	usual, _, err := Fit(context.Background(), k, d, FitOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tiny, _, err := Fit(context.Background(), k, d, FitOptions{Starts: [][]float64{{1e-9, 1}, {1e-30, 3}}})
	if err != nil || math.IsNaN(tiny.Theta()[0]) || len(usual.Theta()) != len(tiny.Theta()) {
		t.Errorf("%v", err)
	}
}
