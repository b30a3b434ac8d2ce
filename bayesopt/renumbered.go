package bayesopt

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Renumbered returns a policy to which node i is numbers[i], a permutation: for
// an Optimizer whose nodes are in another order than those that the policy knows.
func Renumbered(p Policy, numbers []int) Policy {
	r := renumbered{p, numbers, make([]int, len(numbers))}
	for i, number := range numbers {
		r.back[number] = i
	}
	if _, ok := p.(ModelFree); ok {
		return modelFreeRenumbered{r}
	}
	return r
}

type renumbered struct {
	policy        Policy
	numbers, back []int
}

// modelFreeRenumbered is renumbered for a policy that needs no model.
type modelFreeRenumbered struct{ renumbered }

// ModelFree implements ModelFree.
func (modelFreeRenumbered) ModelFree() {}

// Pick implements Policy.
func (r renumbered) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	mine := *c // what is picked, full and spent is shared
	mine.nodes = selected(r.numbers, c.nodes)
	picks, err := r.policy.Pick(ctx, renumberedSurrogate{s, r}, &mine, n, seed)
	for k, p := range picks {
		if p.Node < 0 || p.Node >= len(r.back) {
			return nil, fmt.Errorf("%w: a policy picked node %d of %d", ErrNode, p.Node, len(r.back))
		}
		picks[k].Node = r.back[p.Node]
	}
	return picks, err
}

// renumberedSurrogate is a Surrogate in the numbers of the policy.
type renumberedSurrogate struct {
	of Surrogate
	r  renumbered
}

func (s renumberedSurrogate) Nodes() int        { return s.of.Nodes() }
func (s renumberedSurrogate) Measured() []int   { return selected(s.r.numbers, s.of.Measured()) }
func (s renumberedSurrogate) NoiseVar() float64 { return s.of.NoiseVar() }
func (s renumberedSurrogate) Mean(ctx context.Context, nodes []int) ([]float64, error) {
	return s.of.Mean(ctx, selected(s.r.back, nodes))
}
func (s renumberedSurrogate) Variance(ctx context.Context, nodes []int) ([]float64, error) {
	return s.of.Variance(ctx, selected(s.r.back, nodes))
}
func (s renumberedSurrogate) Covariance(ctx context.Context, rows, cols []int) (*mat.Dense, error) {
	return s.of.Covariance(ctx, selected(s.r.back, rows), selected(s.r.back, cols))
}
func (s renumberedSurrogate) Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error) {
	return s.of.Sample(ctx, selected(s.r.back, nodes), draws, seed)
}
