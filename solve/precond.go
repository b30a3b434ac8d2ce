package solve

import (
	"fmt"
	"math"
	"slices"

	"grfgp/internal/parallel"
	"grfgp/space"
)

// Preconditioner approximates the inverse of a positive definite matrix by the inverse of another matrix P.
type Preconditioner interface {
	// Apply sets dst = P⁻¹·r. dst and r must not overlap.
	Apply(dst, r space.Block)
}

// Factored is a Preconditioner whose P = F·Fᵀ, with F square, is known well enough to take its determinant and to
// whiten by it: F⁻¹·H·F⁻ᵀ is as near to the identity as P is to H.
type Factored interface {
	Preconditioner
	LogDet() float64
	// Whiten sets dst = F⁻¹·x.
	Whiten(dst, x space.Block)
	// WhitenT sets dst = F⁻ᵀ·x.
	WhitenT(dst, x space.Block)
	// Free gives its memory back.
	Free()
}

// Jacobi is a diagonal preconditioner.
type Jacobi struct {
	inv, invSqrt space.Block
	logDet       float64
}

// NewJacobi returns the preconditioner P = diag(d) in a space.
func NewJacobi(s space.Space, a space.Axis, d []float64) (*Jacobi, error) {
	inv, invSqrt, logDet, err := inverses(s, a, d)
	if err != nil {
		return nil, fmt.Errorf("Jacobi: diagonal element %w", err)
	}
	return &Jacobi{inv, invSqrt, logDet}, nil
}

// inverses returns the blocks d⁻¹ and d^-½, and Σ log d over the rows of all processes, for d that must be positive.
func inverses(s space.Space, a space.Axis, d []float64) (inv, invSqrt space.Block, logDet float64, err error) {
	if len(d) != a.Own {
		return nil, nil, 0, fmt.Errorf("%d of %d: %w", len(d), a.Own, ErrArgument)
	}
	if i := slices.IndexFunc(d, func(v float64) bool { return !(v > 0) || math.IsInf(v, 1) }); i >= 0 {
		return nil, nil, 0, fmt.Errorf("%d is %g: %w", i, d[i], ErrNotPositiveDefinite)
	}
	inv, invSqrt = s.Block(a, 1), s.Block(a, 1)
	x := make([]float64, len(d))
	of := func(f func(v float64) float64) []float64 {
		parallel.Ranges(len(d), 1<<14, func(lo, hi int) {
			for i, v := range d[lo:hi] {
				x[lo+i] = f(v)
			}
		})
		return x
	}
	inv.Set(of(func(v float64) float64 { return 1 / v }))
	invSqrt.Set(of(func(v float64) float64 { return 1 / math.Sqrt(v) }))
	return inv, invSqrt, space.Sum(s, a, of(math.Log)), nil
}

// Apply sets dst = P⁻¹·r.
func (j *Jacobi) Apply(dst, r space.Block) { dst.Scale(r, j.inv, 1) }

// Whiten sets dst = P^-½·x.
func (j *Jacobi) Whiten(dst, x space.Block) { dst.Scale(x, j.invSqrt, 1) }

// WhitenT is Whiten.
func (j *Jacobi) WhitenT(dst, x space.Block) { j.Whiten(dst, x) }

// LogDet returns log det P.
func (j *Jacobi) LogDet() float64 { return j.logDet }

// Free gives its memory back.
func (j *Jacobi) Free() {
	j.inv.Free()
	j.invSqrt.Free()
}

// Scaled is the preconditioner D·P·D for a diagonal D, given its inverse.
func Scaled(p Preconditioner, inverse space.Block) Preconditioner { return scaled{p, inverse} }

// ScaledFactor is Scaled with a determinant, given log det D². Its factor is D·F. It owns P and the block.
func ScaledFactor(p Factored, inverse space.Block, logDet float64) Factored {
	return scaledFactor{scaled{p, inverse}, p, logDet}
}

type scaled struct {
	p       Preconditioner
	inverse space.Block // D⁻¹
}

func (s scaled) Apply(dst, r space.Block) {
	s.through(s.p.Apply, dst, r)
	dst.Scale(dst, s.inverse, 1)
}

// through calls do with D⁻¹x in place of x.
func (s scaled) through(do func(dst, x space.Block), dst, x space.Block) {
	in := x.Like()
	defer in.Free()
	in.Scale(x, s.inverse, 1)
	do(dst, in)
}

type scaledFactor struct {
	scaled
	f      Factored
	logDet float64
}

func (s scaledFactor) LogDet() float64           { return s.f.LogDet() + s.logDet }
func (s scaledFactor) Whiten(dst, x space.Block) { s.through(s.f.Whiten, dst, x) }

func (s scaledFactor) WhitenT(dst, x space.Block) {
	s.f.WhitenT(dst, x)
	dst.Scale(dst, s.inverse, 1)
}

func (s scaledFactor) Free() {
	s.f.Free()
	s.inverse.Free()
}

// diagonalOf returns the diagonal of P⁻¹; nil if the preconditioner is not diagonal, or there is none.
func diagonalOf(p Preconditioner) space.Block {
	if j, ok := p.(*Jacobi); ok {
		return j.inv
	}
	return nil
}
