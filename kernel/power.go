package kernel

import (
	"fmt"
	"math"
	"slices"
)

func init() {
	Register(Family{
		Name:    "power",
		Formula: "σ² Σ_r α_r W^r",
		Of:      func(m Member) (Modulation, error) { return NewPower(m.Alpha) },
		Words:   func(Member) string { return "power series" },
		Alpha:   true,
		Reach:   func(m Member) int { return len(m.Alpha) - 1 },
		Miss:    func(m Modulation, hops int) float64 { return m.(*Power).Miss(hops) },
	})
}

// Power is the family of a given power series, K = s² Σ_r α_r W^r, with s² as its
// only parameter.
//
// As a Spectrum it is exactly that polynomial. As a Modulation it is the square
// root of it,
//
//	f_0 = √α_0, f_r = (α_r − Σ_{0<k<r} f_k f_{r−k})/(2f_0),
//
// which in general has infinitely many terms. Cut off at length L, (Σ_{l≤L} f_l W^l)² has the
// coefficients α_0 … α_L, but other coefficients than α from L+1 to 2L; Miss
// measures the difference.
type Power struct{ alpha []float64 }

// NewPower returns the family of the coefficients α_0, α_1, …, which it copies.
// They must be finite, α_0 positive, and Σ α_r w^r must not be negative for any w
// in [−1, 1], because K would not be positive semidefinite.
func NewPower(alpha []float64) (*Power, error) {
	if len(alpha) == 0 {
		return nil, fmt.Errorf("%w: a power series without coefficients: give α_0, α_1, …", ErrTheta)
	}
	for r, v := range alpha {
		if math.IsNaN(v) || math.Abs(v) > maxCoeff {
			return nil, fmt.Errorf("%w: the coefficient α_%d of the power series is %v, want a number within ±%g", ErrTheta, r, v, maxCoeff)
		}
	}
	if alpha[0] <= 0 {
		return nil, fmt.Errorf("%w: the coefficient α_0 of the power series is %v, want a positive number", ErrTheta, alpha[0])
	}
	p := &Power{slices.Clone(alpha)}
	if w, least := p.least(); least < 0 {
		return nil, fmt.Errorf("%w: the power series is %.3g at %.4g, but a covariance is not negative between −1 and 1: change the coefficients",
			ErrTheta, least, w)
	}
	return p, nil
}

// Params returns the variance s².
func (*Power) Params() []Param {
	return []Param{{Name: "variance", Start: 1, Positive: true, Variance: true}}
}

// Coeffs sets dst[l] = s f_l.
func (p *Power) Coeffs(dst, theta []float64) {
	p.root(dst)
	sd := math.Sqrt(theta[0])
	for l := range dst {
		dst[l] *= sd
	}
}

// CoeffsGrad sets the derivative by s².
func (p *Power) CoeffsGrad(dst [][]float64, theta []float64) {
	p.root(dst[0])
	sd := math.Sqrt(theta[0])
	for l := range dst[0] {
		dst[0][l] /= 2 * sd
	}
}

// root sets dst[l] = f_l.
func (p *Power) root(dst []float64) {
	for r := range dst {
		v := 0.0
		if r < len(p.alpha) {
			v = p.alpha[r]
		}
		if r == 0 {
			dst[0] = math.Sqrt(v)
			continue
		}
		for k := 1; k < r; k++ {
			v -= dst[k] * dst[r-k]
		}
		dst[r] = v / (2 * dst[0])
	}
}

// Density is s² Σ_r α_r w^r, and zero where rounding makes it negative.
func (p *Power) Density(w float64, theta []float64) float64 { return theta[0] * p.value(w) }

// DensityGrad sets the derivative by s².
func (p *Power) DensityGrad(dst []float64, w float64, _ []float64) { dst[0] = p.value(w) }

// value is Σ_r α_r w^r by Horner's rule.
func (p *Power) value(w float64) float64 {
	sum, size := 0.0, 0.0
	for _, a := range slices.Backward(p.alpha) {
		sum = sum*w + a
		size = size*math.Abs(w) + math.Abs(a)
	}
	if sum < 0 && sum > -1e-14*float64(len(p.alpha))*size {
		return 0
	}
	return sum
}

// least returns where in [−1, 1] the series is lowest, and its value there.
func (p *Power) least() (w, value float64) {
	// Between neighbouring points cos(πk/n) the polynomial has at most one minimum.
	n := 32 * len(p.alpha)
	at := func(k float64) float64 { return math.Cos(math.Pi * k / float64(n)) }
	w, value = 1, p.value(1)
	for k := range n + 1 {
		lo, hi := max(0, float64(k)-1), min(float64(n), float64(k)+1)
		if v := p.value(at(float64(k))); v > p.value(at(lo)) || v > p.value(at(hi)) {
			continue
		}
		for hi-lo > 1e-9 {
			left, right := lo+(hi-lo)/3, hi-(hi-lo)/3
			if p.value(at(left)) < p.value(at(right)) {
				hi = right
			} else {
				lo = left
			}
		}
		for _, k := range []float64{float64(k), (lo + hi) / 2} {
			if v := p.value(at(k)); v < value {
				w, value = at(k), v
			}
		}
	}
	return w, value
}

// Miss returns the error of cutting the Modulation off at maxLen hops: the largest
// difference from the power series over eigenvalues in [−1, 1], relative to the
// largest value of the series.
func (p *Power) Miss(maxLen int) float64 {
	f := make([]float64, maxLen+1)
	p.root(f)
	n := 32 * (maxLen + len(p.alpha))
	gap, size := 0.0, 0.0
	for k := range n + 1 {
		w := math.Cos(math.Pi * float64(k) / float64(n))
		psi := 0.0
		for _, v := range slices.Backward(f) {
			psi = psi*w + v
		}
		value := p.value(w)
		gap, size = max(gap, math.Abs(psi*psi-value)), max(size, value)
	}
	return gap / size
}

// String returns the name of the family with its coefficients.
func (p *Power) String() string { return fmt.Sprintf("power series %v", p.alpha) }
