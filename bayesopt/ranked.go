package bayesopt

import (
	"context"
	"fmt"
	"math"
)

// The policies of this file score candidates by mean and standard deviation and
// take the best. Each pick of a batch is made as if those before it had been
// measured and had come out at their means: that shrinks the variance of what is
// near them, by one column of the covariance.

// ExpectedImprovement picks where the mean of max(0, value − best) is highest;
// best is the best mean of a measured node. With costs: per cost.
type ExpectedImprovement struct {
	Minimize bool
}

// Pick implements Policy.
func (e ExpectedImprovement) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, _ uint64) ([]Choice, error) {
	toward := sign(e.Minimize)
	best, err := incumbent(ctx, s, toward)
	if err != nil {
		return nil, err
	}
	return ranked(ctx, s, c, n, "the highest improvement to expect", func(mean, sd, cost float64) (value, score float64) {
		value = improvement(toward*mean-best, sd)
		return value, value / cost
	}, func(mean float64) { best = max(best, toward*mean) })
}

// improvement is E max(0, x) for x ~ N(gap, sd²).
func improvement(gap, sd float64) float64 {
	if sd <= 0 {
		return max(0, gap)
	}
	z := gap / sd
	density := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
	return max(0, gap*math.Erfc(-z/math.Sqrt2)/2+sd*density)
}

// UCB picks the highest bound mean + Beta·sd (or the lowest mean − Beta·sd).
// With costs the gain of the bound over the best mean of a measured node counts,
// per cost.
type UCB struct {
	Minimize bool
	Beta     float64 // 0 means 2
}

// Pick implements Policy.
func (u UCB) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, _ uint64) ([]Choice, error) {
	if u.Beta == 0 {
		u.Beta = 2
	}
	toward := sign(u.Minimize)
	best, err := incumbent(ctx, s, toward)
	if err != nil {
		return nil, err
	}
	return ranked(ctx, s, c, n, fmt.Sprintf("the best that is likely: mean and %g sd", u.Beta), func(mean, sd, cost float64) (value, score float64) {
		value = toward*mean + u.Beta*sd
		return value, perCost(value-best, cost)
	}, nil)
}

// Straddle picks where the level is most likely to be misjudged: 1.96·sd −
// |mean − Level| is highest (Bryan et al., 2005). With costs: per cost.
type Straddle struct {
	Level float64
}

// Pick implements Policy.
func (t Straddle) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, _ uint64) ([]Choice, error) {
	return ranked(ctx, s, c, n, fmt.Sprintf("hardest to tell whether it is above %g", t.Level), func(mean, sd, cost float64) (value, score float64) {
		value = 1.96*sd - math.Abs(mean-t.Level)
		return value, perCost(value, cost)
	}, nil)
}

// HighestVariance picks what is known least. With costs: variance per cost.
type HighestVariance struct{}

// Pick implements Policy.
func (HighestVariance) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, _ uint64) ([]Choice, error) {
	return ranked(ctx, s, c, n, "known least of all", func(_, sd, cost float64) (value, score float64) {
		return sd * sd, sd * sd / cost
	}, nil)
}

// ranked takes the best candidates by score, one after the other; picked, if not
// nil, hears of the mean of each.
func ranked(ctx context.Context, s Surrogate, c *Candidates, n int, why string, score func(mean, sd, cost float64) (value, score float64), picked func(mean float64)) ([]Choice, error) {
	mean, err := s.Mean(ctx, c.nodes)
	if err != nil {
		return nil, err
	}
	variance, err := s.Variance(ctx, c.nodes)
	if err != nil {
		return nil, err
	}
	known := &foresight{surrogate: s, nodes: c.nodes, variance: variance}
	var picks []Choice
	for len(picks) < n {
		of := func(at int) (value, rank float64) { return score(mean[at], math.Sqrt(known.variance[at]), c.Cost(at)) }
		at := c.best(func(at int) float64 { _, rank := of(at); return rank })
		if at < 0 {
			break
		}
		value, _ := of(at)
		c.Take(at)
		picks = append(picks, Choice{c.nodes[at], value, why})
		if picked != nil {
			picked(mean[at])
		}
		if len(picks) < n {
			if err := known.measure(ctx, at); err != nil {
				return nil, err
			}
		}
	}
	return picks, nil
}

// foresight is the variance at nodes once some of them will have been measured,
// whatever the values.
type foresight struct {
	surrogate Surrogate
	nodes     []int
	variance  []float64
	columns   [][]float64 // cov(·, pick)/√(var + noise), given the picks before
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
