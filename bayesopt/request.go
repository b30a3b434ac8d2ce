package bayesopt

import (
	"context"
	"errors"
	"fmt"

	"grfgp/gp"
	"grfgp/solve"
)

// Request is an ask of a caller who keeps the books: who measures what, which
// nodes are out, and what was spent.
type Request struct {
	Count   int
	Pending []int    // about to be measured: not suggested, and counted by group caps
	Closed  []int    // not suggested
	Budget  *float64 // what may still be spent; nil: no limit
	Seed    uint64
}

// Suggest answers a request. It holds nothing, and heeds neither what is held or
// excluded nor Options.Budget, Options.Free and Options.Draws: suggestions have no
// chance. Of pending nodes policies think as in Ask.
func (o *Optimizer) Suggest(ctx context.Context, r Request) (Answer, error) {
	before := o.effort
	limits := o.opts.Limits
	limits.Budget = r.Budget
	if err := limits.check(len(o.measured)); err != nil {
		return Answer{}, err
	}
	for _, some := range [][]int{r.Pending, r.Closed} {
		for _, i := range some {
			if err := o.checkNode(i); err != nil {
				return Answer{}, err
			}
		}
	}
	picks, short, posterior, err := o.pickFrom(ctx, o.open(r.Pending, r.Closed, limits), r.Count, r.Seed, r.Pending)
	if err != nil {
		return Answer{}, err
	}
	a := o.answer(picks, short)
	if posterior != nil && len(picks) > 0 {
		if err := o.tellKnown(ctx, &a, posterior); err != nil {
			return Answer{}, fmt.Errorf("bayesopt: explaining: %w", err)
		}
	}
	a.Effort = o.effort.less(before)
	return a, nil
}

// believing returns the posterior as if nodes had been measured and had come out
// at their means.
func believing(ctx context.Context, p *gp.Posterior, nodes []int) (*gp.Posterior, error) {
	mean, err := p.Mean(ctx, nodes)
	if err != nil {
		return nil, err
	}
	foreseen, err := p.Extend(ctx, gp.Data{Nodes: nodes, Y: mean})
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return p, nil // without noise, measured nodes have nothing left to tell
	}
	return foreseen, err
}
