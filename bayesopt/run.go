package bayesopt

import (
	"context"
	"fmt"
)

// Loop is what Run needs of an optimizer. An *Optimizer is one, and so is a
// *grfgp.Optimizer, which chooses its kernel by itself.
type Loop interface {
	// Next suggests up to n nodes and holds them.
	Next(ctx context.Context, n int) ([]int, Reason, error)
	Tell(node int, value float64) error
	Release(node int)
}

// Run measures up to so many nodes, one after the other, by calling measure with
// what the optimizer suggests. It stops early when measure fails, when ctx ends,
// or when there is nothing left to suggest, and says why. The optimizer was told
// all that was measured.
func Run(ctx context.Context, o Loop, steps int, measure func(ctx context.Context, node int) (float64, error)) (Reason, error) {
	for range steps {
		nodes, short, err := o.Next(ctx, 1)
		if err != nil || len(nodes) == 0 {
			return short, err
		}
		value, err := measure(ctx, nodes[0])
		if err != nil {
			o.Release(nodes[0])
			return Enough, fmt.Errorf("bayesopt: measuring node %d: %w", nodes[0], err)
		}
		if err := o.Tell(nodes[0], value); err != nil {
			return Enough, err
		}
	}
	return Enough, nil
}

// Best returns the best node told so far and its value; false if nothing was
// told, or if the goal is not to find the best.
func (o *Optimizer) Best() (node int, value float64, ok bool) {
	if o.data.Len() == 0 || !o.opts.Goal.Seeks() {
		return 0, 0, false
	}
	best, toward := 0, o.opts.Goal.toward()
	for k, y := range o.data.Y {
		if toward*y > toward*o.data.Y[best] {
			best = k
		}
	}
	return o.data.Nodes[best], o.data.Y[best], true
}
