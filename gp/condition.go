package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// ErrNeedsExact is wrapped by errors of Posterior methods that need the exact
// solver.
var ErrNeedsExact = errors.New("needs the exact solver")

// Posterior is a Gaussian process given measurements,
//
//	mean m(·) = K_·x H⁻¹ y,  covariance K − K_·x H⁻¹ K_x·,  H = K_xx + noise.
//
// It is immutable and safe for concurrent use. Results are in the units of the
// data. A node that the kernel does not have is an error; an empty node list, or
// zero draws, gives an empty result.
//
// For values that are not Gaussian it is Laplace's approximation: the posterior of f
// given pseudo-measurements f̂ + W⁻¹∇log p(y|f̂) with noise variances W⁻¹. Mean, Variance,
// Covariance and Sample are those of f: of the value for Student values, the log rate
// of counts, the logit of a probability. Response maps them to the scale that people
// read.
//
// Of a model with alternatives (Model.WithAlternatives), variances, covariances, draws and
// densities include the uncertainty of the hyperparameters. Leave-one-out predictions,
// residuals and functionals take the learned ones as known.
type Posterior struct {
	model    *Model
	prior    kernel.Covariance // at the model's hyperparameters
	cov      kernel.Covariance // prior with the unknown mean
	data     Data              // standardised
	noise    []float64         // variance per value
	h        inverse           // H, factored; nil: systems are solved by iteration
	alpha    []float64         // H⁻¹y
	lower    []float64         // L⁻¹y with a Cholesky factor, of which a further Condition keeps what it has
	start    []float64         // where a further Condition starts to iterate; nil: at alpha
	share    *share            // of this rank, whose measurements data are; nil: all are here
	measured *measured         // what the pseudo-measurements in data stand for; nil: data are Gaussian

	alternatives []*Posterior // at those of the hyperparameters, for their means
}

// Condition returns the posterior of the model given measurements, which need not
// be those that it was fitted to.
func (m *Model) Condition(ctx context.Context, d Data) (*Posterior, error) {
	if err := d.CheckValues(m.kernel.Nodes(), m.values); err != nil {
		return nil, err
	}
	k, err := m.prior()
	if err != nil {
		return nil, err
	}
	var p *Posterior
	if m.values == Gaussian {
		p, err = m.conditionStandard(ctx, k, m.units.standard(d))
	} else if p, err = m.approximate(ctx, k, d); err == nil {
		err = p.addAlternatives(func(m *Model) (*Posterior, error) { return m.Condition(ctx, d) })
	}
	if err != nil {
		return nil, fmt.Errorf("conditioning: %w", err)
	}
	return p, nil
}

// conditionStandard returns the posterior given standardised Gaussian measurements.
func (m *Model) conditionStandard(ctx context.Context, k kernel.Covariance, s Data) (*Posterior, error) {
	p := &Posterior{model: m}
	if m.solver == Iterative {
		var err error
		if p.share, err = newShare(ctx, m.ranks, m.kernel, s, m.meanVar, m.how.within().SharedFrom); err != nil {
			return nil, err
		}
		if p.share != nil {
			s = p.share.data()
		}
	}
	p.prior, p.cov, p.data, p.noise = k, kernel.WithConstant(k, m.meanVar), s, noises(s, m.noise)
	if err := p.factor(ctx); err != nil {
		return nil, err
	}
	p.alpha = make([]float64, s.Len())
	if err := p.solveMean(ctx); err != nil {
		return nil, err
	}
	return p, p.addStandard(ctx)
}

// factor factors H, or prepares to solve it by iteration.
func (p *Posterior) factor(ctx context.Context) error {
	if p.model.solver == Iterative {
		if p.measured != nil || p.model.how.Plain {
			return nil
		}
		table, err := tableOf(ctx, p.cov, p.data.Nodes, p.noise)
		if table != nil {
			p.h = table
		}
		return err
	}
	h := mat.NewSymDense(p.data.Len(), nil)
	if err := p.cov.Gram(ctx, h, p.data.Nodes); err != nil {
		return err
	}
	for i, v := range p.noise {
		h.SetSym(i, i, h.At(i, i)+v)
	}
	chol, err := solve.NewCholeskyContext(ctx, h)
	p.h = chol
	return err
}

// solveMean sets alpha = H⁻¹y, from the starting guess that it holds.
func (p *Posterior) solveMean(ctx context.Context) error {
	if c := p.chol(); c != nil {
		p.lower = c.ExtendLower(p.lower, p.data.Y)
		c.SolveUpper(p.alpha, p.lower)
		return ctx.Err()
	}
	y := mat.NewDense(p.data.Len(), 1, slices.Clone(p.data.Y))
	return p.solve(ctx, mat.NewDense(len(p.alpha), 1, p.alpha), y, forMeans)
}

