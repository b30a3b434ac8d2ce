package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// LogMarginalLikelihood returns the log density of all measurements under the
// model,
//
//	log p(y) = −½ yᵀH⁻¹y − ½ log det H − (T/2) log 2π,
//
// and its standard error. With the exact solver the error is 0; the iterative
// solver estimates the determinant from random vectors. For values that are not
// Gaussian it is Laplace's approximation.
func (p *Posterior) LogMarginalLikelihood(ctx context.Context) (value, se float64, err error) {
	if value, se, err = p.logLikelihood(ctx, 0); err != nil {
		return 0, 0, fmt.Errorf("log marginal likelihood: %w", err)
	}
	if p.measured != nil {
		return value - p.measured.logScale(p.model.units), se, nil
	}
	return value - p.allData().densities()*math.Log(p.model.units.Scale), se, nil
}

// logLikelihood returns the log marginal likelihood of standardised values with its standard error; the seed is that of random vectors.
func (p *Posterior) logLikelihood(ctx context.Context, seed uint64) (value, se float64, err error) {
	fit, logDet, h := 0.0, 0.0, p.h
	switch {
	case h != nil && p.measured != nil:
		return p.measured.marginal, 0, nil
	case h != nil:
		logDet = h.LogDet()
		for i, a := range p.alpha {
			fit += a * p.data.Y[i]
		}
	default:
		err = p.compute(ctx, "conditioned", func(s *stage) error {
			sys, err := p.system(ctx, s)
			if err != nil {
				return err
			}
			y, alpha := s.space.Block(s.parts[0].axis, 1), s.space.Block(s.parts[0].axis, 1)
			defer y.Free()
			defer alpha.Free()
			y.Set(p.data.Y)
			alpha.Set(p.alpha)
			fit = alpha.Sums(y, nil)[0]
			logDet, se, err = sys.logDet(ctx, seed)
			return err
		})
	}
	switch {
	case err != nil:
		return 0, 0, err
	case p.measured != nil: // the determinant is that of B
		return p.measured.fit - logDet/2, se / 2, nil
	}
	all := p.allData()
	within, _ := all.within(p.model.noise)
	return -fit/2 - logDet/2 - float64(all.Len())/2*math.Log(2*math.Pi) + within, se / 2, nil
}

// densities returns the number of measurements that a log marginal likelihood is
// the density of: repeated ones each, where their scatter is known.
func (d Data) densities() float64 {
	if d.Scatter == nil || d.NoiseVar != nil {
		return float64(d.Len())
	}
	sum := 0.0
	for k := range d.Len() {
		sum += d.count(k)
	}
	return sum
}

// LogDensity returns the log density of each of the given test measurements under
// the posterior, noise included: the held-out log density of values that the
// posterior was not conditioned on; of counts, shares and yes-no values the log
// probability. Measurements are taken one at a time; the log density of all of them together is what Condition adds to
// LogMarginalLikelihood.
func (p *Posterior) LogDensity(ctx context.Context, d Data) ([]float64, error) {
	if d.Len() == 0 {
		return nil, nil
	}
	if err := d.CheckValues(p.Nodes(), p.model.values); err != nil {
		return nil, err
	}
	mean, err := p.Mean(ctx, d.Nodes)
	if err != nil {
		return nil, err
	}
	variance, err := p.Variance(ctx, d.Nodes)
	if err != nil {
		return nil, err
	}
	if p.measured != nil {
		return p.logDensity(d, mean, variance), nil
	}
	density := make([]float64, d.Len())
	for k, noise := range noises(d, p.NoiseVar()) {
		density[k] = logNormal(d.Y[k], mean[k], variance[k]+noise)
	}
	return density, nil
}

// LeaveOneOut returns, for every measurement, mean and standard deviation of its
// prediction from all other measurements, noise included. For a mean of n
// measurements it predicts such a mean. It needs the exact solver. For values that are
// not Gaussian the prediction is on the scale of the data, of a measurement with the
// same exposure, and the pseudo-measurements of the others are kept as they are.
func (p *Posterior) LeaveOneOut() (mean, sd []float64, err error) {
	h := p.h
	if h == nil {
		return nil, nil, fmt.Errorf("leave-one-out: %w", ErrNeedsExact)
	}
	if p.measured != nil {
		mean, sd = p.leaveOneOutValues()
		return mean, sd, nil
	}
	f := &factor{h: h, alpha: p.alpha}
	mean, sd = f.leaveOneOut(p.data)
	u := p.model.units
	for i := range mean {
		mean[i] = u.Center + u.Scale*mean[i]
		sd[i] = u.Scale * math.Sqrt(sd[i])
	}
	return mean, sd, nil
}

// StandardizedResiduals returns, for every measurement, its deviation from its
// prediction by the measurements before it, in standard deviations, noise included:
// L⁻¹y with H = LLᵀ. They are independent draws from N(0, 1) if the model is right.
// It needs the exact solver. For values that are not Gaussian they are
// the normal scores of the measurements in their leave-one-out predictions, with half
// of the probability of the measurement itself: near N(0, 1), neither independent nor
// continuous.
func (p *Posterior) StandardizedResiduals() ([]float64, error) {
	if p.chol() == nil {
		return nil, fmt.Errorf("standardized residuals: %w", ErrNeedsExact)
	}
	if p.measured != nil {
		return p.normalScores(), nil
	}
	return slices.Clone(p.lower), nil
}

// HeldOutLogDensity holds out each group of measurements, given by their numbers
// in d, and returns the log density of the first of the group given all
// measurements outside it, standardised: how well the model predicts at that
// distance from measurements. It factors the training covariance once. With Q =
// H⁻¹ the held-out group B has mean y_B − Q_BB⁻¹α_B and covariance Q_BB⁻¹, noise
// included. For values that are not Gaussian this holds for the pseudo-measurements,
// and the density is that of the measurement; those outside the group keep the
// pseudo-measurements that they have given all data.
func (m *Model) HeldOutLogDensity(ctx context.Context, d Data, groups [][]int) ([]float64, error) {
	factored := *m
	factored.solver = Exact
	p, err := factored.Condition(ctx, d)
	if err != nil {
		return nil, err
	}
	inverse := mat.NewSymDense(d.Len(), nil)
	p.chol().Inverse(inverse)
	density := make([]float64, len(groups))
	for s, group := range groups {
		block, side := mat.NewSymDense(len(group), nil), mat.NewDense(len(group), 2, nil)
		for a, i := range group {
			for b, j := range group[a:] {
				block.SetSym(a, a+b, inverse.At(i, j))
			}
			side.Set(a, 0, p.alpha[i])
		}
		side.Set(0, 1, 1)
		chol, err := solve.NewCholesky(block)
		if err != nil {
			return nil, fmt.Errorf("held-out log density: %w", err)
		}
		chol.Solve(side, side)
		y := p.data.Y[group[0]]
		if p.measured != nil {
			v := max(side.At(0, 1)-p.noise[group[0]], 0)
			density[s] = p.measured.obs.predictive(group[0], y-side.At(0, 0), v)
			continue
		}
		density[s] = logNormal(y, y-side.At(0, 0), side.At(0, 1))
	}
	return density, nil
}
