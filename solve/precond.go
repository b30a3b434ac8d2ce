package solve

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/meter"
	"grfgp/internal/parallel"
)

// Preconditioner approximates the inverse of a positive definite matrix by the
// inverse of another matrix P.
type Preconditioner interface {
	// Apply sets dst = P⁻¹·r. dst and r must not overlap.
	Apply(dst, r *mat.Dense)
}

// SinglePreconditioner is a Preconditioner that may work with blocks of float32, for
// Options.Single. A Jacobi always can.
type SinglePreconditioner interface {
	Preconditioner
	// Single returns a function that sets dst = P⁻¹·r, safe for concurrent use, or nil.
	Single() func(dst, r blas32.General)
}

// Factored is a Preconditioner whose P = F·Fᵀ, with F square, is known well
// enough to take its determinant and to whiten by it: F⁻¹·H·F⁻ᵀ is as near to
// the identity as P is to H.
type Factored interface {
	Preconditioner
	LogDet() float64
	// Whiten sets dst = F⁻¹·x.
	Whiten(dst, x *mat.Dense)
	// WhitenT sets dst = F⁻ᵀ·x.
	WhitenT(dst, x *mat.Dense)
}

// Jacobi is a diagonal preconditioner.
type Jacobi struct {
	inv, invSqrt []float64
	rows         *Rows
}

// NewJacobi returns the preconditioner P = diag(diag) + diag(noise), for the
// diagonal of a matrix and the noise that is added to it.
func NewJacobi(diag, noise []float64) (*Jacobi, error) {
	if len(diag) != len(noise) {
		return nil, fmt.Errorf("Jacobi: %w: %d noise variances for a diagonal of %d", ErrArgument, len(noise), len(diag))
	}
	j := &Jacobi{inv: make([]float64, len(diag)), invSqrt: make([]float64, len(diag))}
	var bad atomic.Bool
	parallel.Ranges(len(diag), blockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			d := diag[i] + noise[i]
			if !(d > 0) || math.IsInf(d, 1) {
				bad.Store(true)
			}
			j.inv[i], j.invSqrt[i] = 1/d, 1/math.Sqrt(d)
		}
	})
	if !bad.Load() {
		return j, nil
	}
	for i, d := range diag {
		if d += noise[i]; !(d > 0) || math.IsInf(d, 1) {
			return nil, fmt.Errorf("Jacobi: diagonal element %d is %g: %w", i, d, ErrNotPositiveDefinite)
		}
	}
	return j, nil
}

// Apply sets dst = P⁻¹·r.
func (j *Jacobi) Apply(dst, r *mat.Dense) { scaleRows(dst, r, j.inv) }

// Whiten sets dst = P^-½·x.
func (j *Jacobi) Whiten(dst, x *mat.Dense) { scaleRows(dst, x, j.invSqrt) }

// WhitenT is Whiten.
func (j *Jacobi) WhitenT(dst, x *mat.Dense) { j.Whiten(dst, x) }

// Over returns the preconditioner of a system of which j has this rank's rows.
func (j *Jacobi) Over(rows *Rows) *Jacobi { return &Jacobi{j.inv, j.invSqrt, rows} }

// LogDet returns log det P, over the rows of all ranks; NaN if one of them has ended.
func (j *Jacobi) LogDet() float64 {
	sum, _ := j.rows.Sum(context.Background(), len(j.inv), 1, func(lo, hi int, sums []float64) { // NaN after an error
		for _, v := range j.inv[lo:hi] {
			sums[0] -= math.Log(v)
		}
	})
	return sum[0]
}

// PlusConstant returns the inverse of P + constant·11ᵀ, given the inverse of P,
// by the formula of Sherman and Morrison. With x = P⁻¹b and u = P⁻¹1, its product
// with b is
//
//	x − u·c1ᵀx/(1 + c1ᵀu),  c = constant.
func PlusConstant(inverse Preconditioner, constant float64) Preconditioner {
	if constant == 0 {
		return inverse
	}
	return plusConstant{inverse, constant}
}

type plusConstant struct {
	inverse Preconditioner
	c       float64
}

func (p plusConstant) Apply(dst, b *mat.Dense) {
	n, k := b.Dims()
	sides, solved := mat.NewDense(n, k+1, nil), mat.NewDense(n, k+1, nil)
	for i := range n {
		copy(sides.RawRowView(i), b.RawRowView(i))
		sides.Set(i, k, 1)
	}
	p.inverse.Apply(solved, sides)
	const size = 8192 // sums are taken by blocks of rows
	sums := make([]float64, k+1)
	for lo := 0; lo < n; lo += size {
		part := make([]float64, k+1)
		for i := lo; i < min(n, lo+size); i++ {
			for s, v := range solved.RawRowView(i) {
				part[s] += v
			}
		}
		for s, v := range part {
			sums[s] += v
		}
	}
	for i := range n {
		row := solved.RawRowView(i)
		for s := range k {
			dst.Set(i, s, row[s]-row[k]*p.c*sums[s]/(1+p.c*sums[k]))
		}
	}
}

// scaleRows sets row i of dst to scale[i] times that of x; the two may be one.
func scaleRows(dst, x *mat.Dense, scale []float64) {
	n, k := x.Dims()
	pass := meter.Start()
	defer pass.Done(8 * n * (2*k + 1))
	if n <= blockRows {
		scaleRange(dst, x, scale, 0, n)
		return
	}
	parallel.Ranges(n, blockRows, func(lo, hi int) { scaleRange(dst, x, scale, lo, hi) })
}

func scaleRange(dst, x *mat.Dense, scale []float64, lo, hi int) {
	ds, xs := dst.RawMatrix(), x.RawMatrix()
	if fours(ds, xs) {
		scaleFours(ds.Data[4*lo:], xs.Data[4*lo:], scale[lo:hi])
		return
	}
	for i := lo; i < hi; i++ {
		d, s := row(ds, i), scale[i]
		for t, v := range row(xs, i) {
			d[t] = s * v
		}
	}
}
