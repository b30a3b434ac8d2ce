package grfgp

import (
	"context"
	"fmt"
	"math"

	"grfgp/gp"
)

// Condition returns the model given other measurements, in place of those that it has,
// with the hyperparameters, the noise and the units that were learned: the posterior of a
// fit in which these are fixed. Use [gp.Data.Append] with Data for measurements in addition.
//
// The measurements must be of the kind of Spec.Values, and at places if the model has
// times. A model that was fitted to measurements with noise variances knows no noise
// itself, so the new measurements need them too. The error wraps gp.ErrData if they
// cannot be used.
func (m *Model) Condition(ctx context.Context, d gp.Data) (*Model, error) {
	own, err := m.spec.ownData(m.of.places(), d)
	if err != nil {
		return nil, err
	}
	state := m.fitted.State()
	if m.spec.kind().About().Noisy && state.Noise == 0 && m.spec.NoiseSD == nil && d.NoiseVar == nil {
		return nil, fmt.Errorf("%w: the model was fitted to measurements with noise variances of their own, and these have none; give a noise "+
			"variance for each", gp.ErrData)
	}
	other := *m
	if solver := m.solverFor(own); solver != state.Solver {
		state.Solver = solver
		if other.fitted, err = m.of.model(ctx, m.spec.Expression, state, m.fitted.Card()); err != nil {
			return nil, err
		}
	}
	if other.posterior, err = other.fitted.Condition(ctx, own); err != nil {
		return nil, err
	}
	other.data, other.noiseSD = d.Clone(), other.fitted.NoiseSD()
	if d.NoiseVar != nil {
		other.noiseSD = math.Sqrt(other.posterior.NoiseVar())
	}
	return &other, nil
}

// solverFor returns the solver for measurements: that of the Spec, or the one that a fit
// to them would take.
func (m *Model) solverFor(own gp.Data) gp.Solver {
	state := m.fitted.State()
	switch {
	case m.spec.Solver != "" || m.spec.Times != nil:
		return state.Solver
	case own.Len() > m.of.limits.Exact:
		return gp.Iterative
	}
	return gp.Exact
}
