package solve

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
)

// Preconditioner approximates the inverse of a positive definite matrix by that
// of another one, P.
type Preconditioner interface {
	// Apply sets dst = P⁻¹·r. dst and r must not overlap.
	Apply(dst, r *mat.Dense)
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
type Jacobi struct{ inv, invSqrt []float64 }

// NewJacobi returns the preconditioner P = diag(diag) + diag(noise), for the
// diagonal of a matrix and what is added to it.
func NewJacobi(diag, noise []float64) (*Jacobi, error) {
	if len(diag) != len(noise) {
		return nil, fmt.Errorf("solve: Jacobi: %w: %d noise variances for a diagonal of %d", ErrArgument, len(noise), len(diag))
	}
	j := &Jacobi{make([]float64, len(diag)), make([]float64, len(diag))}
	for i, d := range diag {
		if d += noise[i]; !(d > 0) || math.IsInf(d, 1) {
			return nil, fmt.Errorf("solve: Jacobi: diagonal element %d is %g: %w", i, d, ErrNotPositiveDefinite)
		}
		j.inv[i], j.invSqrt[i] = 1/d, 1/math.Sqrt(d)
	}
	return j, nil
}

// Apply sets dst = P⁻¹·r.
func (j *Jacobi) Apply(dst, r *mat.Dense) { scaleRows(dst, r, j.inv) }

// Whiten sets dst = P^-½·x.
func (j *Jacobi) Whiten(dst, x *mat.Dense) { scaleRows(dst, x, j.invSqrt) }

// WhitenT is Whiten.
func (j *Jacobi) WhitenT(dst, x *mat.Dense) { j.Whiten(dst, x) }

// LogDet returns log det P.
func (j *Jacobi) LogDet() float64 {
	sum := 0.0
	for _, v := range j.inv {
		sum -= math.Log(v)
	}
	return sum
}

// scaleRows sets row i of dst to scale[i] times that of x; the two may be one.
func scaleRows(dst, x *mat.Dense, scale []float64) {
	n, _ := x.Dims()
	if n <= blockRows {
		scaleRange(dst, x, scale, 0, n)
		return
	}
	parallel.Ranges(n, blockRows, func(lo, hi int) { scaleRange(dst, x, scale, lo, hi) })
}

func scaleRange(dst, x *mat.Dense, scale []float64, lo, hi int) {
	ds, xs := dst.RawMatrix(), x.RawMatrix()
	for i := lo; i < hi; i++ {
		d, s := row(ds, i), scale[i]
		for t, v := range row(xs, i) {
			d[t] = s * v
		}
	}
}

// PivotedCholesky returns the preconditioner P = L·Lᵀ + diag(noise), with L the
// first columns of the pivoted Cholesky factor of A: each step takes the column
// of the largest diagonal element left. It stops short of rank once nothing but
// rounding is left of A; with rank n it is exact. diag is the diagonal of A.
// It takes rank columns of A and O(n·rank²) operations.
func PivotedCholesky(ctx context.Context, a Columner, diag, noise []float64, rank int) (*LowRank, error) {
	l, err := pivotedFactor(ctx, a, diag, noise, rank)
	if err == nil {
		var p *LowRank
		if p, err = NewLowRank(l, noise); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("solve: pivoted Cholesky: %w", err)
}

func pivotedFactor(ctx context.Context, a Columner, diag, noise []float64, rank int) (*mat.Dense, error) {
	if err := checkShifted(a, noise); err != nil {
		return nil, err
	}
	n := len(noise)
	if len(diag) != n {
		return nil, fmt.Errorf("%w: %d diagonal elements for %d rows", ErrArgument, len(diag), n)
	}
	if n == 0 || rank < 1 {
		return nil, fmt.Errorf("%w: rank %d of %d", ErrArgument, rank, n)
	}
	rank = min(rank, n)
	left, top := append([]float64(nil), diag...), 0.0
	for i, d := range diag {
		if !(d >= 0) || math.IsInf(d, 1) {
			return nil, fmt.Errorf("diagonal element %d is %g: %w", i, d, ErrNotPositiveDefinite)
		}
		top = max(top, d)
	}
	const eps = 0x1p-52
	l, col := mat.NewDense(n, rank, nil), make([]float64, n)
	ls := l.RawMatrix()
	for m := range rank {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		pivot := 0
		for i, d := range left {
			if d > left[pivot] {
				pivot = i
			}
		}
		if left[pivot] <= float64(n)*eps*top {
			return l.Slice(0, n, 0, max(m, 1)).(*mat.Dense), nil
		}
		a.Column(col, pivot)
		lp, root := row(ls, pivot)[:m], math.Sqrt(left[pivot])
		parallel.Ranges(n, blockRows, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				li, v := row(ls, i), col[i]
				for t, w := range lp {
					v -= li[t] * w
				}
				li[m] = v / root
				left[i] = max(0, left[i]-li[m]*li[m])
			}
		})
		left[pivot] = 0
	}
	return l, nil
}
