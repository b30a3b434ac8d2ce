package kernel

import (
	"fmt"
	"math"
)

// Shape is how the correlation of a smooth kernel falls with the distance r.
type Shape int

// The shapes, from the smoothest functions to the roughest.
const (
	RBF      Shape = iota // exp(−r²/2)
	Matern52              // (1 + q + q²/3)·exp(−q), q = √5·r
	Matern32              // (1 + q)·exp(−q), q = √3·r
)

// Shapes returns all shapes.
func Shapes() []Shape { return []Shape{RBF, Matern52, Matern32} }

func (s Shape) String() string {
	switch s {
	case RBF:
		return "rbf"
	case Matern52:
		return "matern52"
	case Matern32:
		return "matern32"
	}
	return fmt.Sprintf("Shape(%d)", int(s))
}

// checked returns s; it panics unless s is one of the shapes.
func (s Shape) checked() Shape {
	if s < RBF || s > Matern32 {
		panic(fmt.Sprintf("kernel: no shape %d", int(s)))
	}
	return s
}

// values replaces squared distances by scale times the correlations.
func (s Shape) values(r2 []float64, scale float64) {
	switch s {
	case RBF:
		for i, v := range r2 {
			r2[i] = scale * math.Exp(-v/2)
		}
	case Matern52:
		for i, v := range r2 {
			q := math.Sqrt(5 * v)
			r2[i] = scale * (1 + q + q*q/3) * math.Exp(-q)
		}
	case Matern32:
		for i, v := range r2 {
			q := math.Sqrt(3 * v)
			r2[i] = scale * (1 + q) * math.Exp(-q)
		}
	}
}

// slopes replaces squared distances by g·∂k/∂(r²) and returns Σ g·k. The sum
// is taken in order.
func (s Shape) slopes(r2, g []float64) float64 {
	sum := 0.0
	switch s {
	case RBF:
		for i, v := range r2 {
			k := g[i] * math.Exp(-v/2)
			sum += k
			r2[i] = -k / 2
		}
	case Matern52:
		for i, v := range r2 {
			q := math.Sqrt(5 * v)
			e := g[i] * math.Exp(-q)
			sum += (1 + q + q*q/3) * e
			r2[i] = -5. / 6 * (1 + q) * e
		}
	case Matern32:
		for i, v := range r2 {
			q := math.Sqrt(3 * v)
			e := g[i] * math.Exp(-q)
			sum += (1 + q) * e
			r2[i] = -1.5 * e
		}
	}
	return sum
}

// freedom returns the degrees of freedom of the multivariate t distribution that is
// the spectral density of a Matérn shape; 0 for a normal distribution.
func (s Shape) freedom() int {
	switch s {
	case Matern52:
		return 5
	case Matern32:
		return 3
	}
	return 0
}
