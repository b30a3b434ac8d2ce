package gp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/latent"
	"grfgp/internal/dense"
	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/progress"
	"grfgp/solve"
)

// side is a label as a measurement: a value and its noise variance.
type side struct{ target, noise float64 }

// regressions are one regression for each class on the same nodes: a label is
// one side for its own class and another for every other. Hyperparameters are
// shared, and the log likelihoods of all classes add up.
type regressions struct {
	kernel     kernel.Kernel
	nodes      []int // of the labels, class by class
	begin      []int // of each class among nodes
	own, other side
	meanVar    float64
	params     *params // the noise is learned, the same for both sides, if it is a parameter
}

func (r *regressions) classes() int { return len(r.begin) - 1 }

// members returns where the labels of class c are.
func (r *regressions) members(c int) (lo, hi int) { return r.begin[c], r.begin[c+1] }

// sides returns both sides with the noise of theta, if it is learned.
func (r *regressions) sides(theta []float64) (own, other side) {
	own, other = r.own, r.other
	if _, noise := r.params.split(theta); r.params.noise {
		own.noise, other.noise = noise, noise
	}
	return own, other
}

// targets returns y, a column per class.
func (r *regressions) targets() *mat.Dense {
	y := mat.NewDense(len(r.nodes), r.classes(), nil)
	for c := range r.classes() {
		lo, hi := r.members(c)
		for k := range r.nodes {
			if y.Set(k, c, r.other.target); lo <= k && k < hi {
				y.Set(k, c, r.own.target)
			}
		}
	}
	return y
}

// covariance returns the kernel at theta with the unknown mean.
func (r *regressions) covariance(theta []float64) (kernel.Covariance, error) {
	own, _ := r.params.split(theta)
	cov, err := r.kernel.At(own)
	if err != nil {
		return nil, err
	}
	return kernel.WithConstant(cov, r.meanVar), nil
}

// classFactor is the factor of every class at one theta. With B = K + other·I and
// δ = other − own the matrix of class c is H_c = B − δ·E_c·E_cᵀ, where E_c picks
// the labels of the class. So one inverse of B serves all classes,
//
//	H_c⁻¹ = B⁻¹ + V_c·V_cᵀ,  V_cᵀ = L_c⁻¹·E_cᵀB⁻¹,  L_cL_cᵀ = I/δ − E_cᵀB⁻¹E_c,
//
// and as the classes share out the labels, all V_c together are as large as B.
type classFactor struct {
	*regressions
	cov     kernel.Covariance
	inverse *mat.Dense        // B⁻¹
	vt      *mat.Dense        // the V_cᵀ below each other; nil where δ = 0
	lower   []*solve.Cholesky // L_c by class, nil for a class without labels
	y       *mat.Dense
	alpha   *mat.Dense // H_c⁻¹y_c, a column per class
	noise   [2]float64 // own, other
	lml     float64    // of all classes

	// precisions returns [H_c⁻¹]_kk, a row per label and a column per class.
	precisions func() *mat.Dense
}

// factor computes the factor at theta.
func (r *regressions) factor(ctx context.Context, theta []float64) (*classFactor, error) {
	cov, err := r.covariance(theta)
	if err != nil {
		return nil, err
	}
	own, other := r.sides(theta)
	n, classes := len(r.nodes), r.classes()
	f := &classFactor{regressions: r, cov: cov, y: r.targets(), noise: [2]float64{own.noise, other.noise}}
	f.precisions = sync.OnceValue(f.newPrecisions)
	b := mat.NewSymDense(n, nil)
	if err := cov.Gram(ctx, b, r.nodes); err != nil {
		return nil, err
	}
	for i := range n {
		b.SetSym(i, i, b.At(i, i)+other.noise)
	}
	chol, err := solve.NewCholeskyContext(ctx, b)
	if err != nil {
		return nil, err
	}
	logDet := float64(classes) * chol.LogDet()
	chol.Inverse(b)
	f.inverse = mirrored(b)
	if delta := other.noise - own.noise; delta != 0 {
		more, err := f.correct(delta)
		if err != nil {
			return nil, err
		}
		logDet += more
	}
	f.alpha = mat.NewDense(n, classes, nil)
	if err := f.solve(ctx, f.alpha, f.y, 1); err != nil {
		return nil, err
	}
	fit := 0.0
	for k := range n {
		for c, a := range f.alpha.RawRowView(k) {
			fit += a * f.y.At(k, c)
		}
	}
	f.lml = -fit/2 - logDet/2 - float64(n*classes)/2*math.Log(2*math.Pi)
	return f, ctx.Err()
}

