package gp

import (
	"context"
	"errors"
	"math"
	"slices"

	"grfgp/gp/internal/adam"
	"grfgp/internal/gpu"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/progress"
	"grfgp/solve"
	"grfgp/space"
)

const (
	learnTol  = 3e-2 // relative residual while learning
	learnMost = 1000 // iterations of a step of learning
	learnRate = 0.1  // of Adam, in e-folds

	// learnNear is how far hyperparameters may move before a kernel's preconditioner is made again, and cardNear the same on
	// a card: the processor makes it, in the time of a hundred iterations of the card.
	learnNear, cardNear = 0.2, 1
)

// probeCount is how many random right-hand sides go beside n measurements. The
// trace that they estimate has a relative error of about 1/√(n·probes), so that
// many measurements need few.
func probeCount(n int) int { return max(3, min(15, 300_000/n)) }

// learner climbs the likelihood by Adam with stochastic gradients: random signs z
// give tr(H⁻¹ ∂H) = E[(H⁻¹z)ᵀ ∂H z] (Hutchinson). Unless they are to be fresh, the
// right-hand sides are the same in every step, so that solutions change little and
// start warm. It learns on a card, over several ranks, or in the memory of this process, in float32 where that serves.
type learner struct {
	*marginal
	opts   Stochastic
	seed   uint64
	group  *ranks.Group // of processes that may learn together
	weight []float64    // of the columns in the gradient
	wide   bool         // float32 has failed

	rows      *rows       // where it learns; nil: not begun
	own       Data        // measurements of this process
	y         space.Block // of them
	sides     space.Block // [y, z_1, …]; [α, z_1, …] after a solve
	solutions space.Block // H⁻¹ of them
	before    space.Block // solutions of the step before the last; nil: none
	cold      bool        // solutions are zero
	shares    space.Block // of the noise of one measurement in each value, 1/count; or the noise variances themselves, if they are known
	noise     space.Block

	taken   uint64    // steps
	worst   float64   // residual of the last step
	x       []float64 // free hyperparameters of the step; nil: not known
	ahead   ahead
	precond *preconditioners
	built   []float64 // free hyperparameters at which precond was made, if it is the kernel's own; nil: it is not
	pending error     // failure of a card between two steps, of which the next one tells
}

func newLearner(l *marginal, opts Stochastic, seed uint64, g *ranks.Group) *learner {
	if opts.Probes == 0 {
		opts.Probes = probeCount(l.data.Len())
	}
	w := &learner{marginal: l, opts: opts, seed: seed, group: g, weight: make([]float64, 1+opts.Probes)}
	for j := range w.weight {
		if w.weight[j] = 0.5; j > 0 {
			w.weight[j] = -0.5 / float64(opts.Probes)
		}
	}
	return w
}

// begin finds the memory to learn in, and makes the blocks there. theta are any hyperparameters.
func (w *learner) begin(ctx context.Context, theta []float64) error {
	if w.group.Alone() && len(w.weight) <= gpu.MaxColumns {
		done, err := w.card.try(ctx, w.card.Use(), "", func(s space.Space, h *hold) error {
			r, err := h.rowsAt(ctx, s, w.kernel, w.data.Nodes, w.meanVar)
			if r == nil {
				return errors.Join(err, errNotThere)
			}
			w.own = w.data
			w.use(r)
			return s.Err()
		})
		if done {
			return err
		}
		w.leave(true)
		if err != nil {
			return err
		}
	}
	single, err := w.single(theta)
	if err != nil {
		return err
	}
	n, g := w.data.Len(), w.group
	if shared := !g.Alone() && n >= w.opts.within().SharedFrom*g.Size(); shared {
		lo, hi := ranks.Even(n, g.Size()).Range(g.Rank())
		for _, narrow := range []bool{true, false} {
			if narrow && !single {
				continue
			}
			if done, err := w.at(ctx, space.Together(ctx, g, narrow), w.data.Slice(lo, hi)); done || err != nil {
				return err
			}
		}
	}
	if single {
		if done, err := w.at(ctx, space.Host32(), w.data); done || err != nil {
			return err
		}
	}
	_, err = w.at(ctx, space.Host(), w.data)
	return err
}

// single reports whether float32 serves: a kernel of long range has eigenvalues that magnify rounding.
func (w *learner) single(theta []float64) (bool, error) {
	if w.wide || w.opts.double || w.data.Len() < w.opts.within().SingleFrom {
		return false, nil
	}
	far, err := w.longRange(theta)
	return !far, err
}

