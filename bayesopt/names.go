package bayesopt

import (
	"fmt"
	"slices"
)

// policyNames are the names that PolicyNamed knows.
var policyNames = []string{"thompson", "ei", "ucb", "learn", "straddle", "random", "bfs", "dfs", "degree", "variance"}

// PolicyNames returns the names of the policies of this package, as PolicyNamed
// reads them: for programs and files that name a policy in text.
func PolicyNames() []string { return slices.Clone(policyNames) }

// PolicyName returns the name of the goal's default policy.
func (g Goal) PolicyName() string {
	if _, ok := g.Level(); ok {
		return "straddle"
	}
	if g == Learn {
		return "learn"
	}
	return "thompson"
}

// PolicyNamed returns the policy of a name (see PolicyNames), set up for a goal:
// with the direction for thompson, ei and ucb, with the level for straddle. The
// empty name means the goal's default policy. Only bfs, dfs and degree need the
// graph. Every policy can be used with every goal, for comparison, except
// straddle, which needs a threshold; Goal.Suits reports whether a policy works
// towards a goal.
func PolicyNamed(name string, goal Goal, g Graph) (Policy, error) {
	minimize := goal == Minimize
	switch name {
	case "":
		return goal.Policy(), nil
	case "thompson":
		return Thompson{Minimize: minimize}, nil
	case "ei":
		return ExpectedImprovement{Minimize: minimize}, nil
	case "ucb":
		return UCB{Minimize: minimize}, nil
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
	return nil, fmt.Errorf("%w: no policy is called %q; there are %q", ErrOptions, name, policyNames)
}
