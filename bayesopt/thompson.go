package bayesopt

import (
	"context"
	"math"

	"grfgp/internal/rng"
)

// Thompson is Thompson sampling: it picks the best node of a posterior draw, with a
// new draw for every pick (Algorithm 3 of the paper). A node is picked with the
// posterior probability that it is the best. The zero value maximises.
//
// With costs it picks the highest gain per cost, where the gain is the drawn
// value less the best posterior mean of a measured node.
type Thompson struct {
	Minimize bool // the lowest value is the best
}

// drawsAtOnce is the number of draws in memory at a time, two numbers per node each.
const drawsAtOnce = 16

// Pick implements Policy.
func (t Thompson) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	toward, floor := sign(t.Minimize), 0.0
	if c.limits.Cost != nil {
		var err error
		if floor, err = incumbent(ctx, s, toward); err != nil {
			return nil, err
		}
	}
	why := "best node in one posterior draw (Thompson sampling)"
	if c.limits.Cost != nil {
		why = "highest gain per cost in one posterior draw (Thompson sampling)"
	}
	var picks []Suggestion
	n = min(n, c.Len())
	for lo := 0; lo < n; lo += drawsAtOnce {
		draws, err := drawAt(ctx, s, c.nodes, c.every, min(drawsAtOnce, n-lo), rng.New(seed, "thompson", uint64(lo)).Uint64())
		if err != nil {
			return nil, err
		}
		for k := range min(drawsAtOnce, n-lo) {
			best, err := draws.best(ctx, draws.highest(c, k, toward, floor))
			if err != nil {
				return nil, err
			}
			if best.at < 0 {
				return picks, nil
			}
			c.Take(best.at)
			picks = append(picks, Suggestion{Node: c.nodes[best.at], Value: best.value, Why: why})
		}
	}
	return picks, nil
}

// incumbent returns the best mean of a measured node, times direction.
func incumbent(ctx context.Context, s Surrogate, toward float64) (float64, error) {
	mean, err := s.Mean(ctx, s.Measured())
	best := math.Inf(-1)
	for _, m := range mean {
		best = max(best, toward*m)
	}
	return best, err
}
