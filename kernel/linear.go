package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
)

// Linear returns the kernel s²·XXᵀ of a linear regression on the columns of x, which
// has a row per node: functions Xb, where all coefficients b have the prior
// variance s². Columns should be standardised, because they share s². Learning
// starts where the mean variance of a node is 1: s² = 1/D for D standardised
// columns. The kernel keeps x, which must not change. Products cost rows × columns.
// The variance is called linear/variance, or linear/ and another name.
func Linear(x *mat.Dense, name ...string) Kernel {
	c := &denseColumns{x}
	return newLinear(c, "linear/"+append(name, "variance")[0], unitStart(c))
}

// unitStart returns the variance at which the mean variance of a node is 1.
func unitStart(x columns) float64 {
	squares, sum := make([]float64, x.nodes()), 0.0
	x.squares(squares, upTo(x.nodes()))
	for _, v := range squares {
		sum += v
	}
	if !(sum > 0) {
		return 1
	}
	return float64(x.nodes()) / sum
}

// Trend returns the kernel k with a linear regression on x, Sum(k, Linear(x)) for a
// single column. It panics if x does not have one value per node of k.
func Trend(k Kernel, x []float64) Kernel {
	if len(x) != k.Nodes() {
		panic(fmt.Sprintf("kernel: a trend with %d values on %d nodes", len(x), k.Nodes()))
	}
	return Sum(k, newLinear(&denseColumns{mat.NewDense(len(x), 1, x)}, "trend/variance", 1))
}

type linear struct {
	x      columns
	params []Param
}

func newLinear(x columns, name string, start float64) *linear {
	return &linear{x, []Param{{Name: name, Start: start, Positive: true, Variance: true}}}
}

func (l *linear) Nodes() int      { return l.x.nodes() }
func (l *linear) Params() []Param { return l.params }

func (l *linear) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, l.params); err != nil {
		return nil, err
	}
	c := &linearCovariance{x: l.x, variance: theta[0]}
	c.byRoot = byRoot{l, slices.Clone(theta), c}
	return c, nil
}

// cacheWidth is the number of columns from which a cached product XXᵀ is faster
// than a new one.
const cacheWidth = 16

// Training offers a cache of X[rows]·X[rows]ᵀ, 8 bytes for each pair of rows, if x has
// many columns.
func (l *linear) Training() Training {
	if l.x.width() < cacheWidth {
		return Training{}
	}
	cache := func(rows []int, maxBytes int) Kernel {
		if 8*triangleSize(len(rows)) > maxBytes {
			return l
		}
		return &linear{&cachedColumns{columns: l.x, rows: slices.Clone(rows)}, l.params}
	}
	return Training{Cache: cache, CacheBytes: func(rows int) int { return 8 * triangleSize(rows) }}
}

// linearCovariance is variance·XXᵀ.
type linearCovariance struct {
	byRoot
	x        columns
	variance float64
}

func (c *linearCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	dst.Zero()
	return c.addGram(ctx, dst, rows)
}

func (c *linearCovariance) addGram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	return c.x.addGram(ctx, dst.RawSymmetric(), rows, c.variance)
}

func (c *linearCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	c.x.squares(dst, rows)
	for a := range dst {
		dst[a] *= c.variance
	}
	return ctx.Err()
}

// coefficients returns draws of the coefficients of the columns, from draw number first on.
func (c *linearCovariance) coefficients(draws, first int, seed uint64) *mat.Dense {
	w, sd := mat.NewDense(c.x.width(), draws, nil), math.Sqrt(c.variance)
	parallel.Ranges(draws, 1, func(s, _ int) {
		random := rand.New(rng.New(seed, linearStream, uint64(first+s)))
		for d := range c.x.width() {
			w.Set(d, s, sd*random.NormFloat64())
		}
	})
	return w
}

func (c *linearCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	return c.x.gramGrad(ctx, grad, rows, g.RawSymmetric(), c.variance)
}

// Abilities: columns correlate all nodes.
func (c *linearCovariance) Abilities() Abilities { return Abilities{Everywhere: true} }

// Nodes returns the number of nodes.
func (c *linearCovariance) Nodes() int { return c.x.nodes() }

// linearStream is the stream of random numbers of coefficients.
const linearStream = "prior trend"

// randomStreams implements streamed.
func (c *linearCovariance) randomStreams() []string { return []string{linearStream} }

// width, factor and pull implement lowRank: Z = s·X.
func (c *linearCovariance) width() int { return c.x.width() }

func (c *linearCovariance) factor(rows []int) *mat.Dense {
	z := c.x.dense(rows)
	z.Scale(math.Sqrt(c.variance), z)
	return z
}

func (c *linearCovariance) pull(grad []float64, rows []int, q *mat.Dense) {
	c.x.pull(grad, rows, q, c.variance)
}
