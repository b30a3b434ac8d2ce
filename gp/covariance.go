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

// Model returns the model that was conditioned.
func (p *Posterior) Model() *Model { return p.model }

// Prior returns the prior covariance, without the variance of the unknown mean, for
// standardised values.
func (p *Posterior) Prior() kernel.Covariance { return p.prior }

// Measured returns the node of every measurement, in their order. It must not be
// changed.
func (p *Posterior) Measured() []int { return p.allData().Nodes }

// NoiseVar returns the noise variance of one more measurement: that of the model, which
// with alternatives includes its uncertainty,
// or the mean of the variances that were given with the measurements, where a mean
// of n measurements with variance v counts as n measurements of variance n·v. For
// values that are not Gaussian it is on the scale of f: the variance of a
// pseudo-measurement with the mean information of those that there are.
func (p *Posterior) NoiseVar() float64 {
	v := p.model.noiseOfNew()
	if p.measured != nil {
		sum := 0.0
		for _, one := range p.noise {
			sum += 1 / one
		}
		v = float64(len(p.noise)) / sum
	} else if d := p.allData(); d.NoiseVar != nil {
		sum, all := 0.0, 0.0
		for k, one := range noises(d, p.model.noise) {
			n := d.count(k)
			sum += one * n * n
			all += n
		}
		v = sum / all
	}
	return v * p.model.units.Scale * p.model.units.Scale
}

// Connected reports for the places [lo, hi) of a list whether their covariance with any
// measurement differs from zero; see kernel.Connected.
func (p *Posterior) Connected(ctx context.Context, nodes []int, lo, hi int) ([]bool, error) {
	l, err := p.places(nodes, lo, hi)
	if err != nil {
		return nil, err
	}
	return kernel.Connected(ctx, p.prior, l.nodes[l.lo:l.hi], p.data.Nodes)
}

// covarianceColumns is the number of columns of a covariance that are computed at a
// time, so that memory is bounded.
func (p *Posterior) covarianceColumns() int {
	return max(16, min(256, p.model.how.within().Held(p.data.Len())/8))
}

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
	if err := p.alone("posterior covariance"); err != nil {
		return nil, err
	}
	out := mat.NewDense(len(rows), len(cols), nil)
	size := p.covarianceColumns()
	for lo := 0; lo < len(cols); lo += size {
		hi := min(len(cols), lo+size)
		if err := p.covariance(ctx, out.Slice(0, len(rows), lo, hi).(*mat.Dense), rows, cols[lo:hi]); err != nil {
			return nil, fmt.Errorf("posterior covariance: %w", err)
		}
	}
	if err := p.addCovariance(ctx, out, rows, cols); err != nil {
		return nil, fmt.Errorf("posterior covariance: %w", err)
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

// addCovariance adds the part of the uncertainty of the hyperparameters.
func (p *Posterior) addCovariance(ctx context.Context, dst *mat.Dense, rows, cols []int) error {
	left, err := p.shifts(ctx, wholeList(rows))
	if err != nil || left == nil {
		return err
	}
	right := left
	if !slices.Equal(rows, cols) {
		if right, err = p.shifts(ctx, wholeList(cols)); err != nil {
			return err
		}
	}
	var add mat.Dense
	add.Mul(left, right.T())
	add.Scale(p.model.units.Scale*p.model.units.Scale, &add)
	dst.Add(dst, &add)
	return nil
}
