package gp

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/parallel"
	"grfgp/kernel"
	"grfgp/solve"
)

const (
	learnTol       = 3e-2 // relative residual while learning
	learnMost      = 1000 // iterations of a step of learning,
	solveMost      = 4000 // and of a solve that has to converge
	learnRate      = 0.1  // of Adam, in e-folds
	learnNear      = 0.2  // how far hyperparameters may move before a kernel's preconditioner is made again
	patchCount     = 4
	patchNodes     = 300
	scatteredNodes = 800 // to start from
	patchMaxIter   = 30
	patchTol       = 0.1 // nats: the first steps of learning move by a tenth of an e-fold, whatever the start
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
	double  bool                 // iterations in float64 alone
	most    int                  // iterations of a solve that has to converge
	sd      []float64            // of every measurement, if the system is scaled by them; else nil
	rows    *solve.Rows          // of several ranks; nil: one has all

	// mixed returns op in mixed precision, which is made when it is first needed; nil: op.
	mixed func() (solve.Operator, error)
}

// newIterativeSystem prepares to solve H·x = b.
func newIterativeSystem(ctx context.Context, cov kernel.Covariance, d Data, rows *solve.Rows, noise []float64,
	how Stochastic) (*iterativeSystem, error) {
	return newIterativeSystemBeside(ctx, cov, d, rows, noise, how, nil)
}

// newIterativeSystemBeside is newIterativeSystem with the preconditioners of another system
// of the same measurements, if it is not nil and they are the kernel's own.
func newIterativeSystemBeside(ctx context.Context, cov kernel.Covariance, d Data, rows *solve.Rows, noise []float64, how Stochastic,
	other *iterativeSystem) (*iterativeSystem, error) {
	// before the preconditioner, which uses its features
	s := &iterativeSystem{op: cov.Cross(d.Nodes, d.Nodes), noise: noise, double: how.double, most: solveMost, rows: rows}
	all, _ := rows.Total(len(d.Nodes))
	if mixed := kernel.AbilitiesOf(cov).Mixed; mixed != nil && all >= how.singleFrom() {
		background := context.WithoutCancel(ctx)
		s.mixed = sync.OnceValues(func() (solve.Operator, error) { return mixed(background, d.Nodes, 0) })
	}
	var err error
	if invert := kernel.AbilitiesOf(cov).Invert; invert != nil {
		if s.inverse, err = invert(ctx, d.Nodes, 0, noise); err != nil {
			return nil, err
		}
	}
	if other != nil && other.own {
		s.near, s.precond, s.own = other.near, other.precond, true
		return s, nil
	}
	if !how.Plain {
		if near := kernel.AbilitiesOf(cov).Approximate; near != nil {
			if s.near, err = near(ctx, d.Nodes, 0, noise); err != nil {
				return nil, err
			}
		}
		s.own = s.near != nil || kernel.AbilitiesOf(cov).Precondition != nil
		s.precond, err = newPreconditioner(ctx, cov, d.Nodes, rows, noise)
	}
	return s, err
}

// newPreconditioner returns the covariance's own, or the diagonal.
func newPreconditioner(ctx context.Context, cov kernel.Covariance, nodes []int, rows *solve.Rows, noise []float64) (solve.Factored, error) {
	if own := kernel.AbilitiesOf(cov).Precondition; own != nil {
		return own(ctx, nodes, 0, noise)
	}
	diag := make([]float64, len(nodes))
	if err := cov.Diag(ctx, diag, nodes); err != nil {
		return nil, err
	}
	j, err := solve.NewJacobi(diag, noise)
	if err != nil {
		return nil, err
	}
	return j.Over(rows), nil
}

// tolerance is the residual that a step of learning may leave. A kernel that
// reaches far explains nearly all of the data, so the residual must be small
// beside the noise, or it is taken for a part of it; its own preconditioner makes
// that cheap.
func (s *iterativeSystem) tolerance(ctx context.Context) (float64, error) {
	if !s.own {
		return learnTol, nil
	}
	least, err := s.rows.Least(ctx, smallest(s.noise))
	return learnTol * min(1, max(0.05, 2*math.Sqrt(least))), err
}

// smallest returns the smallest of some numbers, of which there must be one.
func smallest(x []float64) float64 {
	const size = 1 << 15
	parts := make([]float64, (len(x)+size-1)/size)
	parallel.Ranges(len(x), size, func(lo, hi int) { parts[lo/size] = slices.Min(x[lo:hi]) })
	return slices.Min(parts)
}

func (s *iterativeSystem) solve(ctx context.Context, dst, b *mat.Dense, a accuracy) error {
	if s.sd != nil {
		return s.solveScaled(ctx, dst, b, a)
	}
	tols, err := a.tolerances(ctx, s.rows, s.noise, b)
	if err != nil {
		return err
	}
	op, err := s.product(a.single)
	if err != nil {
		return err
	}
	_, err = s.runBy(ctx, op, dst, b, solve.Options{ColumnTol: tols, MaxIter: s.most, Single: a.single && s.single()})
	return err
}

