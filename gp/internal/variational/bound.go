package variational

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/solve"
)

// inducing is the prior at some of the labelled nodes, whitened: u = L·v with
// K_zz = L·Lᵀ and v ~ N(0, I).
type inducing struct {
	cov   kernel.Covariance
	nodes []int
	l     blas64.Triangular
}

// inducingJitter is added to K_zz, as a share of its mean diagonal.
const inducingJitter = 1e-6

func newInducing(ctx context.Context, cov kernel.Covariance, nodes []int) (*inducing, error) {
	m := len(nodes)
	k := mat.NewSymDense(m, nil)
	if err := cov.Gram(ctx, k, nodes); err != nil {
		return nil, err
	}
	jitter := inducingJitter * mat.Trace(k) / float64(m)
	for i := range m {
		k.SetSym(i, i, k.At(i, i)+jitter)
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		return nil, fmt.Errorf("covariance of %d inducing nodes: %w", m, solve.ErrNotPositiveDefinite)
	}
	var l mat.TriDense
	chol.LTo(&l)
	return &inducing{cov, nodes, l.RawTriangular()}, nil
}

// project returns A = L⁻¹·K[z, nodes].
func (z *inducing) project(ctx context.Context, nodes []int) (*mat.Dense, error) {
	a, err := between(ctx, z.cov, z.nodes, nodes)
	if err != nil {
		return nil, err
	}
	z.solve(blas.NoTrans, a)
	return a, nil
}

// between returns K[rows, cols], by as few columns of the kernel as possible.
func between(ctx context.Context, cov kernel.Covariance, rows, cols []int) (*mat.Dense, error) {
	if len(cols) > len(rows) {
		k, err := between(ctx, cov, cols, rows)
		if err != nil {
			return nil, err
		}
		return mat.DenseCopyOf(k.T()), nil
	}
	one := mat.NewDense(len(cols), len(cols), nil)
	for i := range cols {
		one.Set(i, i, 1)
	}
	k := mat.NewDense(len(rows), len(cols), nil)
	return k, cov.Cross(rows, cols).Apply(ctx, k, one)
}

// solve replaces x by L⁻¹x or L⁻ᵀx.
func (z *inducing) solve(t blas.Transpose, x *mat.Dense) {
	blas64.Trsm(blas.Left, t, 1, z.l, x.RawMatrix())
}

// variational is q(v) = Π_c N(μ_c, Λ_c⁻¹), a normal distribution of the whitened
// values at inducing nodes for every class, with full covariance.
type variational struct {
	mean      *mat.Dense // μ, a column per class
	lambda    []*mat.SymDense
	precision []*solve.Cholesky // factors of lambda
}

// newVariational returns the prior.
func newVariational(size, classes int) (*variational, error) {
	q := &variational{mean: mat.NewDense(size, classes, nil)}
	one := mat.NewSymDense(size, nil)
	for i := range size {
		one.SetSym(i, i, 1)
	}
	c, err := solve.NewCholesky(one)
	for range classes {
		q.lambda, q.precision = append(q.lambda, one), append(q.precision, c)
	}
	return q, err
}

// marginals returns the latent functions where the prior has the given variance
// and A is the projection:
//
//	m = Aᵀμ,  v = k − ‖a‖² + aᵀΛ⁻¹a.
func (q *variational) marginals(a *mat.Dense, prior []float64) latent.Functions {
	size, n := a.Dims()
	classes := len(q.precision)
	f := latent.New(n, classes)
	f.Mean.Mul(a.T(), q.mean)
	rest := remaining(a, prior)
	solved := mat.NewDense(size, n, nil)
	for c, p := range q.precision {
		p.SolveLower(solved, a)
		for i, v := range columnSquares(solved) {
			f.Variance.Set(i, c, rest[i]+v)
		}
	}
	return f
}

// remaining returns the variance that inducing nodes leave, k − ‖a‖².
func remaining(a *mat.Dense, prior []float64) []float64 {
	rest := columnSquares(a)
	for i, k := range prior {
		rest[i] = max(0, k-rest[i])
	}
	return rest
}

// columnSquares returns the sum of squares of every column.
func columnSquares(a *mat.Dense) []float64 {
	rows, n := a.Dims()
	sums := make([]float64, n)
	for k := range rows {
		for i, v := range a.RawRowView(k) {
			sums[i] += v * v
		}
	}
	return sums
}

// divergence is KL(q ‖ N(0, I)).
func (q *variational) divergence() float64 {
	size, _ := q.mean.Dims()
	sum := 0.0
	diag := make([]float64, size)
	for c, p := range q.precision {
		p.InverseDiag(diag)
		for k, v := range diag {
			m := q.mean.At(k, c)
			sum += (v + m*m - 1) / 2
		}
		sum += p.LogDet() / 2
	}
	return sum
}

// bound is the evidence lower bound, Σ_i E_q log p(y_i | f_i) − KL(q ‖ p), with
// what its derivatives need.
type bound struct {
	value    float64
	marginal latent.Functions
	rest     []float64  // variance of each label given the inducing nodes
	dm, dv   *mat.Dense // of the expectations by means and variances of marginals
}

func newBound(q *variational, a *mat.Dense, prior []float64, class []int, l classLikelihood) *bound {
	n, classes := len(class), len(q.precision)
	b := &bound{marginal: q.marginals(a, prior), rest: remaining(a, prior), dm: mat.NewDense(n, classes, nil),
		dv: mat.NewDense(n, classes, nil)}
	each := make([]float64, n)
	parallel.Ranges(n, latent.BlockRows, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			each[i] = l.expect(b.dm.RawRowView(i), b.dv.RawRowView(i), b.marginal.Mean.RawRowView(i), b.marginal.Variance.RawRowView(i), class[i])
		}
	})
	for _, v := range each {
		b.value += v
	}
	b.value -= q.divergence()
	return b
}

