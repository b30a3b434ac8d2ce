package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"grfgp"
	"grfgp/crossval"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/report"
)

// Verdicts are typed results with a sentence each.
func Example() {
	e := report.CompareErrors(1.5, map[crossval.Baseline]float64{crossval.Mean: 4, crossval.Nearest: 2})
	fmt.Println(e.Better, e)
	c := report.JudgeCoverage(0.95, 0.8, 100)
	fmt.Println(c.Width == report.TooNarrow, c)
	// Output:
	// true The error (RMSE) at held-out measurements is 1.5, 25 % less than that of the best baseline, nearest measured node.
	// true 95 % intervals contain 80.0 % of held-out measurements, too few: the intervals are too narrow (a calibrated model: 90.0 to 99.0 %).
}

// A report on twenty measurements of a ring. A program would write it to a file.
func ExampleRegression() {
	ctx := context.Background()
	g, err := graph.Ring(40)
	if err != nil {
		log.Fatal(err)
	}
	var d gp.Data
	for i := 0; i < g.Len(); i += 2 {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)*math.Pi/20))
	}
	r := report.Regression{Title: "Levels", Unit: "m", Network: graphio.NewNetwork(g, nil, nil), Data: d, Level: 0.95}
	r.Spec = grfgp.Spec{Family: "diffusion", Scales: "one", Trend: "none"}
	if r.Model, err = grfgp.Fit(ctx, g, d, r.Spec); err != nil {
		log.Fatal(err)
	}
	if r.Prediction, err = r.Model.Predict(ctx, g.Nodes()); err != nil {
		log.Fatal(err)
	}
	var page bytes.Buffer
	if err := r.Write(&page); err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Contains(page.String(), "<h1>Levels</h1>"), strings.Count(page.String(), "<svg "), "maps")
	// Output: true 2 maps
}
