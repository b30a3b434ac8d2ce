package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"gonum.org/v1/gonum/stat"

	"grfgp"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/parallel"
	"grfgp/internal/rng"
	"grfgp/lab/objective"
)

// Task is a function on a graph to be learned from few random nodes.
type Task struct {
	Name  string
	Train int // measurements
	make  func(seed uint64) (*objective.Task, error)
}

// TaskArm is the result of a Task learned by grfgp.Fit with diffusion features, with one
// scale or with many, and tested at other random nodes.
type TaskArm struct {
	Task     string       `json:"task"`
	Nodes    int          `json:"nodes"`
	Train    int          `json:"train"`
	Test     int          `json:"test"`
	Scales   string       `json:"scales"`
	Fit      float64      `json:"fit_seconds"`
	Predict  float64      `json:"predict_seconds"`
	RMSE     float64      `json:"rmse"`     // against noisy values
	R2       float64      `json:"r2"`       // against the noise-free function
	Coverage float64      `json:"coverage"` // of 95 % intervals of noisy values
	NoiseSD  float64      `json:"noise_sd"` // learned
	TrueSD   float64      `json:"true_noise_sd"`
	Bytes    float64      `json:"bytes"` // heap at the end, without the task
	Choice   grfgp.Choice `json:"choice"`
}

// testNodes is the number of test nodes of a task.
const testNodes = 20_000

// ScaleTasks returns tasks that need long reach, and two on graphs without geometry; quick
// runs use small ones.
func ScaleTasks(small bool) []Task {
	ring, side, block, scaleFree, train, hubs := 1<<20, 1000, 1000, 1_000_000, 1000, 1000
	if small {
		ring, side, block, scaleFree, train, hubs = 1<<14, 120, 200, 5000, 300, 300
	}
	return []Task{
		{"ring", train, func(seed uint64) (*objective.Task, error) { return objective.Ring(ring, seed) }},
		{"single peak", train, func(uint64) (*objective.Task, error) { return objective.SinglePeak(side) }},
		{"five peaks", train, func(uint64) (*objective.Task, error) { return objective.FivePeaks(side) }},
		{"averages on blocks", train, func(seed uint64) (*objective.Task, error) {
			sizes := make([]int, 20)
			for b := range sizes {
				sizes[b] = block
			}
			g, err := graph.StochasticBlock(sizes, func(a, b int) float64 {
				if a == b {
					return 20 / float64(block) // twenty neighbours inside,
				}
				return 0.2 / float64(block*len(sizes)) // a fifth of one outside
			}, seed)
			if err != nil {
				return nil, err
			}
			return averages("averages on blocks", g, seed), nil
		}},
		{"averages on a scale-free graph", hubs, func(seed uint64) (*objective.Task, error) {
			g, err := graph.BarabasiAlbert(scaleFree, 2, seed)
			if err != nil {
				return nil, err
			}
			return averages("averages on a scale-free graph", g, seed), nil
		}},
	}
}

// averages is white noise after twenty steps of averaging each node with the mean of its
// neighbours, scaled to mean 0 and variance 1 over the nodes, and measured with noise of
// standard deviation 0.1. It is not a draw from any of the kernels that learn it.
func averages(name string, g *graph.Graph, seed uint64) *objective.Task {
	const steps = 20
	n := g.Len()
	random := rand.New(rng.New(seed, "averages"))
	f, next := make([]float64, n), make([]float64, n)
	for i := range f {
		f[i] = random.NormFloat64()
	}
	degrees, adj := g.Strengths(), g.Adjacency()
	for range steps {
		parallel.Ranges(n, 4096, func(lo, hi int) {
			for i := lo; i < hi; i++ {
				next[i] = f[i]
				if degrees[i] == 0 {
					continue
				}
				cols, vals := adj.Row(i)
				sum := 0.0
				for p, j := range cols {
					sum += vals[p] * f[j]
				}
				next[i] = (f[i] + sum/degrees[i]) / 2
			}
		})
		f, next = next, f
	}
	mean, sd := stat.PopMeanStdDev(f, nil)
	t := &objective.Task{Name: name, Graph: g, Truth: f, Table: next, NoiseSD: 0.1}
	for i := range f {
		t.Truth[i] = (f[i] - mean) / sd
		t.Table[i] = t.Truth[i] + t.NoiseSD*random.NormFloat64()
	}
	return t
}

// run fits and predicts.
func (k Task) run(ctx context.Context, scales string, seed uint64) (TaskArm, error) {
	arm := TaskArm{Task: k.Name, Train: k.Train, Scales: scales}
	task, err := k.make(seed)
	if err != nil {
		return arm, err
	}
	arm.Nodes, arm.TrueSD = len(task.Table), task.NoiseSD
	before := heap()
	order := rand.New(rng.New(seed, "scale task")).Perm(arm.Nodes)
	var d gp.Data
	for _, i := range order[:k.Train] {
		d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, task.Table[i])
	}
	test := order[k.Train:min(arm.Nodes, k.Train+testNodes)]
	arm.Test = len(test)

	start := time.Now()
	g := task.Graph.Ordered()
	number := g.InputOrder()
	for k, i := range d.Nodes {
		d.Nodes[k] = number[i]
	}
	m, err := grfgp.Fit(ctx, g, d, grfgp.Spec{Expression: grfgp.Expression{Family: "diffusion", Method: "grf", Scales: scales,
		Trend: "none"}, Device: "cpu", Seed: seed})
	if err != nil {
		return arm, err
	}
	arm.Fit, arm.Choice, arm.NoiseSD = time.Since(start).Seconds(), m.Choice(), m.NoiseSD()
	start = time.Now()
	asked := make([]int, len(test))
	for k, i := range test {
		asked[k] = number[i]
	}
	p, err := m.Predict(ctx, asked)
	if err != nil {
		return arm, err
	}
	arm.Predict = time.Since(start).Seconds()
	arm.Bytes = heap() - before
	runtime.KeepAlive(m)

	y, truth := make([]float64, len(test)), make([]float64, len(test))
	for a, i := range test {
		y[a], truth[a] = task.Table[i], task.Truth[i]
	}
	arm.RMSE, arm.Coverage = score(y, p.Mean, p.SD, arm.NoiseSD)
	_, spread := stat.PopMeanStdDev(truth, nil)
	off, _ := score(truth, p.Mean, p.SD, 0)
	arm.R2 = 1 - math.Pow(off/spread, 2)
	return arm, nil
}