// at begins in a memory, if the kernel has a place there.
func (w *learner) at(ctx context.Context, s space.Space, own Data) (bool, error) {
	rough := w.data.Len() >= w.opts.within().SingleFrom && !w.opts.Plain && !w.opts.double
	r, err := newRows(ctx, s, w.kernel, own.Nodes, w.meanVar, kernel.RootOptions{Rough: rough})
	if r == nil || err != nil {
		return false, err
	}
	w.own = own
	w.use(r)
	return true, s.Err()
}

// use makes the blocks, with the probes of the first step.
func (w *learner) use(r *rows) {
	w.rows = r
	s, k := r.space, len(w.weight)
	w.y, w.shares, w.noise = s.Block(r.axis, 1), s.Block(r.axis, 1), s.Block(r.axis, 1)
	w.sides, w.solutions = s.Block(r.axis, k), s.Block(r.axis, k)
	w.y.Set(w.own.Y)
	shares := w.own.NoiseVar
	if shares == nil {
		shares = make([]float64, w.own.Len())
		for i := range shares {
			shares[i] = 1 / w.own.count(i)
		}
	}
	w.shares.Set(shares)
	w.probe(rng.New(w.seed, "probes"))
	w.clear()
}

// clear sets solutions to zero.
func (w *learner) clear() {
	w.solutions.Zero()
	w.cold = true
}

// probe draws the random signs, a bit each.
func (w *learner) probe(signs *rng.Stream) {
	_, first := w.rows.axis.All()
	signs.Skip(first)
	k, words := len(w.weight), make([]uint64, w.own.Len())
	signs.Fill(words)
	data := make([]float64, len(words)*k)
	parallel.Ranges(len(words), 1<<13, func(lo, hi int) {
		for i, bits := range words[lo:hi] {
			row := data[(lo+i)*k:][:k]
			for t := 1; t < k; t++ {
				row[t] = float64(int(bits>>(t-1)&1)*2 - 1)
			}
		}
	})
	w.sides.Set(data)
}

// end gives all memory back.
func (w *learner) end() { w.leave(false) }

// leave gives all memory back, and what a card may keep to that, unless it has failed.
func (w *learner) leave(failed bool) {
	if w.rows == nil {
		return
	}
	for _, b := range []space.Block{w.y, w.sides, w.solutions, w.before, w.shares, w.noise} {
		if b != nil {
			b.Free()
		}
	}
	if w.onCard() && !failed {
		w.card.kept.keep([]*rows{w.rows})
	} else {
		w.rows.free()
	}
	w.rows, w.before, w.precond, w.built, w.pending = nil, nil, nil, nil, nil
}

func (w *learner) onCard() bool { return space.DeviceOf(w.rows.space) != nil }

