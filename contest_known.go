package grfgp

import (
	"context"
	"slices"

	"grfgp/kernel"
)

// tryKnown tries kernels with covariates, with roles and with both beside the graph
// term; then the best of them without the graph term, and with the product of graph
// and covariates. Where terms were requested, it
// tries these alone. Far says that many scales are tried beside them as well.
func (c *valueContest) tryKnown(ctx context.Context, of Terms, far bool) error {
	if of == 0 {
		return nil
	}
	base := c.base()
	base.Pairs = c.limits.SmoothPairs(c.spec.Pairs, c.own.Len(), c.spec.Solver)
	if fixed := c.spec.Terms; fixed != 0 {
		if _, err := c.tryTerms(ctx, base, fixed); err != nil {
			return err
		}
	} else if err := c.compareTerms(ctx, base, of); err != nil {
		return err
	}
	if far {
		return c.tryFar(ctx)
	}
	return nil
}

// compareTerms tries terms beside the graph, without it, and their product with it.
func (c *valueContest) compareTerms(ctx context.Context, base attempt, of Terms) error {
	var best *attempt
	for _, set := range []Terms{CovariateTerm, RoleTerm, CovariateTerm | RoleTerm} {
		if !of.Has(set) || set == RoleTerm && of.Has(CovariateTerm) { // roles alone rarely beat both
			continue
		}
		a, err := c.tryTerms(ctx, base, GraphTerm|set)
		if err != nil {
			return err
		}
		if a != nil && (best == nil || a.worth > best.worth) {
			best = a
		}
	}
	if best == nil {
		return nil
	}
	if _, err := c.tryTerms(ctx, *best, best.Terms&^GraphTerm); err != nil {
		return err
	}
	if base.Pairs > 0 || best.worth <= base.worth {
		return nil
	}
	c.opts.MaxIter = productIters
	defer func() { c.opts.MaxIter = 0 }()
	_, err := c.tryTerms(ctx, *best, best.Terms|ProductTerm)
	return err
}

// base returns the best kernel of the graph alone that has one scale, the usual
// Laplacian and the natural variance; the best of all if there is none.
func (c *valueContest) base() attempt {
	plain := func(a attempt) bool { return !a.Many() && !a.unusual && !a.Unit() }
	if slices.ContainsFunc(c.tried, plain) {
		return c.best(plain)
	}
	return c.best(every)
}

// tryTerms fits a kernel with other terms than those of a fitted one, starting from the
// hyperparameters that both have. Variances that new terms may take over are smaller then. The result is nil if its covariance
// is not positive definite to rounding.
func (c *valueContest) tryTerms(ctx context.Context, from attempt, of Terms) (*attempt, error) {
	e := from.Expression
	e.Terms, e.Trend = of, "none"
	made, err := c.kernel(ctx, e)
	if err != nil {
		return nil, err
	}
	before := len(c.tried)
	err = c.tryFrom(ctx, e, from.theta, smaller(made, kernel.Begin(made.Params(), from.theta), takenOver, ""))
	if err != nil || len(c.tried) == before {
		return nil, ifDefinite(err)
	}
	return &c.tried[before], nil
}

// takenOver is the share of a variance that is left where new terms take over the rest.
const takenOver = 0.3

// tryFar tries the best kernel that has the graph term beside others with many scales
// of the graph: walks end after a few hops, and what covariates leave unexplained
// may vary over hundreds.
func (c *valueContest) tryFar(ctx context.Context) error {
	beside := some(c.tried, func(a attempt) bool {
		return a.Terms.Has(GraphTerm) && a.Terms != GraphTerm && !a.Terms.Has(ProductTerm) && !a.Many()
	})
	if len(beside) == 0 {
		return nil
	}
	best := likeliest(beside)
	e := best.Expression
	e.Scales = "many"
	e.Hops = c.fineHops(e, c.hops)
	return ifDefinite(c.tryFrom(ctx, e, best.theta.Without("graph")))
}
