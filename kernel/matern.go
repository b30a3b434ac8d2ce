package kernel

import (
	"fmt"
	"math"
)

func init() {
	Register(Family{
		Name:    "matern",
		Formula: "σ² (1 + κ²L/2ν)^−ν",
		Of:      func(m Member) (Modulation, error) { return Matern{m.Nu}, nil },
		Words:   func(m Member) string { return fmt.Sprintf("matern, ν = %g", m.Nu) },
		Nu:      true,
		Length:  2,
		Coarse:  true,
		Starts:  [][]float64{{1, 1}, {1, 4}, {1, 16}, {1, 64}},
		Reach:   everywhere,
		Tried:   []Tried{{Nu: 0.5, Values: 2}, {Nu: 1}, {Nu: 2, Values: 3, Classes: 1}, {Nu: 4, Classes: 2}},
	})
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
