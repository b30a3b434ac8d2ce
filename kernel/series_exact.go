package kernel

import (
	"fmt"
	"math"

	"grfgp/sparse"
)

// shape is a function f of W: p(W/ρ) + V·diag(lift)·Vᵀ, where V are the leading
// eigenvectors of W and lift = f(λ) − p(λ/ρ).
type shape struct {
	p    polynomial
	lift []float64 // nil: f is p
}

const (
	plainPoints = 256  // that functions are interpolated at before leading eigenvectors are computed,
	mostPoints  = 4096 // and at most; three quarters as many terms are taken
	exactTail   = 1e-12
)

// NewExact returns the kernel of a family on W, which must be symmetric to 1e-12
// of each row, without any cut-off.
//
// The density is interpolated at Chebyshev points in [−ρ, ρ] to a relative error of
// 1e-14. A kernel of long reach is steep at the upper end of the spectrum and would
// need thousands of terms: 16κ/√ν for a Matérn kernel. (On the signless Laplacian it is
// steep at the lower end: pass −W and the usual family instead.) If more than 192 terms
// would be needed, the polynomial is therefore fitted only below the leading
// eigenvalues of W, and corrected at these by their eigenvectors, which are computed
// when first needed. If even 3,072 terms are too few (graphs of 10⁵ nodes and more, κ
// in the hundreds), K is the square of a shorter series, and Carried returns the share
// that it represents.
//
// For any positive vector v, the largest (|W|v)_i/v_i is an upper bound ρ of the
// norm of W. The argument bound is a v for which it is nearly tight, such as the
// square roots of the degrees. Nil means that NewExact searches for v.
func NewExact(w *sparse.CSR, s Spectrum, bound []float64) (*Series, error) {
	r, err := newRecurrence(w, bound)
	if err != nil {
		return nil, err
	}
	return &Series{recurrence: r, params: s.Params(), spectrum: s}, nil
}

// With returns the exact kernel of another family on the same matrix, and shares
// its leading eigenvectors.
func (s *Series) With(other Spectrum) *Series {
	return &Series{recurrence: s.recurrence, params: other.Params(), spectrum: other}
}

// Opposite returns the exact kernel of a family on −W. It shares the caches of Training with s.
func (s *Series) Opposite(other Spectrum) *Series {
	r := &recurrence{norm: s.norm, twice: s.twice.Scaled(-1), mirror: s.home()}
	if s.mirror != nil {
		r = s.mirror
	}
	r.findLeading()
	return &Series{recurrence: r, params: other.Params(), spectrum: other}
}

// Carried returns the share of the kernel at theta that the series represents, as
// a share of its largest eigenvalue. It is 1 if the series is exact.
func (s *Series) Carried(theta []float64) (float64, error) {
	c, err := s.At(theta)
	if err != nil {
		return 0, err
	}
	return c.(*seriesCovariance).carried, nil
}

// exact returns the covariance of the whole family.
func (s *Series) exact(theta []float64) (Covariance, error) {
	c := &seriesCovariance{recurrence: s.recurrence, cache: s.cache, carried: 1}
	// Function 0 is K, those after it its derivatives, the last is Ψ = √K.
	functions := len(s.params) + 2
	eval := func(dst []float64, w float64) {
		dst[0] = s.spectrum.Density(w, theta)
		s.spectrum.DensityGrad(dst[1:functions-1], w, theta)
		dst[functions-1] = math.Sqrt(max(0, dst[0])) // below zero only beyond the eigenvalues, if at all
	}
	fits, done := fit(-s.norm, s.norm, plainPoints, functions, eval, nil)
	if !done {
		for _, find := range []func() *leading{s.leading, s.whole} {
			if l := find(); l != nil {
				if ok, err := s.lifted(c, l, functions, eval, theta); ok || err != nil {
					return c, err
				}
			}
		}
		fits, done = fit(-s.norm, s.norm, mostPoints, functions, eval, nil)
	}
	for _, p := range fits {
		if !p.finite() {
			return nil, fmt.Errorf("%w: the kernel is not finite at %v for all eigenvalues up to %.6g: take a normalised matrix",
				ErrTheta, theta, s.norm)
		}
	}
	if !done {
		s.shorten(c, fits, eval)
		return c, nil
	}
	c.set(func(j int) shape { return shape{p: fits[j]} }, functions)
	return c, nil
}

// set stores the fitted functions in c.
func (c *seriesCovariance) set(of func(j int) shape, functions int) {
	c.k, c.psi = of(0), of(functions-1)
	for j := 1; j < functions-1; j++ {
		c.dk = append(c.dk, of(j))
	}
}

