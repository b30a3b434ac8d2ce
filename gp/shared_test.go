package gp

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"grfgp/graph"
	"grfgp/internal/ranks"
	"grfgp/internal/testkit"
	"grfgp/kernel"
	"grfgp/walk"
)

// sharedTask is a graph of n nodes with many measurements.
func sharedTask(t *testing.T, g *graph.Graph, err error) (kernel.Kernel, Data) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	g = g.Ordered()
	opts := walk.Default()
	opts.MaxLen, opts.Scale = 3, g.WalkScale(graph.NormalizedAdjacency)
	f, err := walk.Lazy(g.Normalized(graph.NormalizedAdjacency), opts)
	if err != nil {
		t.Fatal(err)
	}
	k, err := kernel.NewGRF(f, kernel.Diffusion{})
	if err != nil {
		t.Fatal(err)
	}
	var d Data
	for i := range g.Len() {
		if i%5 < 3 {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, math.Sin(float64(i)/40)+0.1*math.Sin(float64(i*i)))
		}
	}
	return k, d
}

// answer is what a fit and its posterior say, at all nodes.
type answer struct{ fit, mean, variance, few, many []float64 }

// answerOf fits and predicts, as one of the ranks.
func answerOf(ctx context.Context, g *ranks.Group, k kernel.Kernel, d Data, opts FitOptions) (a answer, err error) {
	opts.Ranks, opts.Solver, opts.Epochs = g, Iterative, 4
	m, r, err := Fit(ctx, k, d, opts)
	if err != nil {
		return a, err
	}
	a.fit = append(m.Theta(), m.NoiseSD(), r.LogLikelihood, r.LogLikelihoodSE, r.Residual)
	p, err := m.Condition(ctx, d)
	if err != nil {
		return a, err
	}
	shared, lo, hi := p.Ranks()
	if shared == nil && !g.Alone() {
		return a, errors.New("the posterior is not shared")
	}
	value, se, err := p.LogMarginalLikelihood(ctx)
	if err != nil {
		return a, err
	}
	a.fit = append(a.fit, value, se)
	var nodes, some []int
	for i := lo; i < hi; i++ {
		if nodes = append(nodes, i); i%9 == 0 {
			some = append(some, i)
		}
	}
	if a.mean, err = p.Mean(ctx, nodes); err != nil {
		return a, err
	}
	if a.variance, err = p.Variance(ctx, nodes); err != nil {
		return a, err
	}
	few, err := p.Sample(ctx, some, 3, 7) // by draws from the prior at all nodes
	if err != nil {
		return a, err
	}
	many, err := p.Sample(ctx, nodes, 2, 8) // by one pass
	if err != nil {
		return a, err
	}
	a.few, a.many = few.RawMatrix().Data, many.RawMatrix().Data
	for _, x := range []*[]float64{&a.mean, &a.variance, &a.few, &a.many} {
		if *x, _, err = ranks.Gather(ctx, g, *x); err != nil {
			return a, err
		}
	}
	return a, nil
}

// Ranks that share measurements learn and predict with the bits of one process, in float32
// and in float64.
func TestSharedHasTheBitsOfOne(t *testing.T) {
	t.Parallel()
	ring, ringErr := graph.Ring(testkit.Size(2000, 6000))
	hubs, hubsErr := graph.BarabasiAlbert(testkit.Size(1800, 5500), 2, 3)
	grid, gridErr := graph.Grid(testkit.Size(40, 80), testkit.Size(45, 75))
	cold := FitOptions{Seed: 3, ColdStart: true, Mean: new(float64)}
	for _, c := range []struct {
		name   string
		graph  *graph.Graph
		err    error
		opts   FitOptions
		single int
		scales bool
	}{
		{"ring, float32", ring, ringErr, FitOptions{Seed: 3}, 1, false},
		{"hubs, float64", hubs, hubsErr, cold, 1 << 30, false},
		{"hubs, fresh probes and no preconditioner", hubs, hubsErr,
			FitOptions{Seed: 5, ColdStart: true, Stochastic: Stochastic{Probes: 4, Fresh: true, Plain: true}}, 1, false},
		{"grid, many scales, mixed precision", grid, gridErr, FitOptions{Seed: 3, ColdStart: true}, 1, true},
		{"hubs, many scales, float64", hubs, hubsErr, cold, 1 << 30, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.opts.Limits = sharedFrom(ranks.BlockRows / 2)
			c.opts.Limits.SingleFrom = c.single
			if c.single > 1 && c.scales || c.opts.Stochastic.Fresh {
				testkit.Full(t)
			}
			if c.single > 1 || c.scales {
				testkit.Unraced(t)
			}
			k, d := sharedTask(t, c.graph, c.err)
			if c.scales {
				var err error
				if k, err = manyScales(t, c.graph, k); err != nil {
					t.Fatal(err)
				}
			}
			want, err := answerOf(t.Context(), nil, k, d, c.opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, size := range []int{2, 4}[:testkit.Size(1, 2)] {
				if err := ranks.Together(t.Context(), size, func(ctx context.Context, g *ranks.Group) error {
					got, err := answerOf(ctx, g, k, d, c.opts)
					if err != nil {
						return err
					}
					return got.differs(want)
				}); err != nil {
					t.Errorf("%d ranks: %v", size, err)
				}
			}
		})
	}
}

func (a answer) differs(from answer) error {
	for name, pair := range map[string][2][]float64{
		"fit": {a.fit, from.fit}, "mean": {a.mean, from.mean}, "variance": {a.variance, from.variance},
		"samples at some nodes": {a.few, from.few}, "samples at all nodes": {a.many, from.many},
	} {
		if len(pair[0]) == 0 || !slices.Equal(pair[0], pair[1]) {
			return fmt.Errorf("%s has other bits: %v… instead of %v…", name, pair[0][:min(4, len(pair[0]))], pair[1][:min(4, len(pair[1]))])
		}
	}
	return nil
}

// What needs all measurements in one place says so.
func TestSharedRefuses(t *testing.T) {
	t.Parallel()
	ring, err := graph.Ring(4000)
	k, d := sharedTask(t, ring, err)
	err = ranks.Together(t.Context(), 2, func(ctx context.Context, g *ranks.Group) error {
		m, _, err := Fit(ctx, k, d, FitOptions{Ranks: g, Solver: Iterative, Fixed: true, Limits: sharedFrom(ranks.BlockRows / 2)})
		if err != nil {
			return err
		}
		p, err := m.Condition(ctx, d)
		if err != nil {
			return err
		}
		if _, err := p.Covariance(ctx, []int{1}, []int{2}); !errors.Is(err, ErrShared) {
			return fmt.Errorf("covariance: %v", err)
		}
		if _, err := p.Condition(ctx, Data{Nodes: []int{3}, Y: []float64{1}}); !errors.Is(err, ErrShared) {
			return fmt.Errorf("conditioning: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
