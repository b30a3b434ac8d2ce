package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"grfgp/gp"
	"grfgp/internal/rng"
)

// Suggestion is a node to measure.
type Suggestion struct {
	Node     int     `json:"node"`
	Cost     float64 `json:"cost"`
	Why      string  `json:"why"`
	Value    float64 `json:"value"`    // what the policy picked it by; to learn, the fall of the mean variance over nodes
	Modelled bool    `json:"modelled"` // Mean, SD and Chance are known
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"`     // of the quantity itself; a reading has the noise on top
	Chance   float64 `json:"chance"` // of being the best of all allowed nodes, from Answer.Draws draws; for a threshold: of being above it
}

// Answer is what is suggested.
type Answer struct {
	Suggestions []Suggestion `json:"suggestions"`
	Short       Reason       `json:"short,omitempty"` // why there are fewer than asked for
	Draws       int          `json:"draws,omitempty"` // the standard error of a chance p is √(p(1−p)/Draws)
	Effort      Effort       `json:"effort"`          // of this answer
}

// Ask suggests up to n nodes, says what is known of them, and holds them. Policies
// that plan ahead take nodes that are pending already as if they had been measured
// and had come out at their means.
func (o *Optimizer) Ask(ctx context.Context, n int) (Answer, error) {
	before := o.effort
	picks, short, posterior, err := o.pick(ctx, n)
	if err != nil {
		return Answer{}, err
	}
	a := o.answer(picks, short)
	if posterior != nil && len(picks) > 0 {
		start := time.Now()
		if err := o.explain(ctx, &a, posterior); err != nil {
			return Answer{}, fmt.Errorf("bayesopt: explaining: %w", err)
		}
		o.effort.Explain += time.Since(start)
	}
	o.hold(picks)
	a.Effort = o.effort.less(before)
	return a, nil
}

// answer returns picks as suggestions of which nothing is known.
func (o *Optimizer) answer(picks []Choice, short Reason) Answer {
	a := Answer{Short: short}
	for _, p := range picks {
		a.Suggestions = append(a.Suggestions, Suggestion{Node: p.Node, Cost: o.opts.cost(p.Node), Why: p.Why, Value: p.Value})
	}
	return a
}

// Next is Ask without explanations: on large graphs they take longer than the
// picks.
func (o *Optimizer) Next(ctx context.Context, n int) ([]int, Reason, error) {
	picks, short, _, err := o.pick(ctx, n)
	if err != nil {
		return nil, short, err
	}
	o.hold(picks)
	nodes := make([]int, len(picks))
	for k, p := range picks {
		nodes[k] = p.Node
	}
	return nodes, short, nil
}

func (o *Optimizer) hold(picks []Choice) {
	for _, p := range picks {
		o.pending[p.Node] = true
	}
}

// pick takes in what was told and lets the policy pick of what is open.
func (o *Optimizer) pick(ctx context.Context, n int) ([]Choice, Reason, *gp.Posterior, error) {
	return o.pickFrom(ctx, o.candidates(), n, o.seed(), o.Pending())
}

// pickFrom takes in what was told and lets the policy pick. The posterior is nil
// where there is no model, or no use for one. Policies that plan ahead take pending
// nodes as if they had been measured and had come out at their means, so that asks
// one by one spread out as a batch does.
func (o *Optimizer) pickFrom(ctx context.Context, c *Candidates, n int, seed uint64, pending []int) ([]Choice, Reason, *gp.Posterior, error) {
	if n < 1 {
		return nil, Enough, nil, fmt.Errorf("%w: %d suggestions", ErrOptions, n)
	}
	policy, why := o.policy, ""
	var posterior *gp.Posterior
	var known Surrogate = unmodelled{len(o.measured), o.data.Nodes}
	if _, blind := policy.(Blind); !blind {
		var err error
		switch posterior, err = o.Update(ctx); {
		case err == nil:
			known = posterior
		case errors.Is(err, ErrNoModel):
			policy, why = Random{}, fmt.Sprintf("drawn at random: there is no model of %d measurements that are too few, all the same, or too far from or too near each other for a variance to be a number", o.data.Len())
		default:
			return nil, Enough, nil, err
		}
	}
	start := time.Now()
	if _, draws := policy.(Thompson); posterior != nil && !draws && len(pending) > 0 {
		var err error
		if known, err = believing(ctx, posterior, pending); err != nil {
			return nil, Enough, nil, fmt.Errorf("bayesopt: looking ahead: %w", err)
		}
	}
	picks, err := policy.Pick(ctx, known, c, n, seed)
	if err != nil {
		return nil, Enough, nil, fmt.Errorf("bayesopt: picking: %w", err)
	}
	o.effort.Pick += time.Since(start)
	if why != "" {
		for k := range picks {
			picks[k].Why = why
		}
	}
	short := Enough
	if len(picks) < n {
		short = c.Short()
	}
	return picks, short, posterior, nil
}

