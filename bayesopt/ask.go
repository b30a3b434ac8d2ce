package bayesopt

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"grfgp/gp"
	"grfgp/internal/plural"
	"grfgp/internal/rng"
	"grfgp/progress"
	"grfgp/solve"
)

// Request asks for suggestions. The zero value asks for one.
type Request struct {
	Count    int      // suggestions wanted; 0 means 1
	Pending  []int    // suggested before, not measured yet: not suggested again, and counted by GroupCap
	Excluded []int    // not suggested
	Budget   *float64 // most that the suggested nodes may cost together, up to rounding; nil: no limit
	Seed     uint64   // of the policy; 0: derived from Options.Seed and the numbers of measurements and of pending nodes
	Draws    int      // posterior draws to estimate Suggestion.Chance when maximising or minimising; 0: Chance is not estimated

	Progress *progress.Work // is told how far training and picking are; nil: nobody is
}

// Suggestion is a node to measure.
type Suggestion struct {
	Node     int     `json:"node"`
	Cost     float64 `json:"cost"`
	Why      string  `json:"why"`
	Value    float64 `json:"value"`    // the policy's score, higher is better; for VarianceReduction the reduction of the mean variance
	Modelled bool    `json:"modelled"` // there is a model, so that Mean, SD and Chance are set
	Mean     float64 `json:"mean"`
	SD       float64 `json:"sd"`     // of the quantity; a measurement has the noise in addition
	Chance   float64 `json:"chance"` // posterior probability of being the best allowed node, or of being above the threshold
}

// Answer is the answer to a Request.
type Answer struct {
	Suggestions []Suggestion `json:"suggestions"`
	Short       Reason       `json:"short,omitempty"` // why there are fewer suggestions than asked for; empty: there are not
	// posterior draws behind Suggestion.Chance: the standard error of a chance p is √(p(1−p)/Draws)
	Draws  int    `json:"draws,omitempty"`
	Effort Effort `json:"effort"` // of this answer
}

// Ask updates the model and suggests nodes, with their predictions. All policies
// except Thompson treat pending nodes as measured, with their posterior means as
// values, so that single suggestions spread out as a batch does.
func (o *Optimizer) Ask(ctx context.Context, r Request) (Answer, error) {
	before := o.effort
	r, err := o.complete(r)
	if err != nil {
		return Answer{}, err
	}
	picks, short, posterior, err := o.pick(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Suggestions: picks, Short: short}
	if posterior != nil && len(picks) > 0 {
		start := time.Now()
		if err := o.explain(ctx, &a, posterior, r); err != nil {
			return Answer{}, fmt.Errorf("explaining: %w", err)
		}
		o.effort.Explain += time.Since(start)
	}
	a.Effort = o.effort.less(before)
	r.Progress.Done()
	return a, nil
}

// Next is Ask without predictions, which take longer than the picks on large
// graphs. It returns only the nodes.
func (o *Optimizer) Next(ctx context.Context, r Request) ([]int, Reason, error) {
	r, err := o.complete(r)
	if err != nil {
		return nil, Enough, err
	}
	picks, short, _, err := o.pick(ctx, r)
	if err != nil {
		return nil, short, err
	}
	nodes := make([]int, len(picks))
	for k, p := range picks {
		nodes[k] = p.Node
	}
	return nodes, short, nil
}

// complete checks a request and fills in its defaults.
func (o *Optimizer) complete(r Request) (Request, error) {
	if r.Count < 0 || r.Draws < 0 || r.Budget != nil && !(*r.Budget >= 0) {
		return r, fmt.Errorf("%w: a request of %d suggestions by %d draws with the budget %v", ErrOptions, r.Count, r.Draws, budgetText(r.Budget))
	}
	for _, nodes := range [][]int{r.Pending, r.Excluded} {
		for _, i := range nodes {
			if err := o.checkNode(i); err != nil {
				return r, err
			}
		}
	}
	r.Pending = slices.Compact(slices.Sorted(slices.Values(r.Pending)))
	if r.Count == 0 {
		r.Count = 1
	}
	if r.Seed == 0 {
		r.Seed = rng.New(o.opts.Seed, "ask", uint64(o.data.Len()), uint64(len(r.Pending))).Uint64()
	}
	return r, nil
}

func budgetText(budget *float64) string {
	if budget == nil {
		return "none"
	}
	return fmt.Sprint(*budget)
}

// trainShare is the share of the time of an answer that fitting takes, about.
const trainShare = 0.8

