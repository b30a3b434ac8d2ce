package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp/internal/adam"
	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/solve"
)

// learner climbs the likelihood by Adam with stochastic gradients: random signs z
// give tr(H⁻¹ ∂H) = E[(H⁻¹z)ᵀ ∂H z] (Hutchinson). Unless they are to be fresh, the
// right-hand sides are the same in every step, so that solutions change little and
// start warm.
type learner struct {
	*marginal
	opts      Stochastic
	seed      uint64
	taken     uint64           // steps
	sides     *mat.Dense       // [y, z_1, …]
	solutions *mat.Dense       // H⁻¹ of them
	left      *mat.Dense       // weighted solutions, and
	right     *mat.Dense       // the sides [α, z_1, …], whose products with ∂H are the gradient
	worst     float64          // residual of the last step
	weight    []float64        // of the columns in the gradient
	device    *deviceLearner   // in place of all blocks; nil: none
	single    *singleLearner   // the same
	mixed     kernel.MixedRows // in place of the covariance, left and right; nil: none

	x     []float64 // free hyperparameters of the step; nil: not known
	ahead ahead
	// The last system that made preconditioners, and its free hyperparameters.
	system *iterativeSystem
	built  []float64
}

func newLearner(l *marginal, opts Stochastic, seed uint64) *learner {
	if opts.Probes == 0 {
		all, _ := l.systemRows().Total(l.data.Len())
		opts.Probes = probeCount(all)
	}
	w := &learner{marginal: l, opts: opts, seed: seed}
	w.weight = make([]float64, 1+opts.Probes)
	for j := range w.weight {
		if w.weight[j] = 0.5; j > 0 {
			w.weight[j] = -0.5 / float64(opts.Probes)
		}
	}
	if w.card.Use() == nil {
		w.beginHere()
	}
	return w
}

// begin makes the blocks of a learner with a card: there, or where the kernel cannot, here.
func (w *learner) begin(ctx context.Context) (err error) {
	if w.single != nil || w.sides != nil {
		return nil
	}
	if w.device, err = newDeviceLearner(ctx, w); w.device == nil && err == nil {
		w.beginHere()
	}
	return err
}

// beginHere makes the blocks in the memory of this process.
func (w *learner) beginHere() {
	if w.single = newSingleLearner(w); w.single == nil {
		w.prepare()
	}
}

// prepare makes the blocks of float64, with the probes of the first step.
func (w *learner) prepare() {
	n, k := w.data.Len(), 1+w.opts.Probes
	w.sides, w.solutions = mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	w.probe(rng.New(w.seed, "probes"))
	all, _ := w.systemRows().Total(n)
	if mixed := kernel.TrainingOf(w.kernel).Mixed; mixed != nil && all >= w.opts.singleFrom() && !w.opts.Plain {
		w.mixed = mixed(w.data.Nodes, w.meanVar)
	}
	if w.mixed == nil {
		w.left, w.right = mat.NewDense(n, k, nil), mat.NewDense(n, k, nil)
	}
}

// probe draws the random signs, a bit each.
func (w *learner) probe(signs *rng.Stream) {
	_, first := w.systemRows().Total(w.data.Len())
	signs.Skip(first)
	for k, y := range w.data.Y {
		row, bits := w.sides.RawRowView(k), signs.Uint64()
		row[0] = y
		for s := range w.opts.Probes {
			row[1+s] = float64(int(bits>>s&1)*2 - 1)
		}
	}
}

// learn takes the given number of steps of Adam from theta, with a rate that falls
// to a tenth. States go to the store, unless it is nil.
func (l *marginal) learn(ctx context.Context, theta []float64, epochs int, opts Stochastic, seed uint64, store Checkpoints,
	steps *progress.Work) ([]float64, FitReport, error) {
	w := newLearner(l, opts, seed)
	if err := w.begin(ctx); err != nil {
		return nil, FitReport{}, err
	}
	defer w.end()
	x := l.params.Free(theta)
	climb, first := adam.New(len(x)), 0
	keep := newKeeper(store, l.group(), w, theta, epochs)
	last, err := keep.resume(ctx)
	if err != nil {
		return nil, FitReport{}, err
	}
	if last != nil {
		if err := w.restoreState(ctx, last); err != nil {
			return nil, FitReport{}, err
		}
		x, climb, first = last.X, adam.Resume(last.Climb), last.Epoch
	}
	for t := first; t < epochs; t++ {
		theta := l.params.Natural(x)
		w.x = slices.Clone(x)
		grad, err := w.step(ctx, theta)
		if err != nil {
			return nil, FitReport{}, err
		}
		l.params.Chain(grad, theta)
		l.params.Prior(grad, x)
		climb.Step(x, grad, learnRate*math.Pow(0.1, float64(t)/float64(epochs)))
		steps.Count(int64(t+1), int64(epochs))
		if err := keep.keep(ctx, func() (learnState, bool) { return w.state(ctx, t+1, x, climb) }); err != nil {
			return nil, FitReport{}, err
		}
	}
	if err := keep.end(); err != nil {
		return nil, FitReport{}, err
	}
	if w.device != nil {
		w.card.Did("learned")
	}
	enough := opts.Tol
	if enough == 0 {
		enough = learnTol
	}
	return l.params.Natural(x), FitReport{Iterations: epochs, Evaluations: epochs, Converged: w.worst <= enough, Residual: w.worst}, nil
}

