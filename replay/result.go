package replay

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"grfgp/bayesopt"
)

// Result has the replays of all policies.
type Result struct {
	Goal     bayesopt.Goal `json:"goal"`
	Policies []string      `json:"policies"` // names
	Random   string        `json:"-"`        // name of the policy bayesopt.Random; empty: it was not replayed
	Known    int           `json:"known"`    // nodes whose value is known: the candidates
	Start    int           `json:"start"`    // nodes measured before a policy is asked
	Steps    int           `json:"steps"`    // at most the rest of the known nodes
	Seeds    int           `json:"seeds"`
	Best     *Best         `json:"best,omitempty"` // for Maximize and Minimize
	// Uniform is the expected regret after each number of nodes drawn uniformly
	// without replacement, and its standard deviation: exact, without replays.
	Uniform []Point  `json:"uniform,omitempty"`
	Replays []Replay `json:"replays"` // by seed, then by policy
}

// Best is the best of the known values.
type Best struct {
	Node  int     `json:"node"` // the first node that has it
	Value float64 `json:"value"`
	Nodes int     `json:"nodes"` // number of nodes that have it
}

// Replay is one simulated search: one policy with one seed.
type Replay struct {
	Policy string          `json:"policy"`
	Seed   int             `json:"seed"`  // from 0
	Nodes  []int           `json:"nodes"` // measured, in order
	Curve  []Point         `json:"curve"`
	Done   bool            `json:"done"` // false: interrupted, or not begun
	Effort bayesopt.Effort `json:"-"`
}

// Point is the loss after a number of measurements. The package documentation
// defines the loss for each goal.
type Point struct {
	Measured int     `json:"measured"`
	Loss     float64 `json:"loss"`
	// for Learn: the mean posterior standard deviation of predictions; in Uniform: the standard deviation of the regret
	SD float64 `json:"sd,omitempty"`
}

func (r *Result) findBest(values []float64, known []int) {
	b := &Best{Node: known[0], Value: values[known[0]]}
	for _, i := range known {
		v := values[i]
		switch {
		case v == b.Value:
			b.Nodes++
		case r.Goal == bayesopt.Maximize && v > b.Value, r.Goal == bayesopt.Minimize && v < b.Value:
			*b = Best{i, v, 1}
		}
	}
	r.Best = b
}

// uniformRegret returns the expected regret of m = 1 … most nodes drawn without
// replacement from n, and its standard deviation. The k-th best of all is the best
// of the drawn nodes with probability
//
//	C(n−k, m−1)/C(n, m) = m/n · Π_{j<k} (n−j−m+1)/(n−j).
func uniformRegret(values []float64, known []int, best float64, most int) []Point {
	regrets := make([]float64, len(known))
	for k, i := range known {
		regrets[k] = math.Abs(best - values[i])
	}
	slices.Sort(regrets)
	n := len(regrets)
	points := make([]Point, most)
	for m := 1; m <= most; m++ {
		p, mean, square := float64(m)/float64(n), 0.0, 0.0
		for k, r := range regrets {
			mean += p * r
			square += p * r * r
			p *= float64(n-k-m) / float64(n-k-1)
			if p*float64(n)/float64(m) < 1e-17 { // a bound of the remaining terms
				break
			}
		}
		points[m-1] = Point{m, mean, math.Sqrt(max(0, square-mean*mean))}
	}
	return points
}

// Complete reports, for every seed, whether the replays of all policies are
// finished and have a score. No seed is complete if the replays were interrupted
// early or were too short for a model. Estimates use only complete seeds, so that
// policies are compared from the same starting nodes.
func (r *Result) Complete() []bool {
	complete := make([]bool, r.Seeds)
	for k := range complete {
		complete[k] = true
	}
	for _, one := range r.Replays {
		complete[one.Seed] = complete[one.Seed] && one.Done && len(one.Curve) > 0
	}
	return complete
}

// Final returns the loss of a policy after its last measurement, as a mean over
// seeds.
func (r *Result) Final(policy string) Estimate { return estimate(r.finals(policy, loss)) }