// seed is that of the next suggestion. It depends on how much was told and on
// how many nodes are pending.
func (o *Optimizer) seed() uint64 {
	return rng.New(o.opts.Seed, "ask", uint64(o.data.Len()), uint64(len(o.pending))).Uint64()
}

// candidates returns the nodes that may be suggested now.
func (o *Optimizer) candidates() *Candidates {
	c := o.open(o.Pending(), slices.Collect(maps.Keys(o.excluded)), o.opts.Limits)
	for _, i := range o.data.Nodes[min(o.opts.Free, o.data.Len()):] {
		c.charge(i)
	}
	for _, i := range o.Pending() {
		c.charge(i)
	}
	return c
}

// open returns the allowed nodes that are neither measured, unless they may be
// again, nor pending nor closed. Groups know of those pending; the budget is as
// the limits say.
func (o *Optimizer) open(pending, closed []int, l Limits) *Candidates {
	shut := make([]bool, len(o.measured))
	if !o.opts.Repeats {
		copy(shut, o.measured)
	}
	for _, some := range [][]int{pending, closed} {
		for _, i := range some {
			shut[i] = true
		}
	}
	nodes := make([]int, 0, len(o.allowed))
	for _, i := range o.allowed {
		if !shut[i] {
			nodes = append(nodes, i)
		}
	}
	c := newCandidates(len(o.measured), nodes, l)
	for _, i := range pending {
		c.crowd(i)
	}
	return c
}

// explain fills in what is known of suggestions, and their chances.
func (o *Optimizer) explain(ctx context.Context, a *Answer, p *gp.Posterior) error {
	if err := o.tellKnown(ctx, a, p); err != nil {
		return err
	}
	if o.opts.Goal.Seeks() {
		a.Draws = o.opts.Draws
		return o.chances(ctx, a, p)
	}
	return nil
}

// tellKnown fills in what is known of suggestions.
func (o *Optimizer) tellKnown(ctx context.Context, a *Answer, p *gp.Posterior) error {
	nodes := make([]int, len(a.Suggestions))
	for k, s := range a.Suggestions {
		nodes[k] = s.Node
	}
	mean, err := p.Mean(ctx, nodes)
	if err != nil {
		return err
	}
	cov, err := p.Covariance(ctx, nodes, nodes)
	if err != nil {
		return err
	}
	for k := range nodes {
		s := &a.Suggestions[k]
		s.Modelled, s.Mean, s.SD = true, mean[k], math.Sqrt(max(0, cov.At(k, k)))
		if level, ok := o.opts.Goal.Level(); ok {
			s.Chance = above(s.Mean, s.SD, level)
		}
	}
	return nil
}

// above is the chance that N(mean, sd²) is above a level.
func above(mean, sd, level float64) float64 {
	if sd == 0 {
		if mean > level {
			return 1
		}
		return 0
	}
	return math.Erfc((level-mean)/sd/math.Sqrt2) / 2
}

// chances counts how often each suggestion is the best of all allowed nodes.
func (o *Optimizer) chances(ctx context.Context, a *Answer, p *gp.Posterior) error {
	toward := o.opts.Goal.toward()
	wins := map[int]int{}
	for lo := 0; lo < a.Draws; lo += drawsAtOnce {
		draws, row, err := drawAt(ctx, p, o.allowed, min(drawsAtOnce, a.Draws-lo), rng.New(o.seed(), "chance", uint64(lo)).Uint64())
		if err != nil {
			return err
		}
		raw := draws.RawMatrix()
		for k := range raw.Cols {
			best, most := 0, math.Inf(-1)
			for at := range o.allowed {
				if v := toward * raw.Data[row(at)*raw.Stride+k]; v > most {
					best, most = at, v
				}
			}
			wins[o.allowed[best]]++
		}
	}
	for k := range a.Suggestions {
		a.Suggestions[k].Chance = float64(wins[a.Suggestions[k].Node]) / float64(a.Draws)
	}
	return nil
}
