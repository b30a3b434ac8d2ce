package bench

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"time"

	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/rng"
	"grfgp/kernel"
	"grfgp/walk"
)

// Regression is the cost and the error of a whole regression on a ring.
type Regression struct {
	Nodes     int     `json:"nodes"`
	Dense     bool    `json:"dense"` // the kernel formed and factored, as in the paper's dense arm
	Hops      int     `json:"hops"`
	Epochs    int     `json:"epochs"`
	Features  float64 `json:"features_seconds"`
	Training  float64 `json:"training_seconds"`
	Inference float64 `json:"inference_seconds"` // mean and 64 posterior samples at the test nodes
	RMSE      float64 `json:"rmse"`              // against noisy test values; the noise is 0.1
	NoiseSD   float64 `json:"noise_sd"`          // as learned
	Residual  float64 `json:"residual"`          // of the last solves while learning
	Bytes     float64 `json:"bytes"`             // heap at the end
}

// Regressions runs the task on rings of 2^lo, 2^(lo+1), … 2^hi nodes, ten hops and
// 50 epochs, and returns how time grows.
func Regressions(ctx context.Context, lo, hi int, seed uint64) (all []Regression, training, inference Exponent, err error) {
	var t, i []ScalingPoint
	for bits := lo; bits <= hi; bits++ {
		r, err := RegressOnRing(ctx, 1<<bits, 10, 50, false, seed)
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

// Total is the time of all three parts.
func (r Regression) Total() float64 { return r.Features + r.Training + r.Inference }

// RegressOnRing runs the paper's scaling task on a ring of n nodes: the signal
// 2 sin 2a + ½ cos 4a + 0.3 sin a with noise of s.d. 0.1, 60 % of the nodes for
// training and 20 % for testing. The dense arm differs in nothing but that the
// matrix ΦΦᵀ is formed, and systems with it are solved by a factor.
func RegressOnRing(ctx context.Context, n, hops, epochs int, dense bool, seed uint64) (Regression, error) {
	r := Regression{Nodes: n, Dense: dense, Hops: hops, Epochs: epochs}
	ring, err := graph.Ring(n)
	if err != nil {
		return r, err
	}
	train, test := ringTask(n, seed)
	start := time.Now()
	w := ring.Normalized(graph.NormalizedAdjacency)
	opts := walk.Default()
	opts.MaxLen, opts.Seed, opts.Scale = hops, seed, ring.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Sample(ctx, w, opts)
	if err != nil {
		return r, err
	}
	r.Features = time.Since(start).Seconds()

	start = time.Now()
	grf, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		return r, err
	}
	var k kernel.Kernel = grf
	if dense {
		if k, err = kernel.NewMaterialized(grf); err != nil {
			return r, err
		}
	}
	m, report, err := gp.Fit(ctx, k, train, gp.FitOptions{Solver: gp.Iterative, Epochs: epochs, Seed: seed})
	if err != nil {
		return r, err
	}
	r.Training, r.NoiseSD, r.Residual = time.Since(start).Seconds(), report.NoiseSD, report.Residual

	start = time.Now()
	p, err := m.Condition(ctx, train)
	if err != nil {
		return r, err
	}
	mean, err := p.Mean(ctx, test.Nodes)
	if err != nil {
		return r, err
	}
	if _, err := p.Sample(ctx, test.Nodes, 64, seed); err != nil {
		return r, err
	}
	r.Inference = time.Since(start).Seconds()
	for i, y := range test.Y {
		r.RMSE += (y - mean[i]) * (y - mean[i]) / float64(test.Len())
	}
	r.RMSE, r.Bytes = math.Sqrt(r.RMSE), heap()
	runtime.KeepAlive(p) // with features and measurements
	return r, nil
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
