package gp

import (
	"context"
	"slices"
)

// score is what a fit reports about one set of hyperparameters.
type score struct {
	theta       []float64
	lml         float64
	leaveOneOut float64 // sum of the leave-one-out log densities
}

// score returns the score at theta, from a gradient if there was one.
func (l *marginal) score(ctx context.Context, theta []float64) (score, error) {
	if at := slices.IndexFunc(l.seen, func(v score) bool { return slices.Equal(v.theta, theta) }); at >= 0 {
		return l.seen[at], nil
	}
	f, err := l.factor(ctx, theta)
	if err != nil {
		return score{}, err
	}
	defer f.free()
	return f.score(), nil
}

func (f *factor) score() score {
	d := f.of.data
	mean, variance := f.leaveOneOut(d)
	s := score{theta: f.theta, lml: f.lml}
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
