package bench

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/mat"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/meter"
	"grfgp/internal/parallel"
	"grfgp/internal/ranks"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/kernel/materialized"
	"grfgp/walk"
)

// RingRun is the paper's scaling task: on a ring, the function
// 2 sin 2a + ½ cos 4a + 0.3 sin a with noise of standard deviation 0.1, with 60 % of the
// nodes for training and 20 % for testing.
type RingRun struct {
	Nodes  int
	Hops   int // of walks on the ring itself
	Epochs int
	// Authors selects the features of the authors' code, 100 independent walks on I − Ã
	// with halting probability 0.1, and learns free coefficients from random starting
	// values. Otherwise it is a diffusion kernel on features of the default sampler, which
	// are exact on a ring.
	Authors bool
	Dense   bool // form ΦΦᵀ and factor it
	Many    bool // add coarser rings
	Seed    uint64
	// Stochastic configures the gradient estimates of learning.
	Stochastic gp.Stochastic
	// Ranks run the task together; nil: this process alone.
	Ranks *ranks.Group
	// Card is a graphics card to learn and infer on; nil: the processor alone.
	Card *gp.Card

	kernel      kernel.Kernel // state after the run
	model       *gp.Model
	train, test gp.Data
	keep        bool // the answer
	answer      *ringAnswer
}

// ringAnswer is a posterior at test nodes: those of this rank.
type ringAnswer struct {
	posterior *gp.Posterior
	nodes     []int
	mean, sd  []float64
	draws     *mat.Dense // a row per node, which sd is that of
	seconds   float64
}

// Regression is the cost and the error of a whole regression on a ring.
type Regression struct {
	Nodes     int     `json:"nodes"`
	Dense     bool    `json:"dense"` // kernel matrix formed and factored
	Hops      int     `json:"hops"`
	Epochs    int     `json:"epochs"`
	Coarse    []int   `json:"coarse_nodes,omitempty"` // sizes of the coarser rings
	Features  float64 `json:"features_seconds"`       // with forming the kernel matrix once, if dense
	Training  float64 `json:"training_seconds"`
	Inference float64 `json:"inference_seconds"` // mean and 64 posterior samples at the test nodes
	RMSE      float64 `json:"rmse"`              // against noisy test values; the noise is 0.1
	Coverage  float64 `json:"coverage"`          // of 95 % intervals of noisy test values
	NoiseSD   float64 `json:"noise_sd"`          // learned
	Residual  float64 `json:"residual"`          // of the last solves of learning
	Bytes     float64 `json:"bytes"`             // heap at the end, with all that a prediction needs
	Stored    float64 `json:"stored_bytes"`      // of the features, or of the dense kernel
	Passes    float64 `json:"passes_seconds"`    // of training: in sparse products and sweeps over vectors
	Moved     float64 `json:"passes_bytes"`      // that these read and wrote at least
	Digest    string  `json:"digest"`            // of the mean and the samples, to compare runs
}

// Total is the time of features, training and inference, in seconds.
func (r Regression) Total() float64 { return r.Features + r.Training + r.Inference }

// Regressions runs the task on rings of 2^lo, 2^(lo+1), … 2^hi nodes, with ten hops and 50
// epochs, and fits the growth of time.
func Regressions(ctx context.Context, lo, hi int, seed uint64) (all []Regression, training, inference Exponent, err error) {
	var t, i []ScalingPoint
	for bits := lo; bits <= hi; bits++ {
		r, err := (&RingRun{Nodes: 1 << bits, Hops: ringHops, Epochs: ringEpochs, Seed: seed}).Regress(ctx)
		if err != nil {
			return nil, training, inference, err
		}
		all = append(all, r)
		t = append(t, ScalingPoint{Nodes: r.Nodes, Seconds: r.Training})
		i = append(i, ScalingPoint{Nodes: r.Nodes, Seconds: r.Inference})
	}
	seconds := func(p ScalingPoint) float64 { return p.Seconds }
	return all, fit(t, seconds), fit(i, seconds), nil
}

const (
	ringHops   = 10
	ringEpochs = 50
	ringDraws  = 64
	interval95 = 1.9599639845
)

