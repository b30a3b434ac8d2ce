package bayesopt

import (
	"context"
	"fmt"
	"math"
)

// ExpectedImprovement picks the highest E[max(0, value − best)], where best is the
// best posterior mean of a measured node. With costs it is divided by the cost.
// Candidates are ranked by its logarithm, which distinguishes them where the
// improvement itself underflows. The zero value maximises.
type ExpectedImprovement struct {
	Minimize bool // the lowest value is the best
}

// Pick implements Policy.
func (e ExpectedImprovement) Pick(ctx context.Context, s Surrogate, c *Candidates, n int, seed uint64) ([]Suggestion, error) {
	toward := sign(e.Minimize)
	best, err := incumbent(ctx, s, toward)
	if err != nil {
		return nil, err
	}
	return ranked(ctx, s, c, n, seed, rule{
		why: "highest expected improvement",
		score: func(mean, sd, cost float64) (value, rank float64) {
			// A standard deviation of at least one rounding error keeps nodes in the order
			// of their means where their variances are zero.
			rounding := 0x1p-52 * max(math.Abs(mean), math.Abs(best))
			log := logImprovement(toward*mean-best, max(sd, rounding))
			return math.Exp(log), log - math.Log(cost)
		},
		more: func(value float64) string {
			if value < leastImprovement {
				return fmt.Sprintf(", though below %g", leastImprovement)
			}
			return ""
		},
		picked: func(mean float64) { best = max(best, toward*mean) },
	})
}

// leastImprovement is near the smallest normal float64.
const leastImprovement = 1e-307

// logImprovement is log E max(0, x) for x ~ N(gap, sd²): with z = gap/sd, density φ
// and distribution function Φ,
//
//	log sd + log(φ(z) + z·Φ(z)).
//
// Below z = −1 the two terms cancel, and the sum is φ(z)·remainder(−z).
func logImprovement(gap, sd float64) float64 {
	if sd <= 0 {
		return math.Log(max(0, gap))
	}
	z := gap / sd
	if z > -1 {
		return math.Log(sd) + math.Log(math.Exp(-z*z/2)/math.Sqrt(2*math.Pi)+z*math.Erfc(-z/math.Sqrt2)/2)
	}
	return math.Log(sd) - z*z/2 - math.Log(2*math.Pi)/2 + math.Log(remainder(-z))
}

// remainder is 1 − t·Φ(−t)/φ(t) for t ≥ 1. Mills' ratio Φ(−t)/φ(t) is the continued
// fraction 1/(t + c) with c = 1/(t + 2/(t + 3/(t + …))), so the remainder is
// c/(t + c), in which nothing cancels.
func remainder(t float64) float64 {
	c := 0.0
	for k := 12 + math.Floor(400/(t*t)); k >= 1; k-- { // enough terms for double precision
		c = k / (t + c)
	}
	return c / (t + c)
}