// learn takes the steps of the options from theta, by Adam with a rate that falls
// to a tenth. States go to the store, unless it is nil.
func (l *marginal) learn(ctx context.Context, theta []float64, opts FitOptions, steps *progress.Work) ([]float64, FitReport, error) {
	w, epochs := newLearner(l, opts.Stochastic, opts.Seed, opts.Ranks), opts.Epochs
	if err := w.begin(ctx, theta); err != nil {
		return nil, FitReport{}, err
	}
	defer w.end()
	x := l.params.Free(theta)
	climb, first := adam.New(len(x)), 0
	keep := newKeeper(opts.Checkpoints, w, theta, epochs)
	last, err := keep.resume(ctx)
	if err != nil {
		return nil, FitReport{}, err
	}
	if last != nil {
		if err := w.restore(ctx, last); err != nil {
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
	if w.onCard() {
		w.card.Did("learned")
	}
	enough := opts.Stochastic.Tol
	if enough == 0 {
		enough = learnTol
	}
	return l.params.Natural(x), FitReport{Iterations: epochs, Evaluations: epochs, Converged: w.worst <= enough, Residual: w.worst}, nil
}

// compute calls do where the learner learns, and returns the failure of a card.
func (w *learner) compute(ctx context.Context, do func() error) (failure, err error) {
	if !w.onCard() {
		return nil, do()
	}
	if w.pending != nil {
		return w.pending, nil
	}
	return w.card.compute(ctx, do)
}

// step returns the stochastic gradient at theta, in natural parameters.
func (w *learner) step(ctx context.Context, theta []float64) (grad []float64, err error) {
	failure, err := w.compute(ctx, func() (err error) {
		grad, err = w.gradient(ctx, theta)
		return err
	})
	switch {
	case failure != nil:
		if err := w.leaveCard(ctx, theta, failure); err != nil {
			return nil, err
		}
	case errors.Is(err, solve.ErrNotPositiveDefinite) && w.rows.space.Single(): // where float64 may serve
		w.wide = true
		w.leave(true)
		if err := w.begin(ctx, theta); err != nil {
			return nil, err
		}
	default:
		return grad, err
	}
	return w.step(ctx, theta)
}

// leaveCard goes on with the processor after a failure of the card, from solutions of zero, unless there must be
// a card.
func (w *learner) leaveCard(ctx context.Context, theta []float64, failure error) error {
	w.leave(true)
	if err := w.card.Failed(failure); err != nil {
		return err
	}
	without := *w.marginal
	without.card = nil
	w.marginal = &without
	return w.begin(ctx, theta)
}

func (w *learner) gradient(ctx context.Context, theta []float64) ([]float64, error) {
	own, noise := w.params.split(theta)
	if err := w.rows.set(ctx, own); err != nil {
		return nil, err
	}
	tol, err := w.prepare(ctx, noise)
	if err != nil {
		return nil, err
	}
	if w.opts.Tol != 0 {
		tol = w.opts.Tol
	}
	if w.opts.Fresh && w.taken > 0 {
		w.probe(rng.New(w.seed, "probes", w.taken))
		w.clear()
	}
	w.sides.SetColumn(0, w.y, 0)
	if !w.opts.Fresh && w.x != nil {
		if factor, ok := w.ahead.advance(w.x); ok && !w.cold {
			w.extrapolate(factor)
		}
	}
	r := w.rows
	cg := solve.System{Space: r.space, Axis: r.axis, Noise: w.noise, Apply: func(ctx context.Context, dst, x space.Block) error {
		return r.root.Apply(ctx, dst, x, false)
	}}
	if p := w.precond; p != nil {
		if cg.Precond = p.factored; p.near != nil {
			cg.Precond = p.near
		}
	}
	// Residuals by the recursion are good enough, and the next step begins with true ones.
	stats, err := cg.CG(ctx, w.solutions, w.sides, w.cold, solve.Options{Tol: tol, MaxIter: learnMost, Recursive: true})
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	w.cold = false
	w.taken++
	w.worst, _ = stats.Worst()

	// ½ αᵀ∂Hα − ½ mean_s v_sᵀ∂Hz_s, as one block with signed weights.
	w.sides.SetColumn(0, w.solutions, 0)
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if w.params.noise {
		_, slope := w.marginal.data.within(noise)
		for t, v := range w.solutions.Sums(w.sides, w.shares) {
			slope += w.weight[t] * v
		}
		kernelGrad, grad[len(grad)-1] = grad[:len(grad)-1], slope
	}
	return grad, r.root.Slopes(ctx, kernelGrad, w.weight, w.solutions, w.sides)
}

// prepare sets the noise, given that of one measurement, makes the preconditioner unless the last one still serves, and returns the
// residual that a step may leave. A kernel that reaches far explains nearly all of the data, so the residual must be small
// beside the noise, or it is taken for a part of it; its own preconditioner makes
// that cheap.
func (w *learner) prepare(ctx context.Context, noise float64) (tol float64, err error) {
	factor, all := noise, noises(w.own, noise)
	if w.own.NoiseVar != nil {
		factor = 1
	}
	w.noise.Scale(w.shares, nil, factor)
	if w.opts.Plain {
		return learnTol, nil
	}
	near := learnNear
	if w.onCard() {
		near = cardNear
	}
	if !closeTo(w.x, w.built, near) {
		if w.precond, err = w.rows.precondition(ctx, all); err != nil {
			return 0, err
		}
		if w.built = nil; w.precond.own {
			w.built = w.x
		}
	}
	if !w.precond.own {
		return learnTol, nil
	}
	least, err := least(ctx, w.rows.space, all)
	return learnTol * min(1, max(0.05, 2*math.Sqrt(least))), err
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

// extrapolate moves the solutions of the last step to a guess of the next ones.
func (w *learner) extrapolate(factor float64) {
	if w.before == nil {
		w.before = w.solutions.Like()
		w.before.CopyFrom(w.solutions)
		return
	}
	w.solutions.Extrapolate(w.before, factor)
}

// ahead guesses the solutions of the next step of learning from those of the last two:
// along a climb they change nearly as the hyperparameters do. On a ring with walks of ten
// hops that saves half of the iterations.
type ahead struct{ x, change []float64 } // free hyperparameters of the last step, and their change to it

// aheadMost bounds how far beyond the last change a guess goes.
const aheadMost = 1.5

// advance notes x and returns its change as a multiple of the one before; ok is false for
// the first x, where there are no solutions yet.
func (a *ahead) advance(x []float64) (factor float64, ok bool) {
	last, change := a.x, make([]float64, len(x))
	a.x = slices.Clone(x)
	if last == nil {
		return 0, false
	}
	along, length := 0.0, 0.0
	for j, v := range x {
		change[j] = v - last[j]
		if a.change != nil {
			along += change[j] * a.change[j]
			length += a.change[j] * a.change[j]
		}
	}
	a.change = change
	if length == 0 {
		return 0, true
	}
	return max(0, min(aheadMost, along/length)), true
}
