package kernel

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/solve"
)

// Constant returns the kernel s²·11ᵀ on n nodes: functions with the same value at
// every node. In a Product, Sum(Constant(n), b) lets a part of the other factor
// stay as it is: a ∘ (1 + b).
func Constant(n int) Kernel {
	return &constantKernel{n, []Param{{Name: "constant variance", Start: 1, Positive: true, Variance: true}}}
}

type constantKernel struct {
	nodes  int
	params []Param
}

func (k *constantKernel) Nodes() int      { return k.nodes }
func (k *constantKernel) Params() []Param { return k.params }

func (k *constantKernel) At(theta []float64) (Covariance, error) {
	if err := checkTheta(theta, k.params); err != nil {
		return nil, err
	}
	return &constant{theta[0], "prior constant", nil}, nil
}

// WithConstant returns K + variance·11ᵀ, the covariance of a function plus an
// unknown constant. Posterior means, variances and draws then account for the
// unknown mean without extra formulas. The variance is not a hyperparameter:
// gradients are those of c.
func WithConstant(c Covariance, variance float64) Covariance {
	if variance == 0 {
		return c
	}
	return plus(c, meanConstant(variance, AbilitiesOf(c).Ranks))
}

// meanConstant is the covariance of an unknown mean.
func meanConstant(variance float64, g *ranks.Group) *constant {
	return &constant{variance, "prior mean", g}
}

// constant is variance·11ᵀ.
type constant struct {
	variance float64
	stream   string // of random numbers
	ranks    *ranks.Group
}

func (c *constant) Cross(rows, cols []int) solve.Operator {
	o := &constantCross{rows: len(rows), cols: len(cols), variance: c.variance}
	o.right, o.err = newPortion(context.Background(), c.ranks, len(cols))
	return o
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
	c.addPrior(dst, seed)
	return ctx.Err()
}

func (c *constant) addPrior(dst *mat.Dense, seed uint64) {
	_, draws := dst.Dims()
	addToRows(dst, c.levels(draws, seed))
}

// levels returns draws of the constant.
func (c *constant) levels(draws int, seed uint64) []float64 {
	all := make([]float64, draws)
	for s := range all {
		all[s] = math.Sqrt(c.variance) * rand.New(rng.New(seed, c.stream, uint64(s))).NormFloat64()
	}
	return all
}

func (c *constant) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(grad) > 0 && len(rows) > 0 {
		all, err := newPortion(ctx, c.ranks, len(rows))
		if err != nil {
			return err
		}
		ones, err := all.sums(ctx, w)
		if err != nil {
			return err
		}
		sums, err := all.sums(ctx, u)
		if err != nil {
			return err
		}
		for s, v := range sums {
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

// constantCross is variance·11ᵀ of a given size.
type constantCross struct {
	rows, cols int
	variance   float64
	right      portion // of the columns
	err        error
}

func (o *constantCross) Dims() (r, c int) { return o.rows, o.cols }

func (o *constantCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if !dst.IsEmpty() {
		dst.Zero()
	}
	return o.add(ctx, dst, x)
}

// add adds the product with x to dst.
func (o *constantCross) add(ctx context.Context, dst, x *mat.Dense) error {
	if o.err != nil || o.right.group.Alone() && (o.rows == 0 || o.cols == 0) {
		return o.err
	}
	sums, err := o.right.sums(ctx, x)
	if err != nil {
		return err
	}
	for s := range sums {
		sums[s] *= o.variance
	}
	addToRows(dst, sums)
	return ctx.Err()
}

// addSingle is add for float32. The sums are float64.
func (o *constantCross) addSingle(ctx context.Context, dst, x blas32.General) error {
	if o.err != nil {
		return o.err
	}
	sums, err := o.right.sumsSingle(ctx, x)
	if err != nil {
		return err
	}
	level := make([]float32, len(sums))
	for s, v := range sums {
		level[s] = float32(o.variance * v)
	}
	parallel.Ranges(dst.Rows, 4096, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			row := dst.Data[i*dst.Stride:][:len(level)]
			for s, v := range level {
				row[s] += v
			}
		}
	})
	return ctx.Err()
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