// correct sets vt, and returns Σ_c log det H_c − log det B.
func (f *classFactor) correct(delta float64) (logDet float64, err error) {
	n := len(f.nodes)
	f.vt, f.lower = mat.NewDense(n, n, nil), make([]*solve.Cholesky, f.classes())
	for c := range f.classes() {
		lo, hi := f.members(c)
		if lo == hi {
			continue
		}
		s := mat.NewSymDense(hi-lo, nil)
		for i := lo; i < hi; i++ {
			for j := i; j < hi; j++ {
				s.SetSym(i-lo, j-lo, -f.inverse.At(i, j))
			}
			s.SetSym(i-lo, i-lo, 1/delta-f.inverse.At(i, i))
		}
		chol, err := solve.NewCholesky(s)
		if err != nil {
			return 0, fmt.Errorf("class %d: %w", c, err)
		}
		f.lower[c] = chol
		logDet += chol.LogDet() + float64(hi-lo)*math.Log(delta)
		chol.SolveLower(f.vt.Slice(lo, hi, 0, n).(*mat.Dense), f.inverse.Slice(lo, hi, 0, n).(*mat.Dense))
	}
	return logDet, nil
}

// mirrored returns a as a full matrix in the same memory.
func mirrored(a *mat.SymDense) *mat.Dense {
	raw := a.RawSymmetric()
	for i := range raw.N {
		for j := range i {
			raw.Data[i*raw.Stride+j] = raw.Data[j*raw.Stride+i]
		}
	}
	return mat.NewDense(raw.N, raw.N, raw.Data)
}

// solve sets dst = H_c⁻¹·b for blocks with the given number of columns per class,
// class by class.
func (f *classFactor) solve(ctx context.Context, dst, b *mat.Dense, columns int) error {
	dense.Mul(dense.View(dst), dense.View(f.inverse), dense.View(b))
	n := len(f.nodes)
	for c := range f.classes() {
		lo, hi := f.members(c)
		if lo == hi || f.vt == nil {
			continue
		}
		v, small := dense.View(f.vt).Block(lo, hi, 0, n), dense.View(mat.NewDense(hi-lo, columns, nil))
		dense.Mul(small, v, dense.View(b).Block(0, n, c*columns, (c+1)*columns))
		dense.Add(dense.View(dst).Block(0, n, c*columns, (c+1)*columns), 1, v.T(), small)
	}
	return nil
}

func (f *classFactor) logLikelihood() float64 { return f.lml }

func (*classFactor) free() {}

// gradient returns the derivative of lml by the natural parameters:
// Σ_c tr(G_c ∂H_c), G_c = ½(α_cα_cᵀ − H_c⁻¹).
func (f *classFactor) gradient(ctx context.Context) ([]float64, error) {
	n, classes := len(f.nodes), float64(f.classes())
	g := mat.NewSymDense(n, nil)
	out := g.RawSymmetric()
	for i := range n {
		for j, v := range f.inverse.RawRowView(i)[i:] {
			out.Data[i*n+i+j] = -classes * v / 2
		}
	}
	// The upper triangle of g is the lower one of its transpose.
	triangle, alpha := dense.OfSymmetric(out).T(), dense.View(f.alpha)
	dense.AddLower(triangle, 0.5, alpha, alpha.T())
	if f.vt != nil {
		vt := dense.View(f.vt)
		dense.AddLower(triangle, -0.5, vt.T(), vt)
	}
	return f.contract(ctx, g)
}

// contract returns ⟨g, ∂H⟩ by the natural parameters.
func (f *classFactor) contract(ctx context.Context, g *mat.SymDense) ([]float64, error) {
	grad := make([]float64, len(f.params.list))
	own := grad
	if f.params.noise {
		own = grad[:len(grad)-1]
		for i := range f.nodes {
			grad[len(own)] += g.At(i, i)
		}
	}
	return grad, f.cov.GramGrad(ctx, own, f.nodes, g)
}

