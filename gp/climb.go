package gp

import (
	"context"
	"errors"
	"math"
	"slices"
)

// climbing says how an objective is climbed.
type climbing struct {
	maxIter int
	tol     float64    // gain in nats that does not count
	rival   *float64   // value of a rival, which ends a climb that is far behind; nil: none
	from    *curvature // near the start; nil: unknown
}

// errNoStart says that a climb could not begin.
var errNoStart = errors.New("the likelihood has no finite value at the start")

// climbBy maximises an exact objective and the weak prior from theta by BFGS, until the next steps promise less than the
// tolerance or a rival is far better. It may begin with a known curvature, and returns that at its end.
func (p *params) climbBy(ctx context.Context, theta []float64, c climbing, of component) (best []float64, r FitReport, end *curvature,
	err error) {
	var why error // the last value is not finite
	// Where there is no value the step was too long, and the line search turns back.
	at := func(x []float64) (point, error) {
		out := point{x: x, f: math.Inf(1)}
		if p.far(x) {
			return out, nil
		}
		theta := p.Natural(x)
		at, err := of.at(ctx, theta)
		if undefined(err) {
			why = err
			return out, nil // as if too far
		}
		if err != nil {
			return out, err
		}
		r.Evaluations++
		out.f = -(at.logLikelihood() + p.Prior(make([]float64, len(x)), x))
		out.steep = func() ([]float64, error) {
			grad, err := at.gradient(ctx)
			if err != nil {
				return nil, err
			}
			p.Chain(grad, theta)
			p.Prior(grad, x)
			for j := range grad {
				grad[j] = -grad[j]
			}
			return grad, nil
		}
		return out, nil
	}
	d, err := newDescent(p.near(p.Free(theta)), at, c.from)
	if err != nil {
		return nil, r, nil, err
	}
	if !d.now.finite() {
		return nil, r, nil, errors.Join(errNoStart, why)
	}
	ends := ending{tol: c.tol, rival: c.rival}
	for r.Iterations < c.maxIter && !r.Converged {
		moved, err := d.step(at)
		if err != nil {
			return nil, r, nil, err
		}
		// At the optimum a line search may find nothing better: that is no failure.
		r.Iterations++
		r.Converged = !moved || ends.after(d)
	}
	return p.Natural(d.now.x), r, d.curved(), nil
}

// ending decides when a climb ends.
type ending struct {
	tol    float64
	rival  *float64
	values []float64 // after every iteration, falling
	last   float64   // value from which the gain is counted,
	idle   int       // and iterations since
}

const (
	flatGradient = 1e-2 // nats per e-fold
	flatTimes    = 10   // tolerances per e-fold: a steeper slope may lead on along a direction that no step has taken yet
	idleSteps    = 4    // iterations that together gain less than the tolerance

	behindLeast = 20  // nats
	behindTimes = 100 // the last gains
	behindSteps = 5   // iterations of which the gains are counted,
	behindFrom  = 12  // and the first that may end a climb: the first ones find the length of steps
)

// after reports whether a climb ends: the gradient vanishes; a curvature that foretold the last gains promises
// less than the tolerance; some iterations have gained less; or a rival is far ahead.
func (e *ending) after(d *descent) bool {
	if len(e.values) == 0 || d.now.f < e.last-e.tol {
		e.last, e.idle = d.now.f, 0
	} else {
		e.idle++
	}
	e.values = append(e.values, d.now.f)
	return d.now.slope() < flatGradient || d.reliable() && d.promise() < e.tol/2 && d.now.slope() < flatTimes*e.tol || e.idle >= idleSteps ||
		e.behind()
}

// behind reports whether the climb is far behind a rival and hardly gains: with the last
// gains a hundred times over it would still be behind.
func (e *ending) behind() bool {
	n := len(e.values)
	if e.rival == nil || n <= behindFrom {
		return false
	}
	gain, missing := e.values[n-1-behindSteps]-e.values[n-1], e.values[n-1]+*e.rival
	return missing > behindLeast && missing > behindTimes*gain
}

// point is a value of the negative objective with its gradient.
type point struct {
	x, grad []float64
	f       float64
	steep   func() ([]float64, error) // computes grad
}

// differentiate computes the gradient. A point without one has no value either.
func (p *point) differentiate() (err error) {
	if p.finite() && p.grad == nil {
		p.grad, err = p.steep()
	}
	if undefined(err) {
		p.f, err = math.Inf(1), nil
	}
	return err
}

func (p point) finite() bool { return !math.IsInf(p.f, 0) && !math.IsNaN(p.f) }

// slope returns the largest derivative.
func (p point) slope() float64 {
	most := 0.0
	for _, g := range p.grad {
		most = max(most, math.Abs(g))
	}
	return most
}

// curvature is an estimate of the inverse of the matrix of second derivatives, by rows, of the
// negative log likelihood of some values.
type curvature struct {
	inverse []float64
	values  int
	unknown []int // variables of which nothing is known, increasing: their rows and columns are zero
}

// of returns the curvature for the likelihood of another number of values of the same kind.
func (c *curvature) of(values int) *curvature {
	if c == nil {
		return nil
	}
	out := &curvature{slices.Clone(c.inverse), values, c.unknown}
	for k := range out.inverse {
		out.inverse[k] *= float64(c.values) / float64(values)
	}
	return out
}

// at returns the curvature of other variables, given the place of each among the was that it has; −1: nothing is known of it.
func (c *curvature) at(was int, places []int) *curvature {
	size := len(places)
	out := &curvature{inverse: make([]float64, size*size), values: c.values, unknown: nil}
	for j, from := range places {
		if from < 0 {
			out.unknown = append(out.unknown, j)
			continue
		}
		for k, other := range places {
			if other >= 0 {
				out.inverse[j*size+k] = c.inverse[from*was+other]
			}
		}
	}
	return out
}
