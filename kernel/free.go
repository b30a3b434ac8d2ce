package kernel

import (
	"fmt"
	"slices"
)

func init() {
	Register(Family{
		Name:    "free",
		Formula: "(Σ f_l W^l)²",
		Of:      func(m Member) (Modulation, error) { return Free{m.Hops}, nil },
		Ended:   true,
		Apart:   apart,
		Reach:   func(m Member) int { return 2 * m.Hops },
	})
}

// apart returns free coefficients like those of another family: the same, the same with alternating signs (neighbours
// differ), and the even ones (neighbours are uncorrelated).
func apart(coeffs []float64) [][]float64 {
	changing, even := slices.Clone(coeffs), slices.Clone(coeffs)
	for l := 1; l < len(coeffs); l += 2 {
		changing[l], even[l] = -coeffs[l], 0
	}
	return [][]float64{coeffs, changing, even}
}

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
