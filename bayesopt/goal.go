package bayesopt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Goal is what measurements are for. The zero value is Maximize.
type Goal struct {
	kind  goalKind
	level float64
}

type goalKind int

const (
	maximize goalKind = iota
	minimize
	learn
	threshold
)

var (
	Maximize = Goal{kind: maximize} // find the highest node
	Minimize = Goal{kind: minimize} // find the lowest node
	Learn    = Goal{kind: learn}    // know all nodes well
)

// Threshold is to find out which nodes are above a level and which below.
func Threshold(level float64) Goal { return Goal{threshold, level} }

// ParseGoal reads maximize, minimize, learn or threshold=V.
func ParseGoal(text string) (Goal, error) {
	name, level, given := strings.Cut(text, "=")
	switch {
	case name == "threshold" && given:
		v, err := strconv.ParseFloat(level, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return Goal{}, fmt.Errorf("%w: the threshold %q is no finite number", ErrOptions, level)
		}
		return Threshold(v), nil
	case given:
	case name == "maximize":
		return Maximize, nil
	case name == "minimize":
		return Minimize, nil
	case name == "learn":
		return Learn, nil
	}
	return Goal{}, fmt.Errorf("%w: no goal is called %q; there are maximize, minimize, learn and threshold=V", ErrOptions, text)
}

// String returns what ParseGoal reads.
func (g Goal) String() string {
	switch g.kind {
	case minimize:
		return "minimize"
	case learn:
		return "learn"
	case threshold:
		return "threshold=" + strconv.FormatFloat(g.level, 'g', -1, 64)
	}
	return "maximize"
}

// MarshalText writes the goal as String does.
func (g Goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads it.
func (g *Goal) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGoal(string(text))
	return err
}

// Seeks reports whether the goal is to find the best node.
func (g Goal) Seeks() bool { return g.kind == maximize || g.kind == minimize }

// Level returns the level of a threshold; false for other goals.
func (g Goal) Level() (level float64, ok bool) { return g.level, g.kind == threshold }

// toward is 1 where higher is better and −1 where lower is.
func (g Goal) toward() float64 { return sign(g.kind == minimize) }

// check says what is wrong with a goal.
func (g Goal) check() error {
	if math.IsNaN(g.level) || math.IsInf(g.level, 0) {
		return fmt.Errorf("%w: a threshold of %v, want a finite number", ErrOptions, g.level)
	}
	return nil
}

// PolicyName names the policy for the goal.
func (g Goal) PolicyName() string {
	switch g.kind {
	case learn:
		return "learn"
	case threshold:
		return "straddle"
	}
	return "thompson"
}

// Policy returns the policy for the goal: Thompson sampling for the highest or
// lowest node, VarianceReduction to learn all, Straddle for a level.
func (g Goal) Policy() Policy {
	switch g.kind {
	case learn:
		return VarianceReduction{}
	case threshold:
		return Straddle{Level: g.level}
	}
	return Thompson{Minimize: g.kind == minimize}
}

// Suits reports whether a policy, by its name, works towards the goal. Those that
// look at no predictions work towards none, and suit all.
func (g Goal) Suits(policy string) bool {
	switch policy {
	case "thompson", "ei", "ucb":
		return g.Seeks()
	case "learn", "variance":
		return !g.Seeks()
	case "straddle":
		return g.kind == threshold
	}
	return true
}

// sign turns values so that higher is better.
func sign(minimize bool) float64 {
	if minimize {
		return -1
	}
	return 1
}
