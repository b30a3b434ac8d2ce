package bench

import (
	"context"
	"math"
	"runtime"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/graph"
	"grfgp/walk"
)

// ScalingPoint is the cost of the features of a ring of N nodes.
type ScalingPoint struct {
	Nodes   int     `json:"nodes"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"` // on the heap: graph, matrix and features
}

// Exponent is b of cost ∝ N^b, with its 95 % interval.
type Exponent struct {
	Value float64 `json:"value"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
}

// Growth is how the cost of a sampler grows.
type Growth struct {
	Sampler string         `json:"sampler"`
	Points  []ScalingPoint `json:"points"`
	Time    Exponent       `json:"time"`
	Memory  Exponent       `json:"memory"`
}

// Scaling measures the features of rings of 2^lo to 2^hi nodes (100 walks, hops
// 0 to 3) by the paper's estimator and by the default sampler.
func Scaling(ctx context.Context, lo, hi int, seed uint64) ([]Growth, error) {
	paper, ours := walk.Default(), walk.Default()
	paper.Sampler, paper.Steps = walk.Independent, walk.Uniform
	var all []Growth
	for _, opts := range []walk.Options{paper, ours} {
		opts.MaxLen, opts.Seed = 3, seed
		g := Growth{Sampler: opts.Sampler.String()}
		for bits := lo; bits <= hi; bits++ {
			p, err := scalingPoint(ctx, 1<<bits, opts)
			if err != nil {
				return nil, err
			}
			g.Points = append(g.Points, p)
		}
		g.Time = fit(g.Points, func(p ScalingPoint) float64 { return p.Seconds })
		g.Memory = fit(g.Points, func(p ScalingPoint) float64 { return p.Bytes })
		all = append(all, g)
	}
	return all, nil
}

func scalingPoint(ctx context.Context, n int, opts walk.Options) (ScalingPoint, error) {
	before := heap()
	ring, err := graph.Ring(n)
	if err != nil {
		return ScalingPoint{}, err
	}
	w := ring.Normalized(graph.NormalizedAdjacency)
	opts.Scale = ring.WalkScale(graph.NormalizedAdjacency)
	var f *walk.Features
	seconds, err := quickest(ctx, func() (err error) {
		f = nil
		f, err = walk.Sample(ctx, w, opts)
		return err
	})
	if err != nil {
		return ScalingPoint{}, err
	}
	after := heap()
	runtime.KeepAlive(ring)
	runtime.KeepAlive(w)
	runtime.KeepAlive(f)
	return ScalingPoint{n, seconds, after - before}, nil
}

// heap returns the bytes in use after a collection.
func heap() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// fit regresses log cost on log N.
func fit(points []ScalingPoint, cost func(ScalingPoint) float64) Exponent {
	x, y := make([]float64, len(points)), make([]float64, len(points))
	for i, p := range points {
		x[i], y[i] = math.Log2(float64(p.Nodes)), math.Log2(cost(p))
	}
	a, b := stat.LinearRegression(x, y, nil, false)
	rest, spread, mean := 0.0, 0.0, stat.Mean(x, nil)
	for i := range x {
		rest += (y[i] - a - b*x[i]) * (y[i] - a - b*x[i])
		spread += (x[i] - mean) * (x[i] - mean)
	}
	free := float64(len(x) - 2)
	if free < 1 {
		return Exponent{b, b, b} // two points have no spread to judge by
	}
	half := distuv.StudentsT{Sigma: 1, Nu: free}.Quantile(0.975) * math.Sqrt(rest/free/spread)
	return Exponent{b, b - half, b + half}
}
