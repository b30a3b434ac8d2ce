package kernel

import (
	"fmt"
	"math"
)

// Diffusion is s² exp(−β·L̃) with L̃ = I − W and parameters s², β > 0:
// f_l = s e^(−β/2) (β/2)^l / l!.
type Diffusion struct{}

// Params returns the variance s² and the length scale β.
func (Diffusion) Params() []Param {
	return []Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "beta", Start: 4, Positive: true}}
}

// Coeffs sets dst[l] to s times the probability of l under the Poisson
// distribution with mean β/2.
func (Diffusion) Coeffs(dst, theta []float64) {
	sd, half := math.Sqrt(theta[0]), theta[1]/2
	for l := range dst {
		dst[l] = sd * poisson(half, l)
	}
}

// CoeffsGrad sets the derivatives by s² and β.
func (Diffusion) CoeffsGrad(dst [][]float64, theta []float64) {
	sd, half := math.Sqrt(theta[0]), theta[1]/2
	before := 0.0 // f_{l−1}/s
	for l := range dst[0] {
		f := poisson(half, l)
		dst[0][l] = f / (2 * sd)
		dst[1][l] = sd * (before - f) / 2
		before = f
	}
}

// Density is s² exp(−β(1−w)).
func (Diffusion) Density(w float64, theta []float64) float64 {
	return theta[0] * math.Exp(-theta[1]*(1-w))
}

// DensityGrad sets the derivatives by s² and β.
func (Diffusion) DensityGrad(dst []float64, w float64, theta []float64) {
	dst[0] = math.Exp(-theta[1] * (1 - w))
	dst[1] = -(1 - w) * theta[0] * dst[0]
}

// String returns the name of the family.
func (Diffusion) String() string { return "diffusion" }

// poisson is e^−m m^l / l!, without overflow.
func poisson(m float64, l int) float64 {
	if l == 0 {
		return math.Exp(-m)
	}
	lgamma, _ := math.Lgamma(float64(l + 1))
	return math.Exp(-m + float64(l)*math.Log(m) - lgamma)
}

// Matern is s² (1 + κ²L̃/2ν)^−ν with L̃ = I − W, smoothness ν > 0 and parameters
// s², κ > 0. With c = 1 + 2ν/κ², f_l = s (1−1/c)^(ν/2) c^−l (ν/2)_l / l!, where
// (a)_l is the rising factorial. It is the usual (2ν/κ² + L̃)^−ν, scaled to
// eigenvalue s² on constant functions.
type Matern struct{ Nu float64 }

// Params returns the variance s² and the length scale κ.
func (Matern) Params() []Param {
	return []Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "kappa", Start: 3, Positive: true}}
}

// Coeffs sets dst[l] = s (1−1/c)^(ν/2) c^−l (ν/2)_l / l!.
func (m Matern) Coeffs(dst, theta []float64) {
	x := 2 * m.Nu / (theta[1] * theta[1])
	c := 1 + x
	f := math.Sqrt(theta[0]) * math.Pow(x/c, m.Nu/2) // x/c is 1 − 1/c without cancelling
	for l := range dst {
		dst[l] = f
		f *= (m.Nu/2 + float64(l)) / (float64(l+1) * c)
	}
}

// CoeffsGrad sets the derivatives by s² and κ.
func (m Matern) CoeffsGrad(dst [][]float64, theta []float64) {
	m.Coeffs(dst[1], theta)
	kappa := theta[1]
	c := 1 + 2*m.Nu/(kappa*kappa)
	dc := -4 * m.Nu / (kappa * kappa * kappa)
	for l, f := range dst[1] {
		dst[0][l] = f / (2 * theta[0])
		// d log f/dc = (ν/2)/(c(c−1)) − l/c
		dst[1][l] = f * (m.Nu/2/(c*(c-1)) - float64(l)/c) * dc
	}
}

// Density is s² (1 + κ²(1−w)/2ν)^−ν.
func (m Matern) Density(w float64, theta []float64) float64 {
	return theta[0] * math.Pow(1+theta[1]*theta[1]*(1-w)/(2*m.Nu), -m.Nu)
}

// DensityGrad sets the derivatives by s² and κ.
func (m Matern) DensityGrad(dst []float64, w float64, theta []float64) {
	base := 1 + theta[1]*theta[1]*(1-w)/(2*m.Nu)
	dst[0] = math.Pow(base, -m.Nu)
	dst[1] = -theta[0] * dst[0] / base * theta[1] * (1 - w)
}

// String returns the name of the family with its smoothness.
func (m Matern) String() string { return fmt.Sprintf("Matérn(ν=%g)", m.Nu) }

// Free has the coefficients f_0 … f_Len themselves as parameters: the fully
// learnable kernel of the paper. With alternating signs neighbours are negatively
// correlated.
type Free struct{ Len int }

// Params returns f_0 … f_Len, starting from a diffusion kernel with β = 4.
func (f Free) Params() []Param {
	start := make([]float64, f.Len+1)
	Diffusion{}.Coeffs(start, []float64{1, 4})
	params := make([]Param, len(start))
	for l := range params {
		params[l] = Param{Name: fmt.Sprintf("f%d", l), Start: start[l]}
	}
	return params
}

// Coeffs copies theta; lengths beyond it have coefficient zero.
func (f Free) Coeffs(dst, theta []float64) {
	clear(dst)
	copy(dst, theta)
}

// CoeffsGrad sets the unit vectors.
func (f Free) CoeffsGrad(dst [][]float64, _ []float64) {
	for j := range dst {
		clear(dst[j])
		if j < len(dst[j]) {
			dst[j][j] = 1
		}
	}
}

// Density is (Σ f_l w^l)².
func (f Free) Density(w float64, theta []float64) float64 {
	psi := horner(theta, w)
	return psi * psi
}

// DensityGrad sets dst[l] = 2(Σ f_k w^k)·w^l.
func (f Free) DensityGrad(dst []float64, w float64, theta []float64) {
	slope := 2 * horner(theta, w)
	for l := range dst {
		dst[l] = slope
		slope *= w
	}
}

// horner returns Σ f_l w^l.
func horner(f []float64, w float64) float64 {
	sum := 0.0
	for l := len(f) - 1; l >= 0; l-- {
		sum = sum*w + f[l]
	}
	return sum
}

// String returns the name of the family with its length.
func (f Free) String() string { return fmt.Sprintf("free, %d hops", f.Len) }

// Hops returns the smallest length L ≤ most at which a kernel on a matrix of norm
// 1 can be cut off with a loss of at most tail, and the share Σ_{l≤L} |f_l| / Σ
// |f_l| that is then carried. The share is less than 1 − tail if even the length
// most is too short.
func Hops(m Modulation, theta []float64, tail float64, most int) (hops int, carried float64) {
	f := make([]float64, most+1)
	m.Coeffs(f, theta)
	total := 0.0
	positive := true // Σ f_l·1^l is Σ |f_l|
	switch m.(type) {
	case Free, *Power, signlessSpectrum:
		positive = false
	}
	if s, ok := m.(Spectrum); ok && positive {
		total = math.Sqrt(s.Density(1, theta))
	} else {
		for _, v := range f {
			total += math.Abs(v)
		}
	}
	sum := 0.0
	for l, v := range f {
		if sum += math.Abs(v); sum >= (1-tail)*total {
			return l, min(1, sum/total)
		}
	}
	return most, sum / total
}
