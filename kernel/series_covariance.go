package kernel

import (
	"context"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/solve"
)

// seriesCovariance is a Series at a theta. All it does is to run columns
// through the T_k and to add up what is asked for on the way.
type seriesCovariance struct {
	*recurrence
	kept   *kept
	psi, k polynomial
	dk     []polynomial // ∂K/∂θ_j
}

// terms returns the number of terms of the longest derivative.
func (c *seriesCovariance) terms() int {
	n := 0
	for _, d := range c.dk {
		n = max(n, len(d))
	}
	return n
}

// seriesCross is K[rows, cols].
type seriesCross struct {
	cov        *seriesCovariance
	rows, cols []int
}

func (c *seriesCovariance) Cross(rows, cols []int) solve.Operator {
	return &seriesCross{c, slices.Clone(rows), slices.Clone(cols)}
}

func (o *seriesCross) Dims() (r, c int) { return len(o.rows), len(o.cols) }

func (o *seriesCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if len(o.rows) == 0 {
		return ctx.Err()
	}
	_, n := dst.Dims()
	in := x.RawMatrix()
	return o.cov.columns(ctx, n, func(_, lo, hi int) error {
		return o.cov.apply(ctx, dst.RawMatrix(), lo, hi, o.rows, o.cov.k, func(x blas64.General) { scatter(x, o.cols, in, lo) })
	})
}

func (c *seriesCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	raw := dst.RawSymmetric()
	t, err := c.kept.get(ctx, c.recurrence, rows, len(c.k))
	if err != nil {
		return err
	}
	if t != nil {
		t.sum(raw, c.k)
		return ctx.Err()
	}
	return c.columns(ctx, len(rows), func(_, lo, hi int) error {
		return c.recur(ctx, hi-lo, len(c.k), units(rows[lo:hi]), func(k int, t blas64.General) {
			for a, i := range rows[:hi] {
				first := max(a, lo) // the upper triangle alone: symmetric to the bit
				out := raw.Data[a*raw.Stride+first:][:hi-first]
				if k == 0 {
					clear(out)
				}
				for b, v := range t.Data[i*t.Stride+first-lo:][:hi-first] {
					out[b] += c.k[k] * v
				}
			}
		})
	})
}

// DiagFlops counts a product with W for every term of Ψ and every node.
func (c *seriesCovariance) DiagFlops(rows int) float64 {
	return 2 * float64(rows) * float64(len(c.psi)) * float64(c.twice.NNZ())
}

func (c *seriesCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	return c.columns(ctx, len(rows), func(_, lo, hi int) error {
		clear(dst[lo:hi])
		return c.recur(ctx, hi-lo, len(c.k), units(rows[lo:hi]), func(k int, t blas64.General) {
			for a, i := range rows[lo:hi] {
				dst[lo+a] += c.k[k] * t.Data[i*t.Stride+a]
			}
		})
	})
}

// Prior returns Ψ·w with a standard normal w per column.
func (c *seriesCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	_, n := dst.Dims()
	all := make([]int, c.nodes())
	for i := range all {
		all[i] = i
	}
	return c.columns(ctx, n, func(_, lo, hi int) error {
		return c.apply(ctx, dst.RawMatrix(), lo, hi, all, c.psi, func(x blas64.General) {
			for s := range x.Cols {
				r := rand.New(rng.New(seed, "prior", uint64(lo+s)))
				for i := range x.Rows {
					x.Data[i*x.Stride+s] = r.NormFloat64()
				}
			}
		})
	})
}

// Grad uses uᵀ(∂K/∂θ_j)w = Σ_k ∂c_k/∂θ_j·uᵀT_k w.
func (c *seriesCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	_, n := u.Dims()
	left, right := u.RawMatrix(), w.RawMatrix()
	return c.moments(ctx, grad, n, func(lo, hi int) (func(blas64.General), func(blas64.General) float64) {
		start := func(x blas64.General) { scatter(x, rows, right, lo) }
		return start, func(t blas64.General) float64 {
			sum := 0.0
			for a, i := range rows {
				in := t.Data[i*t.Stride:][:hi-lo]
				for s, v := range left.Data[a*left.Stride+lo : a*left.Stride+hi] {
					sum += v * in[s]
				}
			}
			return sum
		}
	})
}

// GramGrad uses ⟨g, ∂K/∂θ_j⟩ = Σ_k ∂c_k/∂θ_j·⟨g, T_k⟩.
func (c *seriesCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	weights := g.RawSymmetric()
	t, err := c.kept.get(ctx, c.recurrence, rows, c.terms())
	if err != nil {
		return err
	}
	if t != nil {
		c.addSlopes(grad, t.inner(weights, c.terms()))
		return ctx.Err()
	}
	return c.moments(ctx, grad, len(rows), func(lo, hi int) (func(blas64.General), func(blas64.General) float64) {
		return units(rows[lo:hi]), func(t blas64.General) float64 {
			sum, diagonal := 0.0, 0.0 // over a < b, and a = b
			for a, i := range rows[:hi] {
				in := t.Data[i*t.Stride:][:hi-lo]
				if a >= lo {
					diagonal += weights.Data[a*weights.Stride+a] * in[a-lo]
				}
				first := max(a+1, lo)
				in = in[first-lo:]
				for b, v := range weights.Data[a*weights.Stride+first:][:hi-first] {
					sum += v * in[b]
				}
			}
			return 2*sum + diagonal
		}
	})
}

// moments adds Σ_k ∂c_k/∂θ_j·m_k to grad[j], where m_k sums a function of T_k·X
// over blocks of n columns, and of gives a block's X and that function.
func (c *seriesCovariance) moments(ctx context.Context, grad []float64, n int,
	of func(lo, hi int) (start func(x blas64.General), moment func(t blas64.General) float64)) error {
	terms, width := c.terms(), c.width()
	parts := make([][]float64, (n+width-1)/width)
	err := c.columns(ctx, n, func(block, lo, hi int) error {
		m := make([]float64, terms)
		parts[block] = m
		start, moment := of(lo, hi)
		return c.recur(ctx, hi-lo, terms, start, func(k int, t blas64.General) { m[k] = moment(t) })
	})
	if err != nil {
		return err
	}
	sum := make([]float64, terms)
	for _, m := range parts {
		for k, v := range m {
			sum[k] += v
		}
	}
	c.addSlopes(grad, sum)
	return nil
}

// addSlopes adds Σ_k ∂c_k/∂θ_j·m_k to grad[j].
func (c *seriesCovariance) addSlopes(grad, m []float64) {
	for j, d := range c.dk {
		grad[j] += d.dot(m)
	}
}
