package bayesopt

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/gp"
	"grfgp/internal/rng"
)

// The policies of this file score candidates by mean and standard deviation and
// pick the best. Each pick of a batch is made as if the earlier picks had been
// measured and their posterior means observed: means do not change, and each
// earlier pick reduces the variances by one column of the covariance.

// UCB picks the highest upper confidence bound mean + Beta·sd or, if Minimize is
// set, the lowest lower confidence bound mean − Beta·sd. With costs it ranks nodes
// by gain per cost, where the gain is the bound less the best posterior mean of a
// measured node. The zero value maximises with Beta 2.
type UCB struct {
	Minimize bool    // the lowest value is the best
	Beta     float64 // 0 means 2
}

// Pick implements Policy.
func (u UCB) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	if u.Beta == 0 {
		u.Beta = 2
	}
	toward := sign(u.Minimize)
	best, err := incumbent(ctx, s, toward)
	if err != nil {
		return nil, err
	}
	why := fmt.Sprintf("highest upper confidence bound (mean + %g sd)", u.Beta)
	if u.Minimize {
		why = fmt.Sprintf("lowest lower confidence bound (mean − %g sd)", u.Beta)
	}
	return ranked(ctx, s, c, n, seed, rule{
		why: why,
		score: func(mean, sd, cost float64) (value, rank float64) {
			value = toward*mean + u.Beta*sd
			return value, perCost(value-best, cost)
		},
	})
}

// Straddle picks the node for which it is least certain whether it is above or
// below the level: the highest 1.96·sd − |mean − Level| (Bryan et al., 2005), per
// cost if there are costs. The zero value has the level 0.
type Straddle struct {
	Level float64 // threshold that divides the nodes

	values    gp.Values    // of the model, which is on the scale of their link
	transform gp.Transform // of the values
}

// Pick implements Policy.
func (t Straddle) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	level := t.values.Link(t.transform.Forward(t.Level))
	return ranked(ctx, s, c, n, seed, rule{
		why: fmt.Sprintf("hardest to tell from the level %g (straddle: 1.96 sd − |mean − level|)", t.Level),
		score: func(mean, sd, cost float64) (value, rank float64) {
			value = 1.96*sd - math.Abs(mean-level)
			return value, perCost(value, cost)
		},
	})
}

// HighestVariance picks the node of highest posterior variance (uncertainty
// sampling), or variance per cost if there are costs.
type HighestVariance struct{}

// Pick implements Policy.
func (HighestVariance) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	return ranked(ctx, s, c, n, seed, rule{
		why:   "highest posterior variance",
		score: func(_, sd, cost float64) (value, rank float64) { return sd * sd, sd * sd / cost },
	})
}

// exactScores is the largest number of candidates that are scored with exact
// variances. Exact variances at all nodes of a large graph would take a minute.
const exactScores = 4096

// rule ranks candidates.
type rule struct {
	why    string
	score  scoring
	more   func(value float64) string // appended to why; may be nil
	picked func(mean float64)         // called with the mean of each pick; may be nil
}

// scoring returns the Value of a candidate, and its rank, which allows for costs.
type scoring func(mean, sd, cost float64) (value, rank float64)

// ranked takes the best candidates by a rule, one after the other.
func ranked(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64, by rule) ([]Suggestion, error) {
	var picks []Suggestion
	for len(picks) < n {
		before := len(picks)
		open, mean, err := shortlist(ctx, s, c, max(exactScores, 4*n), seed, by.score)
		if err != nil || len(open) == 0 {
			return picks, err
		}
		known, err := lookAhead(ctx, s, selected(c.nodes, open), picks)
		if err != nil {
			return nil, err
		}
		for len(picks) < n { // repeats only if all shortlisted candidates are in full groups
			best, most, worth := -1, math.Inf(-1), 0.0
			for k, at := range open {
				if !c.Open(at) {
					continue
				}
				value, rank := by.score(mean[k], math.Sqrt(known.variance[k]), c.Cost(at))
				if rank > most || best < 0 && rank == most {
					best, most, worth = k, rank, value
				}
			}
			if best < 0 {
				break
			}
			c.Take(open[best])
			why := c.reason(by.why)
			if by.more != nil {
				why += by.more(worth)
			}
			picks = append(picks, Suggestion{Node: c.nodes[open[best]], Value: worth, Why: why})
			if by.picked != nil {
				by.picked(mean[best])
			}
			if len(picks) < n {
				if err := known.measure(ctx, best); err != nil {
					return nil, err
				}
			}
		}
		if len(picks) == before {
			return nil, fmt.Errorf("%w: the scores of all candidates are NaN; check the fields of the policy", ErrOptions)
		}
	}
	return picks, nil
}

