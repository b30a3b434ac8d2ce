package gp

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
	"grfgp/solve"
)

// laplace is Laplace's approximation of the log marginal likelihood as a function of
// the hyperparameters: with f̂ the mode of p(f|y), W the weights there and
// B = I + W^½KW^½,
//
//	log p(y) ≈ log p(y|f̂) − ½ f̂ᵀK⁻¹f̂ − ½ log det B.
//
// The notation is that of Rasmussen and Williams, chapters 3.4 and 5.5.
type laplace struct {
	kernel  kernel.Kernel
	data    Data // as observe takes it
	values  Values
	center  float64
	meanVar float64
	params  *params   // of the kernel, and that of the likelihood last
	alpha   []float64 // K⁻¹f̂ at the last hyperparameters, to start from; nil at first
}

// observed returns the kernel's parameters and the observations at theta.
func (l *laplace) observed(theta []float64) ([]float64, *observations) {
	own, last := l.params.split(theta)
	shape, noise := l.values.likelihood().shaped(last)
	return own, observe(l.values, shape, l.center, noise, l.data)
}

// mode is the most likely f, with the factor of B.
type mode struct {
	of     *laplace // nil where hyperparameters are known
	cov    kernel.Covariance
	gram   *mat.SymDense // K
	obs    *observations
	f      []float64
	alpha  []float64 // K⁻¹f, the slope of the log density at the mode
	terms  []terms
	root   []float64 // W^½
	chol   *solve.Cholesky
	value  float64 // log p(y|f) − ½ fᵀK⁻¹f
	rounds int     // steps taken
}

// Limits of Newton's method. Steps are halved until they climb, so it cannot
// diverge; the decrement is twice the gain that a full step promises.
const (
	newtonMost       = 100
	scoringMost      = 1000 // with weights that are constant: a step is a product with K
	newtonHalvings   = 60
	newtonDecrement  = 1e-14 // per row, after which one more step would be exact to rounding
	scoringDecrement = 1e-22 // per row; scoring converges linearly, and the weights depend on f
)

func (l *laplace) at(ctx context.Context, theta []float64) (evaluation, error) {
	m, err := l.find(ctx, theta)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// score returns the approximation and the leave-one-out log density at theta.
func (l *laplace) score(ctx context.Context, theta []float64) (score, error) {
	m, err := l.find(ctx, theta)
	if err != nil {
		return score{}, err
	}
	s := score{theta: theta, lml: m.logLikelihood()}
	for _, one := range m.leaveOneOutScores() {
		s.leaveOneOut += one
	}
	return s, nil
}

// find returns the mode at theta.
func (l *laplace) find(ctx context.Context, theta []float64) (*mode, error) {
	own, obs := l.observed(theta)
	base, err := l.kernel.At(own)
	if err != nil {
		return nil, err
	}
	m := &mode{of: l, cov: kernel.WithConstant(base, l.meanVar), gram: mat.NewSymDense(l.data.Len(), nil), obs: obs}
	if err := m.cov.Gram(ctx, m.gram, l.data.Nodes); err != nil {
		return nil, err
	}
	if err := m.climb(ctx, l.alpha); err != nil {
		return nil, err
	}
	l.alpha = m.alpha
	return m, nil
}

// climb takes Newton's steps from f = K·alpha, or from what every measurement says
// by itself.
func (m *mode) climb(ctx context.Context, alpha []float64) error {
	if err := m.begin(alpha); err != nil {
		return err
	}
	n, most, enough := m.obs.len(), newtonMost, newtonDecrement
	constant := !m.obs.of.concave()
	if constant {
		most, enough = scoringMost, scoringDecrement
	}
	decrement := math.Inf(1)
	for ; m.rounds < most; m.rounds++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		if m.terms = m.obs.all(m.f); m.chol == nil || !constant {
			if err := m.weigh(func(k int) float64 { return m.obs.stepWeight(k, m.terms[k]) }); err != nil {
				return err
			}
		}
		// The new α = b − W^½B⁻¹W^½Kb with b = Wf + ∇log p (Rasmussen and Williams,
		// algorithm 3.1).
		b := make([]float64, n)
		for k, t := range m.terms {
			b[k] = m.root[k]*m.root[k]*m.f[k] + t.slope
		}
		step := m.reduce(b)
		for k := range step {
			step[k] -= m.alpha[k]
		}
		along := m.product(step)
		decrement = 0
		for k, t := range m.terms {
			decrement += (t.slope - m.alpha[k]) * along[k]
		}
		if !(decrement > enough*float64(n)) || !m.move(step, along, decrement) {
			break
		}
	}
	if constant && decrement < 1e-6 { // the last factor was for steps only
		m.terms = m.obs.all(m.f)
		return m.weigh(func(k int) float64 { return m.terms[k].weight })
	}
	if m.rounds < most {
		return nil
	}
	return fmt.Errorf("searching the mode of the posterior: not found in %d steps: %w", most, solve.ErrNotConverged)
}

