package gp

import (
	"context"
	"slices"
)

// scored is a part of the data whose evaluations are remembered: the report of a fit needs no factor of its own.
type scored struct {
	*marginal
	seen []score
}

// score is what a fit reports about one set of hyperparameters.
type score struct {
	theta       []float64
	lml         float64
	leaveOneOut float64 // sum of the leave-one-out log densities
}

// together is the composite log likelihood of all parts.
func together(all []*scored) steepness {
	return func(ctx context.Context, theta []float64) (sum float64, grad func() ([]float64, error), err error) {
		factors := make([]*factor, len(all))
		err = eachPart(len(all), func(k int) (err error) {
			factors[k], err = all[k].factor(ctx, theta)
			return err
		})
		if err != nil {
			return 0, nil, err
		}
		for _, f := range factors {
			sum += f.lml
		}
		return sum, func() ([]float64, error) {
			grads := make([][]float64, len(all))
			err := eachPart(len(all), func(k int) (err error) {
				s := all[k]
				if grads[k], err = s.gradient(ctx, factors[k], len(theta)); err != nil {
					return err
				}
				if factors[k].diagonal != nil {
					s.seen = append(s.seen, factors[k].score(s.data, theta))
				}
				factors[k].free()
				factors[k] = nil
				return nil
			})
			if err != nil {
				return nil, err
			}
			grad := make([]float64, len(theta))
			for _, g := range grads {
				for j, v := range g {
					grad[j] += v
				}
			}
			return grad, nil
		}, nil
	}
}

// score returns the score at theta, from an evaluation if there was one.
func (s *scored) score(ctx context.Context, theta []float64) (score, error) {
	if at := slices.IndexFunc(s.seen, func(v score) bool { return slices.Equal(v.theta, theta) }); at >= 0 {
		return s.seen[at], nil
	}
	f, err := s.factor(ctx, theta)
	if err != nil {
		return score{}, err
	}
	defer f.free()
	return f.score(s.data, theta), nil
}

func (f *factor) score(d Data, theta []float64) score {
	mean, variance := f.leaveOneOut(d)
	s := score{theta: slices.Clone(theta), lml: f.lml}
	for i, y := range d.Y {
		s.leaveOneOut += logNormal(y, mean[i], variance[i])
	}
	return s
}

// leaveOneOut returns mean and variance of each measurement given all others:
// y_i − α_i/[H⁻¹]_ii and 1/[H⁻¹]_ii, noise included.
func (f *factor) leaveOneOut(d Data) (mean, variance []float64) {
	n := d.Len()
	mean, variance = make([]float64, n), make([]float64, n)
	if f.diagonal == nil {
		f.diagonal = make([]float64, n)
		f.h.InverseDiag(f.diagonal)
	}
	for i, q := range f.diagonal {
		mean[i] = d.Y[i] - f.alpha[i]/q
		variance[i] = 1 / q
	}
	return mean, variance
}
