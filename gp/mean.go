package gp

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/solve"
)

// withMean is K + c·11ᵀ: a covariance whose functions float on an unknown
// constant of variance c. Means, variances and samples then allow for what is
// not known of the mean, with no formulas of their own.
type withMean struct {
	kernel.Covariance
	c float64
}

// floating adds an unknown constant to a covariance; a known mean has c = 0.
func floating(k kernel.Covariance, c float64) kernel.Covariance {
	if c == 0 {
		return k
	}
	return withMean{k, c}
}

func (m withMean) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := m.Covariance.Gram(ctx, dst, rows); err != nil {
		return err
	}
	for i := range rows {
		for j := i; j < len(rows); j++ {
			dst.SetSym(i, j, dst.At(i, j)+m.c)
		}
	}
	return nil
}

// DiagFlops are those of the covariance beneath, if it counts them.
func (m withMean) DiagFlops(rows int) float64 {
	if c, ok := m.Covariance.(kernel.DiagCoster); ok {
		return c.DiagFlops(rows)
	}
	return 0
}

// Precondition is that of the covariance beneath, if it has one.
func (m withMean) Precondition(ctx context.Context, rows []int, constant float64, noise []float64) (solve.Factored, error) {
	if c, ok := m.Covariance.(kernel.Conditioner); ok {
		return c.Precondition(ctx, rows, constant+m.c, noise)
	}
	return nil, nil
}

func (m withMean) Diag(ctx context.Context, dst []float64, rows []int) error {
	if err := m.Covariance.Diag(ctx, dst, rows); err != nil {
		return err
	}
	for i := range dst {
		dst[i] += m.c
	}
	return nil
}

func (m withMean) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := m.Covariance.Prior(ctx, dst, seed); err != nil {
		return err
	}
	n, draws := dst.Dims()
	for s, shift := range meanDraws(m.c, draws, seed) {
		for i := range n {
			dst.Set(i, s, dst.At(i, s)+shift)
		}
	}
	return nil
}

func (m withMean) Cross(rows, cols []int) solve.Operator {
	op := meanOperator{m.Covariance.Cross(rows, cols), m.c}
	if direct, ok := op.Operator.(solve.Direct); ok {
		return meanDirect{op, direct}
	}
	return op
}

// meanOperator is A + c·11ᵀ.
type meanOperator struct {
	solve.Operator
	c float64
}

func (o meanOperator) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if err := o.Operator.Apply(ctx, dst, x); err != nil {
		return err
	}
	sums := columnSums(x)
	for s := range sums {
		sums[s] *= o.c
	}
	rows, _ := dst.Dims()
	parallel.Ranges(rows, sumRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.RawRowView(i)
			for s, v := range sums {
				row[s] += v
			}
		}
	})
	return nil
}

const sumRows = 8192

// columnSums adds up each column, by blocks of rows so that the result is the
// same at any number of threads.
func columnSums(x *mat.Dense) []float64 {
	n, k := x.Dims()
	blocks := make([]float64, (n+sumRows-1)/sumRows*k)
	parallel.Ranges(n, sumRows, func(lo, hi int) {
		part := blocks[lo/sumRows*k:][:k]
		for i := lo; i < hi; i++ {
			for s, v := range x.RawRowView(i) {
				part[s] += v
			}
		}
	})
	sums := make([]float64, k)
	for q, v := range blocks {
		sums[q%k] += v
	}
	return sums
}

// meanDirect keeps the direct solves of its operator, by the formula of Sherman
// and Morrison: with x = (A+N)⁻¹b and u = (A+N)⁻¹1 the solution is
// x − u·c1ᵀx/(1 + c1ᵀu).
type meanDirect struct {
	meanOperator
	direct solve.Direct
}

func (o meanDirect) SolveShifted(ctx context.Context, dst, b *mat.Dense, noise []float64) error {
	n, k := b.Dims()
	sides, solved := mat.NewDense(n, k+1, nil), mat.NewDense(n, k+1, nil)
	for i := range n {
		copy(sides.RawRowView(i), b.RawRowView(i))
		sides.Set(i, k, 1)
	}
	if err := o.direct.SolveShifted(ctx, solved, sides, noise); err != nil {
		return err
	}
	sums := columnSums(solved)
	for i := range n {
		row := solved.RawRowView(i)
		for s := range k {
			dst.Set(i, s, row[s]-row[k]*o.c*sums[s]/(1+o.c*sums[k]))
		}
	}
	return nil
}
