package gp

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/kernel"
)

// finish conditions draws g from the prior on the measurements, in one pass over
// the features. It has a row for each of the nodes that the draws are of.
func (p *Posterior) finish(ctx context.Context, g kernel.Draw, rows int, seed uint64) (*mat.Dense, error) {
	weights, err := p.update(ctx, g.At(), seed)
	if err != nil {
		return nil, err
	}
	_, draws := weights.Dims()
	out := mat.NewDense(rows, draws, nil)
	return out, g.Update(ctx, out, weights)
}

// update returns H⁻¹(y − g_x − ε) for prior draws g_x at the measurements.
func (p *Posterior) update(ctx context.Context, at *mat.Dense, seed uint64) (*mat.Dense, error) {
	t, draws := at.Dims()
	rest, weights := mat.NewDense(t, draws, nil), mat.NewDense(t, draws, nil)
	const size = ranks.BlockRows
	_, first := p.systemRows().Total(t)
	to, from := rest.RawMatrix(), at.RawMatrix()
	parallel.Ranges(t, size, func(lo, hi int) {
		for s := range draws {
			normal := rand.New(rng.New(seed, "measurement noise", uint64(s), uint64((first+lo)/size)))
			for k := lo; k < hi; k++ {
				e := math.Sqrt(p.noise[k]) * normal.NormFloat64()
				to.Data[k*to.Stride+s] = p.data.Y[k] - from.Data[k*from.Stride+s] - e
			}
		}
	})
	return weights, p.solve(ctx, weights, rest, forSamples)
}
