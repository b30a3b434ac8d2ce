package kerneltest

import (
	"math"

	"grfgp/kernel"
)

// Restart is a family that tests register: walks that go on with the probability a = t/(1+t) after every step,
// Ψ = s(1 − a)(I − aW)⁻¹, so that f_l = s(1 − a)a^l.
var Restart = kernel.Family{
	Name:    "restart",
	Formula: "σ² (1 + t(I − W))^−2",
	Of:      func(kernel.Member) (kernel.Modulation, error) { return restart{}, nil },
	Coarse:  true,
	Starts:  [][]float64{{1, 1}, {1, 4}, {1, 16}, {1, 64}},
	Tried:   []kernel.Tried{{Values: 10, Classes: 10}},
}

type restart struct{}

func (restart) Params() []kernel.Param {
	return []kernel.Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "t", Start: 3, Positive: true}}
}

func (restart) String() string { return "restart" }

func (restart) Coeffs(dst, theta []float64) {
	s, t := math.Sqrt(theta[0]), theta[1]
	for l := range dst {
		dst[l] = s / (1 + t) * math.Pow(t/(1+t), float64(l))
	}
}

func (r restart) CoeffsGrad(dst [][]float64, theta []float64) {
	r.Coeffs(dst[1], theta)
	t := theta[1]
	for l, f := range dst[1] {
		dst[0][l] = f / (2 * theta[0])
		dst[1][l] = f * (float64(l)/t - float64(l+1)/(1+t))
	}
}

func (restart) Density(w float64, theta []float64) float64 {
	u := 1 + theta[1]*(1-w)
	return theta[0] / (u * u)
}

func (restart) DensityGrad(dst []float64, w float64, theta []float64) {
	u := 1 + theta[1]*(1-w)
	dst[0] = 1 / (u * u)
	dst[1] = -2 * theta[0] / (u * u * u) * (1 - w)
}
