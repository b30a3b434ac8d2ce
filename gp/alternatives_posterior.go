package gp

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
)

// WithAlternatives returns the posterior with the alternatives of m, which must be its
// model with Model.WithAlternatives.
func (p *Posterior) WithAlternatives(ctx context.Context, m *Model) (*Posterior, error) {
	q := *p
	q.model, q.alternatives = m, nil
	if p.measured == nil {
		return &q, q.addStandard(ctx)
	}
	return &q, q.addAlternatives(func(m *Model) (*Posterior, error) { return m.Condition(ctx, p.measured.data) })
}

// addAlternatives conditions the alternatives of the model as p was. One whose
// covariance cannot be factored is left out.
func (p *Posterior) addAlternatives(condition func(*Model) (*Posterior, error)) error {
	for _, a := range p.model.alternatives {
		q, err := condition(p.model.beside(a))
		if undefined(err) {
			continue
		}
		if err != nil {
			return err
		}
		q.h, q.lower = nil, nil // its mean is all that is asked for
		p.alternatives = append(p.alternatives, q)
	}
	return nil
}

// addStandard is addAlternatives for Gaussian data.
func (p *Posterior) addStandard(ctx context.Context) error {
	return p.addAlternatives(func(m *Model) (*Posterior, error) {
		k, err := m.prior()
		if err != nil {
			return nil, err
		}
		return m.conditionStandard(ctx, k, p.data)
	})
}

// shifts returns, for each alternative, how its posterior mean at the nodes differs from
// that at the learned hyperparameters, standardised; nil without alternatives.
func (p *Posterior) shifts(ctx context.Context, l places) (*mat.Dense, error) {
	if len(p.alternatives) == 0 {
		return nil, nil
	}
	base, err := p.standardMean(ctx, l)
	if err != nil {
		return nil, err
	}
	all := mat.NewDense(l.len(), len(p.alternatives), nil)
	for k, a := range p.alternatives {
		beside, err := a.standardMean(ctx, l)
		if err != nil {
			return nil, err
		}
		for i, v := range beside {
			all.Set(i, k, v-base[i])
		}
	}
	return all, nil
}

// addShifts adds to every draw, standardised, one of the shifts of all alternatives with
// independent weights.
func (p *Posterior) addShifts(ctx context.Context, draws *mat.Dense, l places, seed uint64) error {
	shifts, err := p.shifts(ctx, l)
	if err != nil || shifts == nil {
		return err
	}
	_, count := draws.Dims()
	weights := mat.NewDense(len(p.alternatives), count, nil)
	for s := range count {
		normal := rand.New(rng.New(seed, "hyperparameters", uint64(s)))
		for k := range p.alternatives {
			weights.Set(k, s, normal.NormFloat64())
		}
	}
	var add mat.Dense
	add.Mul(shifts, weights)
	draws.Add(draws, &add)
	return nil
}