// FinalSD returns the mean posterior standard deviation of the predictions of a
// policy after its last measurement, as a mean over seeds.
func (r *Result) FinalSD(policy string) Estimate {
	return estimate(r.finals(policy, func(p Point) float64 { return p.SD }))
}

func loss(p Point) float64 { return p.Loss }

// finals returns a quantity of the last points of a policy, by complete seed.
func (r *Result) finals(policy string, of func(Point) float64) []float64 {
	var all []float64
	complete := r.Complete()
	for _, one := range r.Replays {
		if one.Policy == policy && complete[one.Seed] {
			all = append(all, of(one.Curve[len(one.Curve)-1]))
		}
	}
	return all
}

// Gain returns the final loss of the policy over less that of policy, as a mean of
// paired differences: for each seed both have the same starting nodes, so their
// influence cancels. A positive gain means that policy is better.
func (r *Result) Gain(policy, over string) Estimate {
	gains, theirs := r.finals(policy, loss), r.finals(over, loss)
	if len(gains) != len(theirs) {
		return Estimate{} // one of them was not replayed
	}
	for k := range gains {
		gains[k] = theirs[k] - gains[k]
	}
	return estimate(gains)
}

// GainOverUniform is the gain of a policy over the exact expected regret of the
// same number of nodes drawn uniformly. Its standard error is at least that of the
// same number of replays of uniform draws, so that replays with equal results by
// chance do not make a difference look certain.
func (r *Result) GainOverUniform(policy string) Estimate {
	if len(r.Uniform) == 0 {
		return Estimate{}
	}
	gains := r.finals(policy, loss)
	uniform := r.Uniform[len(r.Uniform)-1]
	for k, v := range gains {
		gains[k] = uniform.Loss - v
	}
	e := estimate(gains)
	if e.Seeds > 0 {
		e.SE = max(e.SE, uniform.SD/math.Sqrt(float64(e.Seeds)))
	}
	return e
}

// MeanPoint is a loss averaged over seeds.
type MeanPoint struct {
	Measured int `json:"measured"`
	Estimate
}

// Mean returns the loss of a policy after each number of measurements, as a mean
// over seeds.
func (r *Result) Mean(policy string) []MeanPoint {
	at, complete := map[int][]float64{}, r.Complete()
	for _, one := range r.Replays {
		if one.Policy == policy && complete[one.Seed] {
			for _, p := range one.Curve {
				at[p.Measured] = append(at[p.Measured], p.Loss)
			}
		}
	}
	var curve []MeanPoint
	for m := range r.Start + r.Steps + 1 {
		if all := at[m]; len(all) > 0 {
			curve = append(curve, MeanPoint{m, estimate(all)})
		}
	}
	return curve
}

// Estimate is a mean over seeds.
type Estimate struct {
	Mean  float64 `json:"mean"`
	SE    float64 `json:"se"` // standard error of Mean; 0 for a single seed, where it is unknown
	Seeds int     `json:"seeds"`
}

func estimate(values []float64) Estimate {
	e := Estimate{Seeds: len(values)}
	n := float64(len(values))
	for _, v := range values {
		e.Mean += v / n
	}
	if len(values) < 2 {
		return e
	}
	for _, v := range values {
		e.SE += (v - e.Mean) * (v - e.Mean)
	}
	e.SE = math.Sqrt(e.SE / (n - 1) / n)
	return e
}

// LeastSeeds is the smallest number of seeds for which Estimate.Clear can be true:
// fewer do not show how losses vary.
const LeastSeeds = 5

// Clear reports whether the mean differs significantly from 0, by a two-sided
// Student's t test at the 5 % level. It is false for fewer than LeastSeeds seeds,
// and if all values are equal, because the standard error is then unknown.
func (e Estimate) Clear() bool {
	if e.Seeds < LeastSeeds || e.SE == 0 {
		return false
	}
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(e.Seeds - 1)}
	return math.Abs(e.Mean) > t.Quantile(0.975)*e.SE
}
