package gp

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"grfgp/kernel"
)

// Functionals returns posterior mean and covariance of linear functionals of the
// process, such as the difference between two states of a covariate: quantities that
// are jointly normal with the measurements, have mean zero before any measurement, and
// are not changed by the unknown mean of the process. Column f of cross holds the prior
// covariances of functional f with the process at the nodes of Measured, and prior
// those of the functionals with each other, both for standardised values, as Prior has
// them. The results,
//
//	mean Cᵀα,  covariance P − CᵀH⁻¹C,
//
// are in the units of the data. Without prior (nil) there are means only. With the iterative solver H⁻¹C is found to the
// accuracy that Covariance has.
func (p *Posterior) Functionals(ctx context.Context, cross *mat.Dense, prior *mat.SymDense) (mean []float64, covariance *mat.SymDense,
	err error) {
	rows, n := cross.Dims()
	if rows != p.data.Len() || prior != nil && prior.SymmetricDim() != n {
		return nil, nil, fmt.Errorf("functionals: %d × %d covariances with %d measurements do not fit", rows, n, p.data.Len())
	}
	u := p.model.units
	mean = make([]float64, n)
	for i, a := range p.alpha {
		for f, c := range cross.RawRowView(i) {
			mean[f] += u.Scale * a * c
		}
	}
	if prior == nil {
		return mean, nil, nil
	}
	gain, reduction := mat.NewDense(rows, n, nil), mat.NewDense(n, n, nil)
	if err := p.solve(ctx, gain, cross, forCovariances); err != nil {
		return nil, nil, fmt.Errorf("posterior of functionals: %w", err)
	}
	reduction.Mul(cross.T(), gain)
	covariance = mat.NewSymDense(n, nil)
	for f := range n {
		for g := f; g < n; g++ {
			v := prior.At(f, g) - (reduction.At(f, g)+reduction.At(g, f))/2
			if f == g {
				v = max(v, 0)
			}
			covariance.SetSym(f, g, u.Scale*u.Scale*v)
		}
	}
	return mean, covariance, nil
}

// TermMean returns the posterior mean of one term of the process at the given nodes,
// K_term[nodes, x]·α, where the kernel is a sum and K_term one of its terms, for
// standardised values. The result has the unit of the data, without the mean of the
// process.
func (p *Posterior) TermMean(ctx context.Context, term kernel.Covariance, nodes []int) ([]float64, error) {
	if err := p.checkNodes(nodes); err != nil || len(nodes) == 0 {
		return nil, err
	}
	mean := mat.NewDense(len(nodes), 1, nil)
	if err := term.Cross(nodes, p.data.Nodes).Apply(ctx, mean, mat.NewDense(len(p.alpha), 1, p.alpha)); err != nil {
		return nil, fmt.Errorf("posterior mean of a term: %w", err)
	}
	out := mean.RawMatrix().Data
	for i := range out {
		out[i] *= p.model.units.Scale
	}
	return out, nil
}
