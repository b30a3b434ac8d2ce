package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/adam"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/solve"
)

const (
	learnTol       = 3e-2 // relative residual while learning
	learnMost      = 1000 // iterations of a step of learning,
	solveMost      = 4000 // and of a solve that has to converge
	learnRate      = 0.1  // of Adam, in e-folds
	patchCount     = 4
	patchNodes     = 300
	scatteredNodes = 800 // to start from
	patchMaxIter   = 30
)

// probeCount is how many random right-hand sides go beside n measurements. The
// trace that they estimate has a relative error of about 1/√(n·probes), so that
// many measurements need few.
func probeCount(n int) int { return max(3, min(15, 300_000/n)) }

// iterativeSystem solves H·x = b by conjugate gradients.
type iterativeSystem struct {
	op      solve.Operator
	noise   []float64
	precond solve.Factored
	near    solve.Preconditioner // of solves, instead of precond; nil unless the kernel has one
	own     bool                 // one of them is that of the kernel, not the diagonal
	inverse solve.Preconditioner // nil unless the kernel has one
	most    int                  // iterations of a solve that has to converge
	sd      []float64            // of every measurement, if the system is scaled by them; else nil
}

// newIterativeSystem prepares to solve H·x = b; plain is without a preconditioner.
func newIterativeSystem(ctx context.Context, cov kernel.Covariance, d Data, noise []float64, plain bool) (*iterativeSystem, error) {
	s := &iterativeSystem{op: cov.Cross(d.Nodes, d.Nodes), noise: noise, most: solveMost} // before the preconditioner, which uses its features
	var err error
	if invert := kernel.AbilitiesOf(cov).Invert; invert != nil {
		if s.inverse, err = invert(ctx, d.Nodes, 0, noise); err != nil {
			return nil, err
		}
	}
	if !plain {
		if near := kernel.AbilitiesOf(cov).Approximate; near != nil {
			if s.near, err = near(ctx, d.Nodes, 0, noise); err != nil {
				return nil, err
			}
		}
		s.own = s.near != nil || kernel.AbilitiesOf(cov).Precondition != nil
		s.precond, err = newPreconditioner(ctx, cov, d.Nodes, noise)
	}
	return s, err
}

// newPreconditioner returns the covariance's own, or the diagonal.
func newPreconditioner(ctx context.Context, cov kernel.Covariance, nodes []int, noise []float64) (solve.Factored, error) {
	if own := kernel.AbilitiesOf(cov).Precondition; own != nil {
		return own(ctx, nodes, 0, noise)
	}
	diag := make([]float64, len(nodes))
	if err := cov.Diag(ctx, diag, nodes); err != nil {
		return nil, err
	}
	return solve.NewJacobi(diag, noise)
}

// tolerance is the residual that a step of learning may leave. A kernel that
// reaches far explains nearly all of the data, so the residual must be small
// beside the noise, or it is taken for a part of it; its own preconditioner makes
// that cheap.
func (s *iterativeSystem) tolerance() float64 {
	if !s.own {
		return learnTol
	}
	return learnTol * min(1, max(0.05, 2*math.Sqrt(slices.Min(s.noise))))
}

func (s *iterativeSystem) solve(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	if s.sd != nil {
		return s.solveScaled(ctx, dst, b, a)
	}
	_, err := s.run(ctx, dst, b, solve.Options{ColumnTol: a.tolerances(s.noise, b), MaxIter: s.most, Single: a.single && s.single()})
	return err
}

// single reports whether iterations in float32 are as good as in float64. A kernel of
// long range has eigenvalues as large as the number of measurements, which magnify
// rounding: on a ring of 500,000 nodes, samples took 11 iterations in float32 and 3
// in float64.
func (s *iterativeSystem) single() bool { return !s.own }

