package grfgp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"grfgp/solve"
)

const (
	exactMost = 3000    // measurements up to which smooth terms are exact
	roleNodes = 300_000 // nodes up to which roles are tried

	productIters = 25 // a product starts from the fit of its terms
)

// offers returns the terms over what is known about nodes that the Spec leaves open
// or asks for: covariates if there are any, roles if degrees vary.
func (t *Trainer) offers(method string) (of terms, why string) {
	if method == "lowrank" {
		return 0, ""
	}
	if t.spec.Terms != nil {
		return termsOf(t.spec.Terms) & knownTerms, "the terms " + termsOf(t.spec.Terms).String() + " were requested"
	}
	if s := t.spec.Covariates; s != nil && !s.Empty() {
		of |= covariateTerm
	}
	switch n := t.graph.Len(); {
	case t.spec.Roles == "none":
		why = "no roles were requested"
	case !t.uneven():
		why = "degrees vary too little for roles"
	case n > roleNodes:
		why = fmt.Sprintf("no roles: they take long for %d nodes", n)
	default:
		of |= roleTerm
		why = "roles were tried: degree, cores and triangles of a node and its neighbours, and the nodes it is joined to"
	}
	return of, why
}

// tryKnown tries kernels with covariates, with roles and with both beside the graph
// term; then the best of them without the graph term, and with the product of graph
// and covariates. Where terms were requested, it
// tries these alone. Far says that many scales are tried beside them as well.
func (c *contest) tryKnown(ctx context.Context, of terms, far bool) error {
	if of == 0 {
		return nil
	}
	k := &knownContest{contest: c}
	if c.own.Len() > exactMost || c.spec.Solver == "iterative" {
		k.pairs = pairsMany
	}
	if c.spec.Pairs > 0 {
		k.pairs = c.spec.Pairs
	}
	if err := k.run(ctx, of); err != nil {
		return err
	}
	if far {
		return k.tryFar(ctx)
	}
	return nil
}

// knownContest compares kernels over what is known about nodes.
type knownContest struct {
	*contest
	pairs int // of Fourier features
}

func (k *knownContest) run(ctx context.Context, of terms) error {
	base := k.base()
	if fixed := k.spec.Terms; fixed != nil {
		_, err := k.try(ctx, base, termsOf(fixed))
		return err
	}
	var best *attempt
	for _, set := range []terms{covariateTerm, roleTerm, covariateTerm | roleTerm} {
		if !of.has(set) || set == roleTerm && of.has(covariateTerm) { // roles alone rarely beat both
			continue
		}
		a, err := k.try(ctx, base, graphTerm|set)
		if err != nil {
			return err
		}
		if a != nil && (best == nil || a.worth() > best.worth()) {
			best = a
		}
	}
	if best == nil {
		return nil
	}
	if _, err := k.try(ctx, *best, best.terms&^graphTerm); err != nil {
		return err
	}
	if k.pairs == 0 && best.worth() > base.worth() {
		k.opts.MaxIter = productIters
		defer func() { k.opts.MaxIter = 0 }()
		_, err := k.try(ctx, *best, best.terms|productTerm)
		return err
	}
	return nil
}

// tryFar tries the best kernel that has the graph term beside others with many scales
// of the graph: walks end after a few hops, and what covariates leave unexplained
// may vary over hundreds.
func (k *knownContest) tryFar(ctx context.Context) error {
	beside := slices.DeleteFunc(slices.Clone(k.tried), func(a attempt) bool {
		return !a.terms.has(graphTerm) || a.terms == graphTerm || a.terms.has(productTerm) || a.many
	})
	if len(beside) == 0 {
		return nil
	}
	best := likeliest(beside)
	c := best.candidate
	c.many, c.hops = true, k.fineHops(true, k.method, k.hops)
	made, err := k.kernel(ctx, c, k.method)
	if err != nil {
		return err
	}
	known := k.inSpace(best.model.Theta())[k.graphParams(best):]
	params := k.nodeParams(made)
	var theta []float64
	for _, p := range params[:len(params)-len(known)] {
		theta = append(theta, p.Start)
	}
	opts := k.opts
	opts.Starts = [][]float64{append(theta, known...)}
	a, err := k.fit(ctx, c, opts)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil
	}
	if err == nil {
		k.tried = append(k.tried, a)
	}
	return err
}

// base returns the best kernel of the graph alone that has one scale, the usual
// Laplacian and the natural variance; the best of all if there is none.
func (c *contest) base() attempt {
	plain := func(a attempt) bool { return !a.many && !a.unusual && !a.unit }
	if slices.ContainsFunc(c.tried, plain) {
		return c.best(plain)
	}
	return c.best(func(attempt) bool { return true })
}

// try fits a kernel with other terms than those of a fitted one, starting from the
// hyperparameters that both have. The result is nil if its covariance is not positive
// definite to rounding.
func (k *knownContest) try(ctx context.Context, from attempt, of terms) (*attempt, error) {
	c := from.candidate
	c.terms, c.pairs, c.trend = of, k.pairs, false
	starts, err := k.starts(ctx, from, c)
	if err != nil {
		return nil, err
	}
	opts := k.opts
	opts.Starts = starts
	a, err := k.fit(ctx, c, opts)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	k.tried = append(k.tried, a)
	return &k.tried[len(k.tried)-1], nil
}

// starts returns hyperparameters of a candidate: those that a fitted kernel shares
// with it, and the starting values of the others. Variances that the new terms take over
// are smaller.
func (k *knownContest) starts(ctx context.Context, from attempt, c candidate) ([][]float64, error) {
	made, err := k.kernel(ctx, c, k.method)
	if err != nil {
		return nil, err
	}
	params := k.nodeParams(made)
	theta := make([]float64, 0, len(params))
	fitted := k.inSpace(from.model.Theta())
	graph := k.graphParams(from)
	if c.terms.has(graphTerm) && from.terms.has(graphTerm) {
		theta = append(theta, fitted[:graph]...)
	}
	if from.terms&knownTerms == c.terms&knownTerms {
		known := fitted[graph:]
		if from.trend {
			known = nil
		}
		theta = append(theta, known[:min(len(known), len(params)-len(theta))]...)
	}
	for _, p := range params[len(theta):] {
		theta = append(theta, p.Start)
	}
	less := slices.Clone(theta)
	for j, p := range params {
		switch {
		case !p.Variance:
		case c.terms.has(graphTerm) && j < graph:
			less[j] *= 0.3
		case j >= graph:
			less[j] *= 0.3
		}
	}
	return [][]float64{theta, less}, nil
}

// graphParams returns the number of hyperparameters of the graph term of an attempt,
// without those of a trend.
func (c *contest) graphParams(a attempt) int {
	if !a.terms.has(graphTerm) {
		return 0
	}
	k := a.candidate
	k.terms, k.trend = graphTerm, false
	made, err := c.kernel(context.Background(), k, c.method)
	if err != nil {
		return 0
	}
	return len(c.nodeParams(made))
}
