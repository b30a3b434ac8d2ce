package kernel

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/solve"
)

// Linear returns the kernel s²·xxᵀ of a linear regression term: functions b·x,
// where x is a covariate known at every node and the slope b has the prior
// variance s². Add it to another kernel by Sum.
func Linear(x []float64) Kernel {
	return &linear{x, []Param{{Name: "trend variance", Start: 1, Positive: true, Variance: true}}}
}

// Trend returns Sum(k, Linear(x)), the kernel k with a linear regression on x. It
// panics if x does not have one value per node of k.
func Trend(k Kernel, x []float64) Kernel { return Sum(k, Linear(x)) }

type linear struct {
	x      []float64
	params []Param
}

func (l *linear) Nodes() int      { return len(l.x) }
func (l *linear) Params() []Param { return l.params }

func (l *linear) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, l.params); err != nil {
		return nil, err
	}
	return &rankOne{l.x, theta[0], "prior trend"}, nil
}

// WithConstant returns K + variance·11ᵀ, the covariance of a function plus an
// unknown constant. Posterior means, variances and draws then account for the
// unknown mean without extra formulas. The variance is not a hyperparameter:
// gradients are those of c.
func WithConstant(c Covariance, variance float64) Covariance {
	if variance == 0 {
		return c
	}
	return plus(c, &rankOne{nil, variance, "prior mean"})
}

// rankOne is variance·xxᵀ.
type rankOne struct {
	x        []float64 // nil: ones
	variance float64
	stream   string // of random numbers
}

// at returns x at the given nodes; nil for ones.
func (c *rankOne) at(nodes []int) []float64 {
	if c.x == nil {
		return nil
	}
	x := make([]float64, len(nodes))
	for a, i := range nodes {
		x[a] = c.x[i]
	}
	return x
}

func (c *rankOne) Cross(rows, cols []int) solve.Operator {
	return &rankOneCross{len(rows), len(cols), c.at(rows), c.at(cols), c.variance}
}

func (c *rankOne) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	dst.Zero()
	c.addGram(dst, rows)
	return ctx.Err()
}

// addGram adds K[rows, rows] to the upper triangle of dst.
func (c *rankOne) addGram(dst *mat.SymDense, rows []int) {
	x, raw := c.at(rows), dst.RawSymmetric()
	for a := range rows {
		row := raw.Data[a*raw.Stride:][:raw.N]
		for b := a; b < raw.N; b++ {
			if x == nil {
				row[b] += c.variance
			} else {
				row[b] += c.variance * x[a] * x[b]
			}
		}
	}
}

func (c *rankOne) Diag(ctx context.Context, dst []float64, rows []int) error {
	clear(dst)
	c.addDiag(dst, rows)
	return ctx.Err()
}

// addDiag adds the diagonal of K[rows, rows].
func (c *rankOne) addDiag(dst []float64, rows []int) {
	for a, i := range rows {
		if c.x == nil {
			dst[a] += c.variance
		} else {
			v := c.x[i]
			dst[a] += c.variance * v * v
		}
	}
}

func (c *rankOne) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	dst.Zero()
	c.addPrior(dst, seed)
	return ctx.Err()
}

func (c *rankOne) addPrior(dst *mat.Dense, seed uint64) {
	_, draws := dst.Dims()
	addOuter(dst, c.x, c.slopes(draws, seed))
}

// slopes returns draws of the multiple of x.
func (c *rankOne) slopes(draws int, seed uint64) []float64 {
	all := make([]float64, draws)
	for s := range all {
		all[s] = math.Sqrt(c.variance) * rand.New(rng.New(seed, c.stream, uint64(s))).NormFloat64()
	}
	return all
}

func (c *rankOne) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(grad) > 0 {
		x := c.at(rows)
		xu, xw := inner(x, u), inner(x, w)
		for s, v := range xu {
			grad[0] += v * xw[s]
		}
	}
	return ctx.Err()
}

func (c *rankOne) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if len(grad) > 0 && len(rows) > 0 {
		x := mat.NewVecDense(len(rows), c.at(rows))
		grad[0] += mat.Inner(x, g, x)
	}
	return ctx.Err()
}

// rankOneCross is variance·left·rightᵀ.
type rankOneCross struct {
	rows, cols  int
	left, right []float64 // nil: ones
	variance    float64
}

func (o *rankOneCross) Dims() (r, c int) { return o.rows, o.cols }

func (o *rankOneCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if o.rows > 0 {
		dst.Zero()
		o.add(dst, x)
	}
	return ctx.Err()
}

// add adds the product with x to dst.
func (o *rankOneCross) add(dst, x *mat.Dense) {
	if o.rows == 0 || o.cols == 0 {
		return
	}
	sums := inner(o.right, x)
	for s := range sums {
		sums[s] *= o.variance
	}
	addOuter(dst, o.left, sums)
}

// inner returns xᵀ·b for every column of b; nil stands for ones.
func inner(x []float64, b *mat.Dense) []float64 {
	if x == nil {
		return columnSums(b)
	}
	_, columns := b.Dims()
	sums := make([]float64, columns)
	for i, v := range x {
		for s, w := range b.RawRowView(i) {
			sums[s] += v * w
		}
	}
	return sums
}

// columnSums adds up each column, by blocks of rows so that the result is the
// same at any number of threads.
func columnSums(x *mat.Dense) []float64 {
	const size = 8192
	n, k := x.Dims()
	blocks := make([]float64, (n+size-1)/size*k)
	parallel.Ranges(n, size, func(lo, hi int) {
		part := blocks[lo/size*k:][:k]
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

// addOuter adds x·yᵀ to dst; a nil x stands for ones.
func addOuter(dst *mat.Dense, x, y []float64) {
	rows, _ := dst.Dims()
	parallel.Ranges(rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row, scale := dst.RawRowView(i), 1.0
			if x != nil {
				scale = x[i]
			}
			for s, v := range y {
				row[s] += scale * v
			}
		}
	})
}
