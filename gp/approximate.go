package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// measured is what the pseudo-measurements of a Posterior stand for.
type measured struct {
	data     Data // as given
	obs      *observations
	fit      float64 // log p(y|f̂) − ½ f̂ᵀK⁻¹f̂
	marginal float64 // exact solver: Laplace's log marginal likelihood, standardised
}

// mostNoise is the largest variance of a pseudo-measurement, as a multiple of the
// largest prior variance. Such a measurement changes the posterior by a ten-thousandth;
// without a bound, an outlier or a count of zero with a tiny exposure has an infinite
// variance.
const mostNoise = 1e4

// approximate returns Laplace's approximation of the posterior as that of Gaussian
// pseudo-measurements z = f̂ + W⁻¹∇log p(y|f̂) with noise variances W⁻¹.
func (m *Model) approximate(ctx context.Context, k kernel.Covariance, d Data) (*Posterior, error) {
	if m.values.About().Noisy && m.noise == 0 && d.NoiseVar == nil {
		return nil,
			fmt.Errorf("%w: the model learned no noise, because noise variances came with its data; give them with these measurements too", ErrData)
	}
	s := m.units.standardLatent(d, m.values)
	p := &Posterior{model: m, prior: k, cov: kernel.WithConstant(k, m.meanVar)}
	p.measured = &measured{data: d.Clone(), obs: observe(m.values, m.shape, m.units.Center, m.noise, s)}
	diag := make([]float64, s.Len())
	if err := p.cov.Diag(ctx, diag, s.Nodes); err != nil {
		return nil, err
	}
	most := mostNoise * slices.Max(diag)
	var f []float64
	var err error
	if m.solver == Iterative {
		p.data.Nodes = s.Nodes
		f, p.alpha, err = p.findIteratively(ctx, most)
	} else {
		f, p.alpha, err = p.findExactly(ctx, s.Nodes)
	}
	if err != nil {
		return nil, err
	}
	p.pseudo(s.Nodes, f, most)
	if err := p.factor(ctx); err != nil {
		return nil, err
	}
	if err := p.unskew(ctx, f); err != nil {
		return nil, err
	}
	if err := p.solveMean(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// skewDraws is the number of posterior draws from which the iterative solver estimates
// variances for unskew.
const skewDraws = 64

// unskew moves the pseudo-measurements so that the posterior mean is that of f, to
// first order in its skewness, and not the mode: E f = f̂ + Σs with
// s_i = ½ Σ_ii ∂³log p(y_i|f̂_i), which is the posterior mean for z_i + s_i/W_i. Without it
// the log rates of counts about 1 are too high by 0.15 standard deviations.
func (p *Posterior) unskew(ctx context.Context, f []float64) error {
	variance, err := p.variancesMeasured(ctx)
	if err != nil {
		return err
	}
	for k, t := range p.measured.obs.all(f) {
		p.data.Y[k] -= variance[k] * t.bend * p.noise[k] / 2
	}
	return nil
}

// variancesMeasured returns the posterior variance of f at every measurement,
// standardised: W⁻¹ − W⁻¹H⁻¹W⁻¹, or an estimate from draws.
func (p *Posterior) variancesMeasured(ctx context.Context) ([]float64, error) {
	n := p.data.Len()
	out := make([]float64, n)
	if p.h != nil {
		p.h.InverseDiag(out)
		for k, q := range out {
			out[k] = max(p.noise[k]*(1-p.noise[k]*q), 0)
		}
		return out, nil
	}
	// A draw about its mean is a draw given measurements of 0.
	centered := *p
	centered.data.Y = make([]float64, n)
	draws, err := centered.sample(ctx, wholeList(p.data.Nodes), skewDraws, varianceSeed)
	if err != nil {
		return nil, err
	}
	for k := range out {
		for _, v := range draws.RawRowView(k) {
			out[k] += v * v / skewDraws
		}
	}
	return out, nil
}

// pseudo sets the pseudo-measurements at the mode.
func (p *Posterior) pseudo(nodes []int, f []float64, most float64) {
	ts := p.measured.obs.all(f)
	z, noise := make([]float64, len(f)), make([]float64, len(f))
	for k, t := range ts {
		noise[k] = min(most, 1/t.weight)
		z[k] = f[k] + noise[k]*t.slope
	}
	p.data = Data{Nodes: slices.Clone(nodes), Y: z, NoiseVar: noise}
	p.noise = noise
}

// findExactly returns the mode and K⁻¹ of it.
func (p *Posterior) findExactly(ctx context.Context, nodes []int) (f, alpha []float64, err error) {
	at := &mode{cov: p.cov, gram: mat.NewSymDense(len(nodes), nil), obs: p.measured.obs}
	if err := p.cov.Gram(ctx, at.gram, nodes); err != nil {
		return nil, nil, err
	}
	if err := at.climb(ctx, nil); err != nil {
		return nil, nil, err
	}
	p.measured.fit, p.measured.marginal = at.value, at.logLikelihood()
	return at.f, at.alpha, nil
}

// remeasure conditions on all data of p and further ones.
func (p *Posterior) remeasure(ctx context.Context, d Data) (*Posterior, error) {
	if err := d.CheckValues(p.Nodes(), p.model.values); err != nil {
		return nil, err
	}
	all, err := p.measured.data.Clone().Append(d)
	if err != nil {
		return nil, err
	}
	return p.model.Condition(ctx, all)
}

// logScale returns the part of a log density that is due to the scale of the units.
func (m *measured) logScale(u Units) float64 {
	if m.obs.of.about().Latent() {
		return 0
	}
	return float64(m.obs.len()) * math.Log(u.Scale)
}
