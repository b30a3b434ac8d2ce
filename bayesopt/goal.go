package bayesopt

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Goal is the purpose of a search: Maximize, Minimize, Learn or Threshold(level).
// The zero value is Maximize. String and ParseGoal convert to and from text.
type Goal string

const (
	Maximize Goal = ""         // find the node of the highest value; as text "maximize"
	Minimize Goal = "minimize" // find the node of the lowest value
	Learn    Goal = "learn"    // predict all nodes well
)

const thresholdPrefix = "threshold="

// Threshold is the goal to find out which nodes are above a level and which below.
func Threshold(level float64) Goal {
	return Goal(thresholdPrefix + strconv.FormatFloat(level, 'g', -1, 64))
}

// ParseGoal reads maximize, minimize, learn or threshold=V.
func ParseGoal(text string) (Goal, error) {
	if text == "maximize" {
		return Maximize, nil
	}
	g := Goal(text)
	if level, ok := strings.CutPrefix(text, thresholdPrefix); ok {
		v, err := strconv.ParseFloat(level, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return "", fmt.Errorf("%w: the threshold %q is not a finite number", ErrOptions, level)
		}
		return Threshold(v), nil
	}
	if g != Minimize && g != Learn {
		return "", fmt.Errorf("%w: no goal is called %q; there are maximize, minimize, learn and threshold=V", ErrOptions, text)
	}
	return g, nil
}

// String returns the goal as ParseGoal reads it.
func (g Goal) String() string {
	if g == Maximize {
		return "maximize"
	}
	return string(g)
}

// MarshalText writes the goal as String does.
func (g Goal) MarshalText() ([]byte, error) { return []byte(g.String()), nil }

// UnmarshalText reads the goal as ParseGoal does.
func (g *Goal) UnmarshalText(text []byte) (err error) {
	*g, err = ParseGoal(string(text))
	return err
}

// Seeks reports whether the goal is to find the best node: Maximize or Minimize.
func (g Goal) Seeks() bool { return g == Maximize || g == Minimize }

// Level returns the level of a Threshold goal; ok is false for other goals.
func (g Goal) Level() (level float64, ok bool) {
	text, ok := strings.CutPrefix(string(g), thresholdPrefix)
	if !ok {
		return 0, false
	}
	level, err := strconv.ParseFloat(text, 64)
	return level, err == nil
}

// sign is 1 where higher is better and −1 where lower is.
func (g Goal) sign() float64 { return sign(g == Minimize) }

// check returns an error unless the Goal is a constant or comes from Threshold or
// ParseGoal.
func (g Goal) check() error {
	_, err := ParseGoal(g.String())
	return err
}

// Policy returns the default policy of the goal: Thompson for Maximize and
// Minimize, VarianceReduction for Learn, Straddle for a threshold.
func (g Goal) Policy() Policy {
	if level, ok := g.Level(); ok {
		return Straddle{Level: level}
	}
	if g == Learn {
		return VarianceReduction{}
	}
	return Thompson{Minimize: g == Minimize}
}

// Suits reports whether a policy works towards the goal. A ModelFree policy suits
// every goal, and so does a policy that is not of this package.
func (g Goal) Suits(p Policy) bool {
	switch p.(type) {
	case Thompson, ExpectedImprovement, UCB:
		return g.Seeks()
	case VarianceReduction, HighestVariance:
		return !g.Seeks()
	case Straddle:
		_, ok := g.Level()
		return ok
	}
	return true
}

// sign is the factor that makes higher values better.
func sign(minimize bool) float64 {
	if minimize {
		return -1
	}
	return 1
}