// beside returns the system whose preconditioner still serves; nil if there is none.
func (w *learner) beside() *iterativeSystem {
	if w.system == nil || !closeTo(w.x, w.built, learnNear) {
		return nil
	}
	return w.system
}

// closeTo reports whether no free hyperparameter has moved by more than most from where it was; nil are
// not known.
func closeTo(x, built []float64, most float64) bool {
	if built == nil || len(x) != len(built) {
		return false
	}
	for j, v := range x {
		if math.Abs(v-built[j]) > most {
			return false
		}
	}
	return true
}

// step returns the stochastic gradient at theta, in natural parameters.
func (w *learner) step(ctx context.Context, theta []float64) ([]float64, error) {
	if w.device != nil {
		grad, failure, err := w.device.step(ctx, theta)
		if failure == nil {
			return grad, err
		}
		if err := w.leaveCard(failure); err != nil {
			return nil, err
		}
	}
	if w.single != nil {
		grad, err := w.single.step(ctx, theta)
		if !errors.Is(err, solve.ErrNotPositiveDefinite) {
			return grad, err
		}
		w.single = nil // float32 may have failed where float64 does not
		w.prepare()
	}
	own, noise := w.params.split(theta)
	system, gradient, err := w.at(ctx, own, noises(w.data, noise))
	if err != nil {
		return nil, err
	}
	tol := w.opts.Tol
	if tol == 0 {
		if tol, err = system.tolerance(ctx); err != nil {
			return nil, err
		}
	}
	if w.opts.Fresh && w.taken > 0 {
		w.probe(rng.New(w.seed, "probes", w.taken))
		w.solutions.Zero()
	}
	if !w.opts.Fresh && w.x != nil {
		w.ahead.start(w.solutions.RawMatrix().Data, w.x)
	}
	w.taken++
	if w.mixed != nil {
		w.restore()
	}
	// Residuals by the recursion are good enough, and the next step begins with true ones.
	stats, err := system.run(ctx, w.solutions, w.sides, solve.Options{Tol: tol, MaxIter: learnMost, Single: system.single(), Recursive: true})
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	w.worst, _ = stats.Worst()

	// ½ αᵀ∂Hα − ½ mean_s v_sᵀ∂Hz_s, as one block with signed weights.
	trace, err := w.weigh(ctx)
	if err != nil {
		return nil, err
	}
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if w.params.noise {
		kernelGrad = grad[:len(grad)-1]
		_, slope := w.within(noise)
		grad[len(grad)-1] = trace + slope
	}
	return grad, gradient(ctx, kernelGrad)
}

// at returns the system at the hyperparameters of the kernel and the noise variances, and
// how to add the gradient after weigh.
func (w *learner) at(ctx context.Context, own, noise []float64) (s *iterativeSystem,
	gradient func(ctx context.Context, grad []float64) error, err error) {
	beside := w.beside()
	if w.mixed != nil {
		if err := w.mixed.Set(ctx, own); err != nil {
			return nil, nil, err
		}
		s = &iterativeSystem{op: w.mixed, noise: noise, own: true, most: solveMost, rows: w.systemRows()}
		if beside != nil {
			s.precond = beside.precond
		} else if s.precond, err = w.mixed.Precondition(ctx, noise); err != nil {
			return nil, nil, err
		}
		gradient = func(ctx context.Context, grad []float64) error {
			return w.mixed.Grad(ctx, grad, w.weight, w.solutions, w.sides)
		}
	} else {
		base, err := w.kernel.At(own)
		if err != nil {
			return nil, nil, err
		}
		cov := kernel.WithConstant(base, w.meanVar)
		if s, err = newIterativeSystemBeside(ctx, cov, w.data, w.systemRows(), noise, w.opts, beside); err != nil {
			return nil, nil, err
		}
		gradient = func(ctx context.Context, grad []float64) error {
			return cov.Grad(ctx, grad, w.data.Nodes, w.left, w.right)
		}
	}
	if beside == nil {
		w.system, w.built = s, w.x
	}
	return s, gradient, nil
}

// weigh sets left and right to the vectors of the gradient, or puts α in the place of y if
// the kernel weighs them itself, and returns the trace of their product with the derivative
// of the noise, as in gradient.
func (w *learner) weigh(ctx context.Context) (float64, error) {
	n, k := w.sides.Dims()
	pass := meter.Start()
	defer pass.Done(16 * n * k)
	trace, err := w.systemRows().Sum(ctx, n, 1, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			z, v := w.sides.RawRowView(i), w.solutions.RawRowView(i)
			if w.left != nil {
				u, to := w.left.RawRowView(i), w.right.RawRowView(i)
				copy(to, z)
				for s, c := range w.weight {
					u[s] = c * v[s]
				}
				z = to
			}
			z[0] = v[0]
			sum := 0.0
			for s, c := range w.weight {
				sum += float64(c * v[s] * z[s])
			}
			sums[0] += sum / w.data.count(i)
		}
	})
	return trace[0], err
}

// restore puts y back.
func (w *learner) restore() {
	k := len(w.weight)
	data := w.sides.RawMatrix().Data
	parallel.Ranges(len(w.data.Y), 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			data[i*k] = w.data.Y[i]
		}
	})
}
