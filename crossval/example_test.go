package crossval_test

import (
	"context"
	"fmt"
	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"log"
	"math"
	"strings"
)

// ring is 60 places around a lake, and the temperature at every fourth.
func ring() (*graph.Graph, gp.Data) {
	g, err := graph.Ring(60)
	if err != nil {
		log.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 4 {
		d.Nodes = append(d.Nodes, i)
		d.Y = append(d.Y, 10+3*math.Sin(2*math.Pi*float64(i)/60))
	}
	return g, d
}

// Is the model better than the baselines, and are its intervals calibrated?
func ExampleValidate() {
	g, d := ring()
	v, err := crossval.Validate(context.Background(), g, d, grfgp.Spec{}, crossval.Options{Folds: 5})
	if err != nil {
		log.Fatal(err)
	}
	for _, rule := range crossval.InOrder(v.BaselineRMSE) {
		fmt.Printf("better than %s: %t\n", rule, v.RMSE < v.BaselineRMSE[rule])
	}
	fmt.Printf("95 %% intervals contain at least 90 %%: %t\n", v.Coverage.At(0.95) >= 0.9)
	// Output:
	// better than overall mean: true
	// better than nearest measured node: true
	// better than harmonic interpolation: true
	// better than graph ridge: true
	// better than ridge on singular vectors: true
	// 95 % intervals contain at least 90 %: true
}

// Verdicts are typed results with a sentence each.
func Example_verdicts() {
	e := crossval.CompareErrors(1.5, map[crossval.Baseline]float64{crossval.Mean: 4, crossval.Nearest: 2})
	fmt.Println(e.Better, e)
	c := crossval.JudgeCoverage(0.95, 0.8, 100)
	fmt.Println(c.Width == crossval.TooNarrow, strings.Replace(c.String(), " (", "\n(", 1))
	// Output:
	// true The error (RMSE) at held-out measurements is 1.5, 25 % less than that of the best baseline, nearest measured node.
	// true 95 % intervals contain 80.0 % of held-out measurements, too few: the intervals are too narrow
	// (95 % range of a calibrated model: 90.0 to 99.0 %).
}
