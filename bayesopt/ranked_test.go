package bayesopt_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"grfgp/bayesopt"
	"grfgp/gp"
	"grfgp/graph"
	"grfgp/internal/testkit"
)

// counted counts the nodes whose variances were asked for.
type counted struct {
	bayesopt.Surrogate
	nodes int
}

func (c *counted) Variance(ctx context.Context, nodes []int) ([]float64, error) {
	c.nodes += len(nodes)
	return c.Surrogate.Variance(ctx, nodes)
}

// On large graphs only a shortlist of candidates gets exact scores, and the picks
// are as good as with exact scores of all: the score of each pick is within 5 %
// of the highest.
func TestRankedOnLargeGraphs(t *testing.T) {
	t.Parallel()
	const side, n = 90, 6
	g := must(graph.Grid(side, side))
	truth := hill(side)
	o := must(bayesopt.New(bayesopt.Train(grf(g, 8, 16), gp.FitOptions{}), bayesopt.Options{}))
	for i := 5; i < side*side; i += 211 {
		if err := o.Tell(i, truth(i)); err != nil {
			t.Fatal(err)
		}
	}
	posterior := must(o.Update(background))
	all := make([]int, side*side)
	for i := range all {
		all[i] = i
	}
	mean := must(posterior.Mean(background, all))
	variance := must(posterior.Variance(background, all))
	for name, c := range map[string]struct {
		policy bayesopt.Policy
		score  func(mean, sd float64) float64
	}{
		"straddle": {bayesopt.Straddle{Level: 0.5}, func(m, sd float64) float64 { return 1.96*sd - math.Abs(m-0.5) }},
		"ucb":      {bayesopt.UCB{}, func(m, sd float64) float64 { return m + 2*sd }},
		"variance": {bayesopt.HighestVariance{}, func(_, sd float64) float64 { return sd * sd }},
	} {
		best := math.Inf(-1)
		for i := range all {
			best = max(best, c.score(mean[i], math.Sqrt(variance[i])))
		}
		s := &counted{Surrogate: posterior}
		picks := must(c.policy.Pick(background, s, must(bayesopt.NewCandidates(len(all), all, bayesopt.Limits{}, nil)), n, 3))
		if len(picks) != n || s.nodes > 5000 {
			t.Fatalf("%s: %d picks by the variance of %d nodes", name, len(picks), s.nodes)
		}
		if got := c.score(mean[picks[0].Node], math.Sqrt(variance[picks[0].Node])); got < best-0.05*math.Abs(best) {
			t.Errorf("%s: the first pick scores %.4g of %.4g", name, got, best)
		}
	}
}

// flat is a Surrogate with the same variance at every node and no covariance
// between nodes.
type flat struct{ n int }

func (f flat) Nodes() int        { return f.n }
func (f flat) Measured() []int   { return []int{0} }
func (f flat) NoiseVar() float64 { return 1 }

func (f flat) Mean(_ context.Context, nodes []int) ([]float64, error) {
	mean := make([]float64, len(nodes))
	for k, i := range nodes {
		mean[k] = -float64(i)
	}
	return mean, nil
}

func (f flat) Variance(_ context.Context, nodes []int) ([]float64, error) {
	variance := make([]float64, len(nodes))
	for k := range variance {
		variance[k] = 1
	}
	return variance, nil
}

func (f flat) Covariance(_ context.Context, rows, cols []int) (*mat.Dense, error) {
	out := mat.NewDense(len(rows), len(cols), nil)
	for r, i := range rows {
		for c, j := range cols {
			if i == j {
				out.Set(r, c, 1)
			}
		}
	}
	return out, nil
}

func (f flat) Sample(ctx context.Context, nodes []int, draws int, _ uint64) (*mat.Dense, error) {
	mean, _ := f.Mean(ctx, nodes)
	out := mat.NewDense(len(nodes), draws, nil)
	for k, m := range mean {
		for d := range draws {
			out.Set(k, d, m+float64(2*(d%2)-1))
		}
	}
	return out, nil
}

// If all shortlisted candidates are in full groups, further candidates are
// considered.
func TestRankedLooksAgain(t *testing.T) {
	t.Parallel()
	const n = 20_000
	all, groups := make([]int, n), make([]int, n)
	for i := range all {
		all[i], groups[i] = i, i/6000
	}
	c := must(bayesopt.NewCandidates(n, all, bayesopt.Limits{Group: groups, GroupCap: 1}, nil))
	picks := must(bayesopt.UCB{}.Pick(background, flat{n}, c, 9, 1))
	if len(picks) != 4 || picks[0].Node != 0 || picks[1].Node != 6000 || picks[3].Node != 18000 {
		t.Errorf("%v", picks)
	}
}

// NaN scores are an error, not an endless loop.
func TestRankedRefusesWhatIsNoNumber(t *testing.T) {
	t.Parallel()
	for _, policy := range []bayesopt.Policy{bayesopt.UCB{Beta: math.NaN()}, bayesopt.Straddle{Level: math.NaN()}} {
		c := must(bayesopt.NewCandidates(9, all(9), bayesopt.Limits{}, nil))
		if picks, err := policy.Pick(background, flat{9}, c, 2, 1); !errors.Is(err, bayesopt.ErrOptions) {
			t.Errorf("%+v: %v, %v", policy, picks, err)
		}
	}
}