// predict returns the posterior at the given nodes.
func (f *classFactor) predict(ctx context.Context, nodes []int, w *progress.Work) (latent.Functions, error) {
	out := latent.New(len(nodes), f.classes())
	label, rows := f.labelled(nodes)
	for a, k := range label {
		if k >= 0 {
			f.atLabel(k, out.Mean.RawRowView(a), out.Variance.RawRowView(a))
		}
	}
	if len(rows) == 0 {
		return out, ctx.Err()
	}
	rest, err := f.predictOthers(ctx, chosen(nodes, rows), w)
	if err != nil {
		return latent.Functions{}, err
	}
	for q, a := range rows {
		out.Mean.SetRow(a, rest.Mean.RawRowView(q))
		out.Variance.SetRow(a, rest.Variance.RawRowView(q))
	}
	return out, nil
}

// labelled returns a label of every node, −1 for none, and which nodes have none.
func (f *classFactor) labelled(nodes []int) (label, others []int) {
	of := make(map[int]int, len(f.nodes))
	for k, i := range f.nodes {
		of[i] = k
	}
	label = make([]int, len(nodes))
	for a, i := range nodes {
		k, has := of[i]
		if label[a] = k; !has {
			label[a], others = -1, append(others, a)
		}
	}
	return label, others
}

// atLabel sets the posterior at the node of label k: mean y − noise·α, and the
// variance of a normal variable that is left with v and then measured.
func (f *classFactor) atLabel(k int, mean, variance []float64) {
	for c, q := range f.precisions().RawRowView(k) {
		noise := f.noiseAt(k, c)
		v := max(0, 1/q-noise)
		mean[c] = f.y.At(k, c) - noise*f.alpha.At(k, c)
		variance[c] = v * noise / (v + noise)
	}
}

// predictOthers is predict by covariances with the labels.
func (f *classFactor) predictOthers(ctx context.Context, nodes []int, w *progress.Work) (latent.Functions, error) {
	n, m, classes := len(f.nodes), len(nodes), f.classes()
	out := latent.New(m, classes)
	prior := make([]float64, m)
	if err := f.cov.Diag(ctx, prior, nodes); err != nil {
		return latent.Functions{}, err
	}
	size := plan.Default().Held(n)
	for lo := 0; lo < m; lo += size {
		w.Count(int64(lo), int64(m))
		hi := min(m, lo+size)
		cross, err := between(ctx, f.cov, f.nodes, nodes[lo:hi])
		if err != nil {
			return latent.Functions{}, err
		}
		dense.Mul(dense.View(out.Mean).Block(lo, hi, 0, classes), dense.View(cross).T(), dense.View(f.alpha))
		solved := mat.NewDense(n, hi-lo, nil)
		dense.Mul(dense.View(solved), dense.View(f.inverse), dense.View(cross))
		left := slices.Clone(prior[lo:hi])
		lessProducts(left, cross, solved, 0, n)
		for c := range classes {
			for q, v := range left {
				out.Variance.Set(lo+q, c, v)
			}
		}
		for c, l := range f.lower {
			if l == nil {
				continue
			}
			from, to := f.members(c) // V_cᵀk = L_c⁻¹·E_cᵀB⁻¹k
			part := solved.Slice(from, to, 0, hi-lo).(*mat.Dense)
			l.SolveLower(part, part)
			more := make([]float64, hi-lo)
			lessProducts(more, part, part, 0, to-from)
			for q, v := range more {
				out.Variance.Set(lo+q, c, out.Variance.At(lo+q, c)+v)
			}
		}
	}
	for at, v := range out.Variance.RawMatrix().Data {
		out.Variance.RawMatrix().Data[at] = max(0, v)
	}
	return out, ctx.Err()
}

// lessProducts subtracts Σ_k a_kq·b_kq over rows k in [from, to) from sum[q].
func lessProducts(sum []float64, a, b *mat.Dense, from, to int) {
	parallel.Ranges(len(sum), 64, func(lo, hi int) {
		for k := from; k < to; k++ {
			right := b.RawRowView(k)[lo:hi]
			for q, v := range a.RawRowView(k)[lo:hi] {
				sum[lo+q] -= v * right[q]
			}
		}
	})
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
	k := mat.NewDense(len(rows), len(cols), nil)
	return k, cov.Cross(rows, cols).Apply(ctx, k, identity(len(cols)))
}
