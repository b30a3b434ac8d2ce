package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"grfgp/solve"
)

// objective is a log likelihood with its gradient, in natural parameters.
type objective func(ctx context.Context, theta []float64) (value float64, grad []float64, err error)

// climb maximises an exact objective and the weak prior from theta by L-BFGS, until
// four iterations gain less than tol.
func (p *params) climb(ctx context.Context, theta []float64, maxIter int, tol float64, of objective) (best []float64, r FitReport, err error) {
	return p.climbAgainst(ctx, theta, maxIter, tol, nil, of)
}

// climbAgainst is climb that also ends where a rival is far better.
func (p *params) climbAgainst(ctx context.Context, theta []float64, maxIter int, tol float64, rival *float64, of objective) (best []float64, r FitReport, err error) {
	var failure, undefined error // undefined: why the last value is not finite
	var lastX, lastGrad []float64
	last := math.Inf(1)
	// Value and gradient come together but are asked for one by one. Where there
	// is no value the step was too long, and the line search turns back.
	at := func(x []float64) {
		if slices.Equal(x, lastX) {
			return
		}
		lastX, last, lastGrad = slices.Clone(x), math.Inf(1), make([]float64, len(x))
		if p.far(x) {
			return
		}
		theta := p.Natural(x)
		value, grad, err := of(ctx, theta)
		if errors.Is(err, solve.ErrNotPositiveDefinite) || errors.Is(err, solve.ErrNotConverged) {
			undefined = err
			return // as if too far
		}
		if err != nil {
			failure = err
			return
		}
		r.Evaluations++
		p.Chain(grad, theta)
		last = -(value + p.Prior(grad, x))
		for j, g := range grad {
			lastGrad[j] = -g
		}
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { at(x); return last },
		Grad: func(grad, x []float64) { at(x); copy(grad, lastGrad) },
		Status: func() (optimize.Status, error) {
			if failure != nil {
				return optimize.Failure, failure
			}
			return optimize.NotTerminated, nil
		},
	}
	settings := &optimize.Settings{
		MajorIterations:   maxIter,
		GradientThreshold: 1e-2,
		Converger:         &optimize.FunctionConverge{Absolute: tol, Relative: 1e-9, Iterations: 4},
	}
	if rival != nil {
		settings.Converger = &behind{FunctionConverge: optimize.FunctionConverge{Absolute: tol, Relative: 1e-9, Iterations: 4}, rival: -*rival}
	}
	result, err := optimize.Minimize(problem, p.near(p.Free(theta)), settings, &optimize.LBFGS{})
	if failure != nil {
		return nil, r, failure
	}
	if result == nil || math.IsInf(result.F, 0) || math.IsNaN(result.F) {
		return nil, r, errors.Join(errors.New("the likelihood has no finite value at the start"), undefined, err)
	}
	r.Iterations = result.MajorIterations
	// At the optimum a line search may find nothing better: that is no failure.
	r.Converged = result.Status != optimize.IterationLimit
	return p.Natural(result.X), r, nil
}

// behind ends a climb that converges, and one that is far behind a rival and hardly gains: with the last
// gains a hundred times over it would still be behind.
type behind struct {
	optimize.FunctionConverge
	rival  float64 // value of the rival, falling
	values []float64
}

const (
	behindLeast = 20  // nats
	behindTimes = 100 // the last gains
	behindSteps = 5   // iterations of which the gains are counted,
	behindFrom  = 12  // and the first that may end a climb: the first ones find the length of steps
)

func (b *behind) Init(dim int) {
	b.values = b.values[:0]
	b.FunctionConverge.Init(dim)
}

func (b *behind) Converged(at *optimize.Location) optimize.Status {
	b.values = append(b.values, at.F)
	if n := len(b.values); n > behindFrom {
		gain, missing := b.values[n-1-behindSteps]-at.F, at.F-b.rival
		if missing > behindLeast && missing > behindTimes*gain {
			return optimize.FunctionConvergence
		}
	}
	return b.FunctionConverge.Converged(at)
}
