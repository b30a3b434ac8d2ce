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

// Policy returns the policy for the goal: Thompson sampling for the highest or
// lowest node, VarianceReduction to learn all, Straddle for a level.
func (g Goal) Policy() Policy {
	switch g.kind {
	case minimize:
		return Thompson{Minimize: true}
	case learn:
		return VarianceReduction{}
	case threshold:
		return Straddle{Level: g.level}
	}
	return Thompson{}
}

// sign turns values so that higher is better.
func sign(minimize bool) float64 {
	if minimize {
		return -1
	}
	return 1
}
