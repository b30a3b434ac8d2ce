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

const (
	// solveTogether is the number of draws that are solved for at a time where there are many numbers, solveNumbers or
	// more: as many as products take at a time. Solvers need several blocks of as many columns.
	solveTogether = 32
	solveNumbers  = 1 << 23
)

// noiseStream names the random numbers of measurement noise in draws.
const noiseStream = "measurement noise"

// update turns prior draws g_x at the measurements into H⁻¹(y − g_x − ε), in place: there may be hundreds of
// megabytes of them.
func (p *Posterior) update(ctx context.Context, at *mat.Dense, seed uint64) (*mat.Dense, error) {
	t, draws := at.Dims()
	group := draws
	if all, _ := p.systemRows().Total(t); all*draws >= solveNumbers {
		group = min(draws, solveTogether)
	}
	numbers := make([]float64, t*group)
	for lo := 0; lo < draws; lo += group {
		hi := min(draws, lo+group)
		rest := mat.NewDense(t, hi-lo, numbers[:t*(hi-lo)])
		weights := at.Slice(0, t, lo, hi).(*mat.Dense)
		p.rest(rest, weights, lo, seed)
		weights.Zero() // where the solver starts
		if err := p.solve(ctx, weights, rest, forSamples); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// rest sets rest to y − g_x − ε for draws g_x, which are those from number lo on.
func (p *Posterior) rest(rest, at *mat.Dense, lo int, seed uint64) {
	t, draws := rest.Dims()
	const size = ranks.BlockRows
	_, first := p.systemRows().Total(t)
	to, from := rest.RawMatrix(), at.RawMatrix()
	parallel.Ranges(t, size, func(k0, k1 int) {
		for s := lo; s < lo+draws; s++ {
			normal := rand.New(rng.New(seed, noiseStream, uint64(s), uint64((first+k0)/size)))
			for k := k0; k < k1; k++ {
				e := math.Sqrt(p.noise[k]) * normal.NormFloat64()
				to.Data[k*to.Stride+s-lo] = p.data.Y[k] - from.Data[k*from.Stride+s-lo] - e
			}
		}
	})
}
