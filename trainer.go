package grfgp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/covariate"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/walk"
)

// Trainer fits several models with one Spec on one graph. It computes eigenvectors,
// features and coarser graphs once and shares them between fits: cross-validation
// uses one Trainer for all folds, and a replay for all searches. It is safe for
// concurrent use.
type Trainer struct {
	*workshop
	hash     [32]byte                 // of the graph
	open     func() (*gp.Card, error) // opens the card of this machine, once
	together Together
}

// NewTrainer returns a Trainer for models that spec describes. The graph should
// be in locality order, see [graph.Graph.Ordered]. The error wraps ErrSpec if
// spec is invalid, and ErrNoCard if it asks for a graphics card and there is none.
func NewTrainer(g *graph.Graph, spec Spec) (*Trainer, error) {
	return newTrainer(g, spec, openCard)
}

func newTrainer(g *graph.Graph, spec Spec, open func() (*gp.Card, error)) (*Trainer, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	if s := spec.Covariates; s != nil && s.Nodes != g.Len() {
		return nil, fmt.Errorf("%w: covariates of %d nodes for a graph of %d; encode the columns of this graph's nodes", ErrSpec, s.Nodes,
			g.Len())
	}
	t := &Trainer{workshop: newWorkshop(g, spec.clone()), open: open, hash: g.Hash()}
	return t, t.openCard()
}

// Graph returns the graph.
func (t *Trainer) Graph() *graph.Graph { return t.graph }

// KeepFeatures makes the Trainer keep the features of all kernels that it tries, not
// only of the chosen one. That makes a sequence of many trainings faster at the cost
// of memory.
func (t *Trainer) KeepFeatures() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shared = true
}

// Spec returns the Spec as it was given.
func (t *Trainer) Spec() Spec { return t.spec.clone() }

// decide chooses the representation of a kernel by its cost, which depends on unit
// variance, and its longest walk.
func (b *workshop) decide(measurements int, unit bool) (method string, hops int, why []string) {
	cut := b.spec.cutOff()
	method, reason := b.limits.Represent(plan.Asked{Method: b.spec.Method, Cut: !b.spec.exact(), Unit: unit, Nodes: b.graph.Len(),
		Entries: b.entries, Columns: measurements})
	why = []string{reason}
	switch {
	case method == "dense" && cut:
		hops = b.spec.member(b.spec.Expression).Hops
	case method == "dense":
	case b.spec.Hops > 0:
		hops = b.spec.Hops
	case method == "series" && !cut: // no cut-off
	default:
		hops, reason = b.limits.WalkHops(method, b.graph.Len(), walk.Default().MaxLen)
		why = slices.DeleteFunc(append(why, reason), func(s string) bool { return s == "" })
		hops = max(hops, min(len(b.spec.Alpha)-1, walk.MaxMaxLen))
	}
	return method, hops, why
}

// fineHops returns the longest walk of a kernel with one scale, or on the finest of many.
// Coarser scales cover longer distances, so a few hops are enough on the
// finest of many.
func (b *workshop) fineHops(e Expression, hops int) int {
	if f, _ := kernel.FamilyNamed(e.Family); e.Many() && e.Method == "grf" && b.spec.Hops == 0 && f.Coarse {
		return b.limits.FineHops
	}
	return hops
}

// decideScales returns whether one scale, many or both are tried.
func (b *workshop) decideScales(ctx context.Context, places []int, method string, hops int) (scales []string, why string, err error) {
	switch {
	case b.spec.Scales == "one":
		return []string{"one"}, "one scale was requested", nil
	case method == "lowrank":
		return []string{"one"}, "low rank has one scale", nil
	}
	coarser, count, err := b.coarser(ctx, method)
	switch {
	case err != nil:
		return nil, "", err
	case b.spec.Many() && count == 0:
		return nil, "", b.noScales()
	case b.spec.Many():
		return []string{"many"}, "many scales were requested: " + coarser, nil
	case count == 0:
		return []string{"one"}, "the graph is too small for coarser scales", nil
	}
	reach := fmt.Sprintf("walks reach %d hops", hops)
	if hops == 0 {
		reach = "the kernel reaches everywhere"
	}
	if r := len(b.spec.Alpha); r > 0 {
		reach = fmt.Sprintf("the power series reaches %d hops", r-1)
	}
	return scaleNames, fmt.Sprintf("measured nodes are %.3g hops apart on average and %s; also tried: %s", b.when.Spacing(places), reach,
		coarser), ctx.Err()
}

// spreadLeast is the standard deviation of the log degree from which a trend is
// tried; that of a grid is smaller. Below spreadTiny all degrees count as equal.
const (
	spreadLeast = 0.3
	spreadTiny  = 1e-9
)

// spreadOf is the standard deviation of the log degree.
func spreadOf(g *graph.Graph) float64 {
	_, spread := covariate.LogDegree(g)
	return spread
}

// decideTrend returns whether all kernels have a trend (all), and whether the best
// kernel without a trend is also tried with one (last).
func (b *workshop) decideTrend(method string) (all, last bool, why string, err error) {
	switch {
	case b.spec.Trending() && b.spread() < spreadTiny:
		return false, false, "", errNoTrend
	case b.spec.Trending():
		return true, false, "a trend with the degree was requested", nil
	case b.spec.Trend == "none":
		return false, false, "no trend was requested", nil
	case method == "lowrank":
		return false, false, "low rank has no trend", nil
	case b.spread() < spreadLeast:
		return false, false, "degrees vary too little for a trend", nil
	}
	return false, true, fmt.Sprintf("degrees vary by a factor of %.2g (one sd): a trend with the log degree was tried",
		math.Exp(b.spread())), nil
}

// offers returns the terms over what is known about nodes that the Spec leaves open
// or asks for: covariates if there are any, roles if degrees vary.
func (b *workshop) offers(method string) (of Terms, why string) {
	if method == "lowrank" {
		return 0, ""
	}
	if b.spec.Terms != 0 {
		return b.spec.Terms & knownTerms, "the terms " + b.spec.Terms.String() + " were requested"
	}
	if s := b.spec.Covariates; s != nil && !s.Empty() {
		of |= CovariateTerm
	}
	switch n := b.graph.Len(); {
	case b.spec.Roles == "none":
		why = "no roles were requested"
	case !b.uneven():
		why = "degrees vary too little for roles"
	case n > b.limits.RoleNodes:
		why = fmt.Sprintf("no roles: they take long for %d nodes", n)
	default:
		of |= RoleTerm
		why = "roles were tried: degree, cores and triangles of a node and its neighbours, and the nodes it is joined to"
	}
	return of, why
}

// uneven reports whether degrees differ so much that a kernel whose variance
// depends on the degree differs from one whose variance does not.
func (b *workshop) uneven() bool { return b.spread() >= spreadLeast }

// opensUnit reports whether unit variance is tried. With a series every prediction
// then needs the diagonal at all nodes, so it is not tried on graphs where that
// costs more than an evaluation by a series may.
func (b *workshop) opensUnit(method string) bool {
	return b.spec.Variance == "" && b.spec.scaled() && method != "lowrank" &&
		(method != "series" || b.limits.SeriesCost(b.entries, b.graph.Len()) <= b.limits.SeriesFlops)
}
