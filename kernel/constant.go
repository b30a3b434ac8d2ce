package kernel

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/solve"
)

// Constant returns the kernel s²·11ᵀ on n nodes: functions with the same value at
// every node. In a Product, Sum(Constant(n), b) lets a part of the other factor
// stay as it is: a ∘ (1 + b).
func Constant(n int) Kernel {
	return &constantKernel{n, []Param{{Name: "constant/variance", Start: 1, Positive: true, Variance: true}}}
}

type constantKernel struct {
	nodes  int
	params []Param
}

func (k *constantKernel) Nodes() int      { return k.nodes }
func (k *constantKernel) Params() []Param { return k.params }

// Streams of random numbers of constants.
const (
	priorConstant = "prior constant"
	priorMean     = "prior mean"
)

func (k *constantKernel) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, k.params); err != nil {
		return nil, err
	}
	return &constant{theta[0], priorConstant, k.nodes, k}, nil
}

// WithConstant returns K + variance·11ᵀ, the covariance of a function plus an
// unknown constant. Posterior means, variances and draws then account for the
// unknown mean without extra formulas. The variance is not a hyperparameter:
// gradients are those of c.
func WithConstant(c Covariance, variance float64) Covariance {
	if variance == 0 {
		return c
	}
	return plus(c, meanConstant(variance, c.Nodes()))
}

// meanConstant is the covariance of an unknown mean.
func meanConstant(variance float64, nodes int) *constant {
	return &constant{variance, priorMean, nodes, nil}
}

// constant is variance·11ᵀ.
type constant struct {
	variance float64
	stream   string // of random numbers
	nodes    int
	k        *constantKernel // nil: of an unknown mean
}

func (c *constant) Nodes() int { return c.nodes }

func (c *constant) Cross(rows, cols []int) solve.Operator {
	return constantCross{len(rows), len(cols), c.variance}
}

// constantCross is variance·11ᵀ of a given size.
type constantCross struct {
	rows, cols int
	variance   float64
}

func (o constantCross) Dims() (r, c int) { return o.rows, o.cols }

func (o constantCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.rows == 0 {
		return ctx.Err()
	}
	dst.Zero()
	if o.cols > 0 {
		sums := columnSums(x)
		for s := range sums {
			sums[s] *= o.variance
		}
		addToRows(dst, sums)
	}
	return ctx.Err()
}

func (c *constant) entries(ctx context.Context, dst *mat.Dense, _, _ []int) error {
	raw := dst.RawMatrix()
	parallel.Ranges(raw.Rows, 256, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			row := raw.Data[a*raw.Stride:][:raw.Cols]
			for b := range row {
				row[b] = c.variance
			}
		}
	})
	return ctx.Err()
}

func (c *constant) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	dst.Zero()
	return c.addGram(ctx, dst, rows)
}

func (c *constant) addGram(ctx context.Context, dst *mat.SymDense, _ []int) error {
	raw := dst.RawSymmetric()
	parallel.Ranges(raw.N, 64, func(lo, hi int) {
		for a := lo; a < hi; a++ {
			row := raw.Data[a*raw.Stride+a:][:raw.N-a]
			for b := range row {
				row[b] += c.variance
			}
		}
	})
	return ctx.Err()
}

func (c *constant) Diag(ctx context.Context, dst []float64, _ []int) error {
	for a := range dst {
		dst[a] = c.variance
	}
	return ctx.Err()
}

func (c *constant) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	dst.Zero()
	_, draws := dst.Dims()
	addToRows(dst, c.levels(draws, seed))
	return ctx.Err()
}

func (c *constant) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(grad) > 0 && len(rows) > 0 {
		ones := columnSums(w)
		for s, v := range columnSums(u) {
			grad[0] += v * ones[s]
		}
	}
	return ctx.Err()
}

func (c *constant) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if len(grad) > 0 {
		raw := g.RawSymmetric()
		for a := range rows {
			row := raw.Data[a*raw.Stride+a:][:raw.N-a]
			sum := row[0] / 2
			for _, v := range row[1:] {
				sum += v
			}
			grad[0] += 2 * sum
		}
	}
	return ctx.Err()
}

// Abilities: a constant correlates all nodes.
func (c *constant) Abilities() Abilities { return Abilities{Everywhere: true} }

// randomStreams implements streamed.
func (c *constant) randomStreams() []string { return []string{c.stream} }

// width, factor and pull implement lowRank: Z is one column of s.
func (c *constant) width() int { return 1 }

func (c *constant) factor(rows []int) *mat.Dense {
	z := mat.NewDense(len(rows), 1, nil)
	for a := range rows {
		z.Set(a, 0, math.Sqrt(c.variance))
	}
	return z
}

func (c *constant) pull(grad []float64, _ []int, q *mat.Dense) {
	if len(grad) > 0 {
		grad[0] += columnSums(q)[0] / (2 * math.Sqrt(c.variance))
	}
}

// columnSums returns the sum of each column, by blocks of rows and a tree.
func columnSums(x *mat.Dense) []float64 {
	b := hostBlock(x)
	return b.Sums(nil, nil)
}

// addToRows adds y to every row of dst.
func addToRows(dst *mat.Dense, y []float64) {
	rows, _ := dst.Dims()
	parallel.Ranges(rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.RawRowView(i)
			for s, v := range y {
				row[s] += v
			}
		}
	})
}
