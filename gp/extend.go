package gp

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Extend returns the posterior given more measurements, with hyperparameters and
// units as they are: what Condition gives for all data, to rounding, for O(T²)
// per measurement with the exact solver. It takes noise variances if Condition
// was given them. Extending in one go or bit by bit gives the same bytes; p
// stays as it was, and the two share what they have in common.
func (p *Posterior) Extend(ctx context.Context, d Data) (*Posterior, error) {
	if d.Len() == 0 {
		return p, nil
	}
	if err := d.Check(p.Nodes()); err != nil {
		return nil, err
	}
	s := p.model.units.standard(d)
	q := &Posterior{model: p.model, prior: p.prior, cov: p.cov, noise: slices.Concat(p.noise, noises(s, p.model.noise))}
	var err error
	if q.data, err = p.data.Slice(0, p.data.Len()).Append(s); err != nil { // sliced: p keeps its own
		return nil, err
	}
	if err := q.extend(ctx, p); err != nil {
		return nil, fmt.Errorf("extending by %d measurements: %w", d.Len(), err)
	}
	return q, nil
}

// extend solves the system of q, of which that of p is a part.
func (q *Posterior) extend(ctx context.Context, p *Posterior) error {
	q.alpha = make([]float64, q.data.Len())
	switch s := p.system.(type) {
	case exactSystem:
		c, before, n := s.Copy(), p.data.Len(), q.data.Len()
		cross := mat.NewDense(n, n-before, nil) // K[x, new x]
		if err := p.cov.Cross(q.data.Nodes, q.data.Nodes[before:]).Apply(ctx, cross, identity(n-before)); err != nil {
			return err
		}
		column := make([]float64, n)
		for k := before; k < n; k++ {
			mat.Col(column, k-before, cross)
			row := column[:k+1]
			row[k] += q.noise[k]
			if err := c.Append(row); err != nil {
				return err
			}
		}
		q.system = exactSystem{c}
	default:
		// Conjugate gradients start from the solution that Condition found. The
		// last one would be nearer, but results would depend on the way here.
		q.start = p.start
		if q.start == nil {
			q.start = p.alpha
		}
		copy(q.alpha, q.start)
		var err error
		if q.system, err = newSystem(ctx, q); err != nil {
			return err
		}
	}
	y := mat.NewDense(q.data.Len(), 1, slices.Clone(q.data.Y))
	return q.system.solve(ctx, mat.NewDense(len(q.alpha), 1, q.alpha), y, forMeans)
}

// Factored reports whether the covariance matrix of the measurements was factored
// (the exact solver) rather than solved by iteration.
func (p *Posterior) Factored() bool {
	_, ok := p.system.(exactSystem)
	return ok
}

// Innovations returns how far each measurement came out from its prediction by
// those before it, in standard deviations, noise included: L⁻¹y, where H = LLᵀ.
// They are independent N(0, 1) if the model is right. It needs the exact solver,
// and takes O(T²).
func (p *Posterior) Innovations() ([]float64, error) {
	s, ok := p.system.(exactSystem)
	if !ok {
		return nil, errors.New("innovations need the exact solver")
	}
	z := mat.NewDense(p.data.Len(), 1, slices.Clone(p.data.Y))
	s.SolveLower(z, z)
	return z.RawMatrix().Data, nil
}