// pick updates the model and lets the policy pick. The posterior is nil where
// there is no model, or where the policy needs none.
func (o *Optimizer) pick(ctx context.Context, r Request) ([]Suggestion, Reason, *gp.Posterior, error) {
	policy, why := o.policy, ""
	var posterior *gp.Posterior
	var known Surrogate = unmodelled{len(o.measured), o.data.Nodes}
	o.work = r.Progress.Part(trainShare, 1-trainShare)
	defer func() { o.work = nil }()
	if _, ok := policy.(ModelFree); !ok {
		var err error
		switch posterior, err = o.Update(ctx); {
		case err == nil:
			known = o.surrogate(posterior)
			policy = o.onScale(policy, posterior)
		case errors.Is(err, ErrNoModel):
			policy, why = Random{}, "drawn at random: there are no measurements yet"
			if n := o.data.Len(); n > 0 {
				why = fmt.Sprintf("drawn at random: no model can be fitted to %s (too few, all equal, or with a variance outside the range of "+
					"floating-point numbers)", plural.Count(n, "measurements"))
			}
		default:
			return nil, Enough, nil, err
		}
	}
	r.Progress.Part(1-trainShare, 0).Step("picking nodes")
	start := time.Now()
	if _, draws := policy.(Thompson); posterior != nil && !draws && len(r.Pending) > 0 {
		extended, err := withMeans(ctx, posterior, r.Pending)
		if err != nil {
			return nil, Enough, nil, fmt.Errorf("conditioning on pending nodes: %w", err)
		}
		known = o.surrogate(extended)
	}
	c := o.candidates(r)
	picks, err := policy.Pick(ctx, known, c, r.Count, r.Seed)
	if err != nil {
		return nil, Enough, nil, fmt.Errorf("picking: %w", err)
	}
	o.effort.Pick += time.Since(start)
	for k := range picks {
		if err := o.checkNode(picks[k].Node); err != nil {
			return nil, Enough, nil, fmt.Errorf("picking by %T: %w", policy, err)
		}
		picks[k].Cost = o.opts.CostOf(picks[k].Node)
		if why != "" {
			picks[k].Why = why
		}
	}
	short := Enough
	if len(picks) < r.Count {
		short = c.Short()
	}
	return picks, short, posterior, nil
}

// onScale returns the policy with its level on the scale of the model.
func (o *Optimizer) onScale(p Policy, posterior *gp.Posterior) Policy {
	if s, ok := p.(Straddle); ok {
		s.values, s.transform = posterior.Model().Values(), o.opts.Transform
		return s
	}
	return p
}

// candidates returns the allowed nodes that are neither pending nor excluded, nor
// measured unless Options.Repeats.
func (o *Optimizer) candidates(r Request) *Candidates {
	nodes := o.allowed
	if !o.opts.Repeats {
		nodes = o.open.unmeasured(o.allowed, o.data.Nodes, o.measured)
	}
	if len(r.Pending)+len(r.Excluded) > 0 {
		nodes = o.open.without(nodes, len(o.measured), r.Pending, r.Excluded)
	}
	c := newCandidates(len(o.measured), nodes, o.open.room(len(nodes)), o.opts.Limits, r.Budget)
	c.every = &o.every
	for _, i := range r.Pending {
		c.countInGroup(i)
	}
	return c
}

// withMeans returns the posterior given measurements at nodes that equal its
// means.
func withMeans(ctx context.Context, p *gp.Posterior, nodes []int) (*gp.Posterior, error) {
	extended, err := p.ConditionOnMeans(ctx, nodes)
	if errors.Is(err, solve.ErrNotPositiveDefinite) {
		return p, nil // a second measurement without noise adds nothing
	}
	return extended, err
}

// explain fills in the predictions of suggestions.
func (o *Optimizer) explain(ctx context.Context, a *Answer, p *gp.Posterior, r Request) error {
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
	response := p.Response(0, 0).Under(o.opts.Transform)
	for k := range nodes {
		s := &a.Suggestions[k]
		quantity := response.At(mean[k], math.Sqrt(max(0, cov.At(k, k))))
		s.Modelled, s.Mean, s.SD = true, quantity.Mean(), quantity.SD()
		if level, ok := o.opts.Goal.Level(); ok {
			s.Chance = quantity.Above(level)
		}
	}
	if o.opts.Goal.Seeks() && r.Draws > 0 {
		a.Draws = r.Draws
		return o.chances(ctx, a, p, r.Seed)
	}
	return nil
}

// chances counts the draws in which each suggestion is the best allowed node.
func (o *Optimizer) chances(ctx context.Context, a *Answer, p *gp.Posterior, seed uint64) error {
	toward := o.opts.Goal.sign()
	wins := map[int]int{}
	for lo := 0; lo < a.Draws; lo += drawsAtOnce {
		n := min(drawsAtOnce, a.Draws-lo)
		draws, err := drawAt(ctx, o.surrogate(p), o.allowed, &o.every, n, rng.New(seed, "chance", uint64(lo)).Uint64())
		if err != nil {
			return err
		}
		best, err := draws.highestOf(ctx, n, len(o.allowed), toward)
		if err != nil {
			return err
		}
		for _, c := range best {
			wins[o.allowed[max(0, c.at)]]++
		}
	}
	for k := range a.Suggestions {
		a.Suggestions[k].Chance = float64(wins[a.Suggestions[k].Node]) / float64(a.Draws)
	}
	return nil
}
