package gp

import (
	"context"
	"fmt"

	"grfgp/kernel"
	"grfgp/plan"
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
func (m *Model) climbLaplace(ctx context.Context, s Data, p *params, starts [][]float64, opts FitOptions) (theta []float64, r FitReport,
	err error) {
	parts := []Data{s}
	switch {
	case opts.Subsample > 0:
		parts = patchesOf(s, m.how.within().Sample(opts.Subsample))
	case m.byPatches(s):
		parts = patchesOf(s, m.how.within().Start)
	}
	all := make([]*laplace, len(parts))
	for i, part := range parts {
		k := kernel.Cached(m.kernel, part.Nodes, m.how.within().CacheBytes/len(parts))
		all[i] = &laplace{kernel: k, data: part, values: m.values, center: m.units.Center, meanVar: m.meanVar,
			params: p}
	}
	counted := newEvaluations(opts.Progress, len(starts), opts.MaxIter)
	if theta, err = bestStart(ctx, all, starts, false, counted); err != nil {
		return nil, r, err
	}
	if r.Converged = opts.Fixed; !opts.Fixed {
		if theta, r, _, err = p.climbBy(ctx, theta, climbing{maxIter: opts.MaxIter, tol: opts.Tol, rival: opts.Rival},
			counted.of(compositeObjective(all)).both()); err != nil {
			return nil, r, err
		}
	}
	count := 0
	for _, l := range all {
		at, err := l.find(ctx, theta)
		if err != nil {
			return nil, r, err
		}
		r.LogLikelihood += at.logMarginal()
		for _, score := range at.leaveOneOutScores() {
			r.LOOScore += score
		}
		count += l.data.Len()
	}
	r.LOOScore /= float64(count)
	return theta, r, nil
}

// patchesOf returns samples of the data as patches chooses them.
func patchesOf(d Data, of plan.Patches) []Data {
	var all []Data
	for _, rows := range patches(d.Nodes, of) {
		all = append(all, d.Select(rows))
	}
	return all
}
