package replay_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"grfgp"
	"grfgp/bayesopt"
	"grfgp/graph"
	"grfgp/kernel"
	"grfgp/replay"
)

// greedy is a custom policy that picks the highest mean.
type greedy struct{}

func (greedy) Pick(ctx context.Context, s bayesopt.Surrogate, c *bayesopt.Candidates, n int, _ uint64) ([]bayesopt.Suggestion, error) {
	mean, err := s.Mean(ctx, c.Nodes())
	if err != nil {
		return nil, err
	}
	var picks []bayesopt.Suggestion
	for len(picks) < n {
		best := -1
		for at := range c.Len() {
			if c.Open(at) && (best < 0 || mean[at] > mean[best]) {
				best = at
			}
		}
		if best < 0 {
			break
		}
		c.Take(best)
		picks = append(picks, bayesopt.Suggestion{Node: c.Nodes()[best], Value: mean[best], Why: "highest mean"})
	}
	return picks, nil
}

// near is a custom kernel family: K = s²(I + tW)²/(1 + t)².
type near struct{}

func (near) Params() []kernel.Param {
	return []kernel.Param{{Name: "variance", Start: 1, Positive: true, Variance: true}, {Name: "t", Start: 1, Positive: true}}
}

func (near) Coeffs(dst, theta []float64) {
	clear(dst)
	dst[0] = math.Sqrt(theta[0]) / (1 + theta[1])
	if len(dst) > 1 {
		dst[1] = dst[0] * theta[1]
	}
}

func (k near) CoeffsGrad(dst [][]float64, theta []float64) {
	k.Coeffs(dst[0], theta)
	clear(dst[1])
	square := (1 + theta[1]) * (1 + theta[1])
	dst[1][0] = -math.Sqrt(theta[0]) / square
	if len(dst[1]) > 1 {
		dst[1][1] = math.Sqrt(theta[0]) / square
	}
	for l := range dst[0] {
		dst[0][l] /= 2 * theta[0]
	}
}

func init() {
	kernel.Register(kernel.Family{Name: "near", Of: func(kernel.Member) (kernel.Modulation, error) { return near{}, nil }})
}

// A custom policy is compared with random picks, with a custom kernel family; it
// measures the same nodes as with an Optimizer.
func TestOwnPolicyAndFamily(t *testing.T) {
	t.Parallel()
	g, values := hill(t, 100)
	spec := grfgp.Spec{Expression: grfgp.Expression{Family: "near"}}
	r, err := replay.Run(t.Context(), g, values, spec, replay.Options{
		Policies: []replay.Policy{{Name: "greedy", Policy: greedy{}}, {Name: "luck", Policy: bayesopt.Random{}}},
		Start:    10, Steps: 10, Seeds: 2,
	})
	if err != nil {
		t.Fatal(err)
	}
	if r.Random != "luck" || r.Gain("greedy", "luck").Seeds != 2 {
		t.Errorf("%q is random; gain %+v", r.Random, r.Gain("greedy", "luck"))
	}
	for _, one := range r.Replays {
		if one.Policy != "greedy" {
			continue
		}
		var allowed []int
		for i, v := range values {
			if !math.IsNaN(v) {
				allowed = append(allowed, i)
			}
		}
		o, err := grfgp.NewOptimizer(g, spec, bayesopt.Options{Policy: greedy{}, Allowed: allowed, Retrain: bayesopt.Schedule{First: 10}})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range one.Nodes[:10] {
			if err := o.Tell(i, values[i]); err != nil {
				t.Fatal(err)
			}
		}
		for k := 10; k < 20; k++ {
			nodes, _, err := o.Next(t.Context(), bayesopt.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if nodes[0] != one.Nodes[k] {
				t.Fatalf("seed %d: node %d was measured as number %d, the optimizer suggests %d", one.Seed, one.Nodes[k], k, nodes[0])
			}
			if err := o.Tell(nodes[0], values[nodes[0]]); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The zero value of Options replays the goal's default policy and random picks.
func TestZeroOptions(t *testing.T) {
	t.Parallel()
	g, values := hill(t, 24)
	r, err := replay.Run(t.Context(), g, values, grfgp.Spec{}, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Policies) != "[thompson random]" || r.Random != "random" || r.Steps != r.Known/4 || r.Seeds != replay.LeastSeeds ||
		len(r.Replays) != 2*replay.LeastSeeds {
		t.Errorf("%v, random %q, %d steps, %d seeds", r.Policies, r.Random, r.Steps, r.Seeds)
	}
}

// A policy of your own, compared with random picks from the same starting nodes.
func ExamplePolicy() {
	g, _ := graph.Grid(9, 9)
	heights := make([]float64, g.Len())
	for i := range heights {
		heights[i] = 9 - math.Hypot(float64(i%9)-6, float64(i/9)-3)
	}
	r, err := replay.Run(context.Background(), g, heights, grfgp.Spec{}, replay.Options{
		Policies: []replay.Policy{{Name: "greedy", Policy: greedy{}}, {Name: "random", Policy: bayesopt.Random{}}},
		Start:    5, Steps: 20, Seeds: 6,
	})
	if err != nil {
		panic(err)
	}
	gain := r.Gain("greedy", "random")
	fmt.Printf("better on average: %t, beyond chance: %t\n", gain.Mean > 0, gain.Clear())
	// Output: better on average: true, beyond chance: false
}
