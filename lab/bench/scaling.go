package bench

import (
	"context"
	"runtime"

	"grfgp/graph"
	"grfgp/walk"
)

// ScalingPoint is the cost of the features of a ring of N nodes.
type ScalingPoint struct {
	Nodes   int     `json:"nodes"`
	Seconds float64 `json:"seconds"`
	Bytes   float64 `json:"bytes"` // on the heap: graph, matrix and features
}

// Growth is the growth of the cost of a sampler.
type Growth struct {
	Sampler string         `json:"sampler"`
	Points  []ScalingPoint `json:"points"`
	Time    Exponent       `json:"time"`
	Memory  Exponent       `json:"memory"`
}

// Scaling measures the features of rings of 2^lo to 2^hi nodes (100 walks, hops
// 0 to 3) with the paper's estimator and with the default sampler.
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
	runtime.GC() // memory in pools outlives one collection
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}