// Reasons use the terms of the field; they name the upper or the lower bound by
// the direction of the search, and costs if there are costs.
func TestReasons(t *testing.T) {
	t.Parallel()
	g := must(graph.Grid(3, 3))
	p := posterior(t, dense(g), 4, 2)
	costs := []float64{1, 2, 1, 2, 1, 2, 1, 2, 1}
	const improvement, bound, reduction = "highest expected improvement", "highest upper confidence bound (mean + 2 sd)",
		"largest reduction of the total posterior variance"
	for _, c := range []struct {
		policy bayesopt.Policy
		why    string
		costly string // with costs; empty: why, per cost
	}{
		{bayesopt.Thompson{}, "best node in one posterior draw (Thompson sampling)",
			"highest gain per cost in one posterior draw (Thompson sampling)"},
		{bayesopt.ExpectedImprovement{}, improvement, ""},
		{bayesopt.ExpectedImprovement{Minimize: true}, improvement, ""},
		{bayesopt.UCB{}, bound, ""},
		{bayesopt.UCB{Minimize: true}, "lowest lower confidence bound (mean − 2 sd)", ""},
		{bayesopt.UCB{Minimize: true, Beta: 1.5}, "lowest lower confidence bound (mean − 1.5 sd)", ""},
		{bayesopt.VarianceReduction{}, reduction, ""},
		{bayesopt.VarianceReduction{Over: []int{3}}, "largest reduction of the posterior variance of the target nodes", ""},
		{bayesopt.HighestVariance{}, "highest posterior variance", ""},
		{bayesopt.Straddle{Level: -0.5}, "hardest to tell from the level -0.5 (straddle: 1.96 sd − |mean − level|)", ""},
		{bayesopt.HighestDegree{Graph: g.Adjacency()}, "highest degree", ""},
		{bayesopt.Random{}, "drawn at random", "drawn at random, with probability proportional to 1/cost"},
		{bayesopt.BreadthFirst{Graph: g.Adjacency()}, "neighbour of a measured node", "neighbour of a measured node"},
	} {
		if c.costly == "" {
			c.costly = c.why + ", per cost"
		}
		for want, l := range map[string]bayesopt.Limits{c.why: {}, c.costly: {Cost: costs}} {
			for _, s := range must(c.policy.Pick(background, p, candidates(9, all(9), l), 2, 1)) {
				if s.Why != want {
					t.Errorf("%#v with costs %v: %q, want %q", c.policy, l.Cost, s.Why, want)
				}
			}
		}
	}
}

// If improvements underflow a float64, the best nodes still come first: on a ring
// with two nodes of three measured, the unmeasured nodes near the peak are picked
// first, and the stated expected improvement is right.
func TestImprovementBelowRange(t *testing.T) {
	t.Parallel()
	testkit.Unraced(t)
	const n = 300
	value := func(i int) float64 { return math.Sin(2 * math.Pi * float64(i) / n) }
	var d gp.Data
	var open []int
	for i := range n {
		if i%3 == 1 {
			open = append(open, i)
		} else {
			d.Nodes, d.Y = append(d.Nodes, i), append(d.Y, value(i))
		}
	}
	p := must(model(dense(must(graph.Ring(n))), 1, 60, 1e-8).Condition(background, d))
	for _, minimize := range []bool{false, true} {
		toward := 1.0
		if minimize {
			toward = -1
		}
		picks := must(bayesopt.ExpectedImprovement{Minimize: minimize}.Pick(background, p, candidates(n, open, bayesopt.Limits{}), 60, 1))
		lost := 0
		for k, c := range picks {
			if c.Value < 1e-307 {
				lost++
			}
			if strings.Contains(c.Why, "though below 1e-307") != (c.Value < 1e-307) {
				t.Errorf("an improvement of %g: %q", c.Value, c.Why)
			}
			if k > 0 && toward*value(c.Node) > toward*value(picks[k-1].Node)+0.05 {
				t.Errorf("node %d of %.3f comes after node %d of %.3f", c.Node, value(c.Node), picks[k-1].Node, value(picks[k-1].Node))
			}
		}
		if lost < 20 {
			t.Errorf("only %d improvements are below the range: the test shows nothing", lost)
		}
	}
	// Per cost: at 100 and 101 standard deviations from the best improvements differ
	// by a factor of e^100.5 = 4e43.
	for _, c := range []struct {
		cost  float64
		first int
	}{{1e43, 100}, {1e44, 101}} {
		costs := make([]float64, n)
		for i := range costs {
			costs[i] = 1
		}
		costs[100] = c.cost
		picks := must(bayesopt.ExpectedImprovement{}.Pick(background, flat{n}, candidates(n, []int{100, 101}, bayesopt.Limits{Cost: costs}), 2,
			1))
		if len(picks) != 2 || picks[0].Node != c.first {
			t.Errorf("node 100 at a cost of %g: %v", c.cost, picks)
		}
	}
}
