package bench

import (
	"context"
	"math"

	"grfgp/graph"
	"grfgp/walk"
)

// Sampled is one timed run of a sampler.
type Sampled struct {
	Graph   string       `json:"graph"`
	Nodes   int          `json:"nodes"`
	Options walk.Options `json:"options"`
	Seconds float64      `json:"seconds"`
	Size    walk.Size    `json:"size"`
	// Steps of walkers per second, and their random reads as a share of the machine's rate:
	// two per step (start of the row, column), and with uniform steps a third (weight). Zero
	// for samplers that do not step single walkers.
	StepsPerSecond float64 `json:"steps_per_second"`
	ReadShare      float64 `json:"read_share"`
}

// Sampling times the paper's estimator and the default sampler on a ring (100
// walks, hops 0 to 3) and on a Barabási–Albert graph with three edges per node
// (100 walks, hops 0 to 5), of n nodes each.
func Sampling(ctx context.Context, limits Limits, n int, seed uint64) ([]Sampled, error) {
	ring, err := graph.Ring(n)
	if err != nil {
		return nil, err
	}
	hubs, err := graph.BarabasiAlbert(n, 3, seed)
	if err != nil {
		return nil, err
	}
	var all []Sampled
	for _, c := range []struct {
		name string
		g    *graph.Graph
		hops int
	}{{"ring", ring, 3}, {"Barabási–Albert", hubs, 5}} {
		w := c.g.Normalized(graph.NormalizedAdjacency)
		paper, plain := walk.Default(), walk.Default()
		paper.Sampler, paper.Steps = walk.Independent, walk.Uniform
		plain.Sampler, plain.Scale = walk.Independent, c.g.WalkScale(graph.NormalizedAdjacency)
		ours := walk.Default()
		ours.Scale = plain.Scale
		for _, opts := range []walk.Options{paper, plain, ours} {
			opts.MaxLen, opts.Seed = c.hops, seed
			s := Sampled{Graph: c.name, Nodes: n, Options: opts}
			s.Seconds, err = quickest(ctx, func() error {
				f, err := walk.Sample(ctx, w, opts)
				if err == nil {
					s.Size = f.Size()
				}
				return err
			})
			if err != nil {
				return nil, err
			}
			if opts.Sampler != walk.Repelling {
				s.StepsPerSecond = expectedSteps(opts) * float64(n) / s.Seconds
				reads := 2.0
				if opts.Steps == walk.Uniform {
					reads = 3
				}
				s.ReadShare = reads * s.StepsPerSecond / limits.RandomReads
			}
			all = append(all, s)
		}
	}
	return all, nil
}

// expectedSteps is n·Σ_{l=1..L} (1−p)^l: expected steps per node of independent walks.
func expectedSteps(opts walk.Options) float64 {
	sum := 0.0
	for l := 1; l <= opts.MaxLen; l++ {
		sum += math.Pow(1-opts.Halt, float64(l))
	}
	return float64(opts.Walks) * sum
}