// Regress learns, and computes the posterior mean and 64 samples at the test nodes.
func (r *RingRun) Regress(ctx context.Context) (Regression, error) {
	out := Regression{Nodes: r.Nodes, Dense: r.Dense, Hops: r.Hops, Epochs: r.Epochs}
	before := heap()
	ring, err := graph.Ring(r.Nodes)
	if err != nil {
		return out, err
	}
	r.train, r.test = ringTask(r.Nodes, r.Seed)
	start := time.Now()
	if err := r.prepare(ctx, ring, &out); err != nil {
		return out, err
	}
	out.Features = time.Since(start).Seconds()

	start = time.Now()
	opts := gp.FitOptions{Solver: gp.Iterative, Epochs: r.Epochs, Seed: r.Seed, Stochastic: r.Stochastic, Ranks: r.Ranks, Device: r.Card}
	if r.Authors {
		opts = r.authorsOptions(opts)
	}
	var report gp.FitReport
	meter.Begin()
	if r.model, report, err = gp.Fit(ctx, r.kernel, r.train, opts); err != nil {
		return out, err
	}
	passes := meter.End()
	out.Passes, out.Moved = passes.Seconds, passes.Bytes
	out.Training, out.NoiseSD, out.Residual = time.Since(start).Seconds(), report.NoiseSD, report.Residual

	answer, err := r.infer(ctx, r.model)
	if err != nil {
		return out, err
	}
	out.Inference = answer.seconds
	p, mean, sd := answer.posterior, answer.mean, answer.sd
	shared, _, _ := p.Ranks()
	if out.Digest, err = digest(ctx, shared, answer.nodes, mean, answer.draws); err != nil {
		return out, err
	}
	if r.keep {
		r.answer = answer
	}
	if mean, _, err = ranks.Gather(ctx, shared, mean); err != nil {
		return out, err
	}
	if sd, _, err = ranks.Gather(ctx, shared, sd); err != nil {
		return out, err
	}
	out.RMSE, out.Coverage = score(r.test.Y, mean, sd, report.NoiseSD)
	out.Bytes = heap() - before
	runtime.KeepAlive(p) // with features, graphs and measurements
	return out, nil
}

// infer computes the posterior mean and 64 samples at the test nodes.
func (r *RingRun) infer(ctx context.Context, m *gp.Model) (*ringAnswer, error) {
	start := time.Now()
	p, err := m.Condition(ctx, r.train)
	if err != nil {
		return nil, err
	}
	a := &ringAnswer{posterior: p, nodes: ownNodes(p, r.test.Nodes)}
	if a.mean, err = p.Mean(ctx, a.nodes); err != nil {
		return nil, err
	}
	if a.draws, err = p.Sample(ctx, a.nodes, ringDraws, r.Seed); err != nil {
		return nil, err
	}
	a.seconds = time.Since(start).Seconds()
	a.sd = make([]float64, len(a.nodes))
	for i := range a.sd {
		for _, v := range a.draws.RawRowView(i) {
			a.sd[i] += (v - a.mean[i]) * (v - a.mean[i]) / ringDraws
		}
		a.sd[i] = math.Sqrt(a.sd[i])
	}
	return a, nil
}

// ownNodes returns the nodes of a sorted list for which this rank has to ask the posterior.
func ownNodes(p *gp.Posterior, nodes []int) []int {
	_, lo, hi := p.Ranks()
	from, _ := slices.BinarySearch(nodes, lo)
	to, _ := slices.BinarySearch(nodes, hi)
	return nodes[from:to]
}

// digest returns a hash of all bits, on all ranks: a sum over nodes, in any order.
func digest(ctx context.Context, g *ranks.Group, nodes []int, mean []float64, draws *mat.Dense) (string, error) {
	var word [8]byte
	var sum uint64
	h := fnv.New64a()
	for i, node := range nodes {
		h.Reset()
		binary.LittleEndian.PutUint64(word[:], uint64(node))
		h.Write(word[:])
		for _, v := range append([]float64{mean[i]}, draws.RawRowView(i)...) {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(v))
			h.Write(word[:])
		}
		sum += h.Sum64()
	}
	all, _, err := ranks.Gather(ctx, g, []uint64{sum})
	if err != nil {
		return "", err
	}
	sum = 0
	for _, v := range all {
		sum += v
	}
	return fmt.Sprintf("%016x", sum), nil
}

