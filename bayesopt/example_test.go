package bayesopt_test

import (
	"context"
	"encoding/json"
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

// After a restart the values are told again; the last training is not done again.
func ExampleOptimizer_Resume() {
	ctx := context.Background()
	g, _ := graph.Grid(8, 8)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	build := func() *bayesopt.Optimizer {
		o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Seed: 1})
		for i := 0; i < 64; i += 7 {
			o.Tell(i, math.Sin(float64(i)/9))
		}
		return o
	}
	before := build()
	next, _, _ := before.Next(ctx, 2)
	checkpoint, _ := before.Checkpoint()
	file, _ := json.Marshal(checkpoint) // to keep

	var read bayesopt.Checkpoint
	if err := json.Unmarshal(file, &read); err != nil {
		panic(err)
	}
	after := build()
	if err := after.Resume(ctx, read); err != nil {
		panic(err)
	}
	again, _, _ := after.Next(ctx, 2)
	fmt.Println("the same nodes:", fmt.Sprint(next) == fmt.Sprint(again), "trainings:", after.Effort().Trainings)
	// Output: the same nodes: true trainings: 0
}

// Nodes on the right of a map cost more, each row takes one team, and there is
// money for five.
func ExampleLimits() {
	ctx := context.Background()
	g, _ := graph.Grid(6, 6)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	budget, limits := 5.0, bayesopt.Limits{GroupCap: 1}
	for i := range 36 {
		limits.Cost = append(limits.Cost, 1+float64(i%6/3)) // 1 on the left, 2 on the right
		limits.Group = append(limits.Group, i/6)
	}
	limits.Budget = &budget
	o, err := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Learn, Seed: 1, Limits: limits, Free: 6})
	if err != nil {
		panic(err)
	}
	for i := 0; i < 36; i += 7 {
		o.Tell(i, float64(i%6)) // known before, and free
	}
	a, err := o.Ask(ctx, 6)
	if err != nil {
		panic(err)
	}
	cost, rows := 0.0, map[int]bool{}
	for _, s := range a.Suggestions {
		cost += s.Cost
		rows[s.Node/6] = true
	}
	fmt.Println(len(rows) == len(a.Suggestions), cost, a.Short)
	fmt.Println(a.Suggestions[0].Why)
	// Output:
	// true 5 budget_reached
	// takes most of those left from the variance of all nodes together, per cost
}

// middle is a policy: it picks what is nearest to a value.
type middle struct{ value float64 }

func (m middle) Pick(ctx context.Context, s bayesopt.Surrogate, c *bayesopt.Candidates, n int, _ uint64) ([]bayesopt.Choice, error) {
	mean, err := s.Mean(ctx, c.Nodes())
	if err != nil {
		return nil, err
	}
	var picks []bayesopt.Choice
	for len(picks) < n {
		best := -1
		for at := range c.Len() {
			if c.Open(at) && (best < 0 || math.Abs(mean[at]-m.value) < math.Abs(mean[best]-m.value)) {
				best = at
			}
		}
		if best < 0 {
			break // nothing is left, or nothing that may be picked beside the others
		}
		c.Take(best)
		picks = append(picks, bayesopt.Choice{Node: c.Nodes()[best], Value: -math.Abs(mean[best] - m.value), Why: "nearest to the value"})
	}
	return picks, nil
}

// A policy of your own sees the model and the nodes that may be picked.
func ExamplePolicy() {
	g, _ := graph.Ring(40)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Policy: middle{value: 0}, Seed: 1})
	for i := 0; i < 40; i += 4 {
		o.Tell(i, math.Cos(2*math.Pi*float64(i)/40))
	}
	a, err := o.Ask(context.Background(), 2)
	if err != nil {
		panic(err)
	}
	for _, s := range a.Suggestions {
		fmt.Println(math.Abs(s.Mean) < 0.2, s.Why)
	}
	// Output:
	// true nearest to the value
	// true nearest to the value
}

// Which nodes are above 0.5? Those of which that is hardest to tell come first:
// here on either side of the top, where the value crosses the level.
func ExampleThreshold() {
	g, _ := graph.Ring(40)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Threshold(0.5), Seed: 1})
	value := func(i int) float64 { return math.Cos(2 * math.Pi * float64(i-3) / 40) } // node 3 is the top
	for i := 0; i < 40; i += 5 {
		o.Tell(i, value(i))
	}
	a, err := o.Ask(context.Background(), 2)
	if err != nil {
		panic(err)
	}
	for _, s := range a.Suggestions {
		fmt.Printf("node %d, %s\n", s.Node, s.Why)
	}
	// Output:
	// node 36, hardest of those left to tell whether it is above 0.5
	// node 9, hardest of those left to tell whether it is above 0.5
}
