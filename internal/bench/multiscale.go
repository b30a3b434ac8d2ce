package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/solve"
	"grfgp/walk"
)

// Multiscale compares the kernel of many scales with that of one.
type Multiscale struct {
	Ring       []RingArm  `json:"ring"`   // one, then many, size by size
	Time       Exponent   `json:"time"`   // of the arm with many scales, in all
	Memory     Exponent   `json:"memory"` // likewise
	Iterations Iterations `json:"iterations"`
	Tasks      []TaskArm  `json:"tasks"` // one, then many, task by task
}

// RingArm is the regression of RegressOnRing by the kernel of one scale or of
// many.
type RingArm struct {
	Regression
	Scales   string  `json:"scales"`       // one or many
	Coarse   []int   `json:"coarse_nodes"` // of the coarser graphs
	Coverage float64 `json:"coverage"`     // of 95 % intervals of noisy test values
}

// Iterations are what conjugate gradients need for the mean of a ring's
// multiscale kernel, as learned: to a relative residual of Tol, at most
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
	ringDraws      = 64
	interval95     = 1.9599639845
)

// Multiscales runs both arms on rings of 2^lo, 2^(lo+1), … 2^hi nodes, counts
// iterations on the smallest of them, and runs the tasks. It says what it has done.
func Multiscales(ctx context.Context, lo, hi int, tasks []Task, seed uint64, say func(format string, args ...any)) (*Multiscale, error) {
	var r Multiscale
	var points []ScalingPoint
	for bits := lo; bits <= hi; bits++ {
		for _, many := range []bool{false, true} {
			run := ringRun{nodes: 1 << bits, many: many, seed: seed}
			arm, err := run.regress(ctx)
			if err != nil {
				return nil, fmt.Errorf("bench: ring of %d nodes, scales %s: %w", run.nodes, arm.Scales, err)
			}
			say("ring of %d nodes, scales %s: %.1f s, RMSE %.4f", arm.Nodes, arm.Scales, arm.Total(), arm.RMSE)
			r.Ring = append(r.Ring, arm)
			if !many {
				continue
			}
			points = append(points, ScalingPoint{arm.Nodes, arm.Total(), arm.Bytes})
			if bits == lo {
				if r.Iterations, err = run.iterations(ctx); err != nil {
					return nil, fmt.Errorf("bench: counting iterations: %w", err)
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
				return nil, fmt.Errorf("bench: %s, scales %s: %w", task.Name, scales, err)
			}
			say("%s, scales %s: %.1f s, RMSE %.4f, coverage %.3f", task.Name, scales, arm.Fit+arm.Predict, arm.RMSE, arm.Coverage)
			r.Tasks = append(r.Tasks, arm)
		}
	}
	return &r, nil
}

// ringRun is one arm on one ring, and what is left of it.
type ringRun struct {
	nodes int
	many  bool
	seed  uint64

	kernel kernel.Kernel
	model  *gp.Model
	train  gp.Data
}

const (
	ringHops   = 10
	finestHops = 5 // with coarser scales above, as in grfgp.Fit
	ringEpochs = 50
)

// regress learns, and predicts mean and 64 samples at the test nodes.
func (r *ringRun) regress(ctx context.Context) (RingArm, error) {
	arm := RingArm{Regression: Regression{Nodes: r.nodes, Hops: ringHops, Epochs: ringEpochs}, Scales: "one"}
	if r.many {
		arm.Scales, arm.Hops = "many", finestHops
	}
	before := heap()
	ring, err := graph.Ring(r.nodes)
	if err != nil {
		return arm, err
	}
	var test gp.Data
	r.train, test = ringTask(r.nodes, r.seed)
	start := time.Now()
	features, err := r.sample(ctx, ring, arm.Hops)
	if err != nil {
		return arm, err
	}
	var scales []kernel.Scale
	if r.many {
		for _, l := range ring.Coarsen(max(16, min(150, r.nodes/8))) { // as in grfgp.Fit
			f, err := r.sample(ctx, l.Graph, ringHops)
			if err != nil {
				return arm, err
			}
			scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: f})
			arm.Coarse = append(arm.Coarse, l.Graph.Len())
		}
	}
	arm.Features = time.Since(start).Seconds()

	start = time.Now()
	if r.kernel, err = kernel.NewGRF(features, kernel.Diffusion{}); err != nil {
		return arm, err
	}
	opts := gp.FitOptions{Solver: gp.Iterative, Epochs: ringEpochs, Seed: r.seed}
	if r.many {
		if r.kernel, err = kernel.NewMultiscale(r.kernel, kernel.Diffusion{}, scales, kernel.MultiscaleOptions{}); err != nil {
			return arm, err
		}
	}
	var report gp.FitReport
	r.model, report, err = gp.Fit(ctx, r.kernel, r.train, opts)
	if err != nil {
		return arm, err
	}
	arm.Training, arm.NoiseSD, arm.Residual = time.Since(start).Seconds(), report.NoiseSD, report.Residual

	start = time.Now()
	p, err := r.model.Condition(ctx, r.train)
	if err != nil {
		return arm, err
	}
	mean, err := p.Mean(ctx, test.Nodes)
	if err != nil {
		return arm, err
	}
	draws, err := p.Sample(ctx, test.Nodes, ringDraws, r.seed)
	if err != nil {
		return arm, err
	}
	arm.Inference = time.Since(start).Seconds()
	sd := make([]float64, test.Len())
	for i := range sd {
		for _, v := range draws.RawRowView(i) {
			sd[i] += (v - mean[i]) * (v - mean[i]) / ringDraws
		}
		sd[i] = math.Sqrt(sd[i])
	}
	arm.RMSE, arm.Coverage = judge(test.Y, mean, sd, report.NoiseSD)
	draws = nil
	arm.Bytes = heap() - before
	runtime.KeepAlive(p) // with features, graphs and measurements
	return arm, nil
}

