package gp

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/solve"
)

// newScaledSystem prepares to solve H·x = b in the form B = W^½KW^½ + I with W the
// inverse of the noise variances: (W^-½x) solves B for W^½b. Where variances differ by
// orders of magnitude, residuals are then measured in standard deviations of each
// measurement, and not by the least certain ones. The determinant is that of B.
func newScaledSystem(ctx context.Context, cov kernel.Covariance, nodes []int, noise []float64, how Stochastic) (*iterativeSystem, error) {
	base, err := newIterativeSystem(ctx, cov, Data{Nodes: nodes}, nil, noise, how)
	if err != nil {
		return nil, err
	}
	n := len(noise)
	ones, sd, root := make([]float64, n), make([]float64, n), make([]float64, n)
	sum := 0.0
	for k, v := range noise {
		ones[k], sd[k], root[k] = 1, math.Sqrt(v), 1/math.Sqrt(v)
		sum += math.Log(v)
	}
	s := &iterativeSystem{op: scaledOperator{base.op, root}, noise: ones, own: base.own, double: base.double, most: base.most, sd: sd}
	if base.precond != nil {
		s.precond = scaledFactored{base.precond, sd, sum}
	}
	if base.near != nil {
		s.near = scaledInverse{base.near, sd}
	}
	if base.inverse != nil {
		s.inverse = scaledInverse{base.inverse, sd}
	}
	return s, nil
}

// solveScaled sets dst = H⁻¹b by way of B.
func (s *iterativeSystem) solveScaled(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	inverse := make([]float64, len(s.sd))
	for k, v := range s.sd {
		inverse[k] = 1 / v
	}
	side := rowsTimes(b, inverse)
	x := rowsTimes(dst, s.sd)
	tols, err := a.tolerances(ctx, nil, s.noise, side)
	if err != nil {
		return err
	}
	if _, err := s.run(ctx, x, side, solve.Options{ColumnTol: tols, MaxIter: s.most}); err != nil {
		return err
	}
	dst.Copy(rowsTimes(x, inverse))
	return nil
}

// rowsTimes returns diag(factors)·x.
func rowsTimes(x *mat.Dense, factors []float64) *mat.Dense {
	n, c := x.Dims()
	out := mat.NewDense(n, c, nil)
	parallel.Ranges(n, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := out.RawRowView(i)
			for j, v := range x.RawRowView(i) {
				row[j] = factors[i] * v
			}
		}
	})
	return out
}

// scaledOperator is diag(root)·A·diag(root).
type scaledOperator struct {
	a    solve.Operator
	root []float64
}

func (o scaledOperator) Dims() (r, c int) { return o.a.Dims() }

func (o scaledOperator) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := o.a.Apply(ctx, dst, rowsTimes(x, o.root)); err != nil {
		return err
	}
	dst.Copy(rowsTimes(dst, o.root))
	return nil
}

// scaledFactored is the preconditioner W^½PW^½, where sd is W^-½.
type scaledFactored struct {
	p   solve.Factored
	sd  []float64
	log float64 // Σ log of the variances
}

func (f scaledFactored) Apply(dst, r *mat.Dense) { scaledInverse{f.p, f.sd}.Apply(dst, r) }
func (f scaledFactored) LogDet() float64         { return f.p.LogDet() - f.log }

func (f scaledFactored) Whiten(dst, x *mat.Dense) { f.p.Whiten(dst, rowsTimes(x, f.sd)) }

func (f scaledFactored) WhitenT(dst, x *mat.Dense) {
	f.p.WhitenT(dst, x)
	dst.Copy(rowsTimes(dst, f.sd))
}

// scaledInverse is W^-½P⁻¹W^-½.
type scaledInverse struct {
	p  solve.Preconditioner
	sd []float64
}

func (i scaledInverse) Apply(dst, r *mat.Dense) {
	i.p.Apply(dst, rowsTimes(r, i.sd))
	dst.Copy(rowsTimes(dst, i.sd))
}
