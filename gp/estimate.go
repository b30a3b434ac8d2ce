package gp

import (
	"context"
	"fmt"
	"math"

	"grfgp/kernel"
	"grfgp/space"
)

const (
	patchMaxIter = 30
	patchTol     = 0.1 // nats: the first steps of learning move by a tenth of an e-fold, whatever the start
)

// longRange reports whether the kernel has a long range.
func (l *marginal) longRange(theta []float64) (bool, error) {
	own, _ := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil {
		return false, err
	}
	return kernel.AbilitiesOf(cov).LongRange, nil
}

// estimate returns the log likelihood at theta by one solve and a stochastic
// log-determinant, with its standard error. h is what the memory of this process keeps.
func (l *marginal) estimate(ctx context.Context, theta []float64, opts FitOptions, h *hold) (value, se float64, err error) {
	_, noise := l.params.split(theta)
	within, _ := l.data.within(noise)
	share, err := newShare(ctx, opts.Ranks, l.kernel, l.data, l.meanVar, opts.Stochastic.within().SharedFrom)
	if err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	at := func(d Data) func(s space.Space, h *hold) error {
		return func(s space.Space, h *hold) error {
			value, se, err = l.estimateIn(ctx, s, h, d, theta, opts)
			return err
		}
	}
	done := false
	if share == nil {
		done, err = l.card.try(ctx, l.card.Use(), "", at(l.data))
	}
	switch {
	case done || err != nil:
	case share != nil:
		err = at(share.data())(share.space, share.hold)
		share.hold.empty()
	default:
		err = at(l.data)(space.Host(), h)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	return value - float64(l.data.Len())/2*math.Log(2*math.Pi) + within, se / 2, nil
}

// estimateIn returns −½(yᵀH⁻¹y + log det H) in a memory, and the standard error of the determinant.
func (l *marginal) estimateIn(ctx context.Context, in space.Space, h *hold, d Data, theta []float64, opts FitOptions) (
	value, se float64, err error) {
	r, err := h.rowsAt(ctx, in, l.kernel, d.Nodes, l.meanVar)
	switch {
	case err != nil:
		return 0, 0, err
	case r == nil:
		return 0, 0, errNotThere
	}
	in = r.space
	defer func() {
		if in.Err() != nil {
			r.free()
			return
		}
		h.keep([]*rows{r})
	}()
	own, noise := l.params.split(theta)
	if err := r.set(ctx, own); err != nil {
		return 0, 0, err
	}
	s, err := newSystem(ctx, r, noises(d, noise), opts.Stochastic, h)
	if err != nil {
		return 0, 0, err
	}
	defer s.free()
	y, alpha := in.Block(r.axis, 1), in.Block(r.axis, 1)
	defer y.Free()
	defer alpha.Free()
	y.Set(d.Y)
	alpha.Zero()
	if err := s.solve(ctx, alpha, y, true, forMeans); err != nil {
		return 0, 0, err
	}
	fit := alpha.Sums(y, nil)[0]
	logDet, se, err := s.logDet(ctx, opts.Seed)
	if err == nil {
		err = in.Err()
	}
	return -fit/2 - logDet/2, se, err
}
