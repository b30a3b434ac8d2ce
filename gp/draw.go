package gp

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
)

// drawer returns the covariance as one that draws in one pass, and the variance
// of the unknown mean on top of it.
func (p *Posterior) drawer() (kernel.Drawer, float64, bool) {
	cov, c := p.cov, 0.0
	if m, ok := cov.(withMean); ok {
		cov, c = m.Covariance, m.c
	}
	d, ok := cov.(kernel.Drawer)
	return d, c, ok
}

// draw returns standardised draws from the posterior, a row per node: those of
// sample, to rounding, for one pass over the features instead of two. It returns
// nil where there is no such way.
func (p *Posterior) draw(ctx context.Context, draws int, seed uint64) (*mat.Dense, error) {
	d, c, ok := p.drawer()
	if !ok {
		return nil, nil
	}
	g, err := d.Draw(ctx, draws, seed, p.data.Nodes)
	if g == nil || err != nil {
		return nil, err
	}
	out := mat.NewDense(p.Nodes(), draws, nil)
	return out, p.finish(ctx, out, g, c, seed)
}

// finish conditions draws g, of which the constant of variance c is no part, on
// the measurements.
func (p *Posterior) finish(ctx context.Context, out *mat.Dense, g kernel.Draw, c float64, seed uint64) error {
	n, draws := out.Dims()
	at := mat.DenseCopyOf(g.At())
	shift := meanDraws(c, draws, seed)
	for k := range p.data.Nodes {
		for s, v := range shift {
			at.Set(k, s, at.At(k, s)+v)
		}
	}
	weights, err := p.update(ctx, at, seed)
	if err != nil {
		return err
	}
	if err := g.Update(ctx, out, weights); err != nil {
		return err
	}
	if c > 0 {
		for s, sum := range columnSums(weights) {
			shift[s] += c * sum
		}
		parallel.Ranges(n, sumRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				row := out.RawRowView(i)
				for s, v := range shift {
					row[s] += v
				}
			}
		})
	}
	return nil
}

// meanDraws returns draws of the unknown mean.
func meanDraws(c float64, draws int, seed uint64) []float64 {
	shift := make([]float64, draws)
	for s := range shift {
		shift[s] = math.Sqrt(c) * rand.New(rng.New(seed, "prior mean", uint64(s))).NormFloat64()
	}
	return shift
}

// update returns H⁻¹(y − g_x − ε) for prior draws g_x at the measurements.
func (p *Posterior) update(ctx context.Context, at *mat.Dense, seed uint64) (*mat.Dense, error) {
	t, draws := at.Dims()
	rest, weights := mat.NewDense(t, draws, nil), mat.NewDense(t, draws, nil)
	for s := range draws {
		normal := rand.New(rng.New(seed, "measurement noise", uint64(s)))
		for k, y := range p.data.Y {
			e := math.Sqrt(p.noise[k]) * normal.NormFloat64()
			rest.Set(k, s, y-at.At(k, s)-e)
		}
	}
	return weights, p.system.solve(ctx, weights, rest, forSamples)
}
