package gp

import (
	"context"
	"errors"
	"slices"

	"grfgp/internal/gpu"
	"grfgp/internal/rng"
	"grfgp/solve"
)

// deviceLearner takes the steps of a learner on a graphics card, in float64. All blocks are there,
// and the features too: a step exchanges hyperparameters and sums with it.
type deviceLearner struct {
	*learner
	device    *gpu.Device
	rows      *keptRows
	y         *gpu.Block
	sides     *gpu.Block // [y, z_1, …]
	right     *gpu.Block // [α, z_1, …]
	solutions *gpu.Block
	before    *gpu.Block // solutions of the step before the last; nil: none
	shares    *gpu.Block // of the noise of one measurement in each value, 1/count; or the noise variances themselves, if they are known
	noise     *gpu.Block
	precond   solve.DevicePreconditioner
	made      []float64 // free hyperparameters at which precond was made; nil: it is the diagonal
	failed    bool      // the card has failed: nothing there is worth keeping
	pending   error     // failure between two steps, of which the next one tells
}

// newDeviceLearner returns nil if there is no card, or the kernel cannot be computed on it.
func newDeviceLearner(ctx context.Context, w *learner) (s *deviceLearner, err error) {
	for first := true; ; first = false {
		device := w.card.Use()
		if device == nil || w.share != nil || 1+w.opts.Probes > gpu.MaxColumns {
			return nil, nil
		}
		failure, err := w.card.compute(ctx, func() (err error) {
			s, err = w.onDevice(device)
			return err
		})
		if failure == nil {
			return s, err
		}
		if s != nil {
			s.failed = true
			s.free()
			s = nil
		}
		if first && errors.Is(failure, gpu.ErrMemory) && w.card.forget() {
			continue // there is room now
		}
		return nil, w.card.Failed(failure)
	}
}

// onDevice makes the blocks on a card; nil if the kernel cannot be computed on it.
func (w *learner) onDevice(device *gpu.Device) (*deviceLearner, error) {
	rows, err := w.card.rowsOf(w.kernel, w.data.Nodes, w.meanVar)
	if rows == nil {
		return nil, err
	}
	n, k := w.data.Len(), 1+w.opts.Probes
	s := &deviceLearner{learner: w, device: device, rows: rows, y: device.Upload(1, w.data.Y)}
	s.sides, s.right, s.solutions, s.noise = device.Block(n, k), device.Block(n, k), device.Zeros(n, k), device.Block(n, 1)
	shares := w.data.NoiseVar
	if shares == nil {
		shares = make([]float64, n)
		for i := range shares {
			shares[i] = 1 / w.data.count(i)
		}
	}
	s.shares = device.Upload(1, shares)
	s.probe(rng.New(w.seed, "probes"))
	return s, nil
}

// free gives the memory of the card back, and keeps the kernel there.
func (s *deviceLearner) free() {
	if s.failed {
		s.rows.free()
	} else {
		s.card.keepRows(s.rows)
	}
	for _, b := range []*gpu.Block{s.y, s.sides, s.right, s.solutions, s.before, s.shares, s.noise} {
		b.Free()
	}
	if s.precond != nil {
		s.precond.Free()
	}
}

// end gives the memory of a card back.
func (w *learner) end() {
	if w.device != nil {
		w.device.free()
		w.device = nil
	}
}

// leaveCard goes on with the processor after a failure of the card, from solutions of zero, unless there must be
// a card.
func (w *learner) leaveCard(failure error) error {
	w.device.failed = true
	w.end()
	if err := w.card.Failed(failure); err != nil {
		return err
	}
	w.beginHere()
	return nil
}

// probe draws the random signs of learner.probe.
func (s *deviceLearner) probe(signs *rng.Stream) {
	k := s.sides.Cols()
	words, data := make([]uint64, s.sides.Rows()), make([]float64, s.sides.Rows()*k)
	signs.Fill(words)
	spreadSigns(data, words, k, s.data.Y)
	s.sides.Set(data)
	s.right.CopyFrom(s.sides)
}

// step returns the stochastic gradient at theta, in natural parameters, and the failure of the card, if there is one.
func (s *deviceLearner) step(ctx context.Context, theta []float64) (grad []float64, failure, err error) {
	if s.pending != nil {
		return nil, s.pending, nil
	}
	failure, err = s.card.compute(ctx, func() (err error) {
		grad, err = s.gradient(ctx, theta)
		return err
	})
	return grad, failure, err
}

func (s *deviceLearner) gradient(ctx context.Context, theta []float64) ([]float64, error) {
	own, noise := s.params.split(theta)
	if err := s.rows.Set(ctx, own); err != nil {
		return nil, err
	}
	s.setNoise(noise)
	least, err := s.precondition(ctx, theta)
	if err != nil {
		return nil, err
	}
	if s.opts.Fresh && s.taken > 0 {
		s.probe(rng.New(s.seed, "probes", s.taken))
		s.solutions.Zero()
	}
	if !s.opts.Fresh && s.x != nil {
		if factor, ok := s.ahead.advance(s.x); ok {
			s.extrapolate(factor)
		}
	}
	cold := s.taken == 0 || s.opts.Fresh
	s.taken++
	tol := s.opts.Tol
	if tol == 0 {
		tol = least
	}
	system := solve.DeviceSystem{Device: s.device, Apply: s.rows.Apply, Noise: s.noise, Precond: s.precond}
	// Residuals by the recursion are good enough, and the next step begins with true ones.
	stats, err := system.CG(ctx, s.solutions, s.sides, cold, solve.Options{Tol: tol, MaxIter: learnMost, Recursive: true})
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	s.worst, _ = stats.Worst()

	s.right.SetColumn(0, s.solutions, 0)
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if s.params.noise {
		sums := make([]float64, len(s.weight))
		s.solutions.Sums(sums, s.right, s.shares)
		_, slope := s.within(noise)
		for t, c := range s.weight {
			slope += c * sums[t]
		}
		kernelGrad, grad[len(grad)-1] = grad[:len(grad)-1], slope
	}
	s.rows.Grad(kernelGrad, s.weight, s.solutions, s.right)
	return grad, nil
}