// run solves by conjugate gradients with the preconditioner and the inverse of
// the system.
func (s *iterativeSystem) run(ctx context.Context, dst, b *mat.Dense, opts solve.Options) (solve.Stats, error) {
	if s.near != nil {
		opts.Precond = s.near
	} else if s.precond != nil {
		opts.Precond = s.precond
	}
	opts.Inverse = s.inverse
	return solve.CG(ctx, dst, s.op, s.noise, b, opts)
}

// logDet estimates log det H, or that of the scaled matrix, with its standard error.
func (s *iterativeSystem) logDet(ctx context.Context, seed uint64) (value, se float64, err error) {
	return solve.LogDet(ctx, s.op, s.noise, solve.LogDetOptions{Probes: 8, Steps: 25, Precond: s.precond, Seed: seed})
}

// patches returns likelihoods of a few windows of measurements that are near
// each other, of the given size each, and of scattered measurements for kernels of
// long range. Fitted exactly, they are a start that costs
// the same at any size.
func (l *likelihood) patches(size, scattered int) []*likelihood {
	var all []*likelihood
	for _, chosen := range choosePatches(l.kernel, l.data, size, scattered) {
		all = append(all, &likelihood{l.kernel, l.data.Select(chosen), l.meanVar, l.params})
	}
	return all
}

// scattered returns the number of scattered measurements to learn from: they tell
// about the part of a kernel that has a long range.
func (l *likelihood) scattered(theta []float64) (int, error) {
	own, _ := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil || !kernel.AbilitiesOf(cov).LongRange {
		return 0, err
	}
	return scatteredNodes, nil
}

// learner climbs the likelihood by Adam with stochastic gradients: random signs z
// give tr(H⁻¹ ∂H) = E[(H⁻¹z)ᵀ ∂H z] (Hutchinson). Unless they are to be fresh, the
// right-hand sides are the same in every step, so that solutions change little and
// start warm.
type learner struct {
	*likelihood
	opts      Stochastic
	seed      uint64
	taken     uint64     // steps
	sides     *mat.Dense // [y, z_1, …]
	solutions *mat.Dense // H⁻¹ of them
	left      *mat.Dense // weighted solutions, and
	right     *mat.Dense // the sides [α, z_1, …], whose products with ∂H are the gradient
	worst     float64    // residual of the last step
}

func newLearner(l *likelihood, opts Stochastic, seed uint64) *learner {
	n := l.data.Len()
	if opts.Probes == 0 {
		opts.Probes = probeCount(n)
	}
	w := &learner{likelihood: l, opts: opts, seed: seed, sides: mat.NewDense(n, 1+opts.Probes, nil), solutions: mat.NewDense(n, 1+opts.Probes, nil),
		left: mat.NewDense(n, 1+opts.Probes, nil), right: mat.NewDense(n, 1+opts.Probes, nil)}
	w.probe(rng.New(seed, "probes"))
	return w
}

// probe draws the random signs, a bit each.
func (w *learner) probe(signs *rng.Stream) {
	for k, y := range w.data.Y {
		row, bits := w.sides.RawRowView(k), signs.Uint64()
		row[0] = y
		for s := range w.opts.Probes {
			row[1+s] = float64(int(bits>>s&1)*2 - 1)
		}
	}
}

// learn takes the given number of steps of Adam from theta, with a rate that falls
// to a tenth.
func (l *likelihood) learn(ctx context.Context, theta []float64, epochs int, opts Stochastic, seed uint64, steps *progress.Work) ([]float64, FitReport, error) {
	w := newLearner(l, opts, seed)
	x := l.params.Free(theta)
	climb := adam.New(len(x))
	for t := range epochs {
		theta := l.params.Natural(x)
		grad, err := w.step(ctx, theta)
		if err != nil {
			return nil, FitReport{}, err
		}
		l.params.Chain(grad, theta)
		l.params.Prior(grad, x)
		climb.Step(x, grad, learnRate*math.Pow(0.1, float64(t)/float64(epochs)))
		steps.Count(int64(t+1), int64(epochs))
	}
	enough := opts.Tol
	if enough == 0 {
		enough = learnTol
	}
	return l.params.Natural(x), FitReport{Iterations: epochs, Evaluations: epochs, Converged: w.worst <= enough, Residual: w.worst}, nil
}

