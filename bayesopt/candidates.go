package bayesopt

import (
	"fmt"
	"math"
)

// Limits bound what may be picked together.
type Limits struct {
	Cost     []float64 // of every node, positive; nil: 1 each
	Budget   *float64  // most that picks may cost together, but for rounding; nil: no limit
	Group    []int     // number of every node's group, from 0; nil: no groups
	GroupCap int       // most nodes of a group that are picked or pending together; measured ones do not count; 0: no cap
}

// check says what is wrong with limits for so many nodes.
func (l Limits) check(nodes int) error {
	if l.Cost != nil && len(l.Cost) != nodes || l.Group != nil && len(l.Group) != nodes {
		return fmt.Errorf("%w: %d costs and %d groups for %d nodes", ErrOptions, len(l.Cost), len(l.Group), nodes)
	}
	for i, cost := range l.Cost {
		if !(cost > 0) || math.IsInf(cost, 0) {
			return fmt.Errorf("%w: node %d costs %v, want a finite number > 0", ErrOptions, i, cost)
		}
	}
	for i, g := range l.Group {
		if g < 0 || g >= nodes {
			return fmt.Errorf("%w: node %d is in group %d, want 0 to %d", ErrOptions, i, g, nodes-1)
		}
	}
	switch {
	case l.GroupCap < 0:
		return fmt.Errorf("%w: at most %d nodes of a group", ErrOptions, l.GroupCap)
	case l.GroupCap > 0 && l.Group == nil:
		return fmt.Errorf("%w: at most %d nodes of a group, but there are no groups", ErrOptions, l.GroupCap)
	case l.Budget != nil && !(*l.Budget >= 0):
		return fmt.Errorf("%w: a budget of %v", ErrOptions, *l.Budget)
	}
	return nil
}

// cost returns what a node costs.
func (l Limits) cost(node int) float64 {
	if l.Cost == nil {
		return 1
	}
	return l.Cost[node]
}

// Candidates are the nodes that may be picked. A pick closes its node to the
// next, and perhaps others: those of a full group, and those that cost more than
// is left.
type Candidates struct {
	nodes   []int // in the numbers of the policy,
	own     []int // and of the limits
	limits  Limits
	picked  []bool   // by place in nodes
	inGroup []int    // by group: how many are picked or pending
	left    *float64 // of the budget
	slack   float64  // what left may be off by
}

// budgetRounding is what sums of costs may be off by, as a share of the budget:
// three times 0.1 is more than 0.3.
const budgetRounding = 1e-9

// NewCandidates returns the given nodes, out of so many, as candidates. Nodes
// are distinct.
func NewCandidates(of int, nodes []int, l Limits) (*Candidates, error) {
	if err := l.check(of); err != nil {
		return nil, err
	}
	seen := make([]bool, of)
	for _, i := range nodes {
		if i < 0 || i >= of || seen[i] {
			return nil, fmt.Errorf("%w: node %d of %d is a candidate twice, or does not exist", ErrOptions, i, of)
		}
		seen[i] = true
	}
	return newCandidates(of, nodes, l), nil
}

func newCandidates(of int, nodes []int, l Limits) *Candidates {
	left := math.Inf(1)
	c := &Candidates{nodes: nodes, own: nodes, limits: l, picked: make([]bool, len(nodes)), left: &left}
	if l.Budget != nil {
		left, c.slack = *l.Budget, *l.Budget*budgetRounding
	}
	if l.GroupCap > 0 {
		c.inGroup = make([]int, of)
	}
	return c
}

// Len returns how many candidates there are, open or not.
func (c *Candidates) Len() int { return len(c.nodes) }

// Nodes returns all candidates. It is not to be changed.
func (c *Candidates) Nodes() []int { return c.nodes }

// Cost returns what candidate number at costs.
func (c *Candidates) Cost(at int) float64 { return c.limits.cost(c.own[at]) }

// Open reports whether candidate number at may be picked.
func (c *Candidates) Open(at int) bool {
	return !c.picked[at] && !c.dear(at) && !c.crowded(at)
}

func (c *Candidates) dear(at int) bool { return c.Cost(at) > *c.left+c.slack }

func (c *Candidates) crowded(at int) bool {
	return c.inGroup != nil && c.inGroup[c.limits.Group[c.own[at]]] >= c.limits.GroupCap
}

// Take closes candidate number at, and counts what it costs and its group.
func (c *Candidates) Take(at int) {
	c.picked[at] = true
	c.charge(c.own[at])
	c.crowd(c.own[at])
}

// charge takes what a node costs from the budget.
func (c *Candidates) charge(node int) { *c.left -= c.limits.cost(node) }

// crowd counts a node in its group.
func (c *Candidates) crowd(node int) {
	if c.inGroup != nil {
		c.inGroup[c.limits.Group[node]]++
	}
}

// reason adds to why a candidate is best that costs count too, where they do.
func (c *Candidates) reason(why string) string {
	if c.limits.Cost != nil {
		why += ", per cost"
	}
	return why
}

// open returns the numbers of the candidates that are open.
func (c *Candidates) open() []int {
	var all []int
	for at := range c.nodes {
		if c.Open(at) {
			all = append(all, at)
		}
	}
	return all
}

// best returns the open candidate of the highest score, the first of several;
// −1 if none is open. A score that is not a number is never the best.
func (c *Candidates) best(score func(at int) float64) int {
	best, most := -1, math.Inf(-1)
	for at := range c.nodes {
		if !c.Open(at) {
			continue
		}
		if v := score(at); v > most || best < 0 && v == most {
			best, most = at, v
		}
	}
	return best
}

// perCost is what a gain is worth at a cost: gain/cost, and gain·cost where
// there is nothing to gain, so that of two equal candidates the cheaper one is
// better either way. Equal costs change no order.
func perCost(gain, cost float64) float64 {
	if gain < 0 {
		return gain * cost
	}
	return gain / cost
}

// Reason says why there are fewer suggestions than were asked for.
type Reason string

const (
	Enough        Reason = ""
	NoNodesLeft   Reason = "no_allowed_nodes" // every allowed node is measured, pending or excluded
	BudgetReached Reason = "budget_reached"   // what is left costs more than may be spent
	GroupsFull    Reason = "groups_full"      // what is left is in groups that have their share
)

// Short says why no candidate is open.
func (c *Candidates) Short() Reason {
	reason := NoNodesLeft
	for at := range c.nodes {
		switch {
		case c.picked[at]:
		case c.dear(at):
			return BudgetReached
		case c.crowded(at):
			reason = GroupsFull
		}
	}
	return reason
}
