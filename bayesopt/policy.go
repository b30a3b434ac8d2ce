// Package bayesopt says which node to measure next: to find the highest or the
// lowest, to know all nodes well, or to find where a level is crossed. Policies
// pick nodes from what a surrogate knows; an Optimizer asks and is told, and
// keeps the surrogate up to date.
package bayesopt

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// Errors of this package.
var (
	// ErrOptions is wrapped by errors about options that make no sense.
	ErrOptions = errors.New("bayesopt: bad options")
	// ErrNoModel says that too little was measured to model anything.
	ErrNoModel = errors.New("bayesopt: there is no model yet")
	// ErrNode is wrapped by errors about nodes and values that cannot be told.
	ErrNode = errors.New("bayesopt: not a measurement")
)

// Policy picks up to n candidates, in order, and takes them from those that are
// open. It picks fewer only when none is left. The same arguments give the same
// picks.
type Policy interface {
	Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error)
}

// Choice is a node that was picked.
type Choice struct {
	Node  int
	Value float64 // what it was picked by; higher is better
	Why   string  // in words
}

// Surrogate is what is known of the quantity at all nodes. A *gp.Posterior is
// one.
type Surrogate interface {
	Nodes() int
	// Measured returns the nodes of all measurements, in their order, and behind
	// them nodes that are taken as measured because they are pending.
	Measured() []int
	// NoiseVar is the noise variance of one more reading.
	NoiseVar() float64
	Mean(ctx context.Context, nodes []int) ([]float64, error)
	Variance(ctx context.Context, nodes []int) ([]float64, error)
	Covariance(ctx context.Context, rows, cols []int) (*mat.Dense, error)
	// Sample returns joint draws, a column each.
	Sample(ctx context.Context, nodes []int, draws int, seed uint64) (*mat.Dense, error)
}

// Blind is a Policy that looks at no predictions: nothing is trained for it.
type Blind interface {
	Policy
	Blind()
}

// PolicyNames are the names that PolicyNamed knows.
var PolicyNames = []string{"thompson", "ei", "ucb", "learn", "straddle", "random", "bfs", "dfs", "degree", "variance"}

// PolicyNamed returns the policy of a name, for a goal; without a name that of the
// goal. The graph is for those that look at it: bfs, dfs and degree. Goal.Suits
// says which policies work towards a goal; any may be had for comparison but
// straddle, which needs a level.
func PolicyNamed(name string, goal Goal, g Graph) (Policy, error) {
	least := goal.kind == minimize
	switch name {
	case "":
		return goal.Policy(), nil
	case "thompson":
		return Thompson{Minimize: least}, nil
	case "ei":
		return ExpectedImprovement{Minimize: least}, nil
	case "ucb":
		return UCB{Minimize: least}, nil
	case "learn":
		return VarianceReduction{}, nil
	case "straddle":
		level, ok := goal.Level()
		if !ok {
			return nil, fmt.Errorf("%w: the policy straddle needs the goal threshold=V, not %v", ErrOptions, goal)
		}
		return Straddle{Level: level}, nil
	case "random":
		return Random{}, nil
	case "variance":
		return HighestVariance{}, nil
	case "bfs", "dfs", "degree":
		if g == nil {
			return nil, fmt.Errorf("%w: the policy %s needs a graph", ErrOptions, name)
		}
		return map[string]Policy{"bfs": BreadthFirst{g}, "dfs": DepthFirst{g}, "degree": HighestDegree{g}}[name], nil
	}
	return nil, fmt.Errorf("%w: no policy is called %q; there are %q", ErrOptions, name, PolicyNames)
}

// unmodelled is a Surrogate that knows only where measurements are.
type unmodelled struct {
	nodes    int
	measured []int
}

func (u unmodelled) Nodes() int        { return u.nodes }
func (u unmodelled) Measured() []int   { return u.measured }
func (u unmodelled) NoiseVar() float64 { return 0 }
func (u unmodelled) Mean(context.Context, []int) ([]float64, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Variance(context.Context, []int) ([]float64, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Covariance(context.Context, []int, []int) (*mat.Dense, error) {
	return nil, ErrNoModel
}
func (u unmodelled) Sample(context.Context, []int, int, uint64) (*mat.Dense, error) {
	return nil, ErrNoModel
}
