package gp

import (
	"math"
	"slices"
)

// descent minimises a function of a few variables by BFGS: quasi-Newton steps with a line search, and an
// estimate of the inverse matrix of second derivatives that every step improves (Nocedal and Wright,
// Numerical Optimization, chapter 6). The matrix of an earlier descent of a similar function saves most of the steps.
type descent struct {
	now      point
	inverse  []float64 // n × n; nil: nothing is known
	learned  int       // steps that the matrix has learned from; one per variable makes it complete
	foretold int       // last steps whose gain the matrix has foretold to a factor of two
	reach    float64   // longest step of any variable
}

// function returns a value, +Inf where it is not defined, whose gradient may be computed later.
type function func(x []float64) (point, error)

const (
	longestStep  = 1    // of any variable, e-folds, at first,
	longerStep   = 2    // and of the last step that was good
	shorterStep  = 1.5  // or that followed one that was too long
	firstStep    = 0.5  // where the slope is large
	sufficient   = 1e-4 // share of the first-order gain that a step must reach (Armijo)
	turned       = 0.9  // share of the slope that a step must take away (Wolfe)
	mostTries    = 20   // evaluations of a line search
	shortestStep = 1e-8
)

// newDescent evaluates the function at x.
func newDescent(x []float64, at function, from *curvature) (*descent, error) {
	d := &descent{reach: longestStep}
	var err error
	if d.now, err = at(x); err != nil {
		return nil, err
	}
	if err := d.now.differentiate(); err != nil {
		return nil, err
	}
	if from != nil && len(from.inverse) == len(x)*len(x) && d.now.finite() {
		d.inverse, d.learned = slices.Clone(from.inverse), len(x)-len(from.unknown)
		for _, j := range from.unknown {
			d.inverse[j*len(x)+j] = d.guess(j)
		}
	}
	return d, nil
}

// curved returns the estimate at the end; nil: there is none.
func (d *descent) curved() *curvature {
	if d.inverse == nil {
		return nil
	}
	return &curvature{inverse: d.inverse}
}

// direction returns the quasi-Newton step, or one along the gradient where nothing is known, no longer than allowed.
func (d *descent) direction() []float64 {
	step := make([]float64, len(d.now.x))
	if d.inverse == nil {
		for j, g := range d.now.grad {
			step[j] = -g * d.guess(j)
		}
	} else {
		for j := range step {
			step[j] = -inner(d.inverse[j*len(step):(j+1)*len(step)], d.now.grad)
		}
	}
	if longest := maxAbs(step); longest > d.reach {
		for j := range step {
			step[j] *= d.reach / longest
		}
	}
	return step
}

// guess returns a second derivative to begin with, inverted: in logarithms, it is about as large as the first where that
// is large, so that steps are of one e-fold in all variables.
func (d *descent) guess(j int) float64 { return firstStep / max(math.Abs(d.now.grad[j]), 1) }

// promise returns the gain that the estimate foretells for the next step.
func (d *descent) promise() float64 {
	if d.inverse == nil {
		return math.Inf(1)
	}
	return -inner(d.direction(), d.now.grad) / 2
}

// reliable reports whether the estimate has seen all directions, and has foretold the last two gains.
func (d *descent) reliable() bool { return d.learned >= len(d.now.x) && d.foretold >= 2 }

// step moves to a better point; moved is false if there is none along the direction.
func (d *descent) step(at function) (moved bool, err error) {
	for {
		way := d.direction()
		slope := inner(way, d.now.grad)
		if slope < 0 {
			promised := -slope / 2
			next, length, err := d.search(at, way, slope)
			if err != nil {
				return false, err
			}
			if next.finite() {
				gained := d.now.f - next.f
				if d.inverse != nil && length == 1 && gained > promised/2 && gained < 2*promised {
					d.foretold++
				} else {
					d.foretold = 0
				}
				if moved := length * maxAbs(way); length < 1 {
					d.reach = max(longestStep/4, shorterStep*moved)
				} else {
					d.reach = max(d.reach, min(4*longestStep, longerStep*moved))
				}
				d.learn(next)
				d.now = next
				return true, nil
			}
		}
		if d.inverse == nil || slope == 0 {
			return false, nil
		}
		d.inverse, d.learned, d.foretold = nil, 0, 0 // the estimate misleads: begin again
	}
}

