package kernel

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/dense"
	"grfgp/internal/eigen"
	"grfgp/internal/rng"
	"grfgp/solve"
	"grfgp/sparse"
)

// MaxDense is the largest number of nodes for NewDense: eigenvectors take time
// proportional to its cube and memory proportional to its square.
const MaxDense = 3000

// Dense is the exact kernel of a family on a small graph, by the eigenvectors
// of W = UΛUᵀ: K = U g(Λ) Uᵀ, with no cut-off.
type Dense struct {
	family Spectrum
	values []float64  // in increasing order
	u      *mat.Dense // a row per node, an eigenvector per column
}

// NewDense returns the kernel of a family on W, which must be symmetric to 1e-12
// of each row. It computes the eigenvectors of W, once for all hyperparameters.
func NewDense(w *sparse.CSR, s Spectrum) (*Dense, error) {
	if err := checkSymmetric(w); err != nil {
		return nil, err
	}
	n, _ := w.Dims()
	if n > MaxDense {
		return nil, fmt.Errorf("%w: %d nodes are too many for eigenvectors, want at most %d: take NewSeries", ErrMatrix, n, MaxDense)
	}
	u := mat.NewDense(n, n, nil)
	for i := range n {
		row := u.RawRowView(i)
		cols, vals := w.Row(i)
		for p, j := range cols {
			row[j] += vals[p]
		}
	}
	values, err := eigen.Symmetric(u, eigen.Rising)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMatrix, err)
	}
	return &Dense{family: s, values: values, u: u}, nil
}

// With returns the kernel of another family on the same graph, without
// decomposing W again.
func (d *Dense) With(s Spectrum) *Dense { return &Dense{family: s, values: d.values, u: d.u} }

// Nodes returns the number of rows of W.
func (d *Dense) Nodes() int { return d.u.RawMatrix().Rows }

// Params returns the parameters of the family.
func (d *Dense) Params() []Param { return d.family.Params() }

// At returns the covariance at theta.
func (d *Dense) At(theta []float64) (Covariance, error) {
	params := d.Params()
	if err := checkTheta(theta, params); err != nil {
		return nil, err
	}
	n := len(d.values)
	c := &denseCovariance{dense: d, g: make([]float64, n), sd: make([]float64, n), dg: mat.NewDense(n, len(params), nil)}
	most := 0.0
	for k, w := range d.values {
		c.g[k] = d.family.Density(w, theta)
		c.sd[k] = math.Sqrt(c.g[k])
		d.family.DensityGrad(c.dg.RawRowView(k), w, theta)
		if !(c.g[k] >= 0) || math.IsInf(c.g[k], 0) {
			return nil, fmt.Errorf("%w: variance %v at %v for eigenvalue %.6g of the matrix: take a normalised matrix",
				ErrTheta, c.g[k], theta, w)
		}
		most = max(most, c.g[k])
	}
	c.hi = n
	for c.hi > 1 && c.g[c.hi-1] <= denseTail*most {
		c.hi--
	}
	for c.lo < c.hi-1 && c.g[c.lo] <= denseTail*most {
		c.lo++
	}
	c.g, c.sd = c.g[c.lo:c.hi], c.sd[c.lo:c.hi]
	return c, nil
}

// denseTail is a share of the largest eigenvalue of K below rounding error:
// eigenvectors at either end of the spectrum with smaller eigenvalues are left
// out. A kernel of long reach has few left.
const denseTail = 1e-17

// denseCovariance is a Dense at a theta, by the eigenvectors lo to hi.
type denseCovariance struct {
	dense  *Dense
	lo, hi int
	g, sd  []float64  // eigenvalues of K, and their roots
	dg     *mat.Dense // derivatives of g by all eigenvalues of W, a column per parameter
}

// Nodes returns the number of rows of W.
func (c *denseCovariance) Nodes() int { return c.dense.Nodes() }

// Abilities give the cost of the diagonal.
func (c *denseCovariance) Abilities() Abilities {
	return Abilities{DiagFlops: func(rows int) float64 { return 4 * float64(rows) * float64(len(c.g)) }}
}

// vector returns row i of the eigenvectors that are kept.
func (c *denseCovariance) vector(i int) []float64 { return c.dense.u.RawRowView(i)[c.lo:c.hi] }

// basis returns a copy of rows of U.
func (c *denseCovariance) basis(rows []int) *mat.Dense {
	m := mat.NewDense(len(rows), len(c.g), nil)
	for a, i := range rows {
		copy(m.RawRowView(a), c.vector(i))
	}
	return m
}