// step moves q along the natural gradient of the bound: with W = −2·diag(dv) the
// natural parameters go a share of the way to
//
//	Λ = I + A·W·Aᵀ,  Λμ = A(dm + W·m).
//
// Derivatives by variances that are positive, off the optimum or by rounding,
// count as zero, so that Λ stays positive definite.
func (q *variational) step(a *mat.Dense, b *bound, share float64) (*variational, error) {
	size, n := a.Dims()
	next := &variational{mean: mat.NewDense(size, len(q.precision), nil)}
	weighted, right := mat.NewDense(size, n, nil), mat.NewDense(n, 1, nil)
	for c := range q.precision {
		root := make([]float64, n)
		for i := range n {
			w := max(0, -2*b.dv.At(i, c))
			root[i] = math.Sqrt(share * w)
			right.Set(i, 0, b.dm.At(i, c)+w*b.marginal.Mean.At(i, c))
		}
		for k := range size {
			to := weighted.RawRowView(k)
			for i, v := range a.RawRowView(k) {
				to[i] = v * root[i]
			}
		}
		sum := mat.NewDense(size, size, nil)
		dense.AddLower(dense.View(sum).T(), 1, dense.View(weighted), dense.View(weighted).T())
		before := q.lambda[c]
		lambda := mat.NewSymDense(size, nil)
		for i := range size {
			for j := i; j < size; j++ {
				lambda.SetSym(i, j, (1-share)*before.At(i, j)+sum.At(i, j))
			}
			lambda.SetSym(i, i, lambda.At(i, i)+share)
		}
		chol, err := solve.NewCholesky(lambda)
		if err != nil {
			return nil, err
		}
		var first, keep, to mat.Dense
		first.Mul(a, right)
		keep.Mul(before, q.mean.Slice(0, size, c, c+1))
		to.Scale(1-share, &keep)
		first.Scale(share, &first)
		to.Add(&to, &first)
		chol.Solve(&to, &to)
		for k := range size {
			next.mean.Set(k, c, to.At(k, 0))
		}
		next.lambda, next.precision = append(next.lambda, lambda), append(next.precision, chol)
	}
	return next, nil
}

// leaveOneOut returns the marginal at every label's node without that label: at the
// optimum the label acts like a normal measurement of precision W = −2·dv, which is
// taken out of the marginal.
func (b *bound) leaveOneOut() latent.Functions {
	n, classes := b.dm.Dims()
	f := latent.New(n, classes)
	for i := range n {
		for c := range classes {
			// Inducing nodes know of f_i up to rest.
			m, v := b.marginal.Mean.At(i, c), max(b.marginal.Variance.At(i, c)-b.rest[i], 1e-12)
			w := max(0, -2*b.dv.At(i, c))
			left := max(1/v-w, 1e-3/v) // more than nothing, off the optimum too
			f.Mean.Set(i, c, (m/v-(b.dm.At(i, c)+w*m))/left)
			f.Variance.Set(i, c, 1/left+b.rest[i])
		}
	}
	return f
}

// gradient returns the derivative of the bound by the hyperparameters of the
// covariance of the labels, of which those in at are the inducing ones, with q
// held in whitened form. Backwards from the marginals: by A, then by
// K_zx = L·A and K_zz = L·Lᵀ,
//
//	Ā = μ·dmᵀ − 2A·diag(Σ_c dv_c) + 2 Σ_c Λ_c⁻¹A·diag(dv_c)
//	K̄_zx = L⁻ᵀĀ,  K̄_zz = −½ L⁻ᵀ(Φ(ĀAᵀ) + Φ(ĀAᵀ)ᵀ)L⁻¹,
//
// where Φ keeps the lower triangle and halves the diagonal.
func (b *bound) gradient(ctx context.Context, grad []float64, q *variational, z *inducing, a *mat.Dense, labels, at []int) error {
	size, n := a.Dims()
	var back mat.Dense
	back.Mul(q.mean, b.dm.T())
	total := make([]float64, n)
	solved := mat.NewDense(size, n, nil)
	for c, p := range q.precision {
		p.Solve(solved, a)
		for k := range size {
			to, from := back.RawRowView(k), solved.RawRowView(k)
			for i, v := range from {
				to[i] += 2 * v * b.dv.At(i, c)
			}
		}
		for i := range total {
			total[i] += b.dv.At(i, c)
		}
	}
	for k := range size {
		to := back.RawRowView(k)
		for i, v := range a.RawRowView(k) {
			to[i] -= 2 * v * total[i]
		}
	}
	inner := mat.NewDense(size, size, nil)
	dense.AddLower(dense.View(inner), 1, dense.View(&back), dense.View(a).T())
	both := mat.NewDense(size, size, nil)
	for i := range size {
		for j := range size { // Φ + Φᵀ has the lower triangle on both sides
			both.Set(i, j, -inner.At(max(i, j), min(i, j))/2)
		}
	}
	z.solve(blas.Trans, both)
	both = mat.DenseCopyOf(both.T())
	z.solve(blas.Trans, both)
	z.solve(blas.Trans, &back)

	g := mat.NewSymDense(n, nil)
	add := func(i, j int, v float64) { g.SetSym(i, j, g.At(i, j)+v) }
	for i, v := range total {
		add(i, i, v)
	}
	for p, i := range at {
		for j, v := range back.RawRowView(p) {
			if i == j {
				add(i, j, v)
			} else {
				add(i, j, v/2)
			}
		}
		for r := p; r < size; r++ {
			add(i, at[r], both.At(p, r))
		}
	}
	return z.cov.GramGrad(ctx, grad, labels, g)
}
