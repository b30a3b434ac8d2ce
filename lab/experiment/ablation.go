package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
)

// meshArms are the kernels that are compared.
var meshArms = []meshArm{
	{name: "exact", matrix: graph.NormalizedAdjacency, exact: true},
	{name: "grf", matrix: graph.NormalizedLaplacian, sampler: walk.Independent, free: true},
	{name: "ad-hoc", matrix: graph.NormalizedLaplacian, sampler: walk.AdHoc, free: true},
	{name: "raw", matrix: graph.RawAdjacency, sampler: walk.Independent, free: true},
	{name: "clean-grf", matrix: graph.NormalizedAdjacency, sampler: walk.Repelling},
	{name: "walks-grf", matrix: graph.NormalizedAdjacency, sampler: walk.Independent},
	{name: "clean-ad-hoc", matrix: graph.NormalizedAdjacency, sampler: walk.AdHoc},
}

// meshArm is a kernel: the exact diffusion kernel, or random-walk features on a matrix,
// with free coefficients or those of a diffusion kernel.
type meshArm struct {
	name    string
	matrix  graph.Normalization
	exact   bool
	sampler walk.Sampler
	free    bool
}

// meshSettings are the settings of a part: all arms on one function.
type meshSettings struct {
	Graph  string // mesh or hubs
	Arms   []string
	Walks  int     // per node, of all arms except clean-grf
	Halt   float64 // halting probability of the same arms
	Hops   int
	Beta   float64 // of the prior that the function is drawn from
	Height float64 // its variance σ²
	Noise  float64 // standard deviation
	Train  int
	Seed   uint64
}

const meshSide = 30

func ablation() *Experiment {
	return &Experiment{
		Name: "ablation", Title: "Effect of the importance weights (Table 5, Figure 5)", Version: 4,
		About: "A function is drawn from a Gaussian process with covariance 10 exp(−10 L̃) on a mesh of 30 × 30 nodes and learned from 90 " +
			"measurements with noise of standard deviation 0.1. " +
			"RMSE and NLPD (mean negative log predictive density) are those of the noise-free function at the other 810 nodes. The authors' " +
			"protocol uses 10,000 walks per node with halting probability 0.01, " +
			"0 to 9 hops on the Laplacian, and a learnable coefficient per hop; the ad-hoc variant omits the importance weights 1/p(walk) " +
			"(equation 13). The clean protocol uses the default features on Ã with a diffusion " +
			"kernel. Both protocols solve all systems by a Cholesky factorisation. The paper shows one draw of the function; here there are " +
			"many, also on a graph with hubs.",
		Columns: []Column{
			{"graph", Key, "mesh: 30 × 30 nodes; hubs: 900 nodes by preferential attachment, 2 edges per new node"},
			{"arm", Key, "exact: diffusion kernel; grf, ad-hoc: walks on I − Ã with and without importance weights; raw: weighted walks on A; " +
				"clean-grf: default features on Ã with the coefficients of a diffusion kernel; walks-grf, clean-ad-hoc: the same with independent " +
				"walks, with importance weights and with their mean instead"},
			{"seed", Key, "seed of function, measurements and walks"},
			{"rmse", Number, "of the posterior mean against the noise-free function, at nodes without a measurement"},
			{"nlpd", Number, "nats per node, for the same nodes"},
			{"coverage", Number, "share of these nodes whose value is in the 95 % credible interval"},
			{"noise_sd", Number, "learned noise standard deviation; the true one is 0.1"},
			{"loglik", Number, "log marginal likelihood of the standardised measurements"},
			{"fit_seconds", Cost, "sampling walks and learning"},
		},
		TimeColumns: []string{"fit_seconds"},
		Parts:       meshParts,
		Show:        showAblation,
	}
}

