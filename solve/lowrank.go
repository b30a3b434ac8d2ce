package solve

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/parallel"
)

// LowRank is P = U·Uᵀ + diag(noise), with an inverse by Woodbury's formula. It
// is immutable and safe for concurrent use.
//
// With D = diag(noise), V = D^-½U, the small factor I + VᵀV = LLᵀ and B = VL⁻ᵀ,
//
//	P⁻¹ = D^-½ (I − BBᵀ) D^-½
//	P   = F·Fᵀ,  F⁻¹ = (I − B·S·Bᵀ) D^-½,  S = I − (I + L)⁻ᵀ
//	log det P = Σ log noise + 2 Σ log L_ii
//
// F is D^½(I + V(I+L)⁻¹Vᵀ): multiplied out, F·Fᵀ is P because
// (I+L)(I+L)ᵀ = (I+L) + (I+L)ᵀ + VᵀV.
type LowRank struct {
	invSqrt []float64 // noise^-½
	b       blas64.General
	onePlus blas64.General // I + L
	logDet  float64
}

// NewLowRank returns P for U with a row per element of noise, which must be
// positive. It takes O(n·k²) for k columns; U is not kept.
func NewLowRank(u *mat.Dense, noise []float64) (*LowRank, error) {
	n, k := u.Dims()
	if n != len(noise) {
		return nil, fmt.Errorf("low rank: %w: %d noise variances for %d rows", ErrArgument, len(noise), n)
	}
	if n == 0 {
		return nil, fmt.Errorf("low rank: %w: no rows", ErrArgument)
	}
	invSqrt, logDet, err := inverseRoots(nil, noise)
	if err != nil {
		return nil, fmt.Errorf("low rank: noise variance %w", err)
	}
	v := mat.NewDense(n, k, nil)
	scaleRows(v, u, invSqrt)
	p := &LowRank{invSqrt: invSqrt, b: v.RawMatrix(), logDet: logDet}

	p.onePlus = crossProduct(p.b, p.b)
	small, err := factorOnePlus(p.onePlus)
	if err != nil {
		return nil, fmt.Errorf("low rank: %w", err)
	}
	p.logDet += small
	solveLower(dense.Of(p.onePlus), dense.Of(p.b).T())
	addOne(p.onePlus)
	return p, nil
}

// Rank returns the number of columns of U.
func (p *LowRank) Rank() int { return p.b.Cols }

// LogDet returns log det P.
func (p *LowRank) LogDet() float64 { return p.logDet }

// Apply sets dst = P⁻¹·r.
func (p *LowRank) Apply(dst, r *mat.Dense) {
	scaleRows(dst, r, p.invSqrt)
	p.reflect(dst, func(blas64.General) {})
	scaleRows(dst, dst, p.invSqrt)
}

// Whiten sets dst = F⁻¹·x.
func (p *LowRank) Whiten(dst, x *mat.Dense) {
	scaleRows(dst, x, p.invSqrt)
	p.reflect(dst, func(c blas64.General) { shrink(c, blas.Trans, p.onePlus) })
}

// WhitenT sets dst = F⁻ᵀ·x.
func (p *LowRank) WhitenT(dst, x *mat.Dense) {
	dst.Copy(x)
	p.reflect(dst, func(c blas64.General) { shrink(c, blas.NoTrans, p.onePlus) })
	scaleRows(dst, dst, p.invSqrt)
}

// reflect sets x −= B·c, where c is Bᵀx after a change by the caller, who sees
// it transposed: a row per column of x.
func (p *LowRank) reflect(x *mat.Dense, change func(c blas64.General)) {
	c := crossProduct(x.RawMatrix(), p.b)
	change(c)
	dense.Add(dense.View(x), -1, dense.Of(p.b), dense.Of(c).T())
}

// inverseRoots returns d^-½, and Σ log d over the rows of all ranks, for d that must be positive.
func inverseRoots(s *summation, d []float64) (invSqrt []float64, logDet float64, err error) {
	invSqrt = make([]float64, len(d))
	sum := s.sumRows(len(d), 1, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			invSqrt[i] = 1 / math.Sqrt(d[i])
			sums[0] += math.Log(d[i])
		}
	})
	if s != nil && s.err != nil {
		return nil, 0, s.err
	}
	if finite(sum[0]) { // all numbers are positive and finite
		return invSqrt, sum[0], nil
	}
	for i, v := range d {
		if !(v > 0) || math.IsInf(v, 1) {
			return nil, 0, fmt.Errorf("%d is %g: %w", i, v, ErrNotPositiveDefinite)
		}
	}
	return invSqrt, sum[0], nil
}

// factorOnePlus replaces the lower triangle of a by L, with I + a = L·Lᵀ, and
// returns log det(I + a).
func factorOnePlus(a blas64.General) (logDet float64, err error) {
	addOne(a)
	if pivot := factor(context.Background(), dense.Of(a)); pivot >= 0 {
		return 0, fmt.Errorf("pivot %d of %d: %w", pivot, a.Rows, ErrNotPositiveDefinite)
	}
	for i := range a.Rows {
		logDet += 2 * math.Log(a.Data[i*a.Stride+i])
	}
	return logDet, nil
}

// addOne adds the identity.
func addOne(a blas64.General) {
	for i := range a.Rows {
		a.Data[i*a.Stride+i]++
	}
}

// shrink multiplies coefficients, a row per right-hand side, by
// S = I − (I + L)⁻ᵀ or by Sᵀ from the right.
func shrink(c blas64.General, t blas.Transpose, onePlus blas64.General) {
	before := slices.Clone(c.Data)
	inverse := blas.Trans
	if t == blas.Trans {
		inverse = blas.NoTrans
	}
	blas64.Trsm(blas.Right, inverse, 1, lower(onePlus), c)
	for i, v := range before {
		c.Data[i] = v - c.Data[i]
	}
}

// crossProduct returns xᵀ·y for matrices of many rows and few columns.
func crossProduct(x, y blas64.General) blas64.General {
	n := x.Rows
	// Few blocks of rows, whatever n is: each has its part of the sum. A large
	// result needs none: its product runs on all processors as it is.
	const most, large = 32, 128 * 128
	rows := max(blockRows, (n+most-1)/most)
	if x.Cols*y.Cols >= large {
		rows = n
	}
	parts := make([]blas64.General, (n+rows-1)/rows)
	parallel.Ranges(n, rows, func(lo, hi int) {
		part := blas64.General{Rows: x.Cols, Cols: y.Cols, Stride: y.Cols, Data: make([]float64, x.Cols*y.Cols)}
		dense.Add(dense.Of(part), 1, dense.Of(slice(x, lo, hi, 0, x.Cols)).T(), dense.Of(slice(y, lo, hi, 0, y.Cols)))
		parts[lo/rows] = part
	})
	sum := parts[0]
	for _, part := range parts[1:] {
		for i, v := range part.Data {
			sum.Data[i] += v
		}
	}
	return sum
}
