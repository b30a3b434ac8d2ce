package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Alternative is a set of hyperparameters beside the learned ones, one standard
// deviation of their posterior away.
type Alternative struct {
	Theta      []float64 `json:"theta"`                // of the kernel
	Noise      float64   `json:"noise,omitempty"`      // as in State
	Dispersion float64   `json:"dispersion,omitempty"` // as in Shape
}

const laplaceFactors = 4 // of an evaluation of Laplace's approximation

// WithAlternatives returns the model with the uncertainty of its hyperparameters, given
// the data and the options of the Fit that learned them. A Posterior of that model has
// wider intervals and the same means.
//
// The posterior of the hyperparameters (positive ones by their logarithms) is taken as
// normal, with the curvature H of its log density at the learned ones, the weak prior
// included, and with a standard deviation of its own on either side of them along each
// principal direction of H: the distance at which the log density has dropped by half a nat.
// Where it drops by less, the distance is that of the prior, three e-folds. With m_k the means at
// the two alternatives of every direction, the covariance is
//
//	Σ + Σ_k (m_k − m)(m_k − m)ᵀ ≈ Σ + 2·J H⁻¹ Jᵀ,  J = ∂m/∂θ,
//
// which is twice the uncertainty of the mean: Σ at the learned hyperparameters is too
// small by as much, on average over data (Prasad and Rao, JASA 85, 1990; Kackar and
// Harville, JASA 79, 1984). The noise variance of a new measurement, and the dispersion of
// a new count, grow likewise: with n measurements of nothing but noise, by the factor 1 + 2/n of the
// variance of Student's t.
//
// The model is returned as it is where nothing was learned, where Fit used patches of
// the data, and where alternatives would take longer than a fit should: beyond 1,000
// measurements with 4 hyperparameters, 740 with 10, or 200,000 nodes.
func (m *Model) WithAlternatives(ctx context.Context, d Data, opts FitOptions) (*Model, error) {
	if err := d.CheckValues(m.kernel.Nodes(), m.values); err != nil {
		return nil, err
	}
	if opts.Fixed || opts.Subsample > 0 || m.solver != Exact || m.values != Gaussian && m.byPatches(d) {
		return m, nil
	}
	if m.values == Gaussian && !slices.ContainsFunc(d.Y, func(y float64) bool { return y != d.Y[0] }) {
		return m, nil
	}
	p, theta, of, err := m.learned(d, opts)
	if err != nil {
		return nil, err
	}
	factors := 1
	if m.values != Gaussian {
		factors = laplaceFactors
	}
	if len(theta) == 0 || !m.how.within().Alternatives(m.kernel.Nodes(), d.Len(), len(theta), factors) {
		return m, nil
	}
	count := newEvaluations(opts.Progress, 0, 0)
	count.expect(6 * float64(len(theta))) // two gradients and some four values per direction
	all, err := p.around(ctx, theta, counted{of, count})
	if err != nil {
		return nil, fmt.Errorf("uncertainty of hyperparameters: %w", err)
	}
	q := *m
	q.alternatives = nil
	for _, beside := range all {
		a := Alternative{Noise: m.noise, Dispersion: m.shape.Dispersion}
		own, last := p.split(beside)
		a.Theta = slices.Clone(own)
		if p.noise {
			shape, noise := m.values.likelihood().shaped(last)
			a.Dispersion, a.Noise = shape.Dispersion, noise
		}
		q.alternatives = append(q.alternatives, a)
	}
	return &q, nil
}

// learned returns the hyperparameters that a fit with the options learns, at the values
// of the model, and the likelihood of the data as a function of them.
func (m *Model) learned(d Data, opts FitOptions) (*params, []float64, component, error) {
	of, end := m.values.likelihood().parameter(), m.noise
	if !of.noise {
		end = m.shape.Dispersion
	}
	known := of.name == "" || of.noise && (d.NoiseVar != nil || opts.NoiseSD != nil) || of.optional && end == 0
	p, theta, err := newParamsWith(m.kernel, [][]float64{m.theta}, of.param(), known)
	if err != nil {
		return nil, nil, nil, err
	}
	p.floor, p.known = of.floor, end
	if !known {
		theta[0][len(theta[0])-1] = max(end, of.floor*(1+1e-9))
	}
	s := m.units.standardLatent(d.PoolAs(m.values), m.values)
	return p, theta[0], m.parts(p, []Data{s})[0], nil
}

const (
	curveStep  = 0.05 // to either side of which gradients are taken, in e-folds of a positive hyperparameter
	sideDrop   = 0.5  // nats by which a normal log density drops in one standard deviation
	sideRounds = 4    // evaluations to find it
)

