package kernel

import "math"

func init() {
	Register(Family{
		Name:    "diffusion",
		Formula: "σ² exp(−βL)",
		Of:      func(Member) (Modulation, error) { return Diffusion{}, nil },
		Length:  1,
		Coarse:  true,
		Starts:  [][]float64{{1, 2}, {1, 8}, {1, 32}, {1, 128}},
		Reach:   everywhere,
		Tried:   []Tried{{Values: 1, Classes: 3}},
	})
}

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
