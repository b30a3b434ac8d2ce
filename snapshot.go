package grfgp

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
)

// Snapshot is the posterior of an Optimizer after some measurements, with these. It
// is immutable and safe for concurrent use.
type Snapshot struct {
	posterior *gp.Posterior
	of        *Trainer
	data      gp.Data
	chosen    Spec
}

// Snapshot conditions on all measurements told so far and returns the posterior; the
// error wraps bayesopt.ErrNoModel where they are too few for one.
func (o *Optimizer) Snapshot(ctx context.Context) (*Snapshot, error) {
	p, err := o.Update(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{posterior: p, of: o.of, data: o.Data()}
	s.chosen, _ = o.Chosen()
	return s, nil
}

// Chosen is the Spec of the model with its choices filled in.
func (s *Snapshot) Chosen() Spec { return s.chosen }

// NoiseSD is the standard deviation of the noise of one measurement.
func (s *Snapshot) NoiseSD() float64 { return math.Sqrt(s.posterior.NoiseVar()) }

// Predict returns mean and standard deviation of the quantity at the nodes. The
// error wraps ErrNode where the graph has no such node.
func (s *Snapshot) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	if err := s.of.check(nodes); err != nil {
		return Prediction{}, err
	}
	return predict(ctx, s.posterior, nodes)
}

// Validate holds out folds of measurements, conditions on the others and compares
// predictions with the held-out values, beside the baselines. The hyperparameters
// stay as they are, so it takes a fraction of the time of the function Validate and
// is slightly optimistic.
func (s *Snapshot) Validate(ctx context.Context, seed uint64) (*Validation, error) {
	const most = 10
	v := &Validation{Scheme: Scattered, Folds: min(most, s.data.Len()), Coverage: map[string]float64{}, BaselineRMSE: map[string]float64{}}
	fold := s.of.folds(s.data.Nodes, v.Folds, Scattered, seed)
	squares := map[string]float64{}
	for f := range v.Folds {
		train, test := split(s.data, fold, f)
		if test.Len() == 0 || train.Len() == 0 {
			continue
		}
		p, err := s.posterior.Model().Condition(ctx, train)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
		predicted, err := predict(ctx, p, test.Nodes)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
		v.compare(f, test, predicted, s.NoiseSD())
		if err := addSquares(ctx, squares, s.of.graph, train, test); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
	}
	v.summarise(squares)
	return v, nil
}
