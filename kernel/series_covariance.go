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

// seriesCovariance is a Series at a theta. Columns run through the
// recurrence of the T_k, sums are taken on the way, and the part of the leading
// eigenvectors is added at the end.
type seriesCovariance struct {
	*recurrence
	cache   *seriesCache
	top     *leading // nil: polynomials only
	psi, k  shape
	dk      []shape // ∂K/∂θ_j
	carried float64 // share of the largest eigenvalue of K
}

// terms returns the number of terms of the longest derivative.
func (c *seriesCovariance) terms() int {
	n := 0
	for _, d := range c.dk {
		n = max(n, len(d.p))
	}
	return n
}

// seriesCross is K[rows, cols].
type seriesCross struct {
	cov        *seriesCovariance
	rows, cols []int
	top        *leadingCross // nil: none
}

func (c *seriesCovariance) Cross(rows, cols []int) solve.Operator {
	o := &seriesCross{c, slices.Clone(rows), slices.Clone(cols), nil}
	if c.top != nil && len(cols) > 0 {
		o.top = c.top.cross(c.k.lift, o.rows, o.cols)
	}
	return o
}

func (o *seriesCross) Dims() (r, c int) { return len(o.rows), len(o.cols) }

func (o *seriesCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	if len(o.rows) == 0 {
		return ctx.Err()
	}
	_, n := dst.Dims()
	in := x.RawMatrix()
	err := o.cov.columns(ctx, n, func(_, lo, hi int) error {
		return o.cov.apply(ctx, dst.RawMatrix(), lo, hi, o.rows, o.cov.k.p, func(x blas64.General) { scatter(x, o.cols, in, lo) })
	})
	if err == nil && o.top != nil {
		o.top.add(dst, x)
	}
	return err
}

func (c *seriesCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	raw := dst.RawSymmetric()
	if err := c.polynomialGram(ctx, raw, rows); err != nil || c.top == nil || len(rows) == 0 {
		return err
	}
	c.top.addGram(raw, c.k.lift, rows)
	return ctx.Err()
}

// polynomialGram sets raw to the polynomial part of K[rows, rows].
func (c *seriesCovariance) polynomialGram(ctx context.Context, raw blas64.Symmetric, rows []int) error {
	p := c.k.p
	t, ok, err := c.cache.get(ctx, c.home(), rows, len(p))
	if err != nil {
		return err
	}
	if ok {
		t.sum(raw, c.mirrored(p))
		return ctx.Err()
	}
	return c.columns(ctx, len(rows), func(_, lo, hi int) error {
		return c.recur(ctx, hi-lo, len(p), units(rows[lo:hi]), func(k int, t blas64.General) {
			for a, i := range rows[:hi] {
				first := max(a, lo) // the upper triangle alone: symmetric to the bit
				out := raw.Data[a*raw.Stride+first:][:hi-first]
				if k == 0 {
					clear(out)
				}
				for b, v := range t.Data[i*t.Stride+first-lo:][:hi-first] {
					out[b] += p[k] * v
				}
			}
		})
	})
}

// Abilities give the cost of the diagonal.
func (c *seriesCovariance) Abilities() Abilities { return Abilities{DiagFlops: c.diagFlops} }

// diagFlops counts a product with W for every term of Ψ and every node.
func (c *seriesCovariance) diagFlops(rows int) float64 {
	return 2 * float64(rows) * float64(min(len(c.psi.p), len(c.k.p))) * float64(c.twice.NNZ())
}

func (c *seriesCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	if c.twice.NNZ() >= doubleDegree*c.Nodes() {
		return c.doubledDiag(ctx, dst, rows)
	}
	return c.columns(ctx, len(rows), func(_, lo, hi int) error {
		for a, i := range rows[lo:hi] {
			dst[lo+a] = 0
			if c.top != nil {
				dst[lo+a] = c.top.diag(c.k.lift, i)
			}
		}
		return c.recur(ctx, hi-lo, len(c.k.p), units(rows[lo:hi]), func(k int, t blas64.General) {
			for a, i := range rows[lo:hi] {
				dst[lo+a] += c.k.p[k] * t.Data[i*t.Stride+a]
			}
		})
	})
}

// doubleDegree is the mean degree from which a product with W costs more than two inner products.
const doubleDegree = 8