// step returns the stochastic gradient at theta, in natural parameters.
func (w *learner) step(ctx context.Context, theta []float64) ([]float64, error) {
	own, noise := w.params.split(theta)
	base, err := w.kernel.At(own)
	if err != nil {
		return nil, err
	}
	cov := kernel.WithConstant(base, w.meanVar)
	system, err := newIterativeSystem(ctx, cov, w.data, noises(w.data, noise), w.opts.Plain)
	if err != nil {
		return nil, err
	}
	tol := w.opts.Tol
	if tol == 0 {
		tol = system.tolerance()
	}
	if w.opts.Fresh && w.taken > 0 {
		w.probe(rng.New(w.seed, "probes", w.taken))
		w.solutions.Zero()
	}
	w.taken++
	// Residuals by the recursion are good enough, and the next step begins with true ones.
	stats, err := system.run(ctx, w.solutions, w.sides, solve.Options{Tol: tol, MaxIter: learnMost, Single: system.single(), Recursive: true})
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	w.worst, _ = stats.Worst()

	// ½ αᵀ∂Hα − ½ mean_s v_sᵀ∂Hz_s, as one block with signed weights.
	trace := w.weigh()
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if w.params.noise {
		kernelGrad = grad[:len(grad)-1]
		_, slope := w.data.within(noise)
		grad[len(grad)-1] = trace + slope
	}
	return grad, cov.Grad(ctx, kernelGrad, w.data.Nodes, w.left, w.right)
}

// weigh sets left and right to the vectors of the gradient, and returns the trace of
// their product with the derivative of the noise, as in gradient.
func (w *learner) weigh() float64 {
	n, k := w.sides.Dims()
	const size = 1024
	parts := make([]float64, (n+size-1)/size)
	parallel.Ranges(n, size, func(lo, hi int) {
		sum := 0.0
		for i := lo; i < hi; i++ {
			u, z := w.left.RawRowView(i), w.right.RawRowView(i)
			v := w.solutions.RawRowView(i)
			copy(z, w.sides.RawRowView(i))
			z[0] = v[0]
			for s := range u {
				c := 0.5
				if s > 0 {
					c = -0.5 / float64(k-1)
				}
				u[s] = c * v[s]
				sum += u[s] * z[s] / w.data.count(i)
			}
		}
		parts[lo/size] = sum
	})
	trace := 0.0
	for _, v := range parts {
		trace += v
	}
	return trace
}

// estimate returns the log likelihood at theta by one solve and a stochastic
// log-determinant, with its standard error.
func (l *likelihood) estimate(ctx context.Context, theta []float64, plain bool, seed uint64) (value, se float64, err error) {
	own, noise := l.params.split(theta)
	base, err := l.kernel.At(own)
	if err != nil {
		return 0, 0, err
	}
	cov, noiseVar := kernel.WithConstant(base, l.meanVar), noises(l.data, noise)
	system, err := newIterativeSystem(ctx, cov, l.data, noiseVar, plain)
	if err != nil {
		return 0, 0, err
	}
	n := l.data.Len()
	y := mat.NewDense(n, 1, slices.Clone(l.data.Y))
	alpha := mat.NewDense(n, 1, nil)
	if err := system.solve(ctx, alpha, y, forMeans); err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	logDet, se, err := system.logDet(ctx, seed)
	if err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	within, _ := l.data.within(noise)
	return -mat.Dot(alpha.ColView(0), y.ColView(0))/2 - logDet/2 - float64(n)/2*math.Log(2*math.Pi) + within, se / 2, nil
}
