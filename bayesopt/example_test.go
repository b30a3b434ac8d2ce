package bayesopt_test

import (
	"context"
	"fmt"
	"math"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
)

// The loop by hand: ask, measure, tell.
func ExampleOptimizer() {
	ctx := context.Background()
	g, _ := graph.Grid(15, 15)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	measure := func(node int) float64 { return 9 - math.Hypot(float64(node%15)-10, float64(node/15)-4) }

	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Maximize, Seed: 1})
	for range 15 {
		answer, err := o.Ask(ctx, 2) // two at a time
		if err != nil {
			panic(err)
		}
		for _, s := range answer.Suggestions {
			o.Tell(s.Node, measure(s.Node))
		}
	}
	node, value, _ := o.Best()
	fmt.Printf("after %d measurements: column %d, row %d, value %v\n", o.Data().Len(), node%15, node/15, value)
	// Output: after 30 measurements: column 10, row 4, value 9
}

// The loop by a function; fewer nodes are left than are asked for in the end.
func ExampleRun() {
	ctx := context.Background()
	g, _ := graph.Ring(12)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	measure := func(_ context.Context, node int) (float64, error) { return math.Sin(float64(node)), nil }

	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Learn, Seed: 1})
	if _, err := bayesopt.Run(ctx, o, 8, measure); err != nil {
		panic(err)
	}
	answer, _ := o.Ask(ctx, 10)
	fmt.Println(len(answer.Suggestions), "suggestions:", answer.Short)
	// Output: 4 suggestions: no_allowed_nodes
}