// Factored reports whether the exact solver factored the covariance matrix of the
// measurements; otherwise the iterative solver is in use.
func (p *Posterior) Factored() bool { return p.chol() != nil }

// Condition returns the posterior given more measurements, with the same
// hyperparameters and units: the posterior of Model.Condition for all data, to
// rounding, for O(T²) per measurement with the exact solver. The new measurements
// have noise variances if and only if the earlier ones have. Conditioning at once
// or in parts gives the same bits on the processor. p is not changed; the two share memory. For values
// that are not Gaussian the mode is searched again with all data, which costs as much
// as Model.Condition.
func (p *Posterior) Condition(ctx context.Context, d Data) (*Posterior, error) {
	if d.Len() == 0 {
		return p, nil
	}
	if p.measured != nil {
		return p.remeasure(ctx, d)
	}
	if err := d.CheckValues(p.Nodes(), Gaussian); err != nil {
		return nil, err
	}
	if err := p.alone("conditioning on more measurements"); err != nil {
		return nil, err
	}
	s := p.model.units.standard(d)
	q, err := p.extended(ctx, s, noises(s, p.model.noise))
	if err != nil {
		return nil, fmt.Errorf("conditioning on %d more measurements: %w", d.Len(), err)
	}
	return q, q.addStandard(ctx)
}

// ConditionOnMeans returns the posterior as if every given node had been measured with
// the noise of NoiseVar, and the measurement were its mean: means stay, variances
// become smaller. It is for planning, with hyperparameters taken as known. For values that are not Gaussian these are
// pseudo-measurements of f, which a further Condition leaves out.
func (p *Posterior) ConditionOnMeans(ctx context.Context, nodes []int) (*Posterior, error) {
	mean, err := p.Mean(ctx, nodes)
	if err != nil || len(nodes) == 0 {
		return p, err
	}
	if p.measured == nil {
		known, plain := *p.model, *p
		known.alternatives, plain.model, plain.alternatives = nil, &known, nil
		return plain.Condition(ctx, Data{Nodes: nodes, Y: mean})
	}
	u, noise := p.model.units, p.NoiseVar()
	s := Data{Nodes: slices.Clone(nodes)}
	for _, v := range mean {
		s.Y = append(s.Y, (v-u.Center)/u.Scale)
		s.NoiseVar = append(s.NoiseVar, noise/u.Scale/u.Scale)
	}
	q, err := p.extended(ctx, s, s.NoiseVar)
	if err != nil {
		return nil, fmt.Errorf("conditioning on the means of %d nodes: %w", len(nodes), err)
	}
	return q, nil
}

// extended returns the posterior given more standardised measurements with noise variances.
func (p *Posterior) extended(ctx context.Context, s Data, noise []float64) (*Posterior, error) {
	data, err := p.data.Slice(0, p.data.Len()).Append(s) // sliced: p keeps its own
	if err != nil {
		return nil, err
	}
	q := &Posterior{model: p.model, prior: p.prior, cov: p.cov, data: data, noise: slices.Concat(p.noise, noise), measured: p.measured}
	q.alpha = make([]float64, q.data.Len())
	if p.chol() != nil {
		if err := q.grow(ctx, p); err != nil {
			return nil, err
		}
		q.lower = p.lower
	} else {
		// Conjugate gradients start from the solution that Model.Condition found. The
		// last one would be nearer, but results would depend on the parts.
		q.start = p.start
		if q.start == nil {
			q.start = p.alpha
		}
		copy(q.alpha, q.start)
		if err := q.factor(ctx); err != nil {
			return nil, err
		}
	}
	return q, q.solveMean(ctx)
}

// grow appends rows to the factor of p.
func (q *Posterior) grow(ctx context.Context, p *Posterior) error {
	c, before, n := p.chol().Copy(), p.data.Len(), q.data.Len()
	q.h = c
	cross, err := q.cross(ctx, before)
	if err != nil {
		return err
	}
	column := make([]float64, n)
	for k := before; k < n; k++ {
		mat.Col(column, k-before, cross)
		row := column[:k+1]
		row[k] += q.noise[k]
		if err := c.Append(row); err != nil {
			return err
		}
	}
	return nil
}

// cross returns K[x, new x] for the measurements from number before on. Its bits do not depend on how many they are.
func (q *Posterior) cross(ctx context.Context, before int) (*mat.Dense, error) {
	n, added := q.data.Len(), q.data.Nodes[before:]
	cross := mat.NewDense(n, len(added), nil)
	if !kernel.ByRows(q.cov) {
		return cross, q.cov.Cross(q.data.Nodes, added).Apply(ctx, cross, identity(len(added)))
	}
	return cross, q.compute(ctx, "conditioned", func(s *stage) error { return s.cross(ctx, cross, added) })
}