// prepare makes the kernel.
func (r *RingRun) prepare(ctx context.Context, ring *graph.Graph, out *Regression) error {
	var f *walk.Features
	var bytes float64
	var err error
	var levels []graph.Level
	tasks := []func(){func() { f, bytes, err = r.sample(ctx, ring, r.Hops) }}
	if r.Many && !r.Dense {
		// As in grfgp.Fit. Much of it is for one processor: the others sample meanwhile.
		tasks = append(tasks, func() { levels = ring.Coarsen(max(16, min(150, r.Nodes/8))) })
	}
	parallel.Tasks(len(tasks), func(k int) { tasks[k]() })
	if err != nil {
		return err
	}
	out.Stored = bytes
	var family kernel.Modulation = kernel.Diffusion{}
	if r.Authors {
		family = kernel.Free{Len: r.Hops}
	}
	grf, err := kernel.NewGRF(f, family)
	if err != nil {
		return err
	}
	r.kernel = grf
	switch {
	case r.Dense:
		dense, err := materialized.New(grf)
		if err != nil {
			return err
		}
		var theta []float64
		for _, p := range dense.Params() {
			theta = append(theta, p.Start)
		}
		if _, err := dense.At(theta); err != nil {
			return err
		}
		r.kernel, out.Stored = dense, 8*float64(r.Nodes)*float64(r.Nodes)
	case r.Many:
		var scales []kernel.Scale
		for _, l := range levels {
			f, bytes, err := r.sample(ctx, l.Graph, ringHops)
			if err != nil {
				return err
			}
			scales = append(scales, kernel.Scale{Prolong: l.Prolong, Features: f})
			out.Coarse = append(out.Coarse, l.Graph.Len())
			out.Stored += bytes
		}
		if len(scales) > 0 {
			r.kernel, err = kernel.NewMultiscale(grf, kernel.Diffusion{}, scales)
		}
	}
	return err
}

// sample walks on the ring, or on a coarser one: each rank from its nodes, and later from
// those that it needs beside them. It returns the bytes of the features of all nodes.
func (r *RingRun) sample(ctx context.Context, g *graph.Graph, hops int) (*walk.Features, float64, error) {
	opts, matrix := walk.Default(), graph.NormalizedAdjacency
	if r.Authors {
		opts.Sampler, opts.Steps, matrix = walk.Independent, walk.Uniform, graph.NormalizedLaplacian
	} else {
		opts.Scale = g.WalkScale(matrix)
	}
	opts.MaxLen, opts.Seed = hops, r.Seed
	w := g.Normalized(matrix)
	if r.Ranks.Alone() {
		f, err := walk.Sample(ctx, w, opts)
		if err != nil {
			return nil, 0, err
		}
		return f, float64(f.Size().Bytes), nil
	}
	f, err := walk.Lazy(w, opts)
	if err != nil {
		return nil, 0, err
	}
	lo, hi := ranks.Even(g.Len(), r.Ranks.Size()).Range(r.Ranks.Rank())
	own := make([]int, hi-lo)
	for a := range own {
		own[a] = lo + a
	}
	list, err := f.List(ctx, own) // which keeps them
	if err != nil {
		return nil, 0, err
	}
	bytes, _, err := ranks.Gather(ctx, r.Ranks, []int64{list.Bytes()})
	total := int64(0)
	for _, n := range bytes {
		total += n
	}
	return f, float64(total), err
}

// authorsOptions learns as the authors do: by Adam from random coefficients, with a known
// mean.
func (r *RingRun) authorsOptions(opts gp.FitOptions) gp.FitOptions {
	random, start := rand.New(rng.New(r.Seed, "authors' start")), make([]float64, r.Hops+1)
	for l := range start {
		start[l] = random.NormFloat64()
	}
	opts.Starts, opts.Mean, opts.ColdStart = [][]float64{start}, new(float64), true
	return opts
}

// score returns the RMSE of means against noisy values, and the coverage of their 95 %
// intervals.
func score(y, mean, sd []float64, noise float64) (rmse, coverage float64) {
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

// ringTask splits the noisy signal.
func ringTask(n int, seed uint64) (train, test gp.Data) {
	random := rand.New(rng.New(seed, "ring task"))
	for i := range n {
		a := 2 * math.Pi * float64(i) / float64(n)
		y := 2*math.Sin(2*a) + 0.5*math.Cos(4*a) + 0.3*math.Sin(a) + 0.1*random.NormFloat64()
		switch u := random.Float64(); {
		case u < 0.6:
			train.Nodes, train.Y = append(train.Nodes, i), append(train.Y, y)
		case u < 0.8:
			test.Nodes, test.Y = append(test.Nodes, i), append(test.Y, y)
		}
	}
	return train, test
}
