package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"grfgp/kernel"
	"grfgp/plan"
	"grfgp/solve"
	"grfgp/space"
)

// Multiscale compares kernels of one scale and of many.
type Multiscale struct {
	Ring       []RingArm  `json:"ring"`   // for each size: one scale, then many
	Time       Exponent   `json:"time"`   // total, with many scales
	Memory     Exponent   `json:"memory"` // with many scales
	Iterations Iterations `json:"iterations"`
	Tasks      []TaskArm  `json:"tasks"` // for each task: one scale, then many
}

// RingArm is a RingRun with a kernel of one scale or of many.
type RingArm struct {
	Regression
	Scales string `json:"scales"` // one or many
}

// Iterations counts the iterations of conjugate gradients for the posterior mean of a
// learned multiscale kernel on a ring, to a relative residual of Tol, up to
// iterationsMost.
type Iterations struct {
	Nodes        int     `json:"nodes"`
	Measurements int     `json:"measurements"`
	Tol          float64 `json:"tol"`
	Own          int     `json:"own"`    // with the preconditioner of the kernel
	Jacobi       int     `json:"jacobi"` // with the diagonal
	Residual     float64 `json:"jacobi_residual"`
}

const (
	iterationsMost = 1000
	iterationsTol  = 1e-4
)

// Multiscales runs kernels of one scale and of many on rings of 2^lo, 2^(lo+1), … 2^hi
// nodes, counts iterations on the smallest ring, and runs the tasks. It reports results
// with say.
func Multiscales(ctx context.Context, lo, hi int, tasks []Task, seed uint64, say func(format string, args ...any)) (*Multiscale, error) {
	var r Multiscale
	var points []ScalingPoint
	for bits := lo; bits <= hi; bits++ {
		for _, many := range []bool{false, true} {
			run, arm := RingRun{Nodes: 1 << bits, Hops: ringHops, Epochs: ringEpochs, Many: many, Seed: seed}, RingArm{Scales: "one"}
			if many {
				run.Hops, arm.Scales = plan.Default().FineHops, "many"
			}
			var err error
			if arm.Regression, err = run.Regress(ctx); err != nil {
				return nil, fmt.Errorf("ring of %d nodes, scales %s: %w", run.Nodes, arm.Scales, err)
			}
			say("ring of %d nodes, scales %s: %.1f s, RMSE %.4f", arm.Nodes, arm.Scales, arm.Total(), arm.RMSE)
			r.Ring = append(r.Ring, arm)
			if !many {
				continue
			}
			points = append(points, ScalingPoint{arm.Nodes, arm.Total(), arm.Bytes})
			if bits == lo {
				if r.Iterations, err = run.iterations(ctx); err != nil {
					return nil, fmt.Errorf("counting iterations: %w", err)
				}
			}
		}
	}
	r.Time = fit(points, func(p ScalingPoint) float64 { return p.Seconds })
	r.Memory = fit(points, func(p ScalingPoint) float64 { return p.Bytes })
	for _, task := range tasks {
		for _, scales := range []string{"one", "many"} {
			arm, err := task.run(ctx, scales, seed)
			if err != nil {
				return nil, fmt.Errorf("%s, scales %s: %w", task.Name, scales, err)
			}
			say("%s, scales %s: %.1f s, RMSE %.4f, coverage %.3f", task.Name, scales, arm.Fit+arm.Predict, arm.RMSE, arm.Coverage)
			r.Tasks = append(r.Tasks, arm)
		}
	}
	return &r, nil
}

// iterations solves the system of the posterior mean of centred data with both
// preconditioners.
func (r *RingRun) iterations(ctx context.Context) (Iterations, error) {
	n := r.train.Len()
	out := Iterations{Nodes: r.Nodes, Measurements: n, Tol: iterationsTol}
	state := r.model.State()
	here, axis := space.Host(), space.Rows(n)
	root, err := kernel.RootOf(ctx, r.kernel, here, r.train.Nodes, kernel.RootOptions{})
	if err == nil {
		err = root.Set(ctx, state.Theta)
	}
	if err != nil {
		return out, err
	}
	noise := slices.Repeat([]float64{state.Noise}, n)
	diag := slices.Clone(noise)
	if err := root.AddDiag(ctx, diag); err != nil {
		return out, err
	}
	own, _, err := root.Precondition(ctx, 0, noise)
	if err != nil {
		return out, err
	}
	jacobi, err := solve.NewJacobi(here, axis, diag)
	if err != nil {
		return out, err
	}
	mean, sd := stat.MeanStdDev(r.train.Y, nil)
	standard := make([]float64, n)
	for i, v := range r.train.Y {
		standard[i] = (v - mean) / sd
	}
	y, x, known := here.Block(axis, 1), here.Block(axis, 1), here.Block(axis, 1)
	y.Set(standard)
	known.Set(noise)
	count := func(by solve.Preconditioner) (solve.Stats, error) {
		system := solve.System{Space: here, Axis: axis, Noise: known, Precond: by, Apply: func(ctx context.Context, dst, x space.Block) error {
			return root.Apply(ctx, dst, x, false)
		}}
		x.Zero()
		stats, err := system.CG(ctx, x, y, true, solve.Options{Tol: iterationsTol, MaxIter: iterationsMost})
		if errors.Is(err, solve.ErrNotConverged) {
			err = nil
		}
		return stats, err
	}
	stats, err := count(own)
	if err != nil {
		return out, err
	}
	out.Own = stats.Iterations
	if stats, err = count(jacobi); err != nil {
		return out, err
	}
	out.Jacobi = stats.Iterations
	out.Residual, _ = stats.Worst()
	return out, nil
}