// around returns two sets of hyperparameters for each principal direction of the
// curvature at theta, one on either side.
func (p *params) around(ctx context.Context, theta []float64, of component) ([][]float64, error) {
	x := p.near(p.Free(theta))
	curve, err := p.curvature(ctx, x, of)
	if err != nil {
		return nil, err
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(curve, true) {
		return nil, errors.New("the curvature of the log likelihood has no eigenvectors")
	}
	var axes mat.Dense
	eigen.VectorsTo(&axes)
	peak, err := p.density(ctx, x, of)
	if err != nil {
		return nil, err
	}
	var all [][]float64
	for d, value := range eigen.Values(nil) {
		axis := mat.Col(nil, d, &axes)
		step := 1 / math.Sqrt(max(value, 1.0/(spread*spread)))
		for _, sign := range []float64{1, -1} {
			at, err := p.side(ctx, x, axis, sign*step, peak, of)
			if err != nil {
				return nil, err
			}
			all = append(all, p.Natural(p.near(at)))
		}
	}
	return all, nil
}

// side returns the point along an axis through x where the log density is lower than
// its peak by sideDrop, or that at the distance of the prior's standard deviation if it is nearer. A
// parabola through the peak and the point before gives the next one.
func (p *params) side(ctx context.Context, x, axis []float64, step, peak float64, of component) ([]float64, error) {
	at := make([]float64, len(x))
	move := func() {
		step = math.Copysign(min(math.Abs(step), spread), step)
		for j := range at {
			at[j] = x[j] + step*axis[j]
		}
	}
	for range sideRounds {
		move()
		value, err := p.density(ctx, at, of)
		if err != nil {
			return nil, err
		}
		drop := peak - value
		if math.Abs(step) >= spread && drop <= sideDrop {
			return at, nil
		}
		scale := math.Sqrt(sideDrop / max(drop, 1e-9))
		step *= max(0.25, min(2, scale))
		if scale > 0.7 && scale < 1.4 {
			break
		}
	}
	move()
	return at, nil
}

// density returns the log posterior density of hyperparameters, up to a constant; −∞
// where it cannot be computed.
func (p *params) density(ctx context.Context, x []float64, of component) (float64, error) {
	if p.far(x) {
		return math.Inf(-1), nil
	}
	at, err := of.at(ctx, p.Natural(x))
	if undefined(err) {
		return math.Inf(-1), nil
	}
	if err != nil {
		return 0, err
	}
	value := at.logLikelihood()
	at.free()
	if math.IsNaN(value) {
		return math.Inf(-1), nil
	}
	return value + p.Prior(make([]float64, len(x)), x), nil
}

// curvature returns minus the second derivatives of the log posterior density, from
// differences of gradients. A gradient that cannot be computed counts as that at x.
func (p *params) curvature(ctx context.Context, x []float64, of component) (*mat.SymDense, error) {
	n := len(x)
	second := mat.NewDense(n, n, nil)
	for j := range n {
		for _, sign := range []float64{1, -1} {
			beside := slices.Clone(x)
			beside[j] += sign * curveStep
			theta, grad := p.Natural(beside), make([]float64, n)
			at, err := of.at(ctx, theta)
			if err == nil {
				grad, err = at.gradient(ctx)
			}
			if undefined(err) {
				grad, err = make([]float64, n), nil
			}
			if err != nil {
				return nil, err
			}
			p.Chain(grad, theta)
			p.Prior(grad, beside)
			for i, g := range grad {
				second.Set(i, j, second.At(i, j)-sign*g/(2*curveStep))
			}
		}
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, (second.At(i, j)+second.At(j, i))/2)
		}
	}
	return out, nil
}

// noiseOfNew returns the noise variance of a new measurement, standardised: the learned
// one and what its uncertainty adds.
func (m *Model) noiseOfNew() float64 {
	v := m.noise
	for _, a := range m.alternatives {
		v += a.Noise - m.noise
	}
	return max(v, m.noise)
}

// shapeOfNew returns the shape of the distribution of a new measurement.
func (m *Model) shapeOfNew() Shape {
	s := m.shape
	for _, a := range m.alternatives {
		s.Dispersion += a.Dispersion - m.shape.Dispersion
	}
	s.Dispersion = max(s.Dispersion, m.shape.Dispersion)
	return s
}

// beside returns the model at an alternative.
func (m *Model) beside(a Alternative) *Model {
	q := *m
	q.noise, q.shape.Dispersion, q.alternatives, q.hold = a.Noise, a.Dispersion, nil, nil
	q.settle(a.Theta)
	return &q
}

// check returns an error unless the alternative goes with the state.
func (a Alternative) check(s State, k kernel.Kernel) error {
	if _, err := k.At(a.Theta); err != nil {
		return err
	}
	shape := s.Shape
	shape.Dispersion = a.Dispersion
	if !(a.Noise >= 0) {
		return fmt.Errorf("%+v is out of range", a)
	}
	return shape.check(s.Values)
}
