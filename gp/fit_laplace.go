package gp

import (
	"context"
	"fmt"
)

// learnLaplace sets the hyperparameters and the parameter of the likelihood of data that are not Gaussian.
func (m *Model) learnLaplace(ctx context.Context, d Data, opts FitOptions) (FitReport, error) {
	opts.From, opts.Ordered = nil, false // these serve Gaussian values alone
	r, err := m.learnShape(ctx, m.units.standardLatent(d, m.values), opts)
	if err != nil || opts.Subsample > 0 || !m.byPatches(d) {
		return r, err
	}
	p, err := m.Condition(ctx, d)
	if err != nil {
		return r, err
	}
	if r.LogLikelihood, r.LogLikelihoodSE, err = p.LogMarginalLikelihood(ctx); err != nil {
		return r, err
	}
	r.LogLikelihood += p.measured.logScale(m.units)
	if m.solver == Iterative {
		r.LOOScore = 0
	}
	return r, nil
}

// byPatches reports whether hyperparameters are learned from patches of the data.
func (m *Model) byPatches(d Data) bool {
	return m.solver == Iterative || d.Len() > m.how.within().LaplaceAll
}

// learnShape is learnLaplace of standardised data, of which the report may know a part only.
func (m *Model) learnShape(ctx context.Context, s Data, opts FitOptions) (FitReport, error) {
	of, noisy := m.values.likelihood().parameter(), s.NoiseVar != nil
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
