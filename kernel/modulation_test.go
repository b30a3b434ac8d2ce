package kernel

import (
	"fmt"
	"math"
	"testing"
)

// At an eigenvalue w of W the series must equal the closed form of the family:
// (Σ f_l w^l)² = exp(−β(1−w)) and (2ν/κ² + 1 − w)^−ν.
func TestSeriesEqualsSpectrum(t *testing.T) {
	f := make([]float64, 2000)
	for _, w := range []float64{-1, -0.5, 0, 0.3, 0.9, 1} {
		for _, theta := range []float64{0.1, 1, 2, 10} {
			check := func(m Modulation, want float64) {
				m.Coeffs(f, theta)
				psi, power := 0.0, 1.0
				for _, v := range f {
					psi += v * power
					power *= w
				}
				if got := psi * psi; math.Abs(got-want) > 1e-9*want {
					t.Errorf("%v at θ=%v, w=%v: series gives %v, want %v", m, theta, w, got, want)
				}
			}
			check(Diffusion{}, math.Exp(-theta*(1-w)))
			for _, nu := range []float64{0.5, 1, 2.5, 4} {
				check(Matern{nu}, math.Pow(2*nu/(theta*theta)+1-w, -nu))
			}
		}
	}
}

func TestHopsLeaveTheStatedTail(t *testing.T) {
	f := make([]float64, 3000)
	for _, m := range []Modulation{Diffusion{}, Matern{1.5}} {
		for _, theta := range []float64{0.5, 2, 10} {
			l := Hops(m, theta, 1e-3, 254)
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
	if got := Hops(Matern{1}, 1e6, 1e-3, 254); got != 254 {
		t.Errorf("an endless kernel got %d hops, want the most", got)
	}
	if got := Hops(Diffusion{}, 0, 1e-3, 254); got != 0 {
		t.Errorf("β = 0 needs %d hops, want 0", got)
	}
}

func ExampleHops() {
	for _, beta := range []float64{2, 10, 40} {
		fmt.Println(beta, Hops(Diffusion{}, beta, 1e-3, 254))
	}
	// Output:
	// 2 5
	// 10 13
	// 40 35
}
