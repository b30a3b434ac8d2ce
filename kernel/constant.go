package kernel

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Constant returns the kernel s²·11ᵀ on n nodes: functions with the same value at
// every node. In a Product, Sum(Constant(n), b) lets a part of the other factor
// stay as it is: a ∘ (1 + b).
func Constant(n int) Kernel {
	params := []Param{{Name: "constant/variance", Start: 1, Positive: true, Variance: true}}
	return &constantKernel{nodes: n, params: params, stream: priorConstant}
}

type constantKernel struct {
	nodes    int
	params   []Param // none: the variance is known
	variance float64
	stream   string // of random numbers
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
	c := &constant{constantKernel: k, variance: k.variance}
	if len(theta) > 0 {
		c.variance = theta[0]
	}
	c.byRoot = byRoot{k, slices.Clone(theta), c}
	return c, nil
}

// WithConstant returns K + variance·11ᵀ, the covariance of a function plus an
// unknown constant. Posterior means, variances and draws then account for the
// unknown mean without extra formulas. The variance is not a hyperparameter:
// gradients are those of c.
func WithConstant(c Covariance, variance float64) Covariance {
	if variance == 0 {
		return c
	}
	mean, err := meanConstant(variance, c.Nodes()).At(nil)
	if err != nil {
		panic(err) // it has no parameters
	}
	return plus(c, mean)
}

// meanConstant is the kernel of an unknown mean.
func meanConstant(variance float64, nodes int) *constantKernel {
	return &constantKernel{nodes: nodes, variance: variance, stream: priorMean}
}

// constant is variance·11ᵀ.
type constant struct {
	*constantKernel
	byRoot
	variance float64
}

func (c *constant) entries(ctx context.Context, dst *mat.Dense, _, _ []int) error {
	raw := dst.RawMatrix()
	everyRow(raw.Rows, 256, func(a int) {
		row := raw.Data[a*raw.Stride:][:raw.Cols]
		for b := range row {
			row[b] = c.variance
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
	everyRow(raw.N, 64, func(a int) {
		row := raw.Data[a*raw.Stride+a:][:raw.N-a]
		for b := range row {
			row[b] += c.variance
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
