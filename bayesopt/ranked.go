package bayesopt

import (
	"cmp"
	"container/heap"
	"context"
	"fmt"
	"math"
	"slices"

	"grfgp/internal/rng"
)

// The policies of this file score candidates by mean and standard deviation and
// take the best. Each pick of a batch is made as if those before it had been
// measured and had come out at their means: that shrinks the variance of what is
// near them, by one column of the covariance.

// UCB picks the highest bound mean + Beta·sd (or the lowest mean − Beta·sd).
// With costs the gain of the bound over the best mean of a measured node counts,
// per cost.
type UCB struct {
	Minimize bool
	Beta     float64 // 0 means 2
}

// Pick implements Policy.
func (u UCB) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	if u.Beta == 0 {
		u.Beta = 2
	}
	toward := sign(u.Minimize)
	best, err := incumbent(ctx, s, toward)
	if err != nil {
		return nil, err
	}
	return ranked(ctx, s, c, n, seed, rule{
		why: fmt.Sprintf("the best of those left that is likely: mean and %g sd", u.Beta),
		score: func(mean, sd, cost float64) (value, rank float64) {
			value = toward*mean + u.Beta*sd
			return value, perCost(value-best, cost)
		},
	})
}

// Straddle picks where the level is most likely to be misjudged: 1.96·sd −
// |mean − Level| is highest (Bryan et al., 2005). With costs: per cost.
type Straddle struct {
	Level float64
}

// Pick implements Policy.
func (t Straddle) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	return ranked(ctx, s, c, n, seed, rule{
		why: fmt.Sprintf("hardest of those left to tell whether it is above %g", t.Level),
		score: func(mean, sd, cost float64) (value, rank float64) {
			value = 1.96*sd - math.Abs(mean-t.Level)
			return value, perCost(value, cost)
		},
	})
}

// HighestVariance picks what is known least. With costs: variance per cost.
type HighestVariance struct{}

// Pick implements Policy.
func (HighestVariance) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Choice, error) {
	return ranked(ctx, s, c, n, seed, rule{
		why:   "known least of those left",
		score: func(_, sd, cost float64) (value, rank float64) { return sd * sd, sd * sd / cost },
	})
}

// closeLook is how many candidates are looked at closely: variances of all nodes
// of a large graph take a minute.
const closeLook = 4096

// rule says how candidates are ranked.
type rule struct {
	why    string
	score  scoring
	more   func(value float64) string // to add to why; may be nil
	picked func(mean float64)         // hears of the mean of each pick; may be nil
}

// scoring says what a candidate is worth, and by what it is ranked.
type scoring func(mean, sd, cost float64) (value, rank float64)

// ranked takes the best candidates by a rule, one after the other.
func ranked(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64, by rule) ([]Choice, error) {
	var picks []Choice
	for len(picks) < n {
		before := len(picks)
		open, mean, err := look(ctx, s, c, max(closeLook, 4*n), seed, by.score)
		if err != nil || len(open) == 0 {
			return picks, err
		}
		known, err := foresee(ctx, s, chosen(c.nodes, open), picks)
		if err != nil {
			return nil, err
		}
		for len(picks) < n { // most often this is all; but those that were looked at may be of a group that is full
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
			picks = append(picks, Choice{c.nodes[open[best]], worth, why})
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
			return nil, fmt.Errorf("%w: no candidate can be ranked, as their scores are not numbers; look at the options of the policy", ErrOptions)
		}
	}
	return picks, nil
}

// look returns the numbers of the open candidates, or of the most that promise
// best, and their means.
func look(ctx context.Context, s Surrogate, c *Candidates, most int, seed uint64, score scoring) (open []int, mean []float64, err error) {
	open = c.open()
	nodes := chosen(c.nodes, open)
	if mean, err = meanAt(ctx, s, nodes); err != nil || len(open) <= most {
		return open, mean, err
	}
	sd, err := roughSD(ctx, s, nodes, mean, seed)
	if err != nil {
		return nil, nil, err
	}
	best := highest(len(open), most, func(k int) float64 { _, rank := score(mean[k], sd[k], c.Cost(open[k])); return rank })
	return chosen(open, best), chosen(mean, best), nil
}

// meanAt is the mean at nodes. Where they are most of all, that of all is quicker,
// as kernels keep what it takes.
func meanAt(ctx context.Context, s Surrogate, nodes []int) ([]float64, error) {
	if 2*len(nodes) < s.Nodes() || len(nodes) == s.Nodes() {
		return s.Mean(ctx, nodes)
	}
	mean, err := s.Mean(ctx, allNodes(s.Nodes()))
	if err != nil {
		return nil, err
	}
	return chosen(mean, nodes), nil
}

const roughDraws = 8

// roughSD is the standard deviation at nodes by a few draws, with a relative
// standard error of √(1/(2·8)) = 25 %: enough to tell which nodes to look at.
func roughSD(ctx context.Context, s Surrogate, nodes []int, mean []float64, seed uint64) ([]float64, error) {
	draws, row, err := drawAt(ctx, s, nodes, roughDraws, rng.New(seed, "rough").Uint64())
	if err != nil {
		return nil, err
	}
	sd := make([]float64, len(nodes))
	for k := range sd {
		sum := 0.0
		for _, v := range draws.RawRowView(row(k)) {
			sum += (v - mean[k]) * (v - mean[k])
		}
		sd[k] = math.Sqrt(sum / roughDraws)
	}
	return sd, nil
}

// highest returns the numbers, in increasing order, of the most with the highest
// rank; of equal ones the first. What is no number ranks last.
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

// lowestFirst is a heap with the lowest rank, of equal ones the last, on top.
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
func (h *lowestFirst) Pop() any      { panic("bayesopt: nothing is taken from the heap") }

// chosen returns some of a list.
func chosen[T any](of []T, which []int) []T {
	out := make([]T, len(which))
	for k, i := range which {
		out[k] = of[i]
	}
	return out
}

// foresight is the variance at nodes once some of them will have been measured,
// whatever the values.
type foresight struct {
	surrogate Surrogate
	nodes     []int
	variance  []float64
	columns   [][]float64 // cov(·, pick)/√(var + noise), given the picks before
}

// foresee returns the variance at nodes once picks will have been measured.
func foresee(ctx context.Context, s Surrogate, nodes []int, picks []Choice) (*foresight, error) {
	first := len(nodes)
	for _, p := range picks {
		nodes = append(nodes, p.Node)
	}
	variance, err := s.Variance(ctx, nodes)
	if err != nil {
		return nil, err
	}
	f := &foresight{surrogate: s, nodes: nodes, variance: variance}
	for k := range picks {
		if err := f.measure(ctx, first+k); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// measure takes node number at as measured: variance_j −= cov_j²/(var + noise).
func (f *foresight) measure(ctx context.Context, at int) error {
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
		return nil // known already
	}
	sd := math.Sqrt(total)
	for j := range column {
		column[j] /= sd
		f.variance[j] = max(0, f.variance[j]-column[j]*column[j])
	}
	f.columns = append(f.columns, column)
	return nil
}
