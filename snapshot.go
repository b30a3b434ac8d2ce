package grfgp

import (
	"context"
	"math"

	"grfgp/gp"
	"grfgp/graph"
)

// Snapshot is the posterior of an Optimizer at one moment of a search, with the
// measurements that it is conditioned on. It is immutable and safe for concurrent
// use.
type Snapshot struct {
	posterior *gp.Posterior
	of        *Trainer
	data      gp.Data
	chosen    Spec
}

// Snapshot conditions on all measurements told so far and returns the posterior; the
// error wraps bayesopt.ErrNoModel if they are too few for a model.
func (o *Optimizer) Snapshot(ctx context.Context) (*Snapshot, error) {
	p, err := o.Update(ctx)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{posterior: p, of: o.of, data: o.Data()}
	s.chosen, _ = o.Chosen()
	return s, nil
}

// Computed returns the graphics card that computed some of what the model of all measurements
// told so far needs, or "", and where things were computed and why, if there is a choice. The cautions are
// those of the reasons that tell of a failure.
func (o *Optimizer) Computed(ctx context.Context) (device string, why, cautions []string, err error) {
	p, err := o.Update(ctx)
	if err != nil {
		return "", nil, nil, err
	}
	device = told(p.Model().Card(), &why, &cautions)
	return device, why, cautions, nil
}

// WithAlternatives returns the snapshot with the uncertainty of the hyperparameters in
// its predictions, as those of Fit have it, if there are at most 400 measurements. Policies
// and replays do without it.
func (s *Snapshot) WithAlternatives(ctx context.Context) (*Snapshot, error) {
	if s.data.Len() > s.of.limits.AlternativeStudy {
		return s, nil
	}
	own, err := s.chosen.ownData(s.of.places(), s.data)
	if err != nil {
		return nil, err
	}
	opts, err := s.of.fitOptions()
	if err != nil {
		return nil, err
	}
	opts.Device = s.posterior.Model().Card()
	m, err := s.posterior.Model().WithAlternatives(ctx, own, opts)
	if err != nil {
		return nil, err
	}
	wide := *s
	wide.posterior, err = s.posterior.WithAlternatives(ctx, m)
	return &wide, err
}

// Chosen returns the Spec of the model with the choices filled in, without a device.
func (s *Snapshot) Chosen() Spec { return s.chosen }

// NoiseSD returns the standard deviation of the noise of one measurement.
func (s *Snapshot) NoiseSD() float64 { return math.Sqrt(s.posterior.NoiseVar()) }

// Predict returns the posterior mean and standard deviation of the quantity at
// the nodes. The error wraps ErrNode if the graph has no such node.
func (s *Snapshot) Predict(ctx context.Context, nodes []int) (Prediction, error) {
	if err := s.of.check(nodes); err != nil {
		return Prediction{}, err
	}
	return s.chosen.predict(ctx, s.posterior, NewShare(nil, nodes), nil)
}

// Effects returns the effects of columns and the shares of parts: see Model.Effects.
func (s *Snapshot) Effects(ctx context.Context) (*Effects, error) {
	m := &Model{of: s.of, spec: s.chosen, data: s.data, fitted: s.posterior.Model(), posterior: s.posterior}
	return m.Effects(ctx)
}

// Graph returns the graph.
func (s *Snapshot) Graph() *graph.Graph { return s.of.graph }

// Data returns a copy of the measurements.
func (s *Snapshot) Data() gp.Data { return s.data.Clone() }

// Condition returns the posterior given other measurements, with the same
// hyperparameters.
func (s *Snapshot) Condition(ctx context.Context, d gp.Data) (*Snapshot, error) {
	p, err := s.posterior.Model().Condition(ctx, d)
	if err != nil {
		return nil, err
	}
	return &Snapshot{posterior: p, of: s.of, data: d.Clone(), chosen: s.chosen}, nil
}