// shortlist returns the indices of the open candidates and their means. If there are
// more than most, it returns the most that rank highest by approximate variances.
func shortlist(ctx context.Context, s Surrogate, c *Candidates, most int, seed uint64, score scoring) (open []int, mean []float64,
	err error) {
	open = c.open()
	nodes := selected(c.nodes, open)
	if mean, err = meanAt(ctx, s, nodes, c.every); err != nil || len(open) <= most {
		return open, mean, err
	}
	sd, err := roughSD(ctx, s, nodes, c.every, mean, seed)
	if err != nil {
		return nil, nil, err
	}
	best := highest(len(open), most, func(k int) float64 { _, rank := score(mean[k], sd[k], c.Cost(open[k])); return rank })
	return selected(open, best), selected(mean, best), nil
}

// meanAt is the mean at nodes. For more than half of all nodes it computes all
// means, which is quicker because kernels cache that product.
func meanAt(ctx context.Context, s Surrogate, nodes []int, every *everyNode) ([]float64, error) {
	if 2*len(nodes) < s.Nodes() || len(nodes) == s.Nodes() {
		return s.Mean(ctx, nodes)
	}
	mean, err := s.Mean(ctx, every.list(s.Nodes()))
	if err != nil {
		return nil, err
	}
	return selected(mean, nodes), nil
}

const roughDraws = 8

// roughSD is the standard deviation at nodes by eight draws, with a relative
// standard error of √(1/(2·8)) = 25 %: enough for a short list.
func roughSD(ctx context.Context, s Surrogate, nodes []int, every *everyNode, mean []float64, seed uint64) ([]float64, error) {
	draws, err := drawAt(ctx, s, nodes, every, roughDraws, rng.New(seed, "rough").Uint64())
	if err != nil {
		return nil, err
	}
	return draws.gathered(ctx, len(nodes), func(k int, row []float64) float64 {
		sum := 0.0
		for _, v := range row {
			sum += (v - mean[k]) * (v - mean[k])
		}
		return math.Sqrt(sum / roughDraws)
	})
}

// highest returns the indices in [0, n) of the highest ranks, at most the given
// number, in increasing order. Of equal ranks the first index is preferred; NaN
// ranks last.
func highest(n, most int, rank func(k int) float64) []int {
	best := &lowestFirst{}
	for k := range n {
		r := rank(k)
		if len(best.at) < most {
			heap.Push(best, ranking{k, r})
		} else if cmp.Compare(r, best.at[0].rank) > 0 {
			best.at[0] = ranking{k, r}
			heap.Fix(best, 0)
		}
	}
	numbers := make([]int, len(best.at))
	for k, a := range best.at {
		numbers[k] = a.number
	}
	slices.Sort(numbers)
	return numbers
}

type ranking struct {
	number int
	rank   float64
}

// lowestFirst is a heap with the lowest rank on top, of equal ranks the last.
type lowestFirst struct{ at []ranking }

func (h *lowestFirst) Len() int { return len(h.at) }
func (h *lowestFirst) Less(a, b int) bool {
	if order := cmp.Compare(h.at[a].rank, h.at[b].rank); order != 0 {
		return order < 0
	}
	return h.at[a].number > h.at[b].number
}
func (h *lowestFirst) Swap(a, b int) { h.at[a], h.at[b] = h.at[b], h.at[a] }
func (h *lowestFirst) Push(x any)    { h.at = append(h.at, x.(ranking)) }
func (h *lowestFirst) Pop() any      { panic("bayesopt: Pop is not used") }

// selected returns the elements of a list at some indices.
func selected[T any](of []T, which []int) []T {
	out := make([]T, len(which))
	for k, i := range which {
		out[k] = of[i]
	}
	return out
}

// lookahead is the posterior variance at nodes after some of them have been
// measured, which does not depend on the measured values.
type lookahead struct {
	surrogate Surrogate
	nodes     []int
	variance  []float64
	columns   [][]float64 // cov(·, pick)/√(var + noise), given the picks before
}

// lookAhead returns the variance at nodes as if the picks had been measured.
func lookAhead(ctx context.Context, s Surrogate, nodes []int, picks []Suggestion) (*lookahead, error) {
	first := len(nodes)
	for _, p := range picks {
		nodes = append(nodes, p.Node)
	}
	variance, err := s.Variance(ctx, nodes)
	if err != nil {
		return nil, err
	}
	f := &lookahead{surrogate: s, nodes: nodes, variance: variance}
	for k := range picks {
		if err := f.measure(ctx, first+k); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// measure treats nodes[at] as measured: variance_j −= cov_j²/(var + noise).
func (f *lookahead) measure(ctx context.Context, at int) error {
	cov, err := f.surrogate.Covariance(ctx, f.nodes, f.nodes[at:at+1])
	if err != nil {
		return err
	}
	column := cov.RawMatrix().Data
	for _, u := range f.columns {
		for j := range column {
			column[j] -= u[j] * u[at]
		}
	}
	total := column[at] + f.surrogate.NoiseVar()
	if !(total > 0) {
		return nil // the value is known exactly
	}
	sd := math.Sqrt(total)
	for j := range column {
		column[j] /= sd
		f.variance[j] = max(0, f.variance[j]-column[j]*column[j])
	}
	f.columns = append(f.columns, column)
	return nil
}