// search returns a point along the way, its length in steps, and +Inf where there is none that is better.
func (d *descent) search(at function, way []float64, slope float64) (best point, length float64, err error) {
	t, low, high := 1.0, 0.0, math.Inf(1)
	before, slopeBefore := d.now.f, slope // at low
	best = point{f: math.Inf(1)}
	for range mostTries {
		if t < shortestStep {
			break
		}
		x := slices.Clone(d.now.x)
		for j, s := range way {
			x[j] += t * s
		}
		next, err := at(x)
		if err != nil {
			return next, t, err
		}
		if next.finite() && (next.f > d.now.f+sufficient*t*slope || next.f > best.f) {
			wide := t - low
			high = t
			t = low + wide*min(0.7, max(0.1, bottom(before, slopeBefore*wide, next.f)))
			continue
		}
		if err := next.differentiate(); err != nil {
			return next, t, err
		}
		if !next.finite() {
			high, t = t, low+(t-low)/4
			continue
		}
		slopeHere := inner(next.grad, way)
		best, length = next, t
		if slopeHere >= turned*slope || math.IsInf(high, 1) && t*maxAbs(way) >= d.reach {
			return best, length, nil
		}
		wide := t - low
		ahead := lowest(before, slopeBefore, next.f, slopeHere, wide) // from low, in units of wide
		before, slopeBefore, low = next.f, slopeHere, t
		if math.IsInf(high, 1) {
			t = low + wide*min(3, max(1, ahead-1))
		} else {
			t = low + (high-low)*0.5
		}
	}
	return best, length, nil
}

// bottom returns where the parabola with the values at 0 and 1 and the slope at 0 is lowest.
func bottom(f0, g0, f1 float64) float64 { return -g0 / (2 * (f1 - f0 - g0)) }

// lowest returns where the cubic with the given values and slopes at 0 and at wide is lowest, as a share of
// wide; NaN and what lies before 0 become 0.5.
func lowest(f0, g0, f1, g1, wide float64) float64 {
	g0, g1 = g0*wide, g1*wide
	a := g0 + g1 - 3*(f1-f0)
	root := a*a - g0*g1
	if !(root >= 0) {
		return 0.5
	}
	b := math.Sqrt(root)
	t := 1 - (g1+b-a)/(g1-g0+2*b)
	if math.IsNaN(t) || t <= 0 {
		return 0.5
	}
	return t
}

// learn improves the estimate by the change of the gradient up to next.
func (d *descent) learn(next point) {
	n := len(next.x)
	s, y := make([]float64, n), make([]float64, n)
	for j := range s {
		s[j], y[j] = next.x[j]-d.now.x[j], next.grad[j]-d.now.grad[j]
	}
	sy, yy := inner(s, y), inner(y, y)
	if !(sy > 1e-10*math.Sqrt(inner(s, s)*yy)) { // not convex there
		return
	}
	if d.inverse == nil {
		d.inverse = make([]float64, n*n)
		size := 0.0
		for j := range n {
			d.inverse[j*n+j] = d.guess(j)
			size += y[j] * y[j] * d.guess(j)
		}
		for j := range n {
			d.inverse[j*n+j] *= sy / size
		}
	}
	d.learned++
	// H ← (I − s yᵀ/sy)·H·(I − y sᵀ/sy) + s sᵀ/sy
	hy := make([]float64, n)
	for j := range hy {
		hy[j] = inner(d.inverse[j*n:(j+1)*n], y)
	}
	factor := (1 + inner(y, hy)/sy) / sy
	for j := range n {
		for k := range n {
			d.inverse[j*n+k] += factor*s[j]*s[k] - (hy[j]*s[k]+s[j]*hy[k])/sy
		}
	}
}

func inner(a, b []float64) float64 {
	sum := 0.0
	for j, v := range a {
		sum += v * b[j]
	}
	return sum
}

func maxAbs(a []float64) float64 {
	most := 0.0
	for _, v := range a {
		most = max(most, math.Abs(v))
	}
	return most
}
