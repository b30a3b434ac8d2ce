package grfgp

import (
	"fmt"

	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/plan"
)

// CheckOn returns an error, which wraps ErrSpec, if no model of the Spec can be fitted on
// the graph, whatever is measured: because the Spec is invalid on every graph, as Check
// says, or because of what the graph is like. EstimateMemory says whether there is
// enough memory.
func (s Spec) CheckOn(g *graph.Graph) error {
	if err := s.Check(); err != nil {
		return err
	}
	n := g.Len()
	switch {
	case s.Method == "dense" && n > kernel.MaxDense:
		return fmt.Errorf("%w: the method dense takes at most %d nodes, and the graph has %d; use series or grf, or leave the choice open",
			ErrSpec, kernel.MaxDense, n)
	case s.Method == "lowrank" && s.Rank > max(n, plan.Default().Rank):
		return fmt.Errorf("%w: rank %d of features of %d nodes; a rank above the number of nodes gains nothing, give at most %d", ErrSpec, s.Rank,
			n, max(n, plan.Default().Rank))
	case s.Trend == "degree" && spreadOf(g) < spreadTiny:
		return errNoTrend
	case s.Terms.Has(CovariateTerm) && s.Covariates == nil:
		return fmt.Errorf("%w: a term of covariates, and no covariates; give the columns to use, or leave the term out", ErrSpec)
	}
	return nil
}

var errNoTrend = fmt.Errorf("%w: all nodes have the same degree, so a trend with the degree is impossible; use no trend", ErrSpec)
