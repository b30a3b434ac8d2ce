package gp

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Nodes returns the number of nodes of the kernel.
func (p *Posterior) Nodes() int { return p.model.kernel.Nodes() }

// Model returns what was conditioned.
func (p *Posterior) Model() *Model { return p.model }

// Prior returns the covariance before any measurement, without what is not known
// of the mean.
func (p *Posterior) Prior() kernel.Covariance { return p.prior }

// Measured returns the node of every measurement, in their order. It is not to be
// changed.
func (p *Posterior) Measured() []int { return p.data.Nodes }

// NoiseVar returns the noise variance of one more reading: that of the model, or
// the mean over readings of those given with the measurements, where a value of n
// readings and noise variance v counts as n readings of n·v.
func (p *Posterior) NoiseVar() float64 {
	v := p.model.noise
	if p.data.NoiseVar != nil {
		sum, all := 0.0, 0.0
		for k, one := range p.noise {
			n := p.data.readings(k)
			sum += one * n * n
			all += n
		}
		v = sum / all
	}
	return v * p.model.units.Scale * p.model.units.Scale
}

// covarianceColumns is how many columns of a covariance are computed together: as
// many as fit with so many measurements.
func covarianceColumns(measurements int) int { return max(16, min(256, crossEntries/8/measurements)) }

// Covariance returns the posterior covariance between the quantity at rows and
// at cols, K[rows, cols] − K[rows, x] H⁻¹ K[x, cols], for one product with the
// kernel.
func (p *Posterior) Covariance(ctx context.Context, rows, cols []int) (*mat.Dense, error) {
	if err := p.checkNodes(rows, cols); err != nil {
		return nil, err
	}
	if len(rows) == 0 || len(cols) == 0 {
		return &mat.Dense{}, nil
	}
	out := mat.NewDense(len(rows), len(cols), nil)
	size := covarianceColumns(p.data.Len())
	for lo := 0; lo < len(cols); lo += size {
		hi := min(len(cols), lo+size)
		if err := p.covariance(ctx, out.Slice(0, len(rows), lo, hi).(*mat.Dense), rows, cols[lo:hi]); err != nil {
			return nil, fmt.Errorf("posterior covariance: %w", err)
		}
	}
	return out, nil
}

func (p *Posterior) covariance(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	t, n := p.data.Len(), len(cols)
	cross, weights := mat.NewDense(t, n, nil), mat.NewDense(t+n, n, nil)
	if err := p.cov.Cross(p.data.Nodes, cols).Apply(ctx, cross, identity(n)); err != nil {
		return err
	}
	gain := weights.Slice(0, t, 0, n).(*mat.Dense)
	if err := p.solve(ctx, gain, cross, forCovariances); err != nil {
		return err
	}
	scale := p.model.units.Scale * p.model.units.Scale
	gain.Scale(-scale, gain)
	for k := range n {
		weights.Set(t+k, k, scale)
	}
	return p.cov.Cross(rows, slices.Concat(p.data.Nodes, cols)).Apply(ctx, dst, weights)
}
