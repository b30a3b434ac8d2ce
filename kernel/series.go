package kernel

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/rng"
	"grfgp/sparse"
)

// ErrMatrix is wrapped by every error about the matrix W of a kernel.
var ErrMatrix = errors.New("matrix cannot be used")

// Series is the kernel of a family by products with W, for graphs of any size:
// the exact kernel (NewExact), or the kernel cut off at walk length L, K = Ψ²
// with Ψ = Σ_{l≤L} f_l W^l (NewSeries).
//
// The polynomials are evaluated as Σ c_k T_k(W/ρ), with Chebyshev polynomials T_k
// and a bound ρ of the norm of W. Their coefficients decay much faster than those
// of powers: diffusion with β = 110 takes 84 terms in place of 200, a Matérn
// kernel with ν = 5/2 and κ = 10 takes 116 in place of 767. The last terms, whose
// coefficients add up to 1e-14 of all, are left out, so a generous L costs almost
// nothing.
type Series struct {
	*recurrence
	params   []Param
	spectrum Spectrum   // of the whole family; or
	family   Modulation // cut off at
	maxLen   int
	cache    *seriesCache // nil: none
}

// NewSeries returns the kernel of a family on W, which must be symmetric to
// 1e-12 of each row, with walks up to length maxLen.
func NewSeries(w *sparse.CSR, m Modulation, maxLen int) (*Series, error) {
	if maxLen < 0 {
		return nil, fmt.Errorf("series up to walk length %d: want 0 or more", maxLen)
	}
	r, err := newRecurrence(w, nil)
	if err != nil {
		return nil, err
	}
	return &Series{recurrence: r, params: m.Params(), family: m, maxLen: maxLen}, nil
}

// Params returns the parameters of the family.
func (s *Series) Params() []Param { return s.params }

// At returns the covariance at theta.
func (s *Series) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, s.params); err != nil {
		return nil, err
	}
	if s.spectrum != nil {
		return s.exact(slices.Clone(theta))
	}
	f := make([]float64, s.maxLen+1)
	df := make([][]float64, len(s.params))
	for j := range df {
		df[j] = make([]float64, s.maxLen+1)
	}
	s.family.Coeffs(f, theta)
	s.family.CoeffsGrad(df, theta)

	psi := chebyshev(f, s.norm)
	k := psi.times(psi)
	finite := k.finite()
	c := &seriesCovariance{recurrence: s.recurrence, cache: s.cache, carried: 1, psi: shape{p: psi.trimmed()}, k: shape{p: k.trimmed()}}
	for _, d := range df {
		for l := range d {
			d[l] *= 2
		}
		dk := psi.times(chebyshev(d, s.norm)) // ∂K = 2Ψ·∂Ψ
		finite = finite && dk.finite()
		c.dk = append(c.dk, shape{p: dk.trimmed()})
	}
	if !finite {
		return nil, fmt.Errorf("%w: %d powers of a matrix of norm %.3g overflow at %v: take a normalised matrix or shorter walks",
			ErrTheta, s.maxLen, s.norm, theta)
	}
	return c, nil
}

// checkSymmetric returns an error unless w is square, not empty and symmetric:
// w·v and wᵀ·v agree for a random v, to 1e-12 of the sum of absolute terms of each row.
// Other matrices pass with probability zero.
func checkSymmetric(w *sparse.CSR) error {
	n, cols := w.Dims()
	if n != cols || n == 0 {
		return fmt.Errorf("%w: it is %d×%d, want as many columns as rows, and at least one", ErrMatrix, n, cols)
	}
	v := make([]float64, n)
	stream := rng.New(0, "symmetry")
	for i := range v {
		v[i] = 1 + stream.Float64()
	}
	gap, size := make([]float64, n), make([]float64, n)
	for i := range n {
		cols, vals := w.Row(i)
		for p, j := range cols {
			gap[i] += vals[p] * v[j]
			gap[j] -= vals[p] * v[i]
			size[i] += math.Abs(vals[p] * v[j])
			size[j] += math.Abs(vals[p] * v[i])
		}
	}
	for i := range n {
		if math.Abs(gap[i]) > 1e-12*size[i] {
			return fmt.Errorf("%w: it is not symmetric: row %d differs from column %d", ErrMatrix, i, i)
		}
	}
	return nil
}

// normBound returns an upper bound of ‖w‖, or 1 for the zero matrix, within a
// thousandth where 64 products come that close. For every positive v the
// largest (|w|v)_i/v_i is a bound (Collatz, Wielandt), and vᵀ|w|v/vᵀv is below the
// best. Unless a start is given, v starts as the eigenvector of an unweighted
// graph's D^-½ A D^-½.
func normBound(w *sparse.CSR, start []float64) float64 {
	const rowBlock = 1 << 13
	n, _ := w.Dims()
	v, y := slices.Clone(start), make([]float64, n)
	if start == nil {
		v = make([]float64, n)
		for i := range v {
			cols, _ := w.Row(i)
			v[i] = math.Sqrt(float64(max(1, len(cols))))
		}
	}
	best := math.Inf(1)
	for range 64 {
		everyRow(n, rowBlock, func(i int) {
			cols, vals := w.Row(i)
			sum := 0.0
			for p, j := range cols {
				sum += math.Abs(vals[p]) * v[j]
			}
			y[i] = sum
		})
		most, vy, vv := 0.0, 0.0, 0.0
		for i := range v {
			most = max(most, y[i]/v[i])
			vy += v[i] * y[i]
			vv += v[i] * v[i]
		}
		if best = min(best, most); best == 0 {
			return 1
		}
		if best <= 1.001*vy/vv {
			break
		}
		for i := range v { // at most doubles; stays positive where rows are empty
			v[i] += y[i] / best
		}
	}
	return best
}
