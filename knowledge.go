package grfgp

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
)

// Knowledge is what an Optimizer knew after some measurements. It is immutable
// and safe for concurrent use.
type Knowledge struct {
	posterior *gp.Posterior
	of        *workshop
	place     []int
	data      gp.Data // nodes as given
	chosen    Spec
}

// Knowledge takes in what was told and returns what is known; the error wraps
// bayesopt.ErrNoModel where too little was told.
func (o *Optimizer) Knowledge(ctx context.Context) (*Knowledge, error) {
	p, err := o.inner.Update(ctx)
	if err != nil {
		return nil, err
	}
	k := &Knowledge{posterior: p, of: o.of, place: o.place, data: o.Data()}
	k.chosen, _ = o.Chosen()
	return k, nil
}

// Chosen is the Spec of the model with its choices filled in.
func (k *Knowledge) Chosen() Spec { return k.chosen }

// NoiseSD is the standard deviation of the noise of one reading.
func (k *Knowledge) NoiseSD() float64 { return math.Sqrt(k.posterior.NoiseVar()) }

// Predict returns mean and standard deviation of the quantity at the nodes.
func (k *Knowledge) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	at, err := places(nodes, k.place)
	if err != nil {
		return Prediction{}, err
	}
	return predict(ctx, k.posterior, at)
}

// Validate leaves out folds of measurements, conditions on the others and
// compares what is predicted with what was measured, beside the simple rules. The
// hyperparameters stay as they are, so it takes a fraction of what Validate of
// the package takes, and is a little kinder to the model.
func (k *Knowledge) Validate(ctx context.Context, seed uint64) (*Validation, error) {
	const most = 10
	v := &Validation{Scheme: Scattered, Folds: min(most, k.data.Len()), Coverage: map[string]float64{}, BaselineRMSE: map[string]float64{}}
	fold := k.of.folds(renumbered(k.data.Nodes, k.place), v.Folds, Scattered, seed)
	squares := map[string]float64{}
	for f := range v.Folds {
		train, test := split(k.data, fold, f)
		if test.Len() == 0 || train.Len() == 0 {
			continue
		}
		inner := train
		inner.Nodes = renumbered(train.Nodes, k.place)
		p, err := k.posterior.Model().Condition(ctx, inner)
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
		known, err := predict(ctx, p, renumbered(test.Nodes, k.place))
		if err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
		v.compare(f, test, known, k.NoiseSD())
		if err := addSquares(ctx, squares, k.of.given, train, test); err != nil {
			return nil, fmt.Errorf("fold %d of %d: %w", f+1, v.Folds, err)
		}
	}
	v.summarise(squares)
	return v, nil
}
