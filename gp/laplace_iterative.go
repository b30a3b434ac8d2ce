package gp

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/solve"
)

// Limits of Newton's method by iteration: it ends when no f has moved by more than a
// hundredth of its standard deviation given its own measurement and the prior.
const (
	iterativeNewtonMost = 200
	iterativeNewtonTol  = 0.01
)

// findIteratively returns the mode and K⁻¹ of it by Newton's steps
//
//	α ← (K + W⁻¹)⁻¹(f + W⁻¹∇log p),  f ← Kα,
//
// each one solve by conjugate gradients that starts from the last α, halved until it
// climbs.
func (p *Posterior) findIteratively(ctx context.Context, most float64) (f, alpha []float64, err error) {
	err = p.compute(ctx, "conditioned", func(s *stage) error {
		f, alpha, err = p.findMode(ctx, s, most)
		return err
	})
	return f, alpha, err
}

func (p *Posterior) findMode(ctx context.Context, s *stage, most float64) (f, alpha []float64, err error) {
	obs := p.measured.obs
	n := obs.len()
	f, alpha = make([]float64, n), make([]float64, n)
	value := obs.logDensity(f)
	z, noise := make([]float64, n), make([]float64, n)
	for i := range n {
		guess, w := obs.guess(i)
		z[i], noise[i] = guess, min(most, 1/w)
	}
	prior := most / mostNoise // largest prior variance
	var sys *system
	defer func() {
		if sys != nil {
			sys.free()
		}
	}()
	for range iterativeNewtonMost {
		if sys == nil || obs.of.concave() { // else weights are constant
			if sys != nil {
				sys.free()
			}
			if sys, err = newScaledSystem(ctx, s.parts[0], slices.Clone(noise), p.model.how, s.hold); err != nil {
				return nil, nil, err
			}
		}
		next, along, err := sys.newton(ctx, alpha, z)
		if err != nil {
			return nil, nil, err
		}
		for i := range along {
			along[i] -= f[i]
			next[i] -= alpha[i]
		}
		moved, gain := climbAlong(obs, alpha, f, next, along, value)
		largest := 0.0
		for i, v := range along {
			largest = max(largest, math.Abs(v)*moved*math.Sqrt(1/noise[i]+1/prior))
		}
		value = gain
		if largest <= iterativeNewtonTol {
			p.measured.fit = value
			return f, alpha, nil
		}
		for i, t := range obs.all(f) {
			noise[i] = min(most, 1/obs.stepWeight(i, t))
			z[i] = f[i] + noise[i]*t.slope
		}
	}
	return nil, nil, fmt.Errorf("searching the mode of the posterior: not found in %d steps: %w", iterativeNewtonMost, solve.ErrNotConverged)
}

// newton returns the α and f that one full step leads to.
func (s *system) newton(ctx context.Context, alpha, z []float64) (next, f []float64, err error) {
	side, x := blockOf(s.cg.Space, s.cg.Axis, mat.NewDense(len(z), 1, z)), blockOf(s.cg.Space, s.cg.Axis, mat.NewDense(len(z), 1, alpha))
	defer side.Free()
	defer x.Free()
	if err := s.solve(ctx, x, side, false, forMeans); err != nil {
		return nil, nil, err
	}
	if err := s.rows.root.Apply(ctx, side, x, false); err != nil {
		return nil, nil, err
	}
	return numbersOf(x).RawMatrix().Data, numbersOf(side).RawMatrix().Data, s.cg.Space.Err()
}

// climbAlong moves α and f along a step, halved until log p(y|f) − ½ fᵀα is no
// lower, and returns the share of the step that was taken, 0 if none climbs, and the
// new value.
func climbAlong(obs *observations, alpha, f, step, along []float64, value float64) (share, reached float64) {
	a, g := make([]float64, len(f)), make([]float64, len(f))
	for share = 1; share > 1e-12; share /= 2 {
		sum := 0.0
		for i := range f {
			a[i], g[i] = alpha[i]+share*step[i], f[i]+share*along[i]
			sum += a[i] * g[i]
		}
		if v := obs.logDensity(g) - sum/2; v > value {
			copy(alpha, a)
			copy(f, g)
			return share, v
		}
	}
	return 0, value
}
