package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/solve"
)

const (
	probes       = 15   // random right-hand sides beside the measurements
	learnTol     = 1e-2 // relative residual while learning
	solveTol     = 1e-4 // and of the posterior
	solveMost    = 1000 // iterations
	learnRate    = 0.1  // of Adam, in e-folds
	patchCount   = 4
	patchNodes   = 300
	patchMaxIter = 30
)

// iterativeSystem solves H·x = b by conjugate gradients.
type iterativeSystem struct {
	op      solve.Operator
	noise   []float64
	precond solve.Preconditioner
}

func newIterativeSystem(ctx context.Context, cov kernel.Covariance, d Data, noise []float64) (*iterativeSystem, error) {
	diag := make([]float64, d.Len())
	if err := cov.Diag(ctx, diag, d.Nodes); err != nil {
		return nil, err
	}
	precond, err := solve.NewJacobi(diag, noise)
	if err != nil {
		return nil, err
	}
	return &iterativeSystem{cov.Cross(d.Nodes, d.Nodes), noise, precond}, nil
}

func (s *iterativeSystem) solve(ctx context.Context, dst, b *mat.Dense) error {
	_, err := s.solveTo(ctx, dst, b, solveTol)
	return err
}

func (s *iterativeSystem) solveTo(ctx context.Context, dst, b *mat.Dense, tol float64) (solve.Stats, error) {
	return solve.Solve(ctx, dst, s.op, s.noise, b, solve.Options{Tol: tol, MaxIter: solveMost, Precond: s.precond})
}

// patches returns likelihoods of a few windows of measurements that are near
// each other: nodes are numbered by locality, so near numbers are near nodes.
// Fitted exactly, they are a start that costs the same at any size.
func (l *likelihood) patches() []*likelihood {
	n := l.data.Len()
	order := make([]int, n)
	for k := range order {
		order[k] = k
	}
	slices.SortStableFunc(order, func(a, b int) int { return l.data.Nodes[a] - l.data.Nodes[b] })
	size := min(n, patchNodes)
	var all []*likelihood
	for p := range patchCount {
		lo := (n - size) * (2*p + 1) / (2 * patchCount)
		var d Data
		for _, k := range order[lo : lo+size] {
			d.Nodes = append(d.Nodes, l.data.Nodes[k])
			d.Y = append(d.Y, l.data.Y[k])
			if l.data.NoiseVar != nil {
				d.NoiseVar = append(d.NoiseVar, l.data.NoiseVar[k])
			}
		}
		all = append(all, &likelihood{l.kernel, d, l.meanVar, l.params})
	}
	return all
}

// sum is the objective of several likelihoods together.
func sum(all []*likelihood) objective {
	return func(ctx context.Context, theta []float64) (total float64, grad []float64, err error) {
		grad = make([]float64, len(theta))
		for _, l := range all {
			value, g, err := l.evaluate(ctx, theta)
			if err != nil {
				return 0, nil, err
			}
			total += value
			for j := range g {
				grad[j] += g[j]
			}
		}
		return total, grad, nil
	}
}

// learner climbs the likelihood by Adam with stochastic gradients. Its probes
// z_s = g_s(x) + ε_s are prior draws of readings, so that E[z zᵀ] = H and
//
//	tr(H⁻¹ ∂H) = E[vᵀ ∂H v],  v = H⁻¹z.
//
// Draws are the same in every step, so solutions change little and start warm.
type learner struct {
	*likelihood
	seed      uint64
	solutions *mat.Dense // H⁻¹[y, z_1, …]
	worst     float64    // residual of the last step
}

