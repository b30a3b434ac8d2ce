package bayesopt

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// Thompson picks the best node of a draw from the posterior, a separate draw for
// every pick (Algorithm 3 of the paper). A node is picked as often as it is the
// best, as far as is known.
//
// With costs the pick is that of the highest gain per cost: how far the draw is
// above the best mean of a measured node, divided by the cost (see perCost).
type Thompson struct {
	Minimize bool // the lowest is the best
}

// drawsAtOnce is how many draws are held at a time: two numbers per node each.
const drawsAtOnce = 16

// Pick takes n draws and the best open candidate of each.
func (t Thompson) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	toward, floor := sign(t.Minimize), 0.0
	if c.limits.Cost != nil {
		var err error
		if floor, err = incumbent(ctx, s, toward); err != nil {
			return nil, err
		}
	}
	why := "the best of those left in one of the ways the values may be, given what is measured"
	if c.limits.Cost != nil {
		why = "gains most per cost of those left in one of the ways the values may be, given what is measured"
	}
	var picks []Choice
	n = min(n, c.Len())
	for lo := 0; lo < n; lo += drawsAtOnce {
		draws, row, err := drawAt(ctx, s, c.nodes, min(drawsAtOnce, n-lo), rng.New(seed, "thompson", uint64(lo)).Uint64())
		if err != nil {
			return nil, err
		}
		raw := draws.RawMatrix()
		for k := range raw.Cols {
			value := func(at int) float64 { return toward * raw.Data[row(at)*raw.Stride+k] }
			at := c.best(func(at int) float64 { return perCost(value(at)-floor, c.Cost(at)) })
			if at < 0 {
				return picks, nil
			}
			c.Take(at)
			picks = append(picks, Choice{c.nodes[at], value(at), why})
		}
	}
	return picks, nil
}

// drawAt draws at nodes; row finds them. Where they are many, drawing at all
// nodes is quicker, as kernels keep what that takes.
func drawAt(ctx context.Context, s Surrogate, nodes []int, n int, seed uint64) (draws *mat.Dense, row func(at int) int, err error) {
	row = func(at int) int { return at }
	if 4*len(nodes) > s.Nodes() && len(nodes) < s.Nodes() {
		given := nodes
		row = func(at int) int { return given[at] }
		nodes = allNodes(s.Nodes())
	}
	draws, err = s.Sample(ctx, nodes, n, seed)
	return draws, row, err
}

// incumbent returns the best mean of a measured node, with higher better.
func incumbent(ctx context.Context, s Surrogate, toward float64) (float64, error) {
	mean, err := s.Mean(ctx, s.Measured())
	best := math.Inf(-1)
	for _, m := range mean {
		best = max(best, toward*m)
	}
	return best, err
}

func allNodes(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
