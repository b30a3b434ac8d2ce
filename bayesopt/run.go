package bayesopt

import (
	"context"
	"fmt"

	"grfgp/internal/rng"
)

// Run measures up to r.Count nodes, one after the other: it asks for a node, calls
// measure and tells the result. r.Budget is for all nodes together. Run stops
// early and returns the reason if measure fails, if ctx ends, or if no node is
// left to suggest. All measurements made until then have been told.
func (o *Optimizer) Run(ctx context.Context, r Request, measure func(ctx context.Context, node int) (float64, error)) (Reason, error) {
	if _, err := o.complete(r); err != nil {
		return Enough, err
	}
	steps, budget, seed, spent := max(1, r.Count), r.Budget, r.Seed, 0.0
	r.Count = 1
	for step := range steps {
		if seed != 0 {
			r.Seed = rng.New(seed, "run", uint64(step)).Uint64()
		}
		if budget != nil {
			left := max(0, *budget-spent)
			r.Budget = &left
		}
		nodes, short, err := o.Next(ctx, r)
		if err != nil || len(nodes) == 0 {
			return short, err
		}
		value, err := measure(ctx, nodes[0])
		if err != nil {
			return Enough, fmt.Errorf("measuring node %d: %w", nodes[0], err)
		}
		if err := o.Tell(nodes[0], value); err != nil {
			return Enough, err
		}
		spent += o.opts.CostOf(nodes[0])
	}
	return Enough, nil
}

// Best returns the best node told so far and its value, of counts and shares the value per exposure; false if nothing was told,
// or if the goal is neither Maximize nor Minimize.
func (o *Optimizer) Best() (node int, value float64, ok bool) {
	if o.data.Len() == 0 || !o.opts.Goal.Seeks() {
		return 0, 0, false
	}
	rate := func(k int) float64 {
		if o.data.Exposure == nil {
			return o.data.Y[k]
		}
		return o.data.Y[k] / o.data.Exposure[k]
	}
	best, toward := 0, o.opts.Goal.sign()
	for k := range o.data.Y {
		if toward*rate(k) > toward*rate(best) {
			best = k
		}
	}
	return o.data.Nodes[best], rate(best), true
}
