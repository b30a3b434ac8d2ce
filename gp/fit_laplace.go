package gp

import (
	"context"
	"fmt"
)

// fitLaplace learns the model m from data that are not Gaussian; d has passed
// CheckValues.
func (m *Model) fitLaplace(ctx context.Context, d Data, opts FitOptions) (*Model, FitReport, error) {
	var r FitReport
	d = d.PoolAs(opts.Values)
	m.values = opts.Values
	var err error
	if m.units, err = m.values.likelihood().units(d, opts); err != nil {
		return nil, r, err
	}
	switch {
	case opts.Mean != nil:
		m.meanVar = 0
	case m.values.latent():
		m.meanVar = latentMeanVar
	}
	opts.From, opts.Ordered = nil, false // these serve Gaussian values alone
	r, err = m.learn(ctx, m.units.standardLatent(d, m.values), d.NoiseVar != nil, opts)
	if err != nil {
		return nil, r, fmt.Errorf("fitting: %w", err)
	}
	if opts.Subsample == 0 && m.byPatches(d) {
		p, err := m.Condition(ctx, d)
		if err != nil {
			return nil, r, fmt.Errorf("fitting: %w", err)
		}
		if r.LogLikelihood, r.LogLikelihoodSE, err = p.LogMarginalLikelihood(ctx); err != nil {
			return nil, r, fmt.Errorf("fitting: %w", err)
		}
		r.LogLikelihood += p.measured.logScale(m.units)
		if m.solver == Iterative {
			r.LOOScore = 0
		}
	}
	r.Solver, r.Theta, r.NoiseSD, r.Values, r.Shape = m.solver, m.Theta(), m.NoiseSD(), m.values, m.shape
	r.Names = pathsOf(m.kernel)
	return m, r, nil
}

// byPatches reports whether hyperparameters are learned from patches of the data.
func (m *Model) byPatches(d Data) bool {
	return m.solver == Iterative || d.Len() > m.how.within().LaplaceAll
}

// learn sets the hyperparameters and the parameter of the likelihood.
func (m *Model) learn(ctx context.Context, s Data, noisy bool, opts FitOptions) (FitReport, error) {
	of := m.values.likelihood().parameter()
	known := of.name == "" || of.optional || of.noise && (noisy || opts.NoiseSD != nil)
	p, starts, err := newParamsWith(m.kernel, opts.Starts, of.param(), known)
	if err != nil {
		return FitReport{}, err
	}
	p.floor = of.floor
	if of.noise && opts.NoiseSD != nil {
		v := *opts.NoiseSD / m.units.Scale
		if p.known = v * v; p.known == 0 && !noisy {
			return FitReport{}, fmt.Errorf("%w: values of kind %s have noise above 0, but it is given as 0; take values of kind %s", ErrData,
				m.values, Gaussian)
		}
	}
	whole, twice := opts.Progress, of.optional && !opts.Fixed
	if twice {
		opts.Progress = whole.Part(1, 1)
	}
	theta, r, err := m.climbLaplace(ctx, s, p, starts, opts)
	if err != nil {
		return r, err
	}
	m.set(p, theta)
	if !twice {
		return r, nil
	}
	// The model without the parameter is a limit, which a search by logarithms does not reach: the two are fitted
	// one after the other, and one more parameter has to be worth one nat (Akaike), as between kernels.
	if p, starts, err = newParamsWith(m.kernel, [][]float64{m.theta}, of.param(), false); err != nil {
		return r, err
	}
	p.floor, opts.Progress = of.floor, whole.Part(1, 0)
	more, q, err := m.climbLaplace(ctx, s, p, starts, opts)
	if err != nil {
		return r, err
	}
	q.Iterations += r.Iterations
	q.Evaluations += r.Evaluations
	if q.LogLikelihood > r.LogLikelihood+1 {
		m.set(p, more)
		return q, nil
	}
	q.LogLikelihood, q.LOOScore, q.Converged = r.LogLikelihood, r.LOOScore, r.Converged
	return q, nil
}

// set takes over what was learned.
func (m *Model) set(p *params, theta []float64) {
	own, last := p.split(theta)
	m.settle(own)
	m.shape, m.noise = m.values.likelihood().shaped(last)
}

// climbLaplace maximises Laplace's approximation for all data, or for patches of it.
func (m *Model) climbLaplace(ctx context.Context, s Data, p *params, starts [][]float64, opts FitOptions) ([]float64, FitReport, error) {
	parts := []Data{s}
	switch {
	case opts.Subsample > 0:
		parts = m.patches(s, m.how.within().Sample(opts.Subsample))
	case m.byPatches(s):
		parts = m.patches(s, m.how.within().Start)
	}
	return m.fitParts(ctx, p, parts, starts, opts)
}