// begin sets the first f: K·alpha, if that is given and better than zero, or else the
// Gaussian posterior mean of the measurements' own guesses.
func (m *mode) begin(alpha []float64) error {
	n := m.obs.len()
	m.f, m.alpha = make([]float64, n), make([]float64, n)
	m.value = m.obs.logDensity(m.f)
	if alpha == nil {
		b := make([]float64, n)
		for k := range b {
			z, w := m.obs.guess(k)
			b[k] = w * z
		}
		weight := func(k int) float64 { _, w := m.obs.guess(k); return w }
		if err := m.weigh(weight); err != nil {
			return err
		}
		alpha = m.reduce(b)
		m.chol = nil
	}
	f := m.product(alpha)
	if value := m.at(alpha, f); value > m.value || math.IsNaN(m.value) || math.IsInf(m.value, 0) {
		m.f, m.alpha, m.value = f, alpha, value
	}
	return nil
}

// weigh factors B with the given weights.
func (m *mode) weigh(weight func(k int) float64) (err error) {
	n := m.obs.len()
	m.root = make([]float64, n)
	for k := range m.root {
		m.root[k] = math.Sqrt(weight(k))
	}
	b := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			b.SetSym(i, j, m.root[i]*m.gram.At(i, j)*m.root[j])
		}
		b.SetSym(i, i, b.At(i, i)+1)
	}
	m.chol, err = solve.NewCholesky(b)
	return err
}

// reduce returns (I + WK)⁻¹b = b − W^½B⁻¹W^½Kb.
func (m *mode) reduce(b []float64) []float64 {
	side := m.product(b)
	for k := range side {
		side[k] *= m.root[k]
	}
	x := mat.NewDense(len(b), 1, side)
	m.chol.Solve(x, x)
	out := make([]float64, len(b))
	for k := range out {
		out[k] = b[k] - m.root[k]*side[k]
	}
	return out
}

// product returns Kv.
func (m *mode) product(v []float64) []float64 {
	out := make([]float64, len(v))
	mat.NewVecDense(len(v), out).MulVec(m.gram, mat.NewVecDense(len(v), v))
	return out
}

// at returns log p(y|f) − ½ fᵀK⁻¹f.
func (m *mode) at(alpha, f []float64) float64 {
	sum := 0.0
	for k, a := range alpha {
		sum += a * f[k]
	}
	return m.obs.logDensity(f) - sum/2
}

// move goes along a step, halved until it climbs, and reports whether it does. A step
// of scoring that promises less than the rounding of the value need not climb.
func (m *mode) move(step, along []float64, promised float64) bool {
	rounding := 0.0
	if !m.obs.of.concave() && promised < 1e-9 {
		rounding = 1e-12 * (1 + math.Abs(m.value))
	}
	alpha, f := make([]float64, len(step)), make([]float64, len(step))
	share := 1.0
	for range newtonHalvings {
		for k := range step {
			alpha[k], f[k] = m.alpha[k]+share*step[k], m.f[k]+share*along[k]
		}
		if value := m.at(alpha, f); value > m.value-rounding {
			m.alpha, m.f, m.value = alpha, f, value
			return true
		}
		share /= 2
	}
	return false
}

// logLikelihood returns Laplace's approximation.
func (m *mode) logLikelihood() float64 { return m.value - m.chol.LogDet()/2 }

func (*mode) free() {}

// leaveOneOutScores returns the log density of every measurement given all others.
// Without measurement k, the approximate posterior of f_k has the variance
// v = Σ_kk/(1 − W_k Σ_kk) and the mean f̂_k − v ∂log p(y_k|f̂_k).
func (m *mode) leaveOneOutScores() []float64 {
	scores := make([]float64, m.obs.len())
	variance := m.variance()
	for k, t := range m.terms {
		v := max(variance[k], 0) / max(1-t.weight*variance[k], 1e-12)
		scores[k] = m.obs.predictive(k, m.f[k]-v*t.slope, v)
	}
	return scores
}