func meshParts(o Options) []Part {
	var arms []string
	for _, a := range meshArms {
		arms = append(arms, a.name)
	}
	var parts []Part
	for _, on := range []string{"mesh", "hubs"} {
		for seed := range o.Repeats(2, 20) {
			s := meshSettings{Graph: on, Arms: arms, Walks: 10_000, Halt: 0.01, Hops: 9, Beta: 10, Height: 10, Noise: 0.1, Train: 90, Seed: o.Seed +
				uint64(seed)}
			work := 4.0
			if on == "hubs" {
				s.Height = 1 // with σ² = 1 the function varies about as much here as with 10 on the mesh
				work = 6
			}
			if o.Quick {
				s.Walks = 1000
				work /= 5
			}
			parts = append(parts, Part{Name: meshPartName(on, s.Seed), Settings: s, Work: work, Run: s.run})
		}
	}
	return parts
}

func meshPartName(on string, seed uint64) string { return fmt.Sprintf("%s-seed%d", on, seed) }

// task draws the function and the measurements, which all arms share.
func (s meshSettings) task(ctx context.Context) (*meshTask, error) {
	g, err := graph.Grid(meshSide, meshSide)
	if s.Graph == "hubs" {
		g, err = graph.BarabasiAlbert(meshSide*meshSide, 2, s.Seed)
	}
	if err != nil {
		return nil, err
	}
	t := &meshTask{graph: g}
	if t.exact, err = kernel.NewDense(g.Normalized(graph.NormalizedAdjacency), kernel.Diffusion{}); err != nil {
		return nil, err
	}
	cov, err := t.exact.At([]float64{s.Height, s.Beta})
	if err != nil {
		return nil, err
	}
	draw := mat.NewDense(g.Len(), 1, nil)
	if err := cov.Prior(ctx, draw, s.Seed); err != nil {
		return nil, err
	}
	t.truth = mat.Col(nil, 0, draw)
	random := rand.New(rng.New(s.Seed, "ablation"))
	for _, i := range random.Perm(g.Len())[:s.Train] {
		t.data.Nodes = append(t.data.Nodes, i)
		t.data.Y = append(t.data.Y, t.truth[i]+s.Noise*random.NormFloat64())
	}
	return t, nil
}

// meshTask is a function to learn.
type meshTask struct {
	graph *graph.Graph
	exact *kernel.Dense
	truth []float64
	data  gp.Data
}

// kernel returns the kernel of an arm, and starting values of its hyperparameters.
func (s meshSettings) kernel(ctx context.Context, t *meshTask, arm meshArm) (kernel.Kernel, [][]float64, error) {
	if arm.exact {
		return t.exact, nil, nil
	}
	w, opts := t.graph.Normalized(arm.matrix), walk.Default()
	opts.MaxLen, opts.Seed = s.Hops, s.Seed
	if arm.sampler == walk.Repelling {
		opts.Scale = t.graph.WalkScale(arm.matrix)
	} else {
		opts.Sampler, opts.Steps, opts.Walks, opts.Halt = arm.sampler, walk.Uniform, s.Walks, s.Halt
	}
	f, err := walk.Sample(ctx, w, opts)
	if err != nil {
		return nil, nil, err
	}
	if arm.free {
		k, err := kernel.NewGRF(f, kernel.Free{Len: s.Hops})
		return k, freeStarts(s.Hops, arm), err
	}
	gain := 1.0
	if arm.sampler == walk.AdHoc {
		gain = 2 * float64(t.graph.Edges()) / float64(t.graph.Len()) / (1 - s.Halt)
	}
	k, err := kernel.NewGRF(f, lifted{by: gain})
	return k, [][]float64{{1, 2}, {1, 5}, {1, 10}, {1, 20}}, err
}

// lifted is a diffusion kernel with f_l multiplied by by^l. Ad-hoc walks lack a weight of
// degree/(1−p) per step. Multiplying by the mean weight isolates the effect of its
// variation between steps.
type lifted struct {
	kernel.Diffusion
	by float64
}

// Coeffs sets dst[l] = by^l f_l.
func (m lifted) Coeffs(dst, theta []float64) {
	m.Diffusion.Coeffs(dst, theta)
	m.lift(dst)
}

