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

// Ask for nodes, measure them, tell the values.
func ExampleOptimizer() {
	ctx := context.Background()
	g, _ := graph.Grid(15, 15)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	measure := func(node int) float64 { return 9 - math.Hypot(float64(node%15)-10, float64(node/15)-4) }

	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Maximize, Seed: 1})
	for range 15 {
		answer, err := o.Ask(ctx, bayesopt.Request{Count: 2}) // two at a time
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

// Run is the whole loop of asking, measuring and telling; here it ends because no
// nodes are left.
func ExampleOptimizer_Run() {
	ctx := context.Background()
	g, _ := graph.Ring(12)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	measure := func(_ context.Context, node int) (float64, error) { return math.Sin(float64(node)), nil }

	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Learn, Seed: 1})
	if _, err := o.Run(ctx, bayesopt.Request{Count: 8}, measure); err != nil {
		panic(err)
	}
	answer, _ := o.Ask(ctx, bayesopt.Request{Count: 10})
	fmt.Println(len(answer.Suggestions), "suggestions:", answer.Short)
	// Output: 4 suggestions: no_allowed_nodes
}

// After a restart all values are told again; with Resume the past trainings are not
// repeated.
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
	next, _, _ := before.Next(ctx, bayesopt.Request{Count: 2})
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
	again, _, _ := after.Next(ctx, bayesopt.Request{Count: 2})
	fmt.Println("the same nodes:", fmt.Sprint(next) == fmt.Sprint(again), "trainings:", after.Effort().Trainings)
	// Output: the same nodes: true trainings: 0
}

// Nodes on the right of a map cost 2 and others 1, a batch may have one node of
// each row, and the budget is 5.
func ExampleLimits() {
	ctx := context.Background()
	g, _ := graph.Grid(6, 6)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	budget, limits := 5.0, bayesopt.Limits{GroupCap: 1}
	for i := range 36 {
		limits.Cost = append(limits.Cost, 1+float64(i%6/3)) // 1 on the left, 2 on the right
		limits.Group = append(limits.Group, i/6)
	}
	o, err := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Learn, Seed: 1, Limits: limits})
	if err != nil {
		panic(err)
	}
	for i := 0; i < 36; i += 7 {
		o.Tell(i, float64(i%6))
	}
	a, err := o.Ask(ctx, bayesopt.Request{Count: 6, Budget: &budget})
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
	// largest reduction of the total posterior variance, per cost
}

// middle is a policy that picks the nodes whose means are nearest to a value.
type middle struct{ value float64 }

func (m middle) Pick(ctx context.Context, s bayesopt.Surrogate, c *bayesopt.Candidates, n int, _ uint64) ([]bayesopt.Suggestion, error) {
	mean, err := s.Mean(ctx, c.Nodes())
	if err != nil {
		return nil, err
	}
	var picks []bayesopt.Suggestion
	for len(picks) < n {
		best := -1
		for at := range c.Len() {
			if c.Open(at) && (best < 0 || math.Abs(mean[at]-m.value) < math.Abs(mean[best]-m.value)) {
				best = at
			}
		}
		if best < 0 {
			break // no candidate is open
		}
		c.Take(best)
		picks = append(picks, bayesopt.Suggestion{Node: c.Nodes()[best], Value: -math.Abs(mean[best] - m.value), Why: "nearest to the value"})
	}
	return picks, nil
}

// A policy of your own sees the posterior and the candidates.
func ExamplePolicy() {
	g, _ := graph.Ring(40)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Policy: middle{value: 0}, Seed: 1})
	for i := 0; i < 40; i += 4 {
		o.Tell(i, math.Cos(2*math.Pi*float64(i)/40))
	}
	a, err := o.Ask(context.Background(), bayesopt.Request{Count: 2})
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

// Which nodes are above 0.5? Suggestions lie on both sides of the peak, where the
// value crosses the level.
func ExampleThreshold() {
	g, _ := graph.Ring(40)
	k, _ := kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{})
	o, _ := bayesopt.New(bayesopt.Train(k, gp.FitOptions{}), bayesopt.Options{Goal: bayesopt.Threshold(0.5), Seed: 1})
	value := func(i int) float64 { return math.Cos(2 * math.Pi * float64(i-3) / 40) } // node 3 is the top
	for i := 0; i < 40; i += 5 {
		o.Tell(i, value(i))
	}
	a, err := o.Ask(context.Background(), bayesopt.Request{Count: 2})
	if err != nil {
		panic(err)
	}
	for _, s := range a.Suggestions {
		fmt.Printf("node %d, %s\n", s.Node, s.Why)
	}
	// Output:
	// node 36, hardest to tell from the level 0.5 (straddle: 1.96 sd − |mean − level|)
	// node 9, hardest to tell from the level 0.5 (straddle: 1.96 sd − |mean − level|)
}