// cardNear is how far hyperparameters may move before a kernel's preconditioner is made again: the
// processor makes it, in the time of a hundred iterations of the card.
const cardNear = 1

// setNoise sets the noise variances, given that of one measurement.
func (s *deviceLearner) setNoise(noise float64) {
	if s.data.NoiseVar != nil {
		noise = 1
	}
	s.noise.Scale(s.shares, nil, noise)
}

// precondition makes the preconditioner, unless the last one still serves, and returns the
// residual that a step may leave.
func (s *deviceLearner) precondition(ctx context.Context, theta []float64) (tol float64, err error) {
	if s.opts.Plain {
		return learnTol, nil
	}
	_, noise := s.params.split(theta)
	all := noises(s.data, noise)
	if !closeTo(s.x, s.made, cardNear) {
		if s.precond != nil {
			s.precond.Free()
			s.precond = nil
		}
		own := false
		if s.precond, own, err = s.rows.Precondition(ctx, all, s.noise); err != nil {
			return 0, err
		}
		if s.made = nil; own {
			s.made = s.x
		}
	}
	return (&iterativeSystem{noise: all, own: s.made != nil}).tolerance(ctx)
}

// extrapolate moves the solutions of the last step to a guess of the next ones.
func (s *deviceLearner) extrapolate(factor float64) {
	if s.before == nil {
		s.before = s.device.Block(s.solutions.Rows(), s.solutions.Cols())
		s.before.CopyFrom(s.solutions)
		return
	}
	s.solutions.Extrapolate(s.before, factor)
}

// blocks returns the solutions of the last step and of the one before, which is nil if there is
// none; ok is false if the card has failed.
func (s *deviceLearner) blocks(ctx context.Context) (solutions, before []float64, ok bool) {
	failure, err := s.card.compute(ctx, func() error {
		n := s.solutions.Rows() * s.solutions.Cols()
		solutions = make([]float64, n)
		s.solutions.Get(solutions)
		if s.before != nil {
			before = make([]float64, n)
			s.before.Get(before)
		}
		return nil
	})
	s.pending = failure
	return solutions, before, failure == nil && err == nil
}

// restore goes on from a state, of a card or of the processor.
func (s *deviceLearner) restore(ctx context.Context, state *learnState) error {
	solutions, before := state.Solutions, state.Ahead.Before
	if state.Single {
		solutions, before = widened(state.Singles), widened(state.Ahead.Before32)
	}
	s.solutions.Set(solutions)
	if before != nil {
		s.before = s.device.Upload(s.solutions.Cols(), before)
	}
	s.ahead.before, s.ahead.before32 = nil, nil
	if state.Built == nil {
		return nil
	}
	s.x = slices.Clone(state.Built)
	theta := s.params.Natural(s.x)
	own, noise := s.params.split(theta)
	if err := s.rows.Set(ctx, own); err != nil {
		return err
	}
	s.setNoise(noise)
	_, err := s.precondition(ctx, theta)
	return err
}

// widened returns x in float64; nil for nil.
func widened(x []float32) []float64 {
	if x == nil {
		return nil
	}
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// estimateOnCard is estimateHere on a card; done is false where there is none that can.
func (l *marginal) estimateOnCard(ctx context.Context, theta []float64, plain bool, seed uint64) (fit, logDet, se float64, done bool,
	err error) {
	for first := true; ; first = false {
		device := l.card.Use()
		if device == nil || l.share != nil {
			return 0, 0, 0, false, nil
		}
		var rows *keptRows
		failure, err := l.card.compute(ctx, func() (err error) {
			if rows, err = l.card.rowsOf(l.kernel, l.data.Nodes, l.meanVar); rows == nil {
				return err
			}
			fit, logDet, se, err = l.estimateBy(ctx, device, rows, theta, plain, seed)
			return err
		})
		switch {
		case failure == nil && rows == nil:
			return 0, 0, 0, false, err
		case failure == nil:
			l.card.keepRows(rows)
			return fit, logDet, se, err == nil, err
		}
		if rows != nil {
			rows.free()
		}
		if first && errors.Is(failure, gpu.ErrMemory) && l.card.forget() {
			continue // there is room now
		}
		return 0, 0, 0, false, l.card.Failed(failure)
	}
}

// estimateBy is estimateHere with the kernel at the measurements on a card.
func (l *marginal) estimateBy(ctx context.Context, device *gpu.Device, rows *keptRows, theta []float64, plain bool, seed uint64) (fit,
	logDet, se float64, err error) {
	own, noise := l.params.split(theta)
	s := &cardSystem{device: device, rows: rows, parts: []*keptRows{rows}, noise: noises(l.data, noise), plain: plain}
	defer s.free()
	if err := s.prepare(ctx, own); err != nil {
		return 0, 0, 0, err
	}
	y, alpha := device.Upload(1, l.data.Y), device.Zeros(l.data.Len(), 1)
	defer y.Free()
	defer alpha.Free()
	if err := s.solve(ctx, alpha, y, true, forMeans); err != nil {
		return 0, 0, 0, err
	}
	sum := []float64{0}
	alpha.Sums(sum, y, nil)
	logDet, se, err = s.system().LogDet(ctx, solve.LogDetOptions{Probes: 8, Steps: 25, Early: s.own, Seed: seed})
	return sum[0], logDet, se, err
}
