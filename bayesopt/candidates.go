package bayesopt

import (
	"fmt"
	"math"
)

// Limits are the costs of nodes and a cap on groups of nodes. In the zero value
// every node costs 1 and there is no cap.
type Limits struct {
	Cost     []float64 // of every node, positive; nil: 1 each
	Group    []int     // index of every node's group, from 0; nil: no groups
	GroupCap int       // most nodes of a group that may be suggested or pending at once; measured nodes do not count; 0: no cap
}

// Check returns an error, which wraps ErrOptions, if the limits are not valid for
// the number of nodes.
func (l Limits) Check(nodes int) error {
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
	}
	return nil
}

// CostOf returns the cost of a node.
func (l Limits) CostOf(node int) float64 {
	if l.Cost == nil {
		return 1
	}
	return l.Cost[node]
}

// Candidates are the nodes that a policy may pick, referred to by their index in
// Nodes. A candidate is open while it may be picked. Taking one closes it, and
// may close others: the nodes of a full group, and those that cost more than the
// remaining budget.
type Candidates struct {
	nodes   []int
	limits  Limits
	picked  []bool  // by index
	inGroup []int   // picked and pending nodes by group
	left    float64 // rest of the budget
	slack   float64 // rounding error allowed in left
	every   *everyNode
}

// budgetRounding is the rounding error allowed in sums of costs, as a share of the
// budget: 0.1 + 0.1 + 0.1 exceeds 0.3.
const budgetRounding = 1e-9

// NewCandidates returns the given nodes, which must be distinct, of a graph with
// the given number of nodes (of) as candidates. Together the picks may cost at
// most the budget, up to rounding; nil means no limit.
func NewCandidates(of int, nodes []int, l Limits, budget *float64) (*Candidates, error) {
	if err := l.Check(of); err != nil {
		return nil, err
	}
	if budget != nil && !(*budget >= 0) {
		return nil, fmt.Errorf("%w: a budget of %v", ErrOptions, *budget)
	}
	seen := make([]bool, of)
	for _, i := range nodes {
		if i < 0 || i >= of || seen[i] {
			return nil, fmt.Errorf("%w: candidate %d of %d nodes is listed twice or does not exist", ErrOptions, i, of)
		}
		seen[i] = true
	}
	return newCandidates(of, nodes, make([]bool, len(nodes)), l, budget), nil
}

// newCandidates is NewCandidates without checks; picked are as many times false.
func newCandidates(of int, nodes []int, picked []bool, l Limits, budget *float64) *Candidates {
	c := &Candidates{nodes: nodes, limits: l, picked: picked, left: math.Inf(1)}
	if budget != nil {
		c.left, c.slack = *budget, *budget*budgetRounding
	}
	if l.GroupCap > 0 {
		c.inGroup = make([]int, of)
	}
	return c
}

// Len returns the number of candidates, open or not.
func (c *Candidates) Len() int { return len(c.nodes) }

// Nodes returns all candidates, open or not. The caller must not change the list, which is
// valid during Policy.Pick.
func (c *Candidates) Nodes() []int { return c.nodes }

// Cost returns the cost of the candidate at an index.
func (c *Candidates) Cost(at int) float64 { return c.limits.CostOf(c.nodes[at]) }

// Open reports whether the candidate at an index may be picked.
func (c *Candidates) Open(at int) bool {
	return !c.picked[at] && !c.tooExpensive(at) && !c.groupFull(at)
}

// limited reports whether candidates that were not picked may be closed, or have costs.
func (c *Candidates) limited() bool {
	return c.limits.Cost != nil || c.inGroup != nil || 1 > c.left+c.slack
}

func (c *Candidates) tooExpensive(at int) bool { return c.Cost(at) > c.left+c.slack }

func (c *Candidates) groupFull(at int) bool {
	return c.inGroup != nil && c.inGroup[c.limits.Group[c.nodes[at]]] >= c.limits.GroupCap
}

// Take picks the candidate at an index: it is closed, charged to the budget and
// counted in its group.
func (c *Candidates) Take(at int) {
	c.picked[at] = true
	c.left -= c.Cost(at)
	c.countInGroup(c.nodes[at])
}

// countInGroup counts a node in its group.
func (c *Candidates) countInGroup(node int) {
	if c.inGroup != nil {
		c.inGroup[c.limits.Group[node]]++
	}
}

// reason appends "per cost" to an explanation if there are costs.
func (c *Candidates) reason(why string) string {
	if c.limits.Cost != nil {
		why += ", per cost"
	}
	return why
}

// open returns the indices of the open candidates.
func (c *Candidates) open() []int {
	var all []int
	for at := range c.nodes {
		if c.Open(at) {
			all = append(all, at)
		}
	}
	return all
}

// best returns the index of the open candidate of the highest score, the first of
// several; −1 if none is open. NaN is never the best.
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

// perCost is gain/cost, or gain·cost for a negative gain, so that the cheaper of
// two candidates of equal gain is better in both cases. Equal costs keep the order
// of gains.
func perCost(gain, cost float64) float64 {
	if gain < 0 {
		return gain * cost
	}
	return gain / cost
}

// Reason says why there are fewer suggestions than asked for.
type Reason string

const (
	Enough        Reason = ""                 // there are as many as asked for
	NoNodesLeft   Reason = "no_allowed_nodes" // every allowed node is measured, pending or excluded
	BudgetReached Reason = "budget_reached"   // the remaining nodes cost more than the rest of the budget
	GroupsFull    Reason = "groups_full"      // those of the remaining nodes that the budget allows are in groups that reached GroupCap
)

// Short returns the reason why no candidate is open. That groups are full comes before
// the budget: a node that costs no more than the rest of the budget can be suggested as
// soon as its group has room.
func (c *Candidates) Short() Reason {
	reason := NoNodesLeft
	for at := range c.nodes {
		switch {
		case c.picked[at]:
		case c.tooExpensive(at):
			reason = BudgetReached
		case c.groupFull(at):
			return GroupsFull
		}
	}
	return reason
}