// CoeffsGrad sets the derivatives with respect to σ² and β.
func (m lifted) CoeffsGrad(dst [][]float64, theta []float64) {
	m.Diffusion.CoeffsGrad(dst, theta)
	for _, d := range dst {
		m.lift(d)
	}
}

func (m lifted) lift(dst []float64) {
	for l := range dst {
		dst[l] *= math.Pow(m.by, float64(l))
	}
}

// freeStarts returns starting values of free coefficients: those of diffusion kernels.
// The authors start from normal deviates, which mostly lead to worse optima.
func freeStarts(hops int, arm meshArm) [][]float64 {
	var starts [][]float64
	for _, half := range []float64{0.25, 1, 3} {
		ratio := -half // on the Laplacian: (−β/2)^l / l!
		switch {
		case arm.matrix == graph.RawAdjacency:
			ratio = half / 4 // edge weights are 1 instead of 1/4
		case arm.sampler == walk.AdHoc:
			ratio = half
		}
		f, all := 1.0, make([]float64, hops+1)
		for l := range all {
			all[l] = f
			f *= ratio / float64(l+1)
		}
		starts = append(starts, all)
	}
	return starts
}

// run learns the function with every arm.
func (s meshSettings) run(ctx context.Context, progress func(done, total int64)) (*Result, error) {
	t, err := s.task(ctx)
	if err != nil {
		return nil, err
	}
	r := &Result{Arrays: map[string][]float64{"truth": t.truth}}
	for _, i := range t.data.Nodes {
		r.Arrays["measured"] = append(r.Arrays["measured"], float64(i))
	}
	for k, arm := range meshArms {
		row, mean, sd, err := s.learn(ctx, t, arm)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", arm.name, err)
		}
		r.Rows = append(r.Rows, row)
		r.Arrays["mean-"+arm.name], r.Arrays["sd-"+arm.name] = mean, sd
		progress(int64(k+1), int64(len(meshArms)))
	}
	return r, nil
}

// learn fits an arm and scores its predictions.
func (s meshSettings) learn(ctx context.Context, t *meshTask, arm meshArm) (row Row, mean, sd []float64, err error) {
	begin := time.Now()
	k, starts, err := s.kernel(ctx, t, arm)
	if err != nil {
		return nil, nil, nil, err
	}
	m, report, err := gp.Fit(ctx, k, t.data, gp.FitOptions{Solver: gp.Exact, Mean: new(float64), Starts: starts, Seed: s.Seed})
	if err != nil {
		return nil, nil, nil, err
	}
	seconds := time.Since(begin).Seconds()
	p, err := m.Condition(ctx, t.data)
	if err != nil {
		return nil, nil, nil, err
	}
	all := allNodes(len(t.truth))
	if mean, err = p.Mean(ctx, all); err != nil {
		return nil, nil, nil, err
	}
	if sd, err = p.Variance(ctx, all); err != nil {
		return nil, nil, nil, err
	}
	for i, v := range sd {
		sd[i] = math.Sqrt(v)
	}
	row = scoreField(t.truth, mean, sd, t.data.Nodes)
	row["graph"], row["arm"], row["seed"] = s.Graph, arm.name, int(s.Seed)
	row["noise_sd"], row["loglik"], row["fit_seconds"] = report.NoiseSD, report.LogLikelihood, seconds
	return row, mean, sd, nil
}

// scoreField scores posterior means and standard deviations against the function, at
// nodes without a measurement.
func scoreField(truth, mean, sd []float64, measured []int) Row {
	skip := make([]bool, len(truth))
	for _, i := range measured {
		skip[i] = true
	}
	square, density, inside, n := 0.0, 0.0, 0.0, 0.0
	for i, v := range truth {
		if skip[i] {
			continue
		}
		e := v - mean[i]
		n++
		square += e * e
		density += nlpd(e, sd[i])
		if math.Abs(e) < interval95*sd[i] {
			inside++
		}
	}
	return Row{"rmse": math.Sqrt(square / n), "nlpd": density / n, "coverage": inside / n}
}