// product returns the matrix without noise, in mixed precision if it may be and there is one.
func (s *iterativeSystem) product(mayMix bool) (solve.Operator, error) {
	if !mayMix || s.mixed == nil {
		return s.op, nil
	}
	if op, err := s.mixed(); op != nil || err != nil {
		return op, err
	}
	return s.op, nil
}

// single reports whether iterations in float32 are as good as in float64. A kernel of
// long range has eigenvalues as large as the number of measurements, which magnify
// rounding: on a ring of 500,000 nodes, samples took 11 iterations in float32 and 3
// in float64.
func (s *iterativeSystem) single() bool { return !s.own && !s.double }

// run solves by conjugate gradients with the preconditioner and the inverse of
// the system.
func (s *iterativeSystem) run(ctx context.Context, dst, b *mat.Dense, opts solve.Options) (solve.Stats, error) {
	return s.runBy(ctx, s.op, dst, b, opts)
}

// runBy is run with another form of the matrix.
func (s *iterativeSystem) runBy(ctx context.Context, op solve.Operator, dst, b *mat.Dense, opts solve.Options) (solve.Stats, error) {
	if s.near != nil {
		opts.Precond = s.near
	} else if s.precond != nil {
		opts.Precond = s.precond
	}
	opts.Inverse, opts.Rows = s.inverse, s.rows
	return solve.CG(ctx, dst, op, s.noise, b, opts)
}

// logDet estimates log det H, or that of the scaled matrix, with its standard error.
func (s *iterativeSystem) logDet(ctx context.Context, seed uint64) (value, se float64, err error) {
	op, err := s.product(true)
	if err != nil {
		return 0, 0, err
	}
	return solve.LogDet(ctx, op, s.noise, solve.LogDetOptions{
		Probes: 8, Steps: 25, Early: s.own, Precond: s.precond, Seed: seed, Rows: s.rows})
}

// patches returns likelihoods of a few windows of measurements that are near
// each other, of the given size each, and of scattered measurements for kernels of
// long range. Fitted exactly, they are a start that costs
// the same at any size.
func (l *marginal) patches(size, scattered int) []*marginal {
	var all []*marginal
	for _, chosen := range choosePatches(l.kernel, l.data, size, scattered) {
		all = append(all, newMarginal(l.kernel, l.data.Select(chosen), l.meanVar, l.params))
	}
	return all
}

// scattered returns the number of scattered measurements to learn from: they tell
// about the part of a kernel that has a long range.
func (l *marginal) scattered(theta []float64) (int, error) {
	own, _ := l.params.split(theta)
	cov, err := l.kernel.At(own)
	if err != nil || !kernel.AbilitiesOf(cov).LongRange {
		return 0, err
	}
	return scatteredNodes, nil
}

// estimate returns the log likelihood at theta by one solve and a stochastic
// log-determinant, with its standard error.
func (l *marginal) estimate(ctx context.Context, theta []float64, how Stochastic, seed uint64) (value, se float64, err error) {
	fit, logDet, se, done, err := l.estimateOnCard(ctx, theta, how.Plain, seed)
	if err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	if !done {
		if fit, logDet, se, err = l.estimateHere(ctx, theta, how, seed); err != nil {
			return 0, 0, fmt.Errorf("log likelihood: %w", err)
		}
	}
	_, noise := l.params.split(theta)
	within, _ := l.within(noise)
	all, _ := l.systemRows().Total(l.data.Len())
	return -fit/2 - logDet/2 - float64(all)/2*math.Log(2*math.Pi) + within, se / 2, nil
}

// estimateHere returns yᵀH⁻¹y and the log-determinant with its standard error.
func (l *marginal) estimateHere(ctx context.Context, theta []float64, how Stochastic, seed uint64) (fit, logDet, se float64, err error) {
	own, noise := l.params.split(theta)
	base, err := l.kernel.At(own)
	if err != nil {
		return 0, 0, 0, err
	}
	cov, noiseVar := kernel.WithConstant(base, l.meanVar), noises(l.data, noise)
	system, err := newIterativeSystem(ctx, cov, l.data, l.systemRows(), noiseVar, how)
	if err != nil {
		return 0, 0, 0, err
	}
	n := l.data.Len()
	y := mat.NewDense(n, 1, slices.Clone(l.data.Y))
	alpha := mat.NewDense(n, 1, nil)
	if err := system.solve(ctx, alpha, y, forMeans); err != nil {
		return 0, 0, 0, err
	}
	if logDet, se, err = system.logDet(ctx, seed); err != nil {
		return 0, 0, 0, err
	}
	fit, err = dot(ctx, l.systemRows(), alpha.RawMatrix().Data, l.data.Y)
	return fit, logDet, se, err
}
