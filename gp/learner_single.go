package gp

import (
	"context"
	"errors"

	"gonum.org/v1/gonum/blas/blas32"

	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/solve"
)

// singleFrom is the number of measurements from which steps of learning are taken in
// float32 throughout, if the kernel can. Fewer are near the processor whatever their
// precision.
const singleFrom = 1 << 13

// singleLearner takes the steps of a learner in float32: solves leave a residual of a few
// percent, and gradients are estimates. Sums are float64. Memory is the limit, so blocks
// have half the size, and all are used again in every step.
type singleLearner struct {
	*learner
	rows         kernel.SingleRows
	sides        blas32.General // [y, z_1, …]; [α, z_1, …] after a solve
	solutions    blas32.General
	noise, scale []float32
}

// newSingleLearner returns nil if the kernel has no rows of float32, or something better.
func newSingleLearner(w *learner) *singleLearner {
	n, k := w.data.Len(), 1+w.opts.Probes
	single := kernel.TrainingOf(w.kernel).Single
	if all, _ := w.systemRows().Total(n); single == nil || all < w.opts.singleFrom() {
		return nil
	}
	rows := single(w.data.Nodes, w.meanVar)
	if rows == nil {
		return nil
	}
	block := func() blas32.General {
		return blas32.General{Rows: n, Cols: k, Stride: k, Data: make([]float32, n*k)}
	}
	s := &singleLearner{learner: w, rows: rows, sides: block(), solutions: block(), noise: make([]float32, n)}
	if !w.opts.Plain {
		s.scale = make([]float32, n)
	}
	s.probe(rng.New(w.seed, "probes"))
	return s
}

// probe draws the random signs of learner.probe.
func (s *singleLearner) probe(signs *rng.Stream) {
	k := s.sides.Cols
	words := make([]uint64, s.sides.Rows)
	_, first := s.systemRows().Total(len(words))
	signs.Skip(first)
	signs.Fill(words)
	spreadSigns(s.sides.Data, words, k, nil)
}

// spreadSigns sets the rows of a block to a sign for each bit of their words, after a first number,
// which is set if there are such.
func spreadSigns[F float32 | float64](data []F, words []uint64, k int, first []float64) {
	parallel.Ranges(len(words), 1<<13, func(lo, hi int) {
		for i, bits := range words[lo:hi] {
			row := data[(lo+i)*k:][:k]
			if first != nil {
				row[0] = F(first[lo+i])
			}
			for t := 1; t < k; t++ {
				row[t] = F(int(bits>>(t-1)&1)*2 - 1)
			}
		}
	})
}

// step returns the stochastic gradient at theta, in natural parameters.
func (s *singleLearner) step(ctx context.Context, theta []float64) ([]float64, error) {
	own, noise := s.params.split(theta)
	if err := s.rows.Set(ctx, own); err != nil {
		return nil, err
	}
	tol := s.opts.Tol
	if tol == 0 {
		tol = learnTol
	}
	if s.opts.Fresh && s.taken > 0 {
		s.probe(rng.New(s.seed, "probes", s.taken))
		clear(s.solutions.Data)
	}
	if !s.opts.Fresh && s.x != nil {
		s.ahead.startSingle(s.solutions.Data, s.x)
	}
	s.taken++
	s.prepareSolve(noise)
	system := solve.SingleSystem{Apply: s.rows.Apply, Noise: s.noise, Scale: s.scale, Rows: s.systemRows()}
	stats, err := system.CG(ctx, s.solutions, s.sides, solve.Options{Tol: tol, MaxIter: learnMost})
	if err != nil && !errors.Is(err, solve.ErrNotConverged) {
		return nil, err
	}
	s.worst, _ = stats.Worst()

	trace, err := s.weigh(ctx)
	if err != nil {
		return nil, err
	}
	grad := make([]float64, len(theta))
	kernelGrad := grad
	if s.params.noise {
		kernelGrad = grad[:len(grad)-1]
		_, slope := s.within(noise)
		grad[len(grad)-1] = trace + slope
	}
	return grad, s.rows.Grad(ctx, kernelGrad, s.weight, s.solutions, s.sides)
}

// prepareSolve sets y, the noise variances and the diagonal preconditioner.
func (s *singleLearner) prepareSolve(noise float64) {
	k, diag := s.sides.Cols, s.rows.Diag()
	parallel.Ranges(s.sides.Rows, 1<<13, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			s.sides.Data[i*k] = float32(s.data.Y[i])
			v := noise / s.data.count(i)
			if s.data.NoiseVar != nil {
				v = s.data.NoiseVar[i]
			}
			s.noise[i] = float32(v)
			if s.scale != nil {
				s.scale[i] = float32(1 / (diag[i] + v))
			}
		}
	})
}

// weigh puts α in the place of y, and returns the trace of learner.weigh.
func (s *singleLearner) weigh(ctx context.Context) (float64, error) {
	k := s.sides.Cols
	trace, err := s.systemRows().Sum(ctx, s.sides.Rows, 1, func(lo, hi int, sums []float64) {
		for i := lo; i < hi; i++ {
			z, v := s.sides.Data[i*k:][:k], s.solutions.Data[i*k:][:k]
			z[0] = v[0]
			probes := 0.0
			for t := 1; t < k; t++ {
				probes += float64(v[t]) * float64(z[t])
			}
			sums[0] += (s.weight[0]*float64(v[0])*float64(v[0]) + s.weight[k-1]*probes) / s.data.count(i)
		}
	})
	return trace[0], err
}
