package kernel

import (
	"fmt"
	"math"
	"testing"
)

type family interface {
	Modulation
	Spectrum
}

var families = []family{Diffusion{}, Matern{0.5}, Matern{1}, Matern{2.5}, Matern{4}}

// At an eigenvalue w of W the series must equal the closed form of the family:
// both forms of each family are the same kernel.
func TestSeriesEqualsSpectrum(t *testing.T) {
	t.Parallel()
	f := make([]float64, 3000)
	for _, m := range families {
		for _, w := range []float64{-1, -0.5, 0, 0.3, 0.9, 1} {
			for _, scale := range []float64{0.1, 1, 2, 10} {
				theta := []float64{0.7, scale}
				m.Coeffs(f, theta)
				psi, power := 0.0, 1.0
				for _, v := range f {
					psi += v * power
					power *= w
				}
				if got, want := psi*psi, m.Density(w, theta); math.Abs(got-want) > 1e-9*want {
					t.Errorf("%v at θ=%v, w=%v: series gives %v, closed form %v", m, theta, w, got, want)
				}
			}
		}
	}
}

// Derivatives agree with central differences, to the accuracy of these, about 1e-8.
func TestDerivatives(t *testing.T) {
	t.Parallel()
	const hops, h = 12, 1e-5
	for _, m := range append([]Modulation{Free{hops}}, Diffusion{}, Matern{1}, Matern{2.5}) {
		theta := make([]float64, len(m.Params()))
		for j, p := range m.Params() {
			theta[j] = p.Start * 1.1
		}
		grad := make([][]float64, len(theta))
		for j := range grad {
			grad[j] = make([]float64, hops+1)
		}
		m.CoeffsGrad(grad, theta)
		up, down := make([]float64, hops+1), make([]float64, hops+1)
		for j := range theta {
			at := theta[j]
			theta[j] = at + h
			m.Coeffs(up, theta)
			theta[j] = at - h
			m.Coeffs(down, theta)
			theta[j] = at
			for l := range up {
				if want := (up[l] - down[l]) / (2 * h); math.Abs(grad[j][l]-want) > 1e-8 {
					t.Errorf("%v: ∂f_%d/∂θ_%d = %v, differences give %v", m, l, j, grad[j][l], want)
				}
			}
		}
	}
	for _, m := range families {
		theta := []float64{0.8, 2.3}
		dst := make([]float64, 2)
		for _, w := range []float64{-1, 0.2, 1} {
			m.DensityGrad(dst, w, theta)
			for j := range theta {
				at := theta[j]
				theta[j] = at + h
				up := m.Density(w, theta)
				theta[j] = at - h
				down := m.Density(w, theta)
				theta[j] = at
				if want := (up - down) / (2 * h); math.Abs(dst[j]-want) > 1e-8 {
					t.Errorf("%v: ∂density(%v)/∂θ_%d = %v, differences give %v", m, w, j, dst[j], want)
				}
			}
		}
	}
}

func TestHopsLeaveTheStatedTail(t *testing.T) {
	t.Parallel()
	f := make([]float64, 5000)
	for _, m := range []Modulation{Diffusion{}, Matern{1.5}} {
		for _, scale := range []float64{0.5, 2, 10} {
			theta := []float64{3, scale}
			l, _ := Hops(m, theta, 1e-3, 254)
			m.Coeffs(f, theta)
			sum := func(lo int) (s float64) {
				for _, v := range f[lo:] {
					s += v
				}
				return s
			}
			if tail := sum(l+1) / sum(0); tail > 1.001e-3 {
				t.Errorf("%v θ=%v: %d hops leave %v", m, theta, l, tail)
			}
			if l > 0 && sum(l)/sum(0) < 0.999e-3 {
				t.Errorf("%v θ=%v: %d hops are more than needed", m, theta, l)
			}
		}
	}
	for _, c := range []struct {
		m        Modulation
		theta    []float64
		hops     int
		lo, most float64 // of what is carried
	}{
		{Matern{1}, []float64{1, 1e6}, 254, 0, 0.1},
		{Diffusion{}, []float64{2, 1000}, 254, 0, 0.1}, // the mean length is 500
		{Diffusion{}, []float64{2, 1e5}, 254, 0, 0.1},  // every coefficient underflows
		{Diffusion{}, []float64{1, 0}, 0, 1, 1},
		{Free{3}, []float64{1, 0.5, -0.5, 0.25}, 3, 1, 1},
	} {
		if hops, carried := Hops(c.m, c.theta, 1e-3, 254); hops != c.hops || carried < c.lo || carried > c.most {
			t.Errorf("%v at %v: %d hops carry %v, want %d and %v to %v", c.m, c.theta, hops, carried, c.hops, c.lo, c.most)
		}
	}
}

func ExampleHops() {
	for _, beta := range []float64{2, 10, 40} {
		hops, carried := Hops(Diffusion{}, []float64{1, beta}, 1e-3, 254)
		fmt.Printf("β = %g: %d hops carry %.4f\n", beta, hops, carried)
	}
	// Output:
	// β = 2: 5 hops carry 0.9994
	// β = 10: 13 hops carry 0.9993
	// β = 40: 35 hops carry 0.9992
}