func (l *likelihood) learn(ctx context.Context, theta []float64, epochs int, seed uint64) ([]float64, FitReport, error) {
	w := &learner{likelihood: l, seed: seed, solutions: mat.NewDense(l.data.Len(), 1+probes, nil)}
	x := l.params.free(theta)
	first, second := make([]float64, len(x)), make([]float64, len(x))
	const decay1, decay2, tiny = 0.9, 0.999, 1e-8
	for t := 1; t <= epochs; t++ {
		theta := l.params.natural(x)
		grad, err := w.step(ctx, theta)
		if err != nil {
			return nil, FitReport{}, err
		}
		l.params.chain(grad, theta)
		l.params.prior(grad, x)
		for j, g := range grad {
			first[j] = decay1*first[j] + (1-decay1)*g
			second[j] = decay2*second[j] + (1-decay2)*g*g
			m, v := first[j]/(1-math.Pow(decay1, float64(t))), second[j]/(1-math.Pow(decay2, float64(t)))
			x[j] += learnRate * m / (math.Sqrt(v) + tiny)
		}
	}
	return l.params.natural(x), FitReport{Iterations: epochs, Evaluations: epochs, Converged: true, Residual: w.worst}, nil
}

// step returns the stochastic gradient at theta, in natural parameters.
func (w *learner) step(ctx context.Context, theta []float64) ([]float64, error) {
	own, noise := w.params.split(theta)
	base, err := w.kernel.At(own)
	if err != nil {
		return nil, err
	}
	cov := floating(base, w.meanVar)
	noiseVar := noises(w.data, noise)
	b, err := w.rightSides(ctx, cov, noiseVar)
	if err != nil {
		return nil, err
	}
	system, err := newIterativeSystem(ctx, cov, w.data, noiseVar)
	if err != nil {
		return nil, err
	}
	stats, err := system.solveTo(ctx, w.solutions, b, learnTol)
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	w.worst, _ = stats.Worst()

	// ½ αᵀ∂Hα − ½ mean_s v_sᵀ∂Hv_s, as one block with signed weights.
	weighted := mat.DenseCopyOf(w.solutions)
	trace := 0.0
	n, k := weighted.Dims()
	for i := range n {
		row := weighted.RawRowView(i)
		for s := range k {
			c := 0.5
			if s > 0 {
				c = -0.5 / probes
			}
			trace += c * row[s] * row[s]
			row[s] *= c
		}
	}
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if w.params.noise {
		kernelGrad = grad[:len(grad)-1]
		grad[len(grad)-1] = trace
	}
	return grad, cov.Grad(ctx, kernelGrad, w.data.Nodes, weighted, w.solutions)
}

// rightSides returns [y, z_1, …].
func (w *learner) rightSides(ctx context.Context, cov kernel.Covariance, noise []float64) (*mat.Dense, error) {
	prior := mat.NewDense(w.kernel.Nodes(), probes, nil)
	if err := cov.Prior(ctx, prior, w.seed); err != nil {
		return nil, err
	}
	b := mat.NewDense(w.data.Len(), 1+probes, nil)
	for s := range probes {
		normal := rand.New(rng.New(w.seed, "probe noise", uint64(s)))
		for k, i := range w.data.Nodes {
			b.Set(k, 1+s, prior.At(i, s)+math.Sqrt(noise[k])*normal.NormFloat64())
		}
	}
	for k, y := range w.data.Y {
		b.Set(k, 0, y)
	}
	return b, nil
}

// estimate returns the log likelihood at theta by one solve and a stochastic
// log-determinant, with its standard error.
func (l *likelihood) estimate(ctx context.Context, theta []float64, seed uint64) (value, se float64, err error) {
	own, noise := l.params.split(theta)
	base, err := l.kernel.At(own)
	if err != nil {
		return 0, 0, err
	}
	cov, noiseVar := floating(base, l.meanVar), noises(l.data, noise)
	system, err := newIterativeSystem(ctx, cov, l.data, noiseVar)
	if err != nil {
		return 0, 0, err
	}
	n := l.data.Len()
	y := mat.NewDense(n, 1, slices.Clone(l.data.Y))
	alpha := mat.NewDense(n, 1, nil)
	if err := system.solve(ctx, alpha, y); err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	logDet, se, err := solve.LogDet(ctx, system.op, noiseVar, solve.LogDetOptions{Probes: 16, Steps: 40, Seed: seed})
	if err != nil {
		return 0, 0, fmt.Errorf("log likelihood: %w", err)
	}
	return -mat.Dot(alpha.ColView(0), y.ColView(0))/2 - logDet/2 - float64(n)/2*math.Log(2*math.Pi), se / 2, nil
}
