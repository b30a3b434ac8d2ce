package report_test

import (
	"bytes"
	"context"
	"fmt"
	"log"
	"math"
	"strings"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/graphio"
	"grfgp/report"
)

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
	r.Spec = grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Scales: "one", Trend: "none"}}
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
