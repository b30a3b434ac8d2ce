package solve

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
)

// Scaled is the preconditioner D·P·D, with D diagonal: for a matrix whose rows
// and columns were scaled after P was made for it.
type Scaled struct {
	inner Factored
	inv   []float64 // 1/D
}

// NewScaled returns D·P·D. The scales must be positive.
func NewScaled(p Factored, d []float64) (*Scaled, error) {
	s := &Scaled{p, make([]float64, len(d))}
	for i, v := range d {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, fmt.Errorf("solve: scaling: %w: scale %d is %g", ErrArgument, i, v)
		}
		s.inv[i] = 1 / v
	}
	return s, nil
}

// Apply sets dst = D⁻¹·P⁻¹·D⁻¹·r.
func (s *Scaled) Apply(dst, r *mat.Dense) {
	s.inner.Apply(dst, s.scale(r))
	scaleRows(dst, dst, s.inv)
}

// Whiten sets dst = F⁻¹·D⁻¹·x.
func (s *Scaled) Whiten(dst, x *mat.Dense) { s.inner.Whiten(dst, s.scale(x)) }

// scale returns D⁻¹·x.
func (s *Scaled) scale(x *mat.Dense) *mat.Dense {
	n, columns := x.Dims()
	scaled := mat.NewDense(n, columns, nil)
	scaleRows(scaled, x, s.inv)
	return scaled
}

// WhitenT sets dst = D⁻¹·F⁻ᵀ·x.
func (s *Scaled) WhitenT(dst, x *mat.Dense) {
	s.inner.WhitenT(dst, x)
	scaleRows(dst, dst, s.inv)
}

// LogDet returns log det P + 2·Σ log D_i.
func (s *Scaled) LogDet() float64 {
	sum := s.inner.LogDet()
	for _, v := range s.inv {
		sum -= 2 * math.Log(v)
	}
	return sum
}
