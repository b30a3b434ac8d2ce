package grfgp

import (
	"context"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
)

// Trainer fits several models of one Spec on one graph, as cross-validation and
// replays of searches do. The models share eigenvectors, coarser graphs and
// features. It is safe for concurrent use.
type Trainer struct{ of *workshop }

// NewTrainer returns the Trainer of a Spec on a graph.
func NewTrainer(g *graph.Graph, spec Spec) (*Trainer, error) {
	w, err := newWorkshop(g, spec)
	if err != nil {
		return nil, err
	}
	return &Trainer{w}, nil
}

// Fit is the function Fit.
func (t *Trainer) Fit(ctx context.Context, d gp.Data) (*Model, error) { return t.of.fit(ctx, d) }

// Classify is the function Classify.
func (t *Trainer) Classify(ctx context.Context, l gp.Labels, method gp.ClassMethod) (*Classification, error) {
	return t.of.classify(ctx, l, method)
}

// Optimizer is NewOptimizer, except that a representation that the Spec leaves open
// is chosen as in Fit; see Spec.ForSearch.
func (t *Trainer) Optimizer(opts bayesopt.Options) (*Optimizer, error) {
	return t.of.optimizer(t.of.spec, opts)
}

// KeepFeatures keeps the features of kernels that were tried and not chosen, which
// are otherwise dropped after each fit because they take gigabytes on large graphs:
// for models that are trained concurrently and choose different kernels.
func (t *Trainer) KeepFeatures() { t.of.shared = true }
