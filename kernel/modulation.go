// Package kernel says what a covariance on a graph is. A family of kernels is a
// modulation: coefficients f_l, by walk length, with Ψ = Σ f_l W^l and K = ΨΨᵀ.
package kernel

import (
	"fmt"
	"math"
)

// Modulation is a family of kernels K = (Σ f_l W^l)² on W = D^-½AD^-½, with one
// parameter that sets its length scale.
type Modulation interface {
	// Coeffs sets dst[l] = f_l(theta) for l = 0 … len(dst)−1.
	Coeffs(dst []float64, theta float64)
	// Sum returns Σ f_l over all l, the norm of Ψ on a connected graph.
	Sum(theta float64) float64
	String() string
}

// Diffusion is exp(−β·L̃) with L̃ = I − W and parameter β > 0:
// f_l = e^(−β/2) (β/2)^l / l!.
type Diffusion struct{}

// Coeffs sets dst[l] = e^(−β/2) (β/2)^l / l!, the probabilities of a Poisson
// variable with mean β/2.
func (Diffusion) Coeffs(dst []float64, beta float64) {
	logHalf := math.Log(beta / 2)
	for l := range dst {
		lgamma, _ := math.Lgamma(float64(l + 1))
		dst[l] = math.Exp(-beta/2 + float64(l)*logHalf - lgamma)
	}
	if beta == 0 && len(dst) > 0 {
		dst[0] = 1 // 0·log 0
	}
}

// Sum is 1 at every β.
func (Diffusion) Sum(float64) float64 { return 1 }

func (Diffusion) String() string { return "diffusion" }

// Matern is (2ν/κ² + L̃)^−ν with L̃ = I − W, smoothness ν > 0 and parameter
// κ > 0: f_l = c^(−ν/2−l) (ν/2)_l / l! with c = 1 + 2ν/κ² and the rising
// factorial (a)_l.
type Matern struct{ Nu float64 }

// Coeffs sets dst[l] = c^(−ν/2−l) (ν/2)_l / l!.
func (m Matern) Coeffs(dst []float64, kappa float64) {
	c := 1 + 2*m.Nu/(kappa*kappa)
	f := math.Pow(c, -m.Nu/2)
	for l := range dst {
		dst[l] = f
		f *= (m.Nu/2 + float64(l)) / (float64(l+1) * c)
	}
}

// Sum is (2ν/κ²)^(−ν/2).
func (m Matern) Sum(kappa float64) float64 {
	return math.Pow(2*m.Nu/(kappa*kappa), -m.Nu/2)
}

func (m Matern) String() string { return fmt.Sprintf("Matérn(ν=%g)", m.Nu) }

// Hops returns the fewest lengths that carry all but a share tail of a kernel:
// the least L ≤ most with Σ_{l>L} f_l ≤ tail·Σ f_l. It returns most when even
// that is too few.
func Hops(m Modulation, theta, tail float64, most int) int {
	f := make([]float64, most+1)
	m.Coeffs(f, theta)
	sum, total := 0.0, m.Sum(theta)
	for l, v := range f {
		sum += v
		if total-sum <= tail*total {
			return l
		}
	}
	return most
}