// fit interpolates functions at more and more points, up to most, until the last
// quarter of each can be dropped, and drops the last terms that add up to
// 1e-14 of all, or to the rounding error of the points where a function is steep, or
// to the given tails. The last function is that of draws from the prior alone: it
// is taken as it is once the others are done.
func fit(lo, hi float64, most, functions int, eval func(dst []float64, w float64), tails []float64) ([]polynomial, bool) {
	const step = 1e-6
	slopes, before := make([]float64, functions), make([]float64, functions)
	eval(slopes, hi)
	eval(before, hi-step)
	for j, v := range before {
		slopes[j] = math.Abs(slopes[j]-v) / step
	}
	for n := 32; ; n *= 2 {
		all, done := interpolate(lo, hi, n, functions, eval), true
		for j, p := range all {
			tail := min(1e-14*p.size()+2e-16*slopes[j], 1e-11*p.size())
			if tails != nil {
				tail = max(tail, tails[j])
			}
			all[j] = p[:p.terms(tail)]
			settled := p.finite() && len(all[j]) <= 3*n/4
			done = done && (settled || j == functions-1 && n >= plainPoints)
		}
		if done || n >= most {
			return all, done
		}
	}
}

// lifted fits the functions below the leading eigenvalues, to 1e-12 of a lower bound
// of the mean of K_ii over nodes: the share of the leading eigenvalues or, as K is
// convex in W, its value at the mean eigenvalue. It returns false where that takes
// too many terms.
func (s *Series) lifted(c *seriesCovariance, l *leading, functions int, eval func(dst []float64, w float64), theta []float64) (bool,
	error) {
	values := make([][]float64, len(l.values))
	tails := make([]float64, functions)
	for i, w := range l.values {
		values[i] = make([]float64, functions)
		eval(values[i], w)
		if g := values[i][0]; !(g >= 0) || math.IsInf(g, 0) {
			return false, fmt.Errorf("%w: variance %v at %v for eigenvalue %.6g of the matrix: take a normalised matrix", ErrTheta, g, theta, w)
		}
		for j, v := range values[i] {
			tails[j] += exactTail * math.Abs(v) / float64(s.Nodes())
		}
	}
	mean := make([]float64, functions)
	eval(mean, s.mean())
	for j, v := range mean {
		tails[j] = max(tails[j], exactTail*math.Abs(v))
	}
	fits := make([]polynomial, functions)
	if math.IsInf(l.below, -1) {
		for j := range fits {
			fits[j] = polynomial{0}
		}
	} else {
		var done bool
		fits, done = fit(-s.norm, l.below, mostPoints, functions, eval, tails)
		if !done {
			return false, nil
		}
		// y = (2w + ρ − b)/(b + ρ) on [−ρ, b], and x = w/ρ.
		for j, p := range fits {
			fits[j] = p.of(2*s.norm/(l.below+s.norm), (s.norm-l.below)/(l.below+s.norm))
		}
	}
	c.top = l
	c.set(func(j int) shape {
		f := shape{fits[j], make([]float64, len(l.values))}
		for i, w := range l.values {
			f.lift[i] = values[i][j] - f.p.at(w/s.norm)
		}
		return f
	}, functions)
	return true, nil
}

// shorten makes K the square of a truncated Ψ, so that it stays positive
// semidefinite.
func (s *Series) shorten(c *seriesCovariance, fits []polynomial, eval func(dst []float64, w float64)) {
	const terms = mostPoints * 3 / 8
	last := len(fits) - 1
	cut := func(p polynomial) polynomial { return p[:min(len(p), terms)] }
	psi := cut(fits[last])
	// ∂Ψ = ∂K/2Ψ
	slopes := interpolate(-s.norm, s.norm, mostPoints, last-1, func(dst []float64, w float64) {
		all := make([]float64, last+1)
		eval(all, w)
		for j := range dst {
			if dst[j] = 0; all[last] > 0 {
				dst[j] = all[j+1] / all[last] // 2∂Ψ
			}
		}
	})
	c.psi, c.k = shape{p: psi}, shape{p: psi.times(psi)}
	for _, d := range slopes {
		c.dk = append(c.dk, shape{p: psi.times(cut(d))})
	}
	all := make([]float64, last+1)
	eval(all, s.norm)
	c.carried = 1
	if all[0] > 0 {
		c.carried = min(1, c.k.p.at(1)/all[0])
	}
}