// scaleColumns multiplies column k of m by factor[k].
func scaleColumns(m *mat.Dense, factor []float64) {
	rows, _ := m.Dims()
	for a := range rows {
		out := m.RawRowView(a)
		for k, v := range factor {
			out[k] *= v
		}
	}
}

func (c *denseCovariance) Gram(ctx context.Context, dst *mat.SymDense, rows []int) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	half := c.basis(rows)
	scaleColumns(half, c.sd)
	out, left := dst.RawSymmetric(), dense.View(half)
	for a := range rows {
		clear(out.Data[a*out.Stride:][a:len(rows)])
	}
	dense.AddLower(dense.OfSymmetric(out).T(), 1, left, left.T())
	return ctx.Err()
}

func (c *denseCovariance) Diag(ctx context.Context, dst []float64, rows []int) error {
	for a, i := range rows {
		sum := 0.0
		for k, v := range c.vector(i) {
			sum += c.g[k] * v * v
		}
		dst[a] = sum
	}
	return ctx.Err()
}

// Prior returns U·g(Λ)^½·w with a standard normal w per column.
func (c *denseCovariance) Prior(ctx context.Context, dst *mat.Dense, seed uint64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, n := dst.Dims()
	w := mat.NewDense(len(c.g), n, nil)
	for s := range n {
		r := rand.New(rng.New(seed, "prior", uint64(s)))
		for k := range c.g {
			w.Set(k, s, c.sd[k]*r.NormFloat64())
		}
	}
	u := c.dense.u.Slice(0, c.dense.Nodes(), c.lo, c.hi).(*mat.Dense)
	dense.Mul(dense.View(dst), dense.View(u), dense.View(w))
	return ctx.Err()
}

// Grad uses uᵀ(∂K/∂θ_j)w = Σ_k ∂g_k/∂θ_j·(Uᵀu)_k·(Uᵀw)_k.
func (c *denseCovariance) Grad(ctx context.Context, grad []float64, rows []int, u, w *mat.Dense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	basis := c.basis(rows)
	var left, right mat.Dense
	left.Mul(basis.T(), u)
	right.Mul(basis.T(), w)
	left.MulElem(&left, &right)
	for k := range c.g {
		weight := 0.0
		for _, v := range left.RawRowView(k) {
			weight += v
		}
		c.addSlope(grad, k, weight)
	}
	return ctx.Err()
}

// GramGrad uses ⟨g, ∂K/∂θ_j⟩ = Σ_k ∂g_k/∂θ_j·(UᵀgU)_kk.
func (c *denseCovariance) GramGrad(ctx context.Context, grad []float64, rows []int, g *mat.SymDense) error {
	if err := ctx.Err(); err != nil || len(rows) == 0 {
		return err
	}
	basis := c.basis(rows)
	gu := mat.NewDense(len(rows), len(c.g), nil)
	dense.Mul(dense.View(gu), dense.View(mat.DenseCopyOf(g)), dense.View(basis))
	weights := make([]float64, len(c.g))
	for a := range rows {
		in := gu.RawRowView(a)
		for k, v := range basis.RawRowView(a) {
			weights[k] += v * in[k]
		}
	}
	for k, v := range weights {
		c.addSlope(grad, k, v)
	}
	return ctx.Err()
}

// addSlope adds weight·∂g_k/∂θ_j to grad[j].
func (c *denseCovariance) addSlope(grad []float64, k int, weight float64) {
	for j, v := range c.dg.RawRowView(c.lo + k) {
		grad[j] += weight * v
	}
}

// denseCross is K[rows, cols] = U[rows]·g(Λ)·U[cols]ᵀ.
type denseCross struct {
	left, right *mat.Dense // left has the factor g(Λ)
	rows, cols  int
}

func (c *denseCovariance) Cross(rows, cols []int) solve.Operator {
	o := &denseCross{rows: len(rows), cols: len(cols)}
	if len(rows) > 0 && len(cols) > 0 {
		o.left, o.right = c.basis(rows), c.basis(cols)
		scaleColumns(o.left, c.g)
	}
	return o
}

func (o *denseCross) Dims() (r, c int) { return o.rows, o.cols }

func (o *denseCross) Apply(ctx context.Context, dst, x *mat.Dense) error {
	switch {
	case o.rows == 0:
		return ctx.Err()
	case o.cols == 0:
		dst.Zero()
		return ctx.Err()
	}
	_, nodes := o.right.Dims()
	_, columns := x.Dims()
	inner := mat.NewDense(nodes, columns, nil)
	dense.Mul(dense.View(inner), dense.View(o.right).T(), dense.View(x))
	if err := ctx.Err(); err != nil {
		return err
	}
	dense.Mul(dense.View(dst), dense.View(o.left), dense.View(inner))
	return ctx.Err()
}