// sample walks on the ring, or on a coarser one.
func (r *ringRun) sample(ctx context.Context, g *graph.Graph, hops int) (*walk.Features, error) {
	opts := walk.Default()
	opts.MaxLen, opts.Seed, opts.Scale = hops, r.seed, g.WalkScale(graph.NormalizedAdjacency)
	return walk.Sample(ctx, g.Normalized(graph.NormalizedAdjacency), opts)
}

// judge returns the RMSE of means against readings, and the coverage of 95 %
// intervals of readings.
func judge(y, mean, sd []float64, noise float64) (rmse, coverage float64) {
	n := float64(len(y))
	for i, v := range y {
		e := v - mean[i]
		rmse += e * e / n
		if math.Abs(e) < interval95*math.Hypot(sd[i], noise) {
			coverage += 1 / n
		}
	}
	return math.Sqrt(rmse), coverage
}

// iterations solves the system of the posterior mean, the mean of the data
// taken off, by both preconditioners.
func (r *ringRun) iterations(ctx context.Context) (Iterations, error) {
	n := r.train.Len()
	out := Iterations{Nodes: r.nodes, Measurements: n, Tol: iterationsTol}
	state := r.model.State()
	cov, err := r.kernel.At(state.Theta)
	if err != nil {
		return out, err
	}
	noise, diag := slices.Repeat([]float64{state.Noise}, n), make([]float64, n)
	if err := cov.Diag(ctx, diag, r.train.Nodes); err != nil {
		return out, err
	}
	own, err := cov.(kernel.Conditioner).Precondition(ctx, r.train.Nodes, 0, noise)
	if err != nil {
		return out, err
	}
	jacobi, err := solve.NewJacobi(diag, noise)
	if err != nil {
		return out, err
	}
	mean, sd := stat.MeanStdDev(r.train.Y, nil)
	y := mat.NewDense(n, 1, nil)
	for i, v := range r.train.Y {
		y.Set(i, 0, (v-mean)/sd)
	}
	op := cov.Cross(r.train.Nodes, r.train.Nodes)
	count := func(by solve.Preconditioner) (solve.Stats, error) {
		stats, err := solve.CG(ctx, mat.NewDense(n, 1, nil), op, noise, y, solve.Options{Tol: iterationsTol, MaxIter: iterationsMost, Precond: by})
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
