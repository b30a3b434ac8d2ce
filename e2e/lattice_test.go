package e2e

import (
	"context"
	"fmt"
	"math"
	"testing"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/report"
)

// lattice is a report on a grid of 9 × 9 nodes with labels and places, half of them measured. One
// label is a trap.
func lattice(t *testing.T) *report.Regression {
	t.Helper()
	const side = 9
	grid, err := graph.Grid(side, side)
	if err != nil {
		t.Fatal(err)
	}
	names := make([]string, grid.Len())
	for i := range names {
		names[i] = fmt.Sprintf("x%dy%d", i/side, i%side)
	}
	ids, _ := graph.IDsOf(names)
	g, err := graph.New(grid.Adjacency(), ids)
	if err != nil {
		t.Fatal(err)
	}
	nodes := &graphio.NodeTable{IDs: g.IDs(), Name: make([]string, g.Len()), X: make([]float64, g.Len()), Y: make([]float64, g.Len())}
	var d gp.Data
	for i := range g.Len() {
		x, y := i/side, i%side
		nodes.X[i], nodes.Y[i], nodes.Name[i] = float64(x), float64(y), "inner"
		if (x+y)%2 == 0 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(x)/2)*math.Cos(float64(y)/3)+0.05*math.Cos(float64(7*i)))
		}
	}
	nodes.Name[0], nodes.Name[1] = "corner", `</script><script>window.trapped = true</script>`
	ctx := context.Background()
	r := &report.Regression{Title: "Levels", Unit: "m", Quantity: "m", Network: graphio.NewNetwork(g, nodes, nil), Data: d, Level: 0.95}
	r.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "dense", Scales: "one", Trend: "none", Variance: "natural"}}
	if r.Model, err = grfgp.Fit(ctx, g, d, r.Spec); err != nil {
		t.Fatal(err)
	}
	if r.Prediction, err = r.Model.Predict(ctx, g.Nodes()); err != nil {
		t.Fatal(err)
	}
	if r.Validation, err = crossval.Validate(ctx, g, r.Model.Data(), r.Model.Spec(),
		crossval.Options{Folds: 4, Model: r.Model, Fixed: true}); err != nil {
		t.Fatal(err)
	}
	return r
}