// doubledDiag takes two terms from each step of the recurrence: T_2k = 2T_k² − T_0 and T_2k+1 = 2T_k·T_k+1 − T_1.
func (c *seriesCovariance) doubledDiag(ctx context.Context, dst []float64, rows []int) error {
	p := c.k.p
	return c.columns(ctx, len(rows), func(_, lo, hi int) error {
		out, width := dst[lo:hi], hi-lo
		for a, i := range rows[lo:hi] {
			out[a] = 0
			if c.top != nil {
				out[a] = c.top.diag(c.k.lift, i)
			}
		}
		var before []float64 // T_k−1·X
		squares, products, own := make([]float64, width), make([]float64, width), make([]float64, width)
		return c.recur(ctx, width, len(p)/2+1, units(rows[lo:hi]), func(k int, t blas64.General) {
			if k == 0 {
				before = t.Data
				for a := range out {
					out[a] += p[0]
				}
				return
			}
			columnProducts(squares, t.Data, t.Data)
			if k == 1 { // T_1·T_0 is T_1
				for a, i := range rows[lo:hi] {
					own[a] = t.Data[i*t.Stride+a]
					products[a] = own[a]
				}
			} else {
				columnProducts(products, before, t.Data)
			}
			before = t.Data
			for a := range out {
				if odd := 2*k - 1; odd < len(p) {
					out[a] += p[odd] * (2*products[a] - own[a])
				}
				if 2*k < len(p) {
					out[a] += p[2*k] * (2*squares[a] - 1)
				}
			}
		})
	})
}

// columnProducts sets dst[c] = Σ_i x_ic·y_ic.
func columnProducts(dst, x, y []float64) {
	clear(dst)
	for at := 0; at < len(x); at += len(dst) {
		right := y[at:][:len(dst)]
		for c, v := range x[at:][:len(dst)] {
			dst[c] += v * right[c]
		}
	}
}

// Prior returns Ψ·w with a standard normal w per column.
func (c *seriesCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	_, n := dst.Dims()
	all := upTo(c.Nodes())
	var top *leadingCross
	if c.top != nil {
		top = c.top.cross(c.psi.lift, all, all)
	}
	return c.columns(ctx, n, func(_, lo, hi int) error {
		var drawn *mat.Dense
		err := c.apply(ctx, dst.RawMatrix(), lo, hi, all, c.psi.p, func(x blas64.General) {
			for s := range x.Cols {
				r := rand.New(rng.New(seed, "prior", uint64(lo+s)))
				for i := range x.Rows {
					x.Data[i*x.Stride+s] = r.NormFloat64()
				}
			}
			if top != nil {
				drawn = mat.NewDense(x.Rows, x.Cols, slices.Clone(x.Data[:x.Rows*x.Cols]))
			}
		})
		if err == nil && top != nil {
			top.add(dst.Slice(0, len(all), lo, hi).(*mat.Dense), drawn)
		}
		return err
	})
}

// Grad uses uᵀ(∂K/∂θ_j)w = Σ_k ∂c_k/∂θ_j·uᵀT_k w.
func (c *seriesCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if len(rows) == 0 {
		return ctx.Err()
	}
	_, n := u.Dims()
	left, right := u.RawMatrix(), w.RawMatrix()
	if c.top != nil {
		c.addLifts(grad, c.top.moments(rows, u, w))
	}
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
	if c.top != nil && len(rows) > 0 {
		c.addLifts(grad, c.top.gramMoments(rows, g))
	}
	t, ok, err := c.cache.get(ctx, c.home(), rows, c.terms())
	if err != nil {
		return err
	}
	if ok {
		c.addSlopes(grad, c.mirrored(t.inner(weights, c.terms())))
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

// addLifts adds Σ_e ∂lift_e/∂θ_j·m_e to grad[j].
func (c *seriesCovariance) addLifts(grad, m []float64) {
	for j, d := range c.dk {
		for e, v := range d.lift {
			grad[j] += v * m[e]
		}
	}
}

// addSlopes adds Σ_k ∂c_k/∂θ_j·m_k to grad[j].
func (c *seriesCovariance) addSlopes(grad, m []float64) {
	for j, d := range c.dk {
		grad[j] += d.p.dot(m)
	}
}
